"""What earlier examinations found in notes, by the file and the hash of its content: `.cache/examined` of the store. Derived."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import eq
from pathlib import Path

from agent_memory import __version__
from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.digests import sha256
from agent_memory.domain.checkup.note_look import NoteLook
from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.tagging.alike_tags import AlikeTags
from agent_memory.formats.note_looks_file import Looks, parse_looks, render_looks

CACHE_NAME = "examined"
_PACKAGE = Path(__file__).parents[2]
_MAX_BYTES = 64 << 20
"""More is not kept."""
_JUDGES = (
    *("domain/redaction.py", "domain/redacting", "domain/text", "domain/checkup", "formats"),
    *("domain/tagging", "domain/searching/terms.py"),
)
"""By what a look depends on besides the note, and which tags are alike."""
_NOTHING = NoteLook()


class KeptLooks:
    """Looks at notes that are as they were. Another version, or other rules by which text is judged, believe none of them. A file
    that is absent, damaged or of others is begun anew, and one that cannot be written is done without."""

    def __init__(self, root: Path, judges: str, max_bytes: int = _MAX_BYTES) -> None:
        self._root, self._judges, self._max_bytes = root, judges, max_bytes
        self._known: Looks | None = None
        self._new: dict[str, tuple[str, NoteLook]] = {}
        self._tags: AlikeTags | None = None

    def known(self, notes: Sequence[Listed]) -> list[bool]:
        """Of each of the notes, whether it was looked at as it is."""
        return list(map(eq, map(self._looks().hashes.get, column_of(notes, "path")), column_of(notes, "content_hash")))

    def odd(self, notes: Sequence[Listed]) -> list[bool]:
        """Of each of the notes, whether something was found when its file was looked at, as it is or as it was."""
        return list(map(self._looks().odd.__contains__, column_of(notes, "path")))

    def recall(self, note: Listed) -> NoteLook | None:
        """What was found in a note; None where it was not looked at as it is."""
        known = self._looks()
        return known.odd.get(note.path, _NOTHING) if known.hashes.get(note.path) == note.content_hash else None

    def keep(self, note: Listed, look: NoteLook) -> None:
        """Remember it, for good once `save` is called."""
        self._new[note.path] = (note.content_hash, look)

    def tags(self) -> AlikeTags:
        """Which tags were alike."""
        return self._looks().tags

    def keep_tags(self, tags: AlikeTags) -> None:
        """Remember these in their place."""
        self._tags = tags

    def save(self, notes: Sequence[Listed]) -> None:
        """Keep what is known of these notes, as they are, and nothing else. It takes no memory any more: whoever asks on begins
        anew."""
        known = self._looks()
        paths = list(compress(column_of(notes, "path"), self.known(notes)))
        tags = known.tags if self._tags is None else self._tags
        if self._new or len(paths) < len(known.hashes) or tags != known.tags:
            hashes = dict(zip(paths, map(known.hashes.__getitem__, paths), strict=True))
            hashes |= {path: content_hash for path, (content_hash, _) in self._new.items()}
            odd = {path: look for path, look in known.odd.items() if path in hashes and path not in self._new}
            odd |= {path: look for path, (_, look) in self._new.items() if look != _NOTHING}
            data = render_looks(self._judges, Looks(hashes, odd, tags))
            if len(data) <= self._max_bytes:
                write_derived(self._root, CACHE_NAME, data)
        self._known, self._new, self._tags = None, {}, None

    def _looks(self) -> Looks:
        if self._known is None:
            self._known = parse_looks(self._judges, read_derived(self._root, CACHE_NAME, self._max_bytes) or b"")
        return self._known


def judges(package: Path = _PACKAGE) -> str | None:
    """What stands for all rules by which a note is looked at: version, and the bytes of the modules. None where they cannot
    be read, and so nobody can tell whether a look of before would be the same today."""
    digest = sha256(__version__.encode())
    try:
        for judge in _JUDGES:
            place = package / judge
            for path in [place] if place.suffix else sorted(place.glob("**/*.py")):
                digest.update(path.read_bytes())
    except OSError:
        return None
    return digest.hexdigest()
