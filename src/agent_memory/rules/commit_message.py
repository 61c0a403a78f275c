"""What `git commit` is given: a message that is readable, bounded, free of secrets and cannot forge a trailer, and the
options from `storage.commitHook`. No shell ever sees them (P21)."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping

from returns.result import Failure, Result, Success

from agent_memory.redaction.redact import redact

_SUBJECT_CHARS = 120
_LINE_CHARS = 300
_FALLBACK = "Update memories"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_GAP = re.compile(r"\n{3,}")
_TRAILER = re.compile(r"[A-Za-z0-9-]+[ \t]*:|\(cherry picked from|---(?:\s|$)")
"""A line beginning that git takes for a trailer, or for the end of the message (git-interpret-trailers(1))."""


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def _body_line(line: str) -> str:
    line = _cut(_CONTROL.sub("", line).rstrip(), _LINE_CHARS)
    return f"- {line}" if _TRAILER.match(line) else line


def commit_message(subject: str, body: str = "") -> str:
    """Returns the message for git: one subject line, an empty line, the body; all without secrets.

    A line of the body that git would read as a trailer, or as following the trailers, becomes a list item, so that only
    the template writes trailers. Git's own `whitespace` clean-up would change nothing in it.
    """
    first = _cut(" ".join(_CONTROL.sub(" ", redact(subject).text).split()), _SUBJECT_CHARS) or _FALLBACK
    lines = [_body_line(line) for line in redact(body).text.splitlines()]
    shown = lines[:200]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown)} lines more")
    return "\n\n".join(filter(None, (first, _GAP.sub("\n\n", "\n".join(shown)).strip("\n")))) + "\n"


# -- the template -----------------------------------------------------------------------------------------------------

PLACEHOLDERS = ("threadId", "harness")
"""The names that a template may use, as in `{threadId}`."""

_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._:/@+~=-]+")

_WITH_VALUE = frozenset({"--trailer", "--author"})
_ALONE = frozenset({"--signoff", "-s", "--no-signoff", "--no-verify", "-n", "--quiet", "-q"})


CommandTemplate = tuple[tuple[str, ...], ...]
"""A checked template: the options after `git commit`, each with its value if it has one."""


def parse_command_template(text: str) -> Result[CommandTemplate, str]:
    """Returns the template, or a phrase that says what is wrong with it.

    It must begin with `git commit`. After that, only options that describe the commit are allowed; those that choose
    what is committed, rewrite history, run an editor or ask for a key are not for a template to decide.
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
    options: list[tuple[str, ...]] = []
    rest = iter(elements[2:])
    for element in rest:
        name, equals, _ = element.partition("=")
        if element in _ALONE or (name in _WITH_VALUE and equals):
            options.append((element,))
        elif element not in _WITH_VALUE:
            return Failure(f"{element} is not one of {', '.join(sorted(_WITH_VALUE | _ALONE))}")
        elif (value := next(rest, None)) is None:
            return Failure(f"{element} needs a value")
        else:
            options.append((element, value))
    return Success(tuple(options))


def one_word(value: str) -> str:
    """Returns `value` as one line of letters, digits and `._:/@+~=-`, at most 200 characters; anything else becomes
    `_`."""
    return _NOT_ALLOWED.sub("_", value.strip())[:200]


def filled(template: CommandTemplate, values: Mapping[str, str | None]) -> tuple[str, ...]:
    """Returns the options with every `{name}` replaced by its cleaned value. An option whose name has no value is left
    out."""
    known = {name: word for name, value in values.items() if value is not None and (word := one_word(value))}
    filled_in: list[str] = []
    for option in template:
        if all(name in known for element in option for name in _PLACEHOLDER.findall(element)):
            filled_in += (_PLACEHOLDER.sub(lambda found: known[found[1]], element) for element in option)
    return tuple(filled_in)


# -- paths ------------------------------------------------------------------------------------------------------------
# Which paths of a store a recorder commits, and to whom they are attributed.


IGNORED = ("inbox/", "histories/", "runs/", ".cache/", ".transaction/", ".tmp-*", ".git.broken-*")
"""The lines of the store's `.gitignore`: transient and derived files, and what is kept elsewhere."""

IGNORE_FILE = ".gitignore"
IGNORE_TEXT = "".join(f"{line}\n" for line in IGNORED)
"""The content of a new store's `.gitignore`."""

BOOKKEEPING = ("state", "usage")
"""Directories that only memory writes. Their changes go into the next commit and never count as a hand edit."""

_IGNORED_DIRECTORIES = tuple(line.rstrip("/") for line in IGNORED if line.endswith("/"))
_IGNORED_PREFIXES = tuple(line.rstrip("*") for line in IGNORED if line.endswith("*"))


def path_problem(path: str) -> str | None:
    """Returns why a path cannot be recorded, or None: it must be relative, and stay inside the root and outside `.git`."""
    parts = path.split("/")
    if not path or "\0" in path:
        return "it is not a path"
    if path.startswith("/"):
        return "it is not relative to the root"
    if ".." in parts:
        return "it leaves the root"
    if parts[0].casefold() == ".git":
        return "it is git's own"
    return None


def is_ignored(path: str) -> bool:
    """Returns whether `IGNORED` keeps a path out of the history, whatever the `.gitignore` on disk says."""
    parts = path.split("/")
    return parts[0] in _IGNORED_DIRECTORIES or any(part.startswith(_IGNORED_PREFIXES) for part in parts)


def is_bookkeeping(path: str) -> bool:
    return path.split("/")[0] in BOOKKEEPING


def wanted_of(changed: Iterable[str], asked: Iterable[str]) -> tuple[str, ...]:
    """Returns those of the changed paths that are asked for, or lie in a directory that is asked for; compared under
    NFC, in order."""
    names = {_plain(path) for path in asked}

    def is_asked(path: str) -> bool:
        parts = _plain(path).split("/")
        return any("/".join(parts[:count]) in names for count in range(1, len(parts) + 1))

    return tuple(filter(is_asked, changed))


def _plain(path: str) -> str:
    return unicodedata.normalize("NFC", "/".join(part for part in path.split("/") if part not in ("", ".")))


def holds_secret(path: str, text: str) -> bool:
    """Returns whether redaction finds something in the text of a file or in its name."""
    return bool(redact(text).found or redact(path).found)


def hand_edit_words(paths: tuple[str, ...]) -> tuple[str, str]:
    """Returns subject and body of the commit of a person's own changes."""
    count = len(paths)
    return f"hand edits: {count} file{'' if count == 1 else 's'}", "\n".join(paths)
