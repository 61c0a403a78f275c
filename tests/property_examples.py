"""A plugin of pytest: how many examples of each property are tried, and how much of what takes long is measured.

With `--hypothesis-profile=thorough` as many are tried as the test says, else a quarter of them. Where coverage is measured,
the first two seconds of a test are, and nothing of one that is marked `large`: what is measured takes two to five times as
long, and the hundredth example of the same sort reaches no line that the tenth did not.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from hypothesis import settings

MEASURED_SECONDS = 2.0
"""Of the processor."""
_QUICK_SHARE = 0.25
_FEWEST_EXAMPLES = 10
_SETTINGS = "_hypothesis_internal_use_settings"


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """The quick number of examples for each property, unless the thorough ones are asked for."""
    if config.getoption("--hypothesis-profile") == "thorough":
        return
    quick = set[int]()
    for item in items:
        for place, name in ((_function(item), _SETTINGS), (getattr(item, "cls", None), "settings")):
            full = getattr(place, name, None)
            if isinstance(full, settings) and id(place) not in quick:
                quick.add(id(place))
                setattr(place, name, settings(full, max_examples=quick_number(full.max_examples)))


def quick_number(full: int) -> int:
    """As many examples as are tried of a property for which the test says `full`."""
    return min(full, max(_FEWEST_EXAMPLES, round(full * _QUICK_SHARE)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """The test, measured as far as it reaches something new."""
    measuring = sys.gettrace()
    if measuring is None:
        return (yield)
    if item.get_closest_marker("large"):
        sys.settrace(None)
    signal.signal(signal.SIGVTALRM, lambda *_: sys.settrace(None))
    signal.setitimer(signal.ITIMER_VIRTUAL, MEASURED_SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.settrace(measuring)


def _function(item: pytest.Item) -> Any:
    test = getattr(item, "obj", None)
    return getattr(test, "__func__", test)
