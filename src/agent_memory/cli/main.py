"""The `memory` command: finds the module for each command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, NoReturn, TextIO, cast

from agent_memory import __version__
from agent_memory.cli.console import Console, Options, can_erase, closest
from agent_memory.errors import Defect, Error, UsageInvalid


class Command(NamedTuple):
    """One line of `memory --help`, and the module of this package whose function `configure_NAME` declares the arguments."""

    module: str
    summary: str


COMMANDS: Mapping[str, Command] = {
    "capture": Command("capture", "put a session or a note into the inbox"),
    "backfill": Command("capture", "find past sessions and put the new ones into the inbox"),
    "watch": Command("capture", "capture sessions of harnesses without hooks when they go quiet"),
    "consolidate": Command("runs", "turn the inbox into notes"),
    "defrag": Command("runs", "tidy the notes and choose what every agent sees"),
    "list": Command("list_and_read", "list the notes"),
    "search": Command("search", "find notes by words and by meaning"),
    "read": Command("list_and_read", "print a note and count the read"),
    "sessions": Command("list_and_read", "list past sessions, and what became of them"),
    "inject": Command("inject", "print what an agent should know now, for hooks"),
    "handoff": Command("inject", "print what a session was asked, did and left open"),
    "checkpoint": Command("inject", "keep where a session stands, so that it can be taken up again"),
    "recover": Command("inject", "take up a session that broke off"),
    "remember": Command("write_notes", "store a note right away"),
    "edit": Command("write_notes", "change a note"),
    "pin": Command("write_notes", "keep a note in front of every agent"),
    "unpin": Command("write_notes", "let defrag decide about a pinned note again"),
    "promote": Command("write_notes", "vouch for a note, so that agents see it"),
    "archive": Command("write_notes", "move a note to the archive"),
    "restore": Command("write_notes", "bring back an archived note, or the text before a change"),
    "forget": Command("write_notes", "delete a note, or everything from a session, for good"),
    "serve": Command("serve", "see everything in your browser, and decide"),
    "mcp": Command("serve", "serve the memory to MCP clients"),
    "state": Command("state_and_tags", "keep small values by key, for programs"),
    "links": Command("why_and_links", "show what a note links to and what links to it"),
    "tags": Command("state_and_tags", "show, accept and rename tags"),
    "scope": Command("state_and_tags", "show and rename the places that notes belong to"),
    "why": Command("why_and_links", "show where a note comes from and why it has its tier"),
    "generate-agents-md": Command("inject", "write the managed section of AGENTS.md and similar files"),
    "log": Command("runs", "list past runs"),
    "diff": Command("runs", "show what a run changed, or all that changed since a day"),
    "show": Command("list_and_read", "show the notes as they were"),
    "undo": Command("runs", "take back a run"),
    "doctor": Command("care", "check the store and repair what is safe to repair"),
    "status": Command("care", "show what is waiting, what went wrong and what was spent"),
    "review": Command("review", "decide about notes that wait for you"),
    "stats": Command("care", "count notes, reads, calls and runs"),
    "eval": Command("evaluate", "measure whether notes are told when they would help"),
    "sync": Command("sync", "merge with your other machines through a git remote"),
    "share": Command("sync", "put notes into the repository, for your team"),
    "unshare": Command("sync", "take a shared note out of the repository"),
    "merge-driver": Command("sync", "merge two versions of a note, for git"),
    "config": Command("settings", "show and change the settings"),
    "pause": Command("settings", "capture nothing and tell agents nothing for a while"),
    "resume": Command("settings", "end a pause"),
    "bootstrap": Command("import_export", "propose the first notes about a project from its files and history"),
    "import": Command("import_export", "take over what another memory knows"),
    "export": Command("import_export", "write notes in the format of another memory"),
    "setup": Command("setup_and_schedule", "connect your coding agents to memory"),
    "uninstall": Command("setup_and_schedule", "remove what setup added"),
    "schedule": Command("setup_and_schedule", "run consolidate and defrag regularly on this machine"),
    "completions": Command("settings", "print a completion script for your shell"),
    "trust": Command("settings", "trust a config file, or the notes of your team"),
}

GROUPS: Mapping[str, Sequence[str]] = {
    "Get started": ("setup", "schedule", "bootstrap", "backfill", "import", "status"),
    "Notes": ("search", "list", "read", "sessions", "remember", "review", "edit", "pin", "archive", "forget"),
    "Runs": ("consolidate", "log", "undo", "why"),
    "Care": ("serve", "doctor", "sync", "pause", "config"),
}
"""The commands that people use, as `memory --help` shows them; the others are plumbing."""

_EARLIER: Mapping[str, Sequence[str]] = {
    "install-cron": ("schedule", "on"),
    "uninstall-cron": ("schedule", "off"),
    "run-scheduled": ("schedule", "run"),
}
"""Earlier names of commands, by which schedulers and scripts still call them."""


_SILENT = frozenset({"capture", "inject", "mcp", "schedule run", "merge-driver"})
"""Commands that no person reads: they leave it to others to report what went wrong in the background."""


_GO_ON = frozenset({"mcp", "schedule run", "serve", "watch"})
"""Commands that print messages as they happen."""


_UNSHOWN = partial(argparse.RawDescriptionHelpFormatter, width=80)
"""With this argparse checks each argument as it is added without asking for the width of the terminal, for which it
would load every compressor there is."""


class Parser(argparse.ArgumentParser):
    """Errors become one sentence on stderr and exit code 2. Paragraphs of an epilog without line breaks are wrapped at
    80."""

    def format_help(self) -> str:
        import textwrap

        paragraphs = (self.epilog or "").split("\n\n")
        self.epilog = "\n\n".join(each if "\n" in each else textwrap.fill(each, 80) for each in paragraphs)
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        hint = f"See `{self.prog} --help`."
        _, unknown, words = message.partition("unrecognized arguments: ")
        example = (self.epilog or "").rpartition("Example:\n  ")[2]
        if unknown and words.startswith("-"):
            options = [option for action in self._actions for option in action.option_strings]
            hint = f"{closest(words.split()[0].partition('=')[0], options)}{hint}"
        elif unknown and example.startswith("memory "):
            hint = f"For example: `{example.strip()}`. {hint}"
        sys.exit(_failed(UsageInvalid(_sentence(message), hint)))


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:].rstrip(".")


def _failed(error: Error) -> int:
    """Reports what ends the process; returns the exit code."""
    return Console(sys.stdout, sys.stderr, json="--json" in sys.argv).fail(error)


def overview() -> argparse.ArgumentParser:
    """Returns the parser of `memory` itself, which knows the commands by name and summary only."""
    import textwrap

    used = [name for names in GROUPS.values() for name in names]
    width = max(map(len, used))
    lines: list[str] = []
    for heading, names in GROUPS.items():
        lines += [f"{heading}:", *(f"  {name:{width}}  {COMMANDS[name].summary}" for name in names), ""]
    others = ", ".join(name for name in COMMANDS if name not in used)
    plumbing = textwrap.fill(others, 78, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    parser = Parser(
        prog="memory",
        usage="memory COMMAND [ARGUMENTS …]",
        description="The memory your coding agents share: plain markdown in a git repository.",
        epilog="\n".join((*lines, "Plumbing:", plumbing, "", "`memory help COMMAND` explains one.")),
        formatter_class=_UNSHOWN,
    )
    parser.add_argument("--version", action="version", version=f"agent-memory {__version__}")
    return parser


def command_parser(name: str) -> argparse.ArgumentParser:
    """Returns the parser of one command, with `--json`; its result has the function that carries out the command as
    `command`."""
    command = COMMANDS[name]
    parser = Parser(
        prog=f"memory {name}",
        description=_sentence(command.summary) + ".",
        formatter_class=_UNSHOWN,
        allow_abbrev=False,
    )
    module = import_module(f"agent_memory.cli.{command.module}")
    options = Options(parser)
    getattr(module, f"configure_{name.replace('-', '_')}")(options)
    options.flag("--json", "print one JSON document instead of text")
    return parser


def run_command(argv: Sequence[str]) -> int:
    """Carries out one call and returns the exit code. `argv` is without the program's name."""
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:  # bytes that are not UTF-8 arrive as halves of surrogate pairs
            return _failed(UsageInvalid(f"The argument {word!r} is not UTF-8 text"))
    words = [word for word in argv if word != "--json"] if argv[:1] == ["--json"] else list(argv)
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    words = [*_EARLIER.get(words[0], words[:1]), *words[1:]] if words else []
    if not words or words[0].startswith("-"):
        parser = overview()
        parser.parse_args(words)
        parser.print_help()
        return 0
    name = words[0]
    if name not in COMMANDS:
        hint = closest(name, COMMANDS, "`memory {}`").rstrip() or "`memory --help` lists the commands."
        return _failed(UsageInvalid(f"There is no command {name!r}", hint))
    act = "schedule run" if words[:2] == ["schedule", "run"] else name
    as_json = "--json" in argv
    console = Console(sys.stdout, sys.stderr, json=as_json, holds=as_json and act not in _GO_ON)
    try:
        arguments = _parsed(command_parser(name), words[1:])
        if act not in _SILENT and not as_json:
            # Reported once: that a scheduled run has failed.
            from agent_memory.capture.hook_files import COMMAND, take_notice
            from agent_memory.files.root import home_of

            if (notice := take_notice(home_of(os.environ), COMMAND)) is not None:
                console.warn(f"{notice} (`memory status` says more)")
        return arguments.command(arguments, console) or 0
    except Error as error:
        return console.fail(error)
    finally:
        console.close()


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Returns the arguments in these words. Operands may stand on both sides of an option, as in `search lock --kind
    lesson zebra`: argparse alone takes them from one place. Ends the process with a sentence if the words are wrong."""
    if mute := next((word for word in words if word.startswith("--") and word.endswith("=--")), None):
        # Argparse itself would stumble over it.
        parser.error(f"argument {mute.removesuffix('=--')}: -- is not a value")
    arguments, left = parser.parse_known_args(words)
    if not left:
        return arguments
    before = left[: left.index("--")] if "--" in left else left
    try:
        if not any(word.startswith("-") for word in before):
            return parser.parse_intermixed_args(words)
    except TypeError:  # for a parser in which an operand and an option exclude each other
        pass
    return parser.parse_args(words)  # which says what is wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Like `run_command`, for a process: an interrupt, an output that is refused and a bug end it with a fitting code."""
    with guarded_streams() as out:
        code = _ended(sys.argv[1:] if argv is None else argv)
        out.flush()
        if out.refused is None or code > 1:  # 1 is not an error: what was found could not be printed
            return code
        from agent_memory.files.paths import store_io

        return _failed(store_io(out.refused, "write to", "standard output"))


def _ended(argv: Sequence[str]) -> int:
    try:
        return run_command(argv)
    except SystemExit as ended:  # a help page, an error of argparse, a signal while the agent command was at work
        return ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:
        _erase_line()
        print("memory: Interrupted. What was written so far is complete.", file=sys.stderr)
        return 130
    except Exception as bug:  # noqa: BLE001 - the outermost frame: a person gets a sentence, not a traceback
        if os.environ.get("AGENT_MEMORY_DEBUG"):
            import traceback

            traceback.print_exc()
        _erase_line()
        called = " ".join(sys.argv[1:2])
        return _failed(Defect(f"`memory {called}`", f"{bug!r} (AGENT_MEMORY_DEBUG=1 shows where)"))


def _erase_line() -> None:
    if can_erase(sys.stderr):
        sys.stderr.write("\x1b[K")


class Output:
    """Writes to a stream until the stream refuses, then discards everything. A character that its encoding lacks is
    escaped."""

    def __init__(self, stream: TextIO | None, descriptor: int) -> None:
        self._stream = stream if stream is not None else open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lasts
        self._descriptor = descriptor
        self.refused: OSError | None = None
        """The stream's refusal; None for a reader that went away, which is its right."""
        reconfigure = getattr(self._stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")

    def write(self, text: str, /) -> int:
        """Never raises OSError."""
        try:
            self._stream.write(text)
        except OSError as error:
            self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Never raises OSError."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _give_up(self, error: OSError) -> None:
        if not isinstance(error, BrokenPipeError):
            self.refused = error
        # What the stream has buffered would be tried, and refused, once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._descriptor)


@contextmanager
def guarded_streams() -> Generator[Output, None, None]:
    """Makes `sys.stdout` and `sys.stderr` `Output`s in the block; yields the one for stdout."""
    # The descriptor of a closed stream gets the null device, lest a file of the store gets it.
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    before = sys.stdout, sys.stderr
    out, err = Output(sys.stdout, 1), Output(sys.stderr, 2)
    sys.stdout, sys.stderr = cast("TextIO", out), cast("TextIO", err)
    try:
        yield out
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before
