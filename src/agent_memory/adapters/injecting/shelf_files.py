"""What is ready to be injected into sessions of one place: `.cache/inject/<place>`. Derived, may be removed at any time.

To list ten thousand notes, to read the best of them and to judge and redact them takes longer than a hook may: so what came of
it is kept, and taken as long as everything that it was made from looks the same: every file of `topics/` by times, size and
inode, the tier list, the configs, the version, the place. It holds nothing that may not be injected.

Layout: digest of the rest (16 bytes) · marshal of `(key, good until, budget, profiles, more, passages)`. The digest is checked first, since
marshal must not be fed damaged bytes. Imports nothing but C modules, since a hook uses it.
"""

import marshal
import os
from _blake2 import blake2b

from agent_memory.adapters.disk.durable import close_quietly, make_directories, read_loosely, replace_loosely
from agent_memory.domain.injecting.assembling import Passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DIRECTORY = ".cache/inject"
_LAYOUT = 3
_DIGEST_BYTES = 16
_MAX_BYTES = 8 << 20
_MOST_PLACES = 64
_GRAIN_NS = 2_000_000_000
"""The coarsest times of a file system that we know (FAT)."""
_NEVER_NS = 1 << 63
"""Later than any look."""


class Shelf:
    """Passages of one place, the best first, with the settings that go with them."""

    __slots__ = ("budget", "good_until_ms", "more", "passages", "profiles")

    def __init__(
        self,
        passages: tuple[Passage, ...],
        budget: int,
        profiles: "Mapping[str, Mapping[str, int]]",
        good_until_ms: int | None = None,
        more: int = 0,
    ) -> None:
        self.passages = passages
        self.budget = budget
        self.profiles = profiles
        """The person's own."""
        self.good_until_ms = good_until_ms
        """When the first note runs out."""
        self.more = more
        """Notes that might be told, too, and were not made ready."""


class Looks:
    """What everything looked like that a shelf is made from."""

    __slots__ = ("key", "place", "touched_ns")

    def __init__(self, place: str, key: bytes, touched_ns: int) -> None:
        self.place = place
        self.key = key
        self.touched_ns = touched_ns
        """When the last of the files was touched."""


def looks_of(root: str, place: str, others: "Iterable[str]", version: str) -> Looks:
    """How things look now: `topics/` of a real root, and other files by path. OSError where `topics/` cannot be listed."""
    touched_ns = 0
    seen = [f"{_LAYOUT}\n{version}\n{root}\n{place}"]
    for path in others:
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            seen.append(f"{path} -")
            continue
        except OSError:
            seen.append(f"{path} ?")
            touched_ns = _NEVER_NS  # nothing made from what may be there is kept (P6)
            continue
        seen.append(f"{path} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}")
        touched_ns = max(touched_ns, status.st_mtime_ns, status.st_ctime_ns)
    state, newest_ns = _state_of(f"{root}/topics")
    seen.append(str(state))
    key = blake2b("\n".join(seen).encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES)
    return Looks(place, key.digest(), max(touched_ns, newest_ns))


def _state_of(directory: str) -> tuple[int, int]:
    """A number that is another one after any change of what is in the directory, and when the last of it was touched (epoch
    ns); zeros for a directory that is not there. A link is not followed.

    A sum has no order, so that nothing need be sorted. Names need not be in it: a new name is a new time of change of the
    file, and of its directory. The hash of whole numbers is the same in every process, other than that of texts.
    """
    try:
        # Through its descriptor each `stat` looks up one name, and not the whole path again.
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0, 0
    try:
        status = os.fstat(descriptor)
        state, newest_ns = hash((status.st_mtime_ns, status.st_ino)), status.st_mtime_ns
        with os.scandir(descriptor) as found:
            for entry in found:
                try:
                    each = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone meanwhile: the directory tells it the next time
                    continue
                state += hash((each.st_mtime_ns, each.st_ctime_ns, each.st_size, each.st_ino))
                newest_ns = max(newest_ns, each.st_ctime_ns)
    finally:
        close_quietly(descriptor)
    return state, newest_ns


def read_shelf(root: str, looks: Looks, now_ms: int) -> Shelf | None:
    """What was kept, if it was made from just this and nothing in it has run out; None where it is to be made anew."""
    data = read_loosely(_path(root, looks), _MAX_BYTES)
    if blake2b(data[_DIGEST_BYTES:], digest_size=_DIGEST_BYTES).digest() != data[:_DIGEST_BYTES]:
        return None
    key, good_until_ms, budget, profiles, more, passages = marshal.loads(data[_DIGEST_BYTES:])
    if key != looks.key or (good_until_ms is not None and good_until_ms <= now_ms):
        return None
    return Shelf(tuple(Passage(*each) for each in passages), budget, profiles, good_until_ms, more)


def keep_shelf(root: str, looks: Looks, shelf: Shelf, looked_at_ns: int) -> None:
    """Keep it for the next time. Not where a file was touched shortly before it was looked at: a later write within the
    clock's grain would look the same. Without it the next hook is slower, so no OSError leaves this."""
    if looks.touched_ns + _GRAIN_NS > looked_at_ns:
        return
    passages = [each.values for each in shelf.passages]
    profiles = {name: dict(shares) for name, shares in shelf.profiles.items()}
    content = marshal.dumps((looks.key, shelf.good_until_ms, shelf.budget, profiles, shelf.more, passages), 2)
    data = blake2b(content, digest_size=_DIGEST_BYTES).digest() + content
    try:
        directory = f"{root}/{DIRECTORY}"
        make_directories(directory)
        _drop_some(directory)
        replace_loosely(_path(root, looks), (data,))
    except OSError:
        return


def _path(root: str, looks: Looks) -> str:
    # A name for any scope (P21); that it is the right one is told by the key.
    return f"{root}/{DIRECTORY}/{blake2b(looks.place.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"


def _drop_some(directory: str) -> None:
    names = os.listdir(directory)
    if len(names) >= _MOST_PLACES:
        for name in names:
            os.unlink(f"{directory}/{name}")
