"""numpy, which the extra `semantic` brings: its import takes 70 ms and 12 MB."""

from __future__ import annotations

from typing import Any


def installed_numpy() -> Any:
    """The module, imported now; None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy
