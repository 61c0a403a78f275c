"""A fuzz target, as a value, and where its inputs are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

HERE = Path(__file__).parent
SEEDS, CASES = HERE / "seeds", HERE / "cases"


@frozen
class Target:
    """Something that takes bytes from others."""

    name: str
    check: Callable[[bytes], None]
    """Raises for an input that breaks what holds for every input."""
    words: tuple[str, ...] = ()
    """What the format gives a meaning to."""

    def seeds(self) -> list[bytes]:
        """Inputs to begin with: `seeds/<name>/`, sorted by name."""
        return _contents(SEEDS / self.name)

    def cases(self) -> list[bytes]:
        """Inputs that once broke it: `cases/<name>/`, sorted by name."""
        return _contents(CASES / self.name)


def _contents(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(directory.iterdir())] if directory.is_dir() else []
