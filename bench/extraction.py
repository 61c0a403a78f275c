"""How much of what a thoughtful engineer would keep of real sessions the extraction finds, and how much junk it keeps.

    python -m bench.extraction [--data DIR] [--show] [--command COMMAND | --notes FILE]

Measured on the annotated sessions of all harnesses is the built-in agent; with `--command` the notes that `memory consolidate`
writes with that `llm.command`, in a throw-away home; with `--notes` notes that were written elsewhere: a JSON object from
a session's file (as the gold data names it) to a list of {"title", "body"}.

A keep is *found* when one note holds every term of `must_contain` (as substrings, in any case) and at least FOUND of the
fact's content words. A reject is *kept* when one statement of a note holds at least KEPT of its content words and negates as it does.
Both are approximations by words, made for one annotator's wording: read the matches (`--show`) before believing a
difference of a fact or two. Keeps of low importance are optional and counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from returns.result import Success

from agent_memory.agent.agent_command import BuiltinAgent
from agent_memory.harness import Histories, Surroundings
from agent_memory.note.note import Harness
from agent_memory.results import sealed
from agent_memory.rules.plan import SessionRequest
from agent_memory.session.history import History
from agent_memory.session.queue import InboxEntry, SessionFile, retrieval_of
from agent_memory.session.windows import redact_history
from agent_memory.text.salience import content_terms, coverage, is_negated, statements

FOUND = 0.28
KEPT = 0.6
COMMAND_SECONDS = 1_800
_MEMORY = "import sys; from agent_memory.cli.entry import main; sys.exit(main())"
DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared"


@frozen
class Note:
    title: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.body}"


@frozen
class Keep:
    fact: str
    must_contain: tuple[str, ...]
    optional: bool
    """Of low importance."""


@frozen
class Gold:
    """The annotation of one session."""

    file: str
    harness: str
    keeps: tuple[Keep, ...]
    rejects: tuple[str, ...]


@frozen
class Score:
    """One session: which keeps and rejects its notes say."""

    gold: Gold
    notes: tuple[Note, ...]
    found: tuple[tuple[Keep, Note], ...]
    junk: tuple[tuple[str, Note], ...]

    def counted(self, *, optional: bool) -> tuple[int, int]:
        """Keeps found and keeps in all, of those that are optional or of those that are not."""
        wanted = [keep for keep in self.gold.keeps if keep.optional is optional]
        return sum(keep in [one for one, _ in self.found] for keep in wanted), len(wanted)


def gold_of(path: Path) -> tuple[Gold, ...]:
    """The annotated sessions of one of `data/gold-notes*.json`."""
    document = json.loads(path.read_text("utf-8"))
    return tuple(
        Gold(
            session["file"],
            session["harness"],
            tuple(Keep(one["fact"], tuple(one["must_contain"]), one["importance"] == "low") for one in session["keep"]),
            tuple(one["text"] for one in session["reject"]),
        )
        for session in document["sessions"]
    )


def says(note: Note, keep: Keep) -> bool:
    """Whether a note says what is to be kept, judged by its words."""
    text = note.text.casefold()
    if not all(term.casefold() in text for term in keep.must_contain):
        return False
    return coverage(_words(keep.fact), _words(note.text)) >= FOUND


def says_junk(note: Note, reject: str) -> bool:
    """Whether one statement of a note says what is not to be kept, judged by its words."""
    return any(
        is_negated(said) is is_negated(reject) and coverage(_words(reject), _words(said)) >= KEPT
        for said in statements(note.text)
    )


def _words(text: str) -> frozenset[str]:
    """Content words; an identifier also counts as the words that it is made of."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_/.`]", " ", text)
    return content_terms(text) | content_terms(parts)


def scored(gold: Gold, notes: Iterable[Note]) -> Score:
    """The notes of a session against its annotation."""
    written = tuple(notes)
    found = [(keep, note) for keep in gold.keeps if (note := _first(written, lambda one, k=keep: says(one, k)))]  # type: ignore[misc]
    junk = [(text, note) for text in gold.rejects if (note := _first(written, lambda one, t=text: says_junk(one, t)))]  # type: ignore[misc]
    return Score(gold, written, tuple(found), tuple(junk))


def _first(notes: Sequence[Note], matches: Callable[[Note], bool]) -> Note | None:
    return next((note for note in notes if matches(note)), None)


def built_in_notes(history: History, path: Path) -> tuple[Note, ...]:
    """What the built-in agent keeps of a session that is long over."""
    entry = InboxEntry(0, Harness.CLAUDE_CODE, SessionFile("claude-code-session", history.session_id, str(path)))
    far_future_ms = (history.ended_at_ms or 0) * 2
    reply = BuiltinAgent().answer(SessionRequest("", "bench", entry, history, now_ms=far_future_ms)).unwrap()
    return notes_in(json.loads(reply.text)["entries"])


def command_notes(command: str, history: History, path: Path) -> tuple[Note, ...]:
    """What a whole `memory consolidate` with this agent command keeps of one session. Raises where it does not end well."""
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        home = Path(directory)
        config = home / ".config" / "agent-memory" / "config.json"
        config.parent.mkdir(parents=True)
        llm = {"command": command, "timeoutSeconds": COMMAND_SECONDS}
        config.write_text(
            json.dumps({"llm": llm, "capture": {"transcriptRoots": [str(path.parent.resolve())]}}), "utf-8"
        )
        keep = ("PATH", "LANG", "TMPDIR")
        environment = {name: os.environ[name] for name in keep if name in os.environ} | {"HOME": directory}

        def memory(*arguments: str) -> str:
            called = [sys.executable, "-c", _MEMORY, *arguments]
            return subprocess.run(
                called, env=environment, cwd=home, stdout=subprocess.PIPE, text=True, check=True
            ).stdout

        session = ("--session", history.session_id, "--transcript", str(path.resolve()))
        memory("capture", "--harness", "claude-code", *session)
        memory("consolidate")
        ids = [entry["id"] for entry in json.loads(memory("list", "--json"))["entries"]]
        return notes_in(json.loads(memory("read", id, "--json")) for id in ids)


def notes_in(entries: Iterable[Mapping[str, Any]]) -> tuple[Note, ...]:
    """Notes from JSON objects with `title` and `body`."""
    return tuple(Note(entry["title"], entry["body"]) for entry in entries)


_HARNESSES: Mapping[str, tuple[Harness, str]] = {
    "claude-code": (Harness.CLAUDE_CODE, r'"sessionId":\s*"([^"]+)"'),
    "codex": (Harness.CODEX, r'"id":\s*"([0-9a-f-]{36})"'),
    "copilot-cli": (Harness.COPILOT, r'"sessionId":\s*"([^"]+)"'),
    "gemini-cli": (Harness.GEMINI, r'"sessionId":\s*"([^"]+)"'),
    "opencode": (Harness.OPENCODE, r'"info":\s*\{\s*"id":\s*"([^"]+)"'),
    "pi": (Harness.PI, r'"type":\s*"session"[^\n]*?"id":\s*"([^"]+)"'),
}
"""By the gold data's name of the harness; the pattern finds the session's id in its transcript."""


def history_of(path: Path, harness: str) -> History | None:
    """The redacted history of a transcript; None where it cannot be read."""
    name, pattern = _HARNESSES[harness]
    ids = re.findall(pattern, path.read_text("utf-8", "replace"))
    session_id = ids[0] if harness == "opencode" else max(set(ids), key=ids.count, default=path.stem)
    retrieval = retrieval_of(name, session_id, str(path))
    given = Surroundings({}, str(path.parent), path.parent, (str(path.parent),))
    match sealed(Histories(given).fetch(InboxEntry(0, name, retrieval), None)):
        case Success(history):
            return redact_history(history)
        case _:
            return None


def table(scores: Sequence[Score]) -> str:
    """One line a session and one for all: keeps found, optional keeps found, junk kept, notes written."""
    rows = [("session", "found", "optional", "junk", "notes"), *(_row(score) for score in scores), _totals(scores)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(score: Score) -> tuple[str, str, str, str, str]:
    found, optional = score.counted(optional=False), score.counted(optional=True)
    return (
        Path(score.gold.file).stem,
        f"{found[0]}/{found[1]}",
        f"{optional[0]}/{optional[1]}",
        f"{len(score.junk)}/{len(score.gold.rejects)}",
        str(len(score.notes)),
    )


def _totals(scores: Sequence[Score]) -> tuple[str, str, str, str, str]:
    found = [score.counted(optional=False) for score in scores]
    optional = [score.counted(optional=True) for score in scores]
    return (
        "all",
        f"{sum(got for got, _ in found)}/{sum(of for _, of in found)}",
        f"{sum(got for got, _ in optional)}/{sum(of for _, of in optional)}",
        f"{sum(len(score.junk) for score in scores)}/{sum(len(score.gold.rejects) for score in scores)}",
        str(sum(len(score.notes) for score in scores)),
    )


def shown(score: Score) -> str:
    """The notes of a session beside its annotation, for reading."""
    lines = ["", f"# {score.gold.file}"]
    for note in score.notes:
        lines += ["", f"- {note.title}", *(f"    {line}" for line in note.body.split("\n"))]
    found = {keep.fact: note for keep, note in score.found}
    lines += ["", *(f"  [{'found' if keep.fact in found else 'missed'}] {keep.fact}" for keep in score.gold.keeps)]
    lines += [f"  [JUNK] {text} <- {note.title}" for text, note in score.junk]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Score extraction against hand-made gold notes.")
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, help="directory with data/gold-notes*.json and fixtures/"
    )
    measured = parser.add_mutually_exclusive_group()
    measured.add_argument("--command", help="measure what consolidate writes with this llm.command")
    measured.add_argument("--notes", type=Path, help="JSON file of another agent's notes, by session file")
    parser.add_argument("--show", action="store_true", help="print the notes beside the gold notes")
    arguments = parser.parse_args(argv)
    gold_paths = sorted((arguments.data / "data").glob("gold-notes*.json"))
    if not gold_paths:
        print(f"skipped: there is no {arguments.data / 'data'}/gold-notes.json", file=sys.stderr)
        return 0
    golds = [gold for path in gold_paths for gold in gold_of(path)]
    scores = list(_scores(golds, arguments.data, arguments.notes, arguments.command))
    if arguments.show:
        print("\n".join(shown(score) for score in scores), end="\n\n")
    print(table(scores))
    return 0


def _scores(golds: Iterable[Gold], data: Path, notes_path: Path | None, command: str | None) -> Iterable[Score]:
    if notes_path is not None:
        written = json.loads(notes_path.read_text("utf-8"))
        yield from (scored(gold, notes_in(written[gold.file])) for gold in golds if gold.file in written)
        return
    for gold in golds:
        path = next((data / "fixtures").rglob(Path(gold.file).name), None)
        if path is None or (command and gold.harness != "claude-code"):
            continue
        if history := history_of(path, gold.harness):
            yield scored(gold, command_notes(command, history, path) if command else built_in_notes(history, path))


if __name__ == "__main__":
    raise SystemExit(main())
