"""Pauses, projects that memory stays out of, and incognito sessions: nothing is captured there, and nobody told anything."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from agent_memory.app import Memory as Opened, open_memory
from agent_memory.cli.mcp_server import MemoryServer
from agent_memory.text.instants import iso_of
from claude_transcripts import Conversation
from hook_calls import problems_of
from mcp_clients import Tools
from memory_process import Memory
from places_of_work import AGENT, TEXT, remembered, repository, told


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory.unrecorded(home)


@pytest.fixture
def lamp(memory: Memory, home: Path) -> Path:
    """A repository with a note."""
    lamp = repository(home / "clients" / "lamp", "git@github.com:me/lamp")
    remembered(memory, lamp)
    return lamp


def hook(memory: Memory, directory: Path, session: str = "s-1", **environ: str) -> bool:
    """A session there ends; whether it was captured."""
    before = memory.pending()
    payload = {"session_id": session, "transcript_path": "/none", "cwd": str(directory), "hook_event_name": "Stop"}
    data = json.dumps(payload).encode()
    assert memory("capture", "--harness", "claude-code", "--hook", data=data, cwd=directory, environ=environ).out == ""
    return memory.pending() != before


def is_known(memory: Memory, directory: Path) -> bool:
    """Whether memory captures and tells there; it does both or neither."""
    captured = hook(memory, directory, os.urandom(4).hex())
    assert (TEXT in told(memory, directory)) is captured
    return captured


def switches(memory: Memory, directory: Path) -> str:
    status = memory("status", "--json", cwd=directory)
    assert status.code == 0, "as the person wants it"
    return " ".join(status.document["switches"])


def opened(memory: Memory, directory: Path) -> Opened:
    return open_memory({**os.environ, "AGENT_MEMORY_ROOT": str(memory.root)}, directory, print).unwrap()


def test_a_pause_holds_until_somebody_resumes(memory: Memory, lamp: Path, home: Path) -> None:
    assert is_known(memory, lamp)
    assert memory("pause", cwd=lamp).out == "Memory is paused until `memory resume`.\n"
    assert not is_known(memory, lamp)
    assert not is_known(memory, lamp)
    assert switches(memory, lamp) == "Memory is paused until `memory resume`."
    logged = [(each["code"], each.get("act", "capture")) for each in problems_of(home)]
    assert logged == [("paused", "capture")], "once"
    assert memory("resume", cwd=lamp).out == "Memory is on again.\n"
    assert is_known(memory, lamp)
    assert switches(memory, lamp) == ""
    assert memory("resume", cwd=lamp).out == "Memory was not paused.\n"


def talked(memory: Memory, directory: Path, *said: tuple[int, str]) -> None:
    """A session there, what was said with its time, as Claude Code keeps it."""
    conversation = Conversation("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")
    for at_ms, text in said:
        conversation.user(text, timestamp=iso_of(at_ms), cwd=str(directory))
        conversation.agent("Understood.", timestamp=iso_of(at_ms), cwd=str(directory))
    projects = memory.home / ".claude" / "projects" / "-clients"
    projects.mkdir(parents=True, exist_ok=True)
    conversation.write(projects)


def found(memory: Memory) -> dict[str, int]:
    counts: dict[str, int] = memory("backfill", "claude-code", "--json").document["harnesses"]["claude-code"]
    return counts


def titles(memory: Memory) -> str:
    assert memory("consolidate").code == 0
    return " | ".join(each["title"] for each in memory.notes() if each["kind"] != "handoff")


def exclude(memory: Memory, *patterns: str, key: str = "exclude") -> int:
    return memory("config", "set", f"projects.{key}", json.dumps(patterns)).code


@pytest.mark.parametrize(
    "pattern",
    ["~/CLIENTS/l?mp/", "{home}/**/lamp", "GitHub.com/me/*"],
)
def test_nothing_is_captured_learnt_or_told_if_excluded(memory: Memory, lamp: Path, home: Path, pattern: str) -> None:
    inside = lamp / "src" / "deep"
    inside.mkdir(parents=True)
    other = repository(home / "other", "git@github.com:we/other")
    now_ms = time.time_ns() // 1_000_000
    talked(memory, inside, (now_ms - 9_000, "Remember: the lamp listens on port 9090."))
    assert hook(memory, inside, "waits")
    assert exclude(memory, pattern.format(home=home)) == 0
    assert not is_known(memory, inside)
    assert hook(memory, other), "and nowhere else"
    assert switches(memory, inside).startswith("Memory stays out of this project, which fits '")
    assert switches(memory, other).startswith("Memory stays out of other projects")
    assert found(memory) == {"switched-off": 1}
    assert "lamp listens" not in titles(memory)
    assert len(memory.pending()) == 1, "what waited there is not read either"
    assert exclude(memory) == 0
    assert found(memory) == {"new": 1}
    assert "lamp listens" in titles(memory)


def test_only_some_projects(memory: Memory, lamp: Path, home: Path) -> None:
    other = repository(home / "other")
    assert exclude(memory, "~/clients/*", key="only") == 0
    assert is_known(memory, lamp)
    assert not hook(memory, other)
    assert not hook(memory, home / "clients")
    assert "is not among projects.only" in switches(memory, other)
    assert exclude(memory, "github.com/me/lamp") == 0
    assert not is_known(memory, lamp), "exclude wins"


def test_an_agent_is_told_nothing_and_changes_no_switch_in_a_project_that_is_off(memory: Memory, lamp: Path) -> None:
    for said in ("pause", "resume", "config set projects.exclude []"):
        assert memory(*said.split(), cwd=lamp, environ=AGENT).code != 0
    assert TEXT in memory("list", cwd=lamp, environ=AGENT).out + memory("inject", cwd=lamp).out
    assert memory("pause", "--project", cwd=lamp).code == 0
    for said in ("search lamp", "list", "inject", "remember fact", "handoff"):
        refused = memory(*said.split(), "--json", cwd=lamp, environ=AGENT)
        assert refused.error["code"] == "switched-off", said
        assert "Memory is paused" in refused.error["message"]
    for said in ("inject", "capture --title T --body B"):
        assert memory(*said.split(), "--json", cwd=lamp).error["code"] == "switched-off"
    assert memory("status", cwd=lamp, environ=AGENT).code == 0
    assert memory("search", "lamp", cwd=lamp).code == 0, "the person may look"
    answer = Tools(MemoryServer(opened(memory, lamp)))("search_context", query="lamp")
    assert answer.is_error
    assert "Memory is paused" in answer.text


def put_pauses(memory: Memory, content: object) -> Path:
    path = memory.home / ".local/state/agent-memory/paused.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps({"version": 1, "pauses": content}))
    return path


def now_and(minutes: float) -> int:
    return round(time.time() * 1000 + minutes * 60_000)


def test_what_is_said_during_a_pause_is_never_learnt(memory: Memory, lamp: Path) -> None:
    said = ("Monday", -90), ("blue", -45), ("brass", -10)
    talked(memory, lamp, *((now_and(at), f"Remember: the lamp of {word} stays lit.") for word, at in said))
    over = {"since": iso_of(now_and(-60)), "until": iso_of(now_and(-30)), "scope": "github.com/me/lamp"}
    put_pauses(memory, [over])
    assert memory("pause", "--project", cwd=lamp).code == 0
    assert found(memory) == {"switched-off": 1}
    assert memory("resume", cwd=lamp).code == 0
    assert found(memory) == {"new": 1}
    learnt = titles(memory)
    assert "Monday" in learnt
    assert "brass" in learnt
    assert "blue" not in learnt
    assert "blue" not in "".join(each.read_text() for each in (memory.root / "topics").iterdir())
    assert found(memory) == {"done": 1}


def test_a_session_of_which_all_was_said_during_a_pause_is_left_alone(memory: Memory, lamp: Path) -> None:
    talked(memory, lamp, (now_and(-50), "Remember: the lamp of silver stays lit."), (now_and(-49), "It is lit."))
    put_pauses(memory, [{"since": iso_of(now_and(-60)), "until": iso_of(now_and(-30)), "scope": "github.com/me/lamp"}])
    assert found(memory) == {"switched-off": 1}, "each backfill would put it again, and no run learn anything"
    assert memory.pending() == []
    talked(memory, lamp, (now_and(-50), "Remember: the lamp of silver stays lit."), (now_and(-9), "It is green."))
    assert found(memory) == {"new": 1}


def test_what_was_captured_before_waits_during_a_pause(memory: Memory, lamp: Path) -> None:
    talked(memory, lamp, (now_and(-90), "Remember: the lamp listens on port 9090."))
    assert memory("backfill").code == 0
    assert memory("pause", "--for", "1h", cwd=lamp).code == 0
    assert "lamp listens" not in titles(memory)
    assert memory.pending() != []
    assert memory("resume", cwd=lamp).code == 0
    assert "lamp listens" in titles(memory)


def test_a_pause_ends_by_itself(memory: Memory, lamp: Path) -> None:
    scope = {"scope": "github.com/me/lamp"}
    put_pauses(memory, [{"since": iso_of(now_and(-60)), "until": iso_of(now_and(-1)), **scope}])
    assert is_known(memory, lamp)
    until = iso_of(now_and(600))
    put_pauses(memory, [{"since": iso_of(now_and(300)), "until": until, **scope}])  # the clock was set back
    assert not is_known(memory, lamp)
    assert until[:16].replace("T", " ") in switches(memory, lamp)
    assert memory("resume", "--project", cwd=lamp).out == "Memory is on again.\n"
    assert is_known(memory, lamp)


@pytest.mark.parametrize(
    "content",
    ["", '{"version": 2, "pauses": []}', [{"since": "now", "until": "later"}]],
)
def test_where_pauses_cannot_be_read_memory_is_paused(memory: Memory, lamp: Path, content: object) -> None:
    path = put_pauses(memory, content)
    assert not is_known(memory, lamp)
    assert f"because {path} is damaged" in switches(memory, lamp)
    refused = memory("pause", "--json", cwd=lamp)
    assert (refused.error["code"], "memory resume" in refused.error["message"]) == ("state-corrupt", True)
    assert memory("resume", cwd=lamp).code == 0
    assert is_known(memory, lamp)


@pytest.mark.parametrize(
    "pattern", ["work/lamp", "lamp", "", " ", "~bob/x", "../lamp", "/srv/../lamp", "./x", "*", "a" * 600, "/a\nb", 3]
)
def test_a_pattern_that_can_mean_nothing_is_refused(memory: Memory, pattern: object) -> None:
    refused = memory("config", "set", "projects.exclude", json.dumps([pattern]))
    assert refused.code == 2
    assert "projects.exclude" in refused.err


def test_a_hook_lives_with_patterns_that_are_wrong_or_slow(memory: Memory, lamp: Path) -> None:
    slow = "/" + "*a" * 200
    memory.configure(projects={"exclude": [7, "../x", "~\0", slow, "/**/**/**/**/x" * 9], "only": "~/clients"})
    assert hook(memory, lamp), "and the config is refused by all that reads it whole"
    assert memory("status").code == 10


@pytest.mark.parametrize("words", [("--for", "0h"), ("--for", "-2h"), ("--for", "soon"), ("--for", "999999y"), ("--project", "/none"),
    ("--project", "global"), ("--project", "~"), ("--project", "lamp")])  # fmt: skip
def test_a_pause_that_can_mean_nothing_is_refused(memory: Memory, lamp: Path, words: tuple[str, str]) -> None:
    assert memory("pause", *words, cwd=lamp).code == 2
    assert memory("status", "--json", cwd=lamp).document["switches"] == []


def test_a_folder_is_known_behind_a_link_and_after_it_was_renamed(memory: Memory, home: Path) -> None:
    garden = home / "real" / "garden"
    garden.mkdir(parents=True)
    remembered(memory, garden)
    (home / "link").symlink_to(home / "real")
    assert exclude(memory, "~/link/*") == 0
    assert not is_known(memory, garden)
    assert not is_known(memory, home / "link" / "garden")
    assert exclude(memory) == 0
    assert memory("pause", "--project", str(home / "link" / "garden")).code == 0
    assert not is_known(memory, garden)
    garden.rename(home / "orchard")
    assert not hook(memory, home / "orchard")
    garden.mkdir()
    assert not hook(memory, garden), "what stands there now counts as it, too"


def test_two_who_pause_at_once_lose_nothing(memory: Memory, home: Path) -> None:
    for at in range(6):
        (home / f"p{at}").mkdir()
    running = [memory.start("pause", "--project", str(home / f"p{at}")) for at in range(6)]
    assert [each.communicate()[1] for each in running] == [b""] * 6
    assert len(switches(memory, home).split("Memory is paused for")) == 7


def test_a_disk_that_is_read_only_is_told(memory: Memory, lamp: Path) -> None:
    state = memory.home / ".local/state/agent-memory"
    state.mkdir(parents=True, exist_ok=True)
    (state / "paused.json").mkdir()
    assert memory("pause", "--json", cwd=lamp).code == 20
    assert not hook(memory, lamp), "nobody knows that it is not paused"


def test_an_incognito_session_leaves_no_trace_and_is_never_learnt(memory: Memory, lamp: Path, home: Path) -> None:
    incognito = {"AGENT_MEMORY_INCOGNITO": "1"}
    session = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
    talked(memory, lamp, (now_and(-5), "Remember: the lamp listens on port 9090."))
    for _ in range(2):
        assert not hook(memory, lamp, session, **incognito)
    assert [each["code"] for each in problems_of(home)] == ["incognito"]
    assert memory("list", "--json", cwd=lamp, environ=AGENT | incognito).error["code"] == "switched-off"
    assert not hook(memory, lamp, session), "nor once it goes on elsewhere"
    assert found(memory) == {"forgotten": 1}
    assert hook(memory, lamp, "another", AGENT_MEMORY_INCOGNITO="0")
    assert switches(memory, lamp) == ""


def test_the_section_of_a_project_that_is_excluded_shows_nothing(memory: Memory, lamp: Path) -> None:
    agents = lamp / "AGENTS.md"
    memory.configure(agentsMd={"targets": [str(agents)]})
    id = memory("list", "--json", cwd=lamp).document["entries"][0]["id"]
    assert memory("pin", id, cwd=lamp).code == 0
    assert TEXT in agents.read_text()
    memory.configure(agentsMd={"targets": [str(agents)]}, projects={"exclude": ["~/clients"]})
    assert memory("generate-agents-md").code == 0
    assert TEXT not in agents.read_text()
