"""The spend ledger as text: `{"version": 1, "days": {"2026-02-13": {"calls": 3, "promptChars": 1200, "replyChars": 300}}}`."""

from __future__ import annotations

import json
import re

from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.spend import DaySpend, Spend
from agent_memory.errors import StateCorrupt

VERSION = 1
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def render_spend(spend: Spend) -> str:
    """JSON, the days in order."""
    days = {
        each.day: {"calls": each.calls, "promptChars": each.prompt_chars, "replyChars": each.reply_chars}
        for each in spend
    }
    return json.dumps({"version": VERSION, "days": days}, indent=1) + "\n"


def parse_spend(text: str, path: str) -> Result[Spend, StateCorrupt]:
    """What `render_spend` wrote; anything else is StateCorrupt, never an empty ledger (P6)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    if not is_object(document) or document.get("version") != VERSION or not is_object(document.get("days")):
        return Failure(StateCorrupt(path, (f"it is not a spend ledger of version {VERSION}",)))
    days = document["days"]
    problems = tuple(f"days.{day}: is not a day's spend" for day, spent in days.items() if not _is_spend(day, spent))
    if problems:
        return Failure(StateCorrupt(path, problems))
    return Success(
        tuple(
            DaySpend(day, each["calls"], each["promptChars"], each["replyChars"]) for day, each in sorted(days.items())
        )
    )


def _is_spend(day: str, spent: object) -> bool:
    return (
        _DAY.fullmatch(day) is not None
        and is_object(spent)
        and all(type(spent.get(key)) is int and spent[key] >= 0 for key in ("calls", "promptChars", "replyChars"))
    )
