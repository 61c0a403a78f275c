"""What earlier examinations found in notes, by the hash of the file's content: `.cache/examined` of the store. Derived."""

from __future__ import annotations

from pathlib import Path

from agent_memory import __version__
from agent_memory.adapters.analysis.content_rows import ContentRows
from agent_memory.digests import sha256
from agent_memory.domain.checkup.note_look import NoteLook
from agent_memory.formats.note_look_row import parse_look, render_look

CACHE_NAME = "examined"
_PACKAGE = Path(__file__).parents[2]
_MAX_BYTES = 64 << 20
_JUDGES = ("domain/redaction.py", "domain/redacting", "domain/text", "domain/checkup", "formats")
"""By what a look depends on besides the note."""


class KeptLooks:
    """Looks at notes that are as they were. Another version, or other rules by which text is judged, believe none of them."""

    def __init__(self, root: Path, judges: str) -> None:
        self._rows = ContentRows(root, CACHE_NAME, judges, _MAX_BYTES)

    def recall(self, content_hash: str) -> NoteLook | None:
        """What was found in a note of this content; None where that is not known."""
        row = self._rows.recall(content_hash)
        return None if row is None else parse_look(row)

    def keep(self, content_hash: str, look: NoteLook) -> None:
        """Remember it, for good once `save` is called."""
        self._rows.keep(content_hash, render_look(look))

    def save(self) -> None:
        """Keep what was recalled or kept, and nothing else."""
        self._rows.save()


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
