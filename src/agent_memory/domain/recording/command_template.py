"""The template of `storage.commitHook`: the argv of `git commit`, with names to be filled in. No shell ever sees it (P21)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

PLACEHOLDERS = ("threadId", "harness")
"""What a template may name, as `{threadId}`."""

_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._:/@+~=-]+")
_LONGEST_VALUE_CHARS = 200

_TRAILER = "--trailer"
_WITH_VALUE = frozenset({_TRAILER, "--author"})
_WITHOUT_EFFECT = frozenset({"--no-signoff", "--no-verify", "-n", "--quiet", "-q"})
"""On the commits that we make."""
_ALONE = _WITHOUT_EFFECT | {"--signoff", "-s"}


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


def trailers_alone(options: Sequence[str]) -> tuple[str, ...] | None:
    """The trailers that these options ask for, where they ask for nothing else; None where they do."""
    trailers: list[str] = []
    rest = iter(options)
    for option in rest:
        name, equals, value = option.partition("=")
        if name == _TRAILER:
            trailers.append(value if equals else next(rest, ""))
        elif option not in _WITHOUT_EFFECT:
            return None
    return tuple(trailers)
