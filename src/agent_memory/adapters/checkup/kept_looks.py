"""What earlier examinations found in notes, by the hash of the file's content: `.cache/examined` of the store. Derived."""

from __future__ import annotations

from pathlib import Path

from agent_memory import __version__
from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.digests import sha256
from agent_memory.domain.checkup.note_look import NoteLook
from agent_memory.formats.note_looks_file import parse_looks, render_looks

CACHE_NAME = "examined"
_PACKAGE = Path(__file__).parents[2]
_MAX_BYTES = 64 << 20
"""More is not kept."""
_JUDGES = ("domain/redaction.py", "domain/redacting", "domain/text", "domain/checkup", "formats")
"""By what a look depends on besides the note."""


class KeptLooks:
    """Looks at notes that are as they were. Another version, or other rules by which text is judged, believe none of them. A file
    that is absent, damaged or of others is begun anew, and one that cannot be written is done without."""

    def __init__(self, root: Path, judges: str, max_bytes: int = _MAX_BYTES) -> None:
        self._root, self._judges, self._max_bytes = root, judges, max_bytes
        self._known: dict[str, NoteLook] | None = None
        self._used: dict[str, NoteLook] = {}

    def recall(self, content_hash: str) -> NoteLook | None:
        """What was found in a note of this content; None where that is not known."""
        look = self._looks().get(content_hash)
        if look is not None:
            self._used[content_hash] = look
        return look

    def keep(self, content_hash: str, look: NoteLook) -> None:
        """Remember it, for good once `save` is called."""
        self._used[content_hash] = look

    def save(self) -> None:
        """Keep what was recalled or kept, and nothing else. It takes no memory any more: whoever asks on begins anew."""
        if self._used.keys() != self._looks().keys():
            data = render_looks(self._judges, self._used)
            if len(data) <= self._max_bytes:
                write_derived(self._root, CACHE_NAME, data)
        self._known, self._used = None, {}

    def _looks(self) -> dict[str, NoteLook]:
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
