"""The agent commands: the built-in presets (how each vendor's command answers a piped prompt with its tools, hooks and
session files off), and the messages by which such a command says that it cannot serve now (P9).

Both are data, in `presets.toml`; nothing here runs anything.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pkgutil import get_data
from typing import Any, Literal

from attrs import field, frozen

from agent_memory.text.json_shape import is_list

PRIVATE_DIRECTORY = "{private}"
"""A placeholder in `env` for the private directory in which an agent command runs."""


@frozen
class Preset:
    """An agent command. `argv` never passes through a shell."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict[str, str])
    input: Literal["stdin", "argument"] = "stdin"
    """How the prompt is passed; as an argument it is the last one."""
    model_argv: tuple[str, ...] = ()
    """Precedes the model's name when `llm.model` is set; both follow the first `model_at` elements of `argv`."""
    model_at: int = 1
    model_required: bool = False
    variables: tuple[str, ...] = ()
    """The vendor's documented variables that are passed on if set: logins, endpoints, own directories."""
    files: Mapping[str, str] = field(factory=dict[str, str])
    """Names and texts of files to write to the private directory first."""
    keeps_tools: bool = False
    """True if its tools cannot be switched off, so that it runs only with `llm.allowTools`."""

    def with_model(self, model: str | None) -> tuple[str, ...]:
        if model is None:
            return self.argv
        return (*self.argv[: self.model_at], *self.model_argv, model, *self.argv[self.model_at :])


_DATA: Mapping[str, Any] = tomllib.loads((get_data("agent_memory", "presets.toml") or b"").decode())


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    lists = _DATA["variables"]
    return tuple(each for name in names for each in (_listed(lists[name[1:]]) if name.startswith("@") else (name,)))


def _read(told: Mapping[str, Any]) -> Mapping[str, Any]:
    read: dict[str, Any] = {key: tuple(value) if is_list(value) else value for key, value in told.items()}
    return {**read, "variables": _listed(told["variables"])}


ANY_PROVIDER = _listed(("@any",))
PRESETS: Mapping[str, Preset] = {name: Preset(name, **_read(told)) for name, told in _DATA["preset"].items()}
"""Every built-in preset that runs a command, by its name; `builtin` runs none."""


# -- messages that it cannot serve now ---------------------------------------------------------------------------------


MESSAGE_MAX_CHARS = 600
"""A reply longer than this is an answer, whatever it says."""

_STATUS = r"\b(?:status|code|http(?:/[\d.]+)?|error)[\s:=(\"']{1,3}(?:code[\s:=]{1,2})?"

_STATUSES = {
    401: "login",
    402: "quota",
    403: "login",
    429: "rate-limit",
    529: "rate-limit",
    **dict.fromkeys(range(500, 505), "network"),
}

_STATUS_LINE = re.compile(r"\W*(?:api |http |request )?error\b[\s:(]*(\d{3})\b", re.IGNORECASE)
_LEAD = r"\W*(?:(?:api |fatal |request )?error\b\W*)?"


@cache
def _patterns(lead: str = "") -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Returns a pattern for each cause: of the phrases, all beginning with `lead`, or without one of phrases and signs.
    Compiled only once a command has answered: it takes longer than most commands."""
    causes = _DATA["phrases"].items() if lead else (*_DATA["phrases"].items(), *_DATA["signs"].items())
    spelled = ((cause, lines.strip().replace("\n", "|").replace("«status»", _STATUS)) for cause, lines in causes)
    return tuple((cause, re.compile(f"{lead}(?:{each})", re.IGNORECASE)) for cause, each in spelled)


def message_cause(reply: str) -> str | None:
    """Returns why the command cannot serve now (`login quota rate-limit network config`) if its whole reply is a
    message that says so. None for a possible answer: anything long, or with a brace and no error status before it."""
    text = reply.strip()
    if len(text) > MESSAGE_MAX_CHARS:
        return None
    if status := _STATUS_LINE.match(text):
        return _STATUSES.get(int(status[1]))
    if "{" in text:
        return None
    return next((cause for cause, pattern in _patterns(_LEAD) if pattern.match(text)), None)


def failure_cause(printed: str) -> str | None:
    """Returns why a failed command cannot serve now, if anything that it printed is a sign of it."""
    return next((cause for cause, pattern in _patterns() if pattern.search(printed)), None)
