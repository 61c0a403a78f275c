"""What is kept is not looked through for garbage again and again."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


class _Collector:
    has_frozen = False


@contextmanager
def keeping_all() -> Generator[None, None, None]:
    """Without the cyclic collector: it would look again and again through many small values, all of which are kept.

    They end in its oldest generation without having been looked at (freezing and thawing moves lists, nothing else).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not _Collector.has_frozen and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def kept_for_good() -> None:
    """What is there by now is never looked through by the collector again: for what is kept as long as the process lasts."""
    gc.freeze()
    _Collector.has_frozen = True
