"""What the parsers know of each command, apart from argparse."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from agent_memory.surfaces.cli.main import COMMANDS, command_parser
from agent_memory.values import frozen

PROGRAMS = ("memory", "agent-memory")


@frozen
class Option:
    """An option of a command."""

    flags: tuple[str, ...]
    meaning: str
    value: str | None
    """What its value is called; None where it takes none."""
    choices: tuple[str, ...] = ()


@frozen
class Operand:
    """An argument by position."""

    name: str
    meaning: str
    choices: tuple[str, ...] = ()
    is_file: bool = False


@frozen
class CommandFacts:
    """One command."""

    name: str
    summary: str
    usage: str
    options: tuple[Option, ...]
    operands: tuple[Operand, ...]
    closing: str
    """What its help page ends with."""


def command_facts() -> Iterator[CommandFacts]:
    """Every command, in the order of `memory --help`. Loads all of them."""
    for name, listed in COMMANDS.items():
        parser, _ = command_parser(name)
        actions = [each for each in parser._actions if each.help != argparse.SUPPRESS]
        yield CommandFacts(
            name=name,
            summary=listed.summary,
            usage=" ".join(parser.format_usage().removeprefix("usage: ").split()),
            options=tuple(_option(each) for each in actions if each.option_strings),
            operands=tuple(_operand(each) for each in actions if not each.option_strings),
            closing=parser.epilog or "",
        )


def _option(action: argparse.Action) -> Option:
    called = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Option(
        tuple(action.option_strings), _meaning(action), called if action.nargs != 0 else None, _choices(action)
    )


def _operand(action: argparse.Action) -> Operand:
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    return Operand(name, _meaning(action), _choices(action), name.upper() in ("FILE", "PATH"))


def _meaning(action: argparse.Action) -> str:
    return " ".join((action.help or "").split()).replace("%%", "%")


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(each) for each in action.choices or ())
