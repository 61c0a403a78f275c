"""How much of what was kept of real sessions a new session in the same place is told.

    python -m bench.delivery [--data DIR] [--show]

For each annotated session whose replies are stored (`data/replies/<file>.<window>.json`), `memory consolidate` is run with an
agent command that gives these replies. A note is *told* where a new session of the same place has it in front of it at its
start, or with the first prompt of the old one: *whole*, or in its line. *High* are the notes that say what is annotated as of
high importance. Measured with the session alone in the store, and with all of them in one. A note is *external* if memory
takes it for a tool's or a page's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared"
_MEMORY = "import sys; from agent_memory.cli.entry import main; sys.exit(main())"
_SESSION_ID = re.compile(r'"(?:sessionId|sessionID|id)":\s*"([^"]+)"')
_AGENT = """
import json, os, pathlib, re, sys
prompt, here = sys.stdin.read(), pathlib.Path(sys.argv[1])
window = len(list(here.glob("prompt-*"))) + 1
(here / f"prompt-{window}").write_text(prompt)
reply = pathlib.Path(f"{(here / 'reply').read_text()}.{window}.json")
said = json.loads(reply.read_text()) if reply.exists() else {"entries": [], "skipped": "no reply is stored"}
print(json.dumps({"version": 1, "nonce": re.search(r"nonce: (\\S+)", prompt)[1], **said}))
"""


@frozen
class Session:
    file: Path
    harness: str
    high: tuple[tuple[str, ...], ...] = ()
    """The words that say each of the facts of high importance."""

    @property
    def project(self) -> str:
        """The repository that it is of, as the file's name has it."""
        return self.file.name.partition("_")[0]

    def is_high(self, note: Mapping[str, Any]) -> bool:
        said = f"{note['title']}\n{note['body']}".casefold()
        return any(all(word.casefold() in said for word in words) for words in self.high)

    @property
    def id(self) -> str:
        """The id that most of the records name."""
        names: list[str] = _SESSION_ID.findall(self.file.read_text("utf-8", "replace")[:200_000])
        return names[0] if self.harness in ("pi", "opencode", "copilot") else max(set(names), key=names.count)


@frozen
class Told:
    """One note of a session, and how much of it was told."""

    title: str
    origin: str
    is_high: bool
    told: bool
    whole: bool


class Home:
    """A store of its own, whose agent command gives stored replies."""

    def __init__(self, directory: Path, replies: Path) -> None:
        self._directory = directory
        self._replies = replies
        self._agent = directory / "agent"
        self._agent.mkdir()
        (self._agent / "agent.py").write_text(_AGENT)
        self.transcripts = directory / "transcripts"
        self.transcripts.mkdir()
        config = directory / ".config" / "agent-memory" / "config.json"
        config.parent.mkdir(parents=True)
        command = f"{sys.executable} {self._agent}/agent.py {self._agent}"
        settings = {"llm": {"command": command}, "capture": {"transcriptRoots": [str(self.transcripts)]}}
        config.write_text(json.dumps(settings))

    def memory(self, *arguments: str, told: str = "", cwd: Path | None = None) -> str:
        path = f"{self._directory}/bin:{os.environ['PATH']}"
        return subprocess.run(
            [sys.executable, "-c", _MEMORY, *arguments],
            input=told,
            env={"PATH": path, "HOME": str(self._directory)},
            cwd=cwd or self._directory,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def learn(self, session: Session) -> tuple[list[dict[str, Any]], str]:
        """The notes that are made of the session, and the first words of the person in it."""
        before = {each["id"] for each in self._notes()}
        for prompt in self._agent.glob("prompt-*"):
            prompt.unlink()
        name = session.file.name
        (self._agent / "reply").write_text(str(self._replies / name))
        where = ["--transcript", str(self.transcripts / name)]
        if session.harness == "copilot":
            where = ["--transcript", str(self.transcripts / session.id / "events.jsonl")]
        for path in where[1:]:
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_bytes(session.file.read_bytes())
        there = self._directory / session.project
        (there / ".git").mkdir(exist_ok=True, parents=True)
        (there / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (there / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://example.org/o/{session.project}\n')
        self.memory("capture", "--harness", session.harness, "--session", session.id, *where, cwd=there)
        self.memory("consolidate")
        first = self._agent / "prompt-1"
        return [each for each in self._notes() if each["id"] not in before], _first_words(first)

    def told(self, session: Session, notes: Sequence[dict[str, Any]], prompt: str) -> Iterator[Told]:
        """What a new session in the place of these notes is told of them."""
        there = str(self._directory / session.project)
        common = {"session_id": f"new-{session.id}", "transcript_path": "/nowhere/new.jsonl", "cwd": there}
        moments = (
            {"hook_event_name": "SessionStart", "source": "startup"},
            {"hook_event_name": "UserPromptSubmit", "prompt": prompt},
        )
        text = ""
        for moment in moments:
            said = self.memory("inject", "--harness", "claude-code", "--hook", told=json.dumps({**common, **moment}))
            text += json.loads(said)["hookSpecificOutput"]["additionalContext"] if said.strip() else ""
        for each in notes:
            whole = all(line in _plain(text) for line in map(_plain, each["body"].split("\n")))
            yield Told(
                each["title"], each["origin"], session.is_high(each), _plain(each["title"]) in _plain(text), whole
            )

    def _notes(self) -> list[dict[str, Any]]:
        entries = json.loads(self.memory("list", "--json"))["entries"]
        return [json.loads(self.memory("read", each["id"], "--json")) for each in entries if each["kind"] != "handoff"]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _first_words(prompt: Path) -> str:
    """Of the person, in the transcript of a consolidate prompt."""
    found = re.search(r"(?ms)^\[\d+\] user[^\n]*\n(.*?)(?=^\[\d+\] )", prompt.read_text() if prompt.exists() else "")
    return found[1].strip() if found else ""


def sessions_in(data: Path) -> Iterator[Session]:
    """Those of the annotated sessions whose replies are stored."""
    for path in sorted((data / "data").glob("gold-notes*.json")):
        for gold in json.loads(path.read_text("utf-8"))["sessions"]:
            name = Path(gold["file"]).name
            found = next((data / "fixtures").rglob(name), None)
            if found is not None and (data / "data" / "replies" / f"{name}.1.json").is_file():
                high = (each for each in gold["keep"] if each["importance"] in ("high", "critical"))
                yield Session(
                    found, gold["harness"].removesuffix("-cli"), tuple(tuple(each["must_contain"]) for each in high)
                )


def line_of(label: str, notes: Iterable[Told]) -> str:
    notes = list(notes)
    high = [each for each in notes if each.is_high]
    told, told_high = (f"{sum(each.told for each in some)}/{len(some)}" for some in (notes, high))
    whole, external = sum(each.whole for each in notes), sum(each.origin == "external" for each in notes)
    return f"{label:50}  told {told:>6}  whole {whole:>3}  high {told_high:>6}  external {external}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="directory with data/ and fixtures/")
    parser.add_argument("--show", action="store_true", help="print the notes, too")
    arguments = parser.parse_args(argv)
    sessions = list(sessions_in(arguments.data))
    if not sessions:
        print(f"skipped: there are no stored replies in {arguments.data}", file=sys.stderr)
        return 0
    replies = arguments.data / "data" / "replies"
    alone: list[Told] = []
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        places = Path(directory)
        (places / "all").mkdir()
        together, learnt = Home(places / "all", replies), []
        for number, session in enumerate(sessions):
            (places / str(number)).mkdir()
            home = Home(places / str(number), replies)
            notes, prompt = home.learn(session)
            told = list(home.told(session, notes, prompt)) if notes else []
            alone += told
            print(line_of(session.file.name, told))
            if arguments.show:
                print("\n".join(f"  {'told' if each.told else '----'} {each.origin:8} {each.title}" for each in told))
            learnt.append((session, *together.learn(session)))
        of_all = (together.told(session, notes, prompt) for session, notes, prompt in learnt if notes)
        print(line_of("all in one store", (each for told in of_all for each in told)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
