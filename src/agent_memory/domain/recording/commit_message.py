"""What `git commit` is given: a message that is readable, bounded, free of secrets and unable to forge a trailer, and the options of
`storage.commitHook`. No shell ever sees them (P21)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.redaction import redact

_SUBJECT_CHARS = 120
_BODY_LINES = 200
_LINE_CHARS = 300
_FALLBACK = "Update memories"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_GAP = re.compile(r"\n{3,}")
_TRAILER = re.compile(r"[A-Za-z0-9-]+[ \t]*:|\(cherry picked from|---(?:\s|$)")
"""What git takes for a trailer, or for the end of the message, where it begins a line (git-interpret-trailers(1))."""


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def _body_line(line: str) -> str:
    line = _cut(_CONTROL.sub("", line).rstrip(), _LINE_CHARS)
    return f"- {line}" if _TRAILER.match(line) else line


def commit_message(subject: str, body: str = "") -> str:
    """The message that git is given: one subject line, then the body after an empty line; both without secrets.

    A line of the body that git would read as a trailer, or as what comes after them, becomes a list item, so that only the template writes trailers. Git's
    own `whitespace` cleanup would change nothing in it.
    """
    first = _cut(" ".join(_CONTROL.sub(" ", redact(subject).text).split()), _SUBJECT_CHARS) or _FALLBACK
    lines = [_body_line(line) for line in redact(body).text.splitlines()]
    shown = lines[:_BODY_LINES]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown)} lines more")
    return "\n\n".join(filter(None, (first, _GAP.sub("\n\n", "\n".join(shown)).strip("\n")))) + "\n"


# -- the template -----------------------------------------------------------------------------------------------------

PLACEHOLDERS = ("threadId", "harness")
"""What a template may name, as `{threadId}`."""

_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._:/@+~=-]+")
_LONGEST_VALUE_CHARS = 200

_WITH_VALUE = frozenset({"--trailer", "--author"})
_ALONE = frozenset({"--signoff", "-s", "--no-signoff", "--no-verify", "-n", "--quiet", "-q"})


@frozen
class CommandTemplate:
    """A checked template: the options after `git commit`, each with its value if it has one."""

    options: tuple[tuple[str, ...], ...]


def parse_command_template(text: str) -> Result[CommandTemplate, str]:
    """The template, or what is wrong with it as a phrase.

    It must begin with `git commit`; after that only options that describe the commit are let through: the ones that
    choose what is committed, rewrite history, run an editor or ask for a key are ours to decide.
    """
    try:
        elements = shlex.split(text)
    except ValueError as error:
        return Failure(f"cannot be split into arguments: {error}")
    if elements[:2] != ["git", "commit"]:
        return Failure("must begin with `git commit`")
    unknown = sorted({name for name in _PLACEHOLDER.findall(text) if name not in PLACEHOLDERS})
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        return Failure(f"names {{{unknown[0]}}}, which is not one of {known}")
    return _options_of(elements[2:])


def _options_of(elements: list[str]) -> Result[CommandTemplate, str]:
    options: list[tuple[str, ...]] = []
    rest = iter(elements)
    for element in rest:
        name, equals, _ = element.partition("=")
        if name in _WITH_VALUE and equals:
            options.append((element,))
        elif element in _WITH_VALUE:
            value = next(rest, None)
            if value is None:
                return Failure(f"{element} needs a value")
            options.append((element, value))
        elif element in _ALONE:
            options.append((element,))
        else:
            return Failure(f"{element} is not one of {', '.join(sorted(_WITH_VALUE | _ALONE))}")
    return Success(CommandTemplate(tuple(options)))


def one_word(value: str) -> str:
    """`value` as one line of letters, digits and `._:/@+~=-`, at most 200 characters; anything else becomes `_`."""
    return _NOT_ALLOWED.sub("_", value.strip())[:_LONGEST_VALUE_CHARS]


def filled(template: CommandTemplate, values: Mapping[str, str | None]) -> tuple[str, ...]:
    """The options with every `{name}` replaced by its cleaned value. An option that names what has no value is left out."""
    known = {name: word for name, value in values.items() if value is not None and (word := one_word(value))}
    filled_in: list[str] = []
    for option in template.options:
        if all(name in known for element in option for name in _PLACEHOLDER.findall(element)):
            filled_in += (_PLACEHOLDER.sub(lambda found: known[found[1]], element) for element in option)
    return tuple(filled_in)
