"""Replies of an agent command as text, and why one is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from returns.result import Failure, Result

from agent_memory.errors import Error, ReplyRefused

NONCE = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def envelope(**members: Any) -> str:
    return json.dumps({"version": 1, "nonce": NONCE, **members})


def refused_by(parse: Callable[[str, str], Result[Any, Error]], text: str) -> str:
    result = parse(text, NONCE)
    assert isinstance(result, Failure), result
    error = result.failure()
    assert isinstance(error, ReplyRefused)
    assert error.reasons
    return "; ".join(error.reasons)
