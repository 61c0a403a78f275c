"""P20: ordinary passwords are gone wherever they would be kept, and no text makes that slow."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client

from agent_memory.redaction.redact import redact
from agent_memory.redaction.rule import RULES, Rule
from claude_transcripts import Conversation
from fixtures.ordinary_passwords import FORMS, LINES, PASSWORDS
from mcp_clients import called, over_stdio
from memory_process import Memory

SEPARATORS = ("", "=", ": ", " ", "\n", '"', "://", "='")
KEYWORDS = sorted({keyword for rule in RULES if rule.reads != "whole" for keyword in rule.keywords})
ORDINARY = "The lamp behind the harbour is lit at dusk, and nobody has to climb up there for it any more.\n"


def kept(password: str, directory: Path) -> list[str]:
    """The files below the directory that hold the password."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(directory)) for path in files if password.encode() in path.read_bytes())


@pytest.mark.parametrize("form", FORMS)
def test_p20_ordinary_passwords_are_redacted_in_every_form(form: str) -> None:
    left = [each for each in PASSWORDS if each in redact(form.format(each)).text]
    assert len(left) <= 0.05 * len(PASSWORDS), left


@pytest.mark.parametrize("password", ["sunflower88", "Geheim2024"])
@pytest.mark.parametrize("form", FORMS)
def test_p20_so_is_a_word_with_a_number_behind_it(form: str, password: str) -> None:
    assert password not in redact(form.format(password)).text


def test_p20_at_least_85_percent_of_180_lines_lose_their_password() -> None:
    assert len(LINES) == 180
    assert sum(password not in redact(line).text for line, password in LINES) >= 0.85 * len(LINES)


@pytest.mark.parametrize(
    "text",
    [
        "password: $DB_PASSWORD", "password=${DB_PASSWORD}", 'password = os.environ["DB_PASSWORD_1"]',
        "password: process.env.DB_PASSWORD_1", "password: <your-password-1!>", "password: ********",
        "password: str = field(repr=False)", "password=password", "password = get_password(1)",
        "password: Optional[str] = None", "the password is wrong", "the password is required and stored in the vault",
        "password: must be 8 characters!", "passwords are checked against the list of 2024", "bypass=Summer2024!",
        'password_file: "/run/secrets/db_password_1"', "max_tokens=4096, input_tokens: 12, output_tokens: 2048",
    ],
)  # fmt: skip
def test_p20_what_only_speaks_of_passwords_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("A=postgres://web:Sum@mer&24!@db1/x B=mysql://root:Win/ter#24@db2/y", ("Sum@mer&24!", "Win/ter#24")),
        ("Server=a;Uid=sa;Pwd=Sum&mer24;Server=b;Uid=sa;Pwd=Winter#24;", ("Sum&mer24", "Winter#24")),
        ("redis://:Mon%40soon24@cache/0 and amqp://svc:Har:bour24@mq", ("Mon%40soon24", "Har:bour24")),
    ],
)
def test_p20_every_address_of_a_text_loses_its_password(text: str, secrets: tuple[str, ...]) -> None:
    assert [each for each in secrets if each in redact(text).text] == []


def test_p20_a_session_in_which_passwords_were_typed_leaves_none_in_the_store(memory: Memory) -> None:
    talk = Conversation()
    for line, _ in LINES[::7]:
        talk.exchange(f"Remember that this is how we get in: {line}", answer="Noted.")
    talk.user("Remember that the lamp is lit at dusk.")
    memory.session(talk.session_id, talk.data)
    assert memory("consolidate").code == 0
    assert [each["title"] for each in memory.notes()]
    assert memory("doctor", "--secrets").code == 0, "histories are packed"
    assert [each for each in {password for _, password in LINES[::7]} if kept(each, memory.root)] == []


def test_p20_a_file_that_is_no_entry_is_moved_aside_without_its_secrets(memory: Memory) -> None:
    inbox = memory.root / "inbox"
    inbox.mkdir(parents=True)
    (inbox / "one.json").write_text('{"version": 1, "context": "the password is Summer2024!"')
    (inbox / "two.json").write_text(json.dumps({"version": 1, "password: Winter#2023": 1}))
    (inbox / "password=Monsoon+77.json").write_bytes(b"\xff\xfe db.password=Harbour&99 \xff")
    (inbox / "four.json").write_bytes(b"\xff{}")
    secrets = ("Summer2024!", "Winter#2023", "Monsoon+77", "Harbour&99")
    said = [memory(*words.split()) for words in ("consolidate", "status", "status --json", "doctor", "doctor --json")]
    assert [each for each in secrets if kept(each, memory.root)] == []
    assert [each for each in secrets for done in said if each in done.out + done.err] == []
    assert [path.name for path in memory.root.rglob("*") if any(each in path.name for each in secrets)] == []
    failed = memory.root / "inbox" / ".failed"
    assert "the password is [redacted:password]" in (failed / "one.json").read_text()
    assert (failed / "four.json").read_bytes() == b"\xff{}"
    assert len(list(failed.glob("*.reason.json"))) == 4


# -- any text ---------------------------------------------------------------------------------------------------------


class Work:
    """What the rules do: how often one is tried, and how many characters they read in all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tries = self.chars = 0
        match = Rule.match

        def counted(rule: Rule, text: str, start: int, size: int, *further: object) -> re.Match[str] | None:
            found = match(rule, text, start, size, *further)  # type: ignore[arg-type]
            self.tries += 1
            self.chars += found.end() - start if found else 0
            return found

        monkeypatch.setattr(Rule, "match", counted)

    def of(self, text: str) -> tuple[float, float]:
        """Tries and characters read, for each character of the text."""
        self.tries = self.chars = 0
        redact(text)
        return self.tries / len(text), self.chars / len(text)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(monkeypatch)


def rows(chars: int, separators: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Each keyword of each rule, over and over, with each of the separators that come with it."""
    for keyword, some in zip(KEYWORDS, separators, strict=False):
        for separator in some:
            yield (f"{keyword}{separator}" * chars)[:chars]


def worst(work: Work, rows: Iterator[str]) -> tuple[float, float]:
    """The most tries and the most characters read for one character of any of the rows."""
    done = [work.of(row) for row in rows]
    return max(tries for tries, _ in done), max(chars for _, chars in done)


def test_p20_the_rules_pass_over_rows_of_what_announces_secrets(work: Work) -> None:
    tries, chars = worst(work, rows(2_000, itertools.cycle((each,) for each in SEPARATORS)))
    assert (tries <= 0.8, chars <= 24) == (True, True), (tries, chars)


@pytest.mark.slow
def test_p20_and_over_long_rows_with_separators_in_turn(work: Work) -> None:
    """What a short text may take at once weighs little here."""
    pairs = (SEPARATORS[at : at + 2] for at in range(0, len(SEPARATORS), 2))
    tries, chars = worst(work, rows(10_000, itertools.cycle(pairs)))
    assert (tries <= 0.7, chars <= 6) == (True, True), (tries, chars)


@pytest.mark.parametrize("piece", ["密码=", "authorization=", "password=", "-ey", "token: '", "curl -u ", "pwd="])
def test_p20_the_work_for_each_character_does_not_grow_with_the_text(work: Work, piece: str) -> None:
    short, long = (work.of(piece * (chars // len(piece))) for chars in (75_000, 300_000))
    assert long[0] <= short[0] * 1.1
    assert long[1] <= short[1] * 1.1
    assert long[1] <= 4


def test_p20_all_keywords_in_disorder_are_no_more_work(work: Work) -> None:
    text = "".join(f"{keyword}{SEPARATORS[at % 8]}" for at, keyword in enumerate(KEYWORDS * 20))
    tries, chars = work.of(text)
    assert (tries <= 0.3, chars <= 4) == (True, True), (tries, chars)


@pytest.mark.parametrize("piece", ["密码=", "authorization=", "password=", "-ey", "token: '"])
def test_p20_a_password_amid_hostile_text_is_gone_and_ordinary_text_stays(piece: str) -> None:
    row = piece * (30_000 // len(piece))
    told = redact(f"{ORDINARY}{row}\npassword: Summer2024!\n{ORDINARY * 100}").text
    assert "Summer2024!" not in told
    assert told.startswith(ORDINARY)
    assert told.endswith(ORDINARY * 50)
    assert redact(told).text == told


# -- others do not wait -----------------------------------------------------------------------------------------------


def test_p20_who_asks_over_mcp_does_not_wait_for_a_run_that_is_at_work(memory: Memory, tmp_path: Path) -> None:
    """The agent command holds the run up, and with it the lock, until all calls were answered."""
    memory.remembered("The lamp is lit at dusk.")
    talk = Conversation()
    talk.user("Remember that the harbour closes at nine.")
    talk.agent("密码=" * 2_000)
    memory.session(talk.session_id, talk.data)
    asked, go_on = tmp_path / "asked", tmp_path / "go on"
    command = tmp_path / "agent"
    command.write_text(f"#!/bin/sh\ntouch '{asked}'\nwhile [ ! -e '{go_on}' ]; do sleep 0.05; done\n")
    command.chmod(0o755)
    memory.configure(llm={"command": str(command)})
    run = memory.start("consolidate")
    while not asked.exists():
        assert run.poll() is None
    try:
        assert memory("consolidate").code == 75

        async def talked(client: Client) -> list[bool]:
            asked_of = [
                ("search_context", {"query": "lamp"}),
                ("list_context", {}),
                ("write_context", {"topic": "Tide", "content": "High water comes at noon."}),
                ("session_context", {}),
                ("set_state", {"key": "lamp", "value": "lit"}),
                ("get_state", {"key": "lamp"}),
            ]
            return [(await called(client, name, arguments)).is_error for name, arguments in asked_of]

        assert over_stdio(memory.environment(), talked) == [False] * 6
    finally:
        go_on.touch()
        run.communicate()
