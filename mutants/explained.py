"""The survivors that may stay, each group with the reason: `mutants/explained.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

EXPLAINED = Path(__file__).with_name("explained.toml")


def reasons_by_change(text: str | None = None) -> Mapping[str, str]:
    """Why each change may survive, by the change as it is printed. A change that is listed twice is a ValueError."""
    document = tomllib.loads(EXPLAINED.read_text(encoding="utf-8") if text is None else text)
    reasons: dict[str, str] = {}
    for group in document["group"]:
        for change in group["changes"]:
            if change in reasons:
                raise ValueError(f"explained twice: {change}")
            reasons[change] = group["reason"]
    return reasons
