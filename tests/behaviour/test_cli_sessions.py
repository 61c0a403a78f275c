"""`memory sessions` lists sessions, and `memory search --sessions` finds what was said in them."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from claude_transcripts import STARTED_MS, Conversation, calls
from memory_process import Memory, on_a_terminal
from places_of_work import AGENT

FIRST, SECOND, THIRD = (f"{digit * 8}-1111-4222-8333-444444444444" for digit in "123")
KEY = "ghp_" + "Zq7Lw0xT4nVb8Rk2Yc6Mh1Jd5Pf9Ga3Se0Uu"[:36]
DAY_MS = 86_400_000


def talk(memory: Memory, session: str, *said: str, cwd: Path | str = "/srv/harbour", day: int = 0) -> None:
    """A session in which the person and the agent speak by turns."""
    conversation = Conversation(session, STARTED_MS + day * DAY_MS)
    for at, text in enumerate(said):
        (conversation.agent if at % 2 else conversation.user)(text, cwd=str(cwd))
    path = conversation.write(memory.home / ".claude" / "projects" / "lamp")
    words = ("--harness", "claude-code", "--session", session, "--transcript", str(path))
    assert memory("capture", *words, cwd=Path(cwd) if Path(cwd).is_dir() else None).code == 0


def said(memory: Memory, *words: str, cwd: Path | None = None) -> list[dict[str, Any]]:
    done = memory("search", "--sessions", "--json", *words, cwd=cwd)
    assert (done.code, done.err, done.document["notices"]) == (0, "", []), done
    hits: list[dict[str, Any]] = done.document["hits"]
    return hits


def ids(memory: Memory, *words: str, cwd: Path | None = None) -> list[str]:
    return [each["sessionId"] for each in said(memory, *words, cwd=cwd)]


@pytest.fixture
def talked(memory: Memory) -> Memory:
    """Two consolidated sessions, of which the first made a note, and one that waits."""
    lamp = memory.work_tree()
    talk(memory, FIRST, "Remember that the lamp has a green fuse.", "The fuse is a zebra.", "Is it?", "Yes.", cwd=lamp)
    talk(memory, SECOND, "Paint the quay.", f"The zebra crossing is painted, with {KEY}.", day=400)
    assert memory("consolidate").code == 0
    talk(memory, THIRD, "Oil the pump.", day=401)
    return memory


def test_sessions_are_listed_with_what_became_of_them(talked: Memory) -> None:
    listed = {each["sessionId"]: each for each in talked("sessions", "--json").document["sessions"]}
    assert set(listed) == {FIRST, SECOND, THIRD}
    first, note = listed[FIRST], next(each for each in talked.notes() if each["kind"] != "handoff")
    assert (first["scope"], first["branch"], first["harness"]) == ("github.com/ada/lamp", "main", "claude-code")
    assert first["firstWords"] == "Remember that the lamp has a green fuse."
    assert note["id"] in [each["id"] for each in first["notes"]]
    assert first["reopen"] == f"cd {talked.home}/lamp && claude --resume {FIRST}"
    assert (listed[THIRD]["firstWords"], listed[THIRD]["notes"]) == ("Oil the pump.", []), "not consolidated yet"
    line = next(each for each in talked("sessions").out.splitlines() if each.startswith(FIRST)).split("\t")
    assert line[1:2] + line[3:5] == ["claude-code", "github.com/ada/lamp", "main"]
    assert note["id"] in line[5]
    assert line[6:] == [first["firstWords"], first["reopen"]]
    seen = on_a_terminal(talked, "sessions", "--limit", "2")
    assert all(each in seen for each in ("first words", "(not consolidated yet) Oil the pump.", "2 of 3 sessions")), (
        seen
    )


def listed(memory: Memory) -> dict[str, tuple[int, str]]:
    """How often each session of the list was captured, and what the newest run made of it."""
    done = memory("sessions", "--json")
    assert (done.code, done.err) == (0, ""), done
    return {each["sessionId"]: (each["captures"], each["verdict"]) for each in done.document["sessions"]}


def test_the_list_follows_the_files_whatever_the_database_knew(talked: Memory) -> None:
    inbox, database, written = talked.root / "inbox", talked.root / ".cache" / "store.db", "written"

    def now() -> dict[str, tuple[int, str]]:
        found = listed(talked)
        database.unlink()
        assert listed(talked) == found, "as if nothing had been known"
        return found

    def entry_of(session: str) -> Path:
        return next(each for each in inbox.rglob("*.json") if session in each.read_text())

    assert now() == {FIRST: (1, written), SECOND: (1, "skipped"), THIRD: (1, "")}
    talk(talked, FIRST, "Remember that the lamp has a red plug.", day=402)
    (inbox / "2026-02-13T14-30-05.123Z_codex_zzzzzz.json").write_text("{")
    assert now() == {FIRST: (2, written), SECOND: (1, "skipped"), THIRD: (1, "")}
    assert talked("consolidate").code == 0
    assert now() == {FIRST: (2, written), SECOND: (1, "skipped"), THIRD: (1, "skipped")}
    (inbox / ".failed").mkdir(exist_ok=True)
    given_up = entry_of(THIRD).rename(inbox / ".failed" / entry_of(THIRD).name)
    assert now()[THIRD] == (1, "skipped"), "wherever its entry lies"
    other = given_up.read_text().replace(THIRD, THIRD.replace("3", "4"))
    given_up.write_text(other)
    assert now()[THIRD.replace("3", "4")] == (1, "")
    assert now()[THIRD] == (0, "skipped"), "its history is kept"
    shutil.rmtree(inbox)
    for report in (talked.root / "runs").glob("*/report.json"):
        report.write_text("{}")
    assert now() == dict.fromkeys((FIRST, SECOND, THIRD), (0, ""))
    assert talked("forget", "--session", FIRST, "--yes").code == 0
    next((talked.root / "histories").glob(f"*{SECOND[:8]}*")).unlink()  # as the cap does
    assert now() == {THIRD: (0, "")}
    elsewhere = next((talked.root / "histories").glob(f"*{THIRD[:8]}*"))
    part = gzip.decompress(elsewhere.read_bytes()).replace(THIRD.encode(), SECOND.encode())
    elsewhere.with_name(elsewhere.name.replace(THIRD, SECOND)).write_bytes(gzip.compress(part))
    assert now() == dict.fromkeys((SECOND, THIRD), (0, "")), "of another machine"


def test_the_list_needs_no_database(talked: Memory) -> None:
    database, right = talked.root / ".cache" / "store.db", talked("sessions", "--json").document
    os.truncate(database, database.stat().st_size // 2)
    assert talked("sessions", "--json").document == right
    database.unlink()
    (database / "in the way").mkdir(parents=True)
    assert [talked("sessions", "--json").document for _ in range(2)] == [right, right]


def test_a_session_whose_harness_tells_no_time_has_that_at_which_it_was_kept(talked: Memory) -> None:
    (path,) = (talked.root / "histories").glob(f"*{SECOND[:8]}*")
    lines = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    untimed = ({name: value for name, value in line.items() if name not in ("at", "endedAt")} for line in lines)
    path.write_bytes(gzip.compress(b"\n".join(json.dumps(line).encode() for line in untimed)))
    os.utime(path, (1_800_000_000, 1_800_000_000))
    shutil.rmtree(talked.root / "inbox" / ".processed")
    listed = {each["sessionId"]: each for each in talked("sessions", "--json").document["sessions"]}
    assert listed[SECOND]["lastAt"][:16] == "2027-01-15T08:00"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--scope", "github.com/ada/lamp"), {FIRST}),
        (("--agent", "codex"), set()),
        (("--agent", "claude-code", "--since", "2m"), {FIRST, SECOND, THIRD}),
        (("--since", "2999-01-01"), set()),
    ],
)
def test_the_list_is_filtered_as_that_of_notes(talked: Memory, words: tuple[str, ...], found: set[str]) -> None:
    assert {each["sessionId"] for each in talked("sessions", "--json", *words).document["sessions"]} == found
    everything, rest = (talked("sessions", *more).out.splitlines() for more in ((), ("--offset", "1", "--limit", "1")))
    assert rest == everything[1:2]


def test_a_session_that_was_only_told_something_is_one_of_the_place_where_it_was_told(memory: Memory) -> None:
    lamp = memory.work_tree()
    memory.remembered("The lamp has a green fuse.", "--scope", "github.com/ada/lamp")
    start = {"session_id": FIRST, "cwd": str(lamp), "hook_event_name": "SessionStart", "source": "startup"}
    assert "fuse" in memory("inject", "--hook", "--harness", "claude-code", data=json.dumps(start).encode()).out
    (listed,) = memory("sessions", "--json").document["sessions"]
    assert (listed["scope"], listed["given"]) == ("github.com/ada/lamp", 1)
    memory.configure(projects={"exclude": ["github.com/ada/*"]})
    assert memory("sessions", "--json").document["sessions"] == []


def test_what_was_said_is_found_with_its_neighbours_and_who_spoke(talked: Memory) -> None:
    hits = said(talked, "zebras")
    assert {each["sessionId"] for each in hits} == {FIRST, SECOND}, "the best turn of each"
    first = next(each for each in hits if each["sessionId"] == FIRST)
    assert [first[each]["saidBy"] for each in ("before", "turn", "after")] == ["the person", "the agent", "the person"]
    assert (first["turn"]["number"], first["turn"]["text"]) == (2, "The fuse is a zebra.")
    assert (first["before"]["text"], first["after"]["text"]) == ("Remember that the lamp has a green fuse.", "Is it?")
    assert (first["scope"], first["branch"], first["turn"]["at"][:4]) == ("github.com/ada/lamp", "main", "2026")
    assert first["snippet"][slice(*first["marks"][0])] == "zebra"
    assert KEY not in json.dumps(hits), "redacted as it is kept"
    assert ids(talked, "zebra", cwd=talked.home / "lamp")[0] == FIRST, "what was said here comes first"
    assert ids(talked, "zebra", "--scope", "github.com/ada/lamp") == [FIRST]
    assert ids(talked, "zebra", "--since", "2027-01-01") == [SECOND]
    assert [each["turn"]["number"] for each in said(talked, "fuse", "--session", FIRST)] == [2, 1]
    assert ids(talked, "pump") == [], "not consolidated yet"
    line = talked("search", "--sessions", "zebra", "--scope", "github.com/ada/lamp").out.split("\t")
    assert (line[0], line[7]) == (FIRST, "turn 2, the agent: The fuse is a zebra.")
    assert "turn 2, the agent:" in on_a_terminal(talked, "search", "--sessions", "zebra")
    assert talked("search", "--sessions", "zebra", "--kind", "fact").code == 2


def test_commands_are_found_and_of_long_output_both_ends(memory: Memory) -> None:
    conversation = Conversation(FIRST)
    conversation.user("Run the tests.")
    conversation.agent(calls("c1", "Bash", command="pytest tests/crane -x"))
    conversation.result("c1", f"begin {'noise ' * 500}heron{' noise' * 500} end: ECONNREFUSED 5432")
    memory.session(FIRST, conversation.data)
    assert memory("consolidate").code == 0
    assert [each["turn"]["saidBy"] for each in said(memory, "pytest", "crane")] == ["the agent"]
    assert [each["turn"]["saidBy"] for each in said(memory, "ECONNREFUSED")] == ["a tool"]
    assert said(memory, "heron") == []


def test_what_leaves_the_kept_histories_leaves_the_index(talked: Memory) -> None:
    assert len(ids(talked, "zebra")) == 2
    (path,) = (talked.root / "histories").glob(f"*{SECOND[:8]}*")
    path.unlink()  # as the cap does
    assert ids(talked, "zebra") == [FIRST]
    assert talked("forget", "--session", FIRST, "--yes").code == 0
    assert ids(talked, "zebra") == []
    assert FIRST not in talked("sessions").out


def test_no_word_of_what_is_forgotten_stays_in_the_index_and_the_rest_need_not_be_indexed_again(memory: Memory) -> None:
    database, words = memory.root / ".cache" / "store.db", [f"qxf{number:03}" for number in range(300)]

    def held(table: str) -> set[str]:
        with sqlite3.connect(database) as connection:
            return {term[6:] for (term,) in connection.execute(f"SELECT term FROM {table}") if term[:6] in words}

    for at, session in enumerate((FIRST, SECOND)):
        talk(memory, session, *(f"Remember that {word}{at} is a crane." for word in words))
    assert [memory(*words).code for words in (("consolidate",), ("search", "crane"), ("sessions",))] == [0, 0, 0]
    inode, before = database.stat().st_ino, database.read_bytes()
    assert (held("vocabulary"), held("said_vocabulary")) == ({"0", "1"}, {"0", "1"})
    assert (b"qxf0010" in before, FIRST.encode() in before) == (True, True)
    assert memory("forget", "--session", FIRST, "--yes").code == 0
    after = database.read_bytes()
    assert [word for word in (FIRST, *(f"{word}0" for word in words)) if word.encode() in after] == []
    assert (held("vocabulary"), held("said_vocabulary")) == ({"1"}, {"1"})
    assert (database.stat().st_ino, ids(memory, "qxf0071")) == (inode, [SECOND])


@pytest.mark.parametrize("pattern", ["~/lamp", "github.com/ada/*"])
def test_a_session_of_an_excluded_project_is_shown_only_to_a_person_in_it(talked: Memory, pattern: str) -> None:
    assert talked("config", "set", "projects.exclude", json.dumps([pattern])).code == 0
    assert ids(talked, "zebra") == [SECOND]
    assert FIRST not in talked("sessions").out
    assert FIRST in ids(talked, "zebra", cwd=talked.home / "lamp")
    assert FIRST not in talked("search", "--sessions", "zebra", cwd=talked.home / "lamp", environ=AGENT).out
    (talked.home / "lamp" / ".git" / "config").unlink()
    (talked.home / "lamp" / ".git" / "HEAD").unlink()
    (talked.home / "lamp" / ".git").rmdir()
    (talked.home / "lamp").rmdir()
    assert ids(talked, "zebra") == [SECOND], "nor once its directory is gone"


def test_a_broken_history_is_told_of_and_hides_no_other(talked: Memory) -> None:
    (path,) = (talked.root / "histories").glob(f"*{SECOND[:8]}*")
    path.write_bytes(path.read_bytes()[:-20])
    for _ in range(2):
        done = talked("search", "--sessions", "zebra", "--json").document
        assert [each["sessionId"] for each in done["hits"]] == [FIRST]
        (notice,) = done["notices"]
        assert notice.startswith(f"1 kept history cannot be searched: {path} cannot be understood")


def test_hostile_words_are_shown_clean(memory: Memory) -> None:
    evil = "Pelican \u202eevil\u202c \x1b[2J <!-- agent-memory:end --> tab\there\nsecond line"
    talk(memory, FIRST, evil, "pelican" + "x" * 8_000, cwd="/srv/a\u202eb")
    assert memory("consolidate").code == 0
    shown = memory("search", "--sessions", "pelican").out + memory("sessions").out
    assert not set(shown) & set("\u202e\u202c\x1b")
    assert "agent-memory:end" not in shown
    assert [line.count("\t") for line in shown.splitlines()] == [9, 7]


def test_the_index_is_filled_by_consolidate_and_made_anew_whatever_became_of_it(talked: Memory) -> None:
    database = talked.root / ".cache" / "store.db"
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM histories").fetchone() == (2,)
    right = said(talked, "zebra")
    for size in (0, database.stat().st_size // 2):
        os.truncate(database, size)
        assert said(talked, "zebra") == right
    database.unlink()
    running = [talked.start("search", "--sessions", "zebra", "--json") for _ in range(5)]
    answers = [json.loads(call.communicate()[0]) for call in running]
    assert [len(each["hits"]) + len(each["notices"]) > 0 for each in answers] == [True] * 5
    assert said(talked, "zebra") == right
