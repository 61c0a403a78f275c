"""`man memory`: every command on one page, in the macros of man(7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from agent_memory import __version__
from agent_memory.surfaces.shell.command_facts import CommandFacts, Option


def man_page(commands: Sequence[CommandFacts], exit_codes: dict[int, str]) -> str:
    """The page in section 1."""
    return (
        f'.TH MEMORY 1 "" "agent\\-memory {_text(__version__)}" "User commands"\n'
        ".SH NAME\nmemory \\- the memory your coding agents share\n"
        ".SH SYNOPSIS\n.B memory\n.I command\n.RI [ arguments ]\n"
        ".SH DESCRIPTION\n"
        "Plain markdown files in a git repository, filled and kept tidy by themselves, read by every agent you use. "
        "With \\fB\\-\\-json\\fR a command prints one JSON document instead of text.\n"
        ".SH COMMANDS\n"
        + "".join(_command(each) for each in commands)
        + ".SH EXIT STATUS\n"
        + "".join(f".TP\n.B {code}\n{_text(meaning)}\n" for code, meaning in exit_codes.items())
        + ".SH ENVIRONMENT\n"
        + ".TP\n.B AGENT_MEMORY_ROOT\nwhere the memories are kept\n"
        + ".TP\n.B NO_COLOR\nno colour, whatever its value\n"
        + ".SH FILES\n"
        + ".TP\n.I ~/.config/agent\\-memory/config.json\nyour config; \\fBmemory config\\fR shows what holds\n"
        + ".TP\n.I ~/.local/state/agent\\-memory/\nwhat this machine keeps for itself: locks, receipts, logs\n"
    )


def _command(command: CommandFacts) -> str:
    usage = _text(command.usage.removeprefix("memory "))
    operands = "".join(
        f".TP\n.I {_text(each.name)}\n{_text(each.meaning)}\n" for each in command.operands if each.meaning
    )
    options = "".join(_option(each) for each in command.options if each.flags != ("-h", "--help"))
    return f".SS memory {_text(command.name)}\n{_text(command.summary)}\n.PP\n.B memory\n{usage}\n{operands}{options}{_closing(command.closing)}"


def _closing(closing: str) -> str:
    """Prose is filled; indented lines, which are examples, stay as they are."""
    made = ""
    for is_example, lines in groupby(closing.splitlines(), key=lambda line: line.startswith("  ")):
        text = _text("\n".join(line.strip() for line in lines if line.strip()))
        if text:
            made += f".PP\n.nf\n.RS 4\n{text}\n.RE\n.fi\n" if is_example else f".PP\n{text}\n"
    return made


def _option(option: Option) -> str:
    value = f" \\fI{_text(option.value)}\\fR" if option.value is not None else ""
    flags = ", ".join(f"\\fB{_text(flag)}\\fR{value}" for flag in option.flags)
    choices = f" ({', '.join(option.choices)})" if option.choices and option.choices[0] not in option.meaning else ""
    return f".TP\n{flags}\n{_text(option.meaning + choices)}\n"


def _text(text: str) -> str:
    """Nothing in it is a request or an escape of roff's."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in escaped.split("\n"))
