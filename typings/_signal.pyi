"""What `signal` is built on, which typeshed knows only by that name."""

from collections.abc import Callable
from typing import Any

SIGALRM: int
ITIMER_REAL: int

def signal(signalnum: int, handler: Callable[..., Any], /) -> Any: ...
def setitimer(which: int, seconds: float, interval: float = 0.0, /) -> tuple[float, float]: ...
