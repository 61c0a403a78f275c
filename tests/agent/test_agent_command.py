"""What an agent command is given, what its ending means, and how an agent that calls us is recognised (P9, P10, P21, P23)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.agent.agent_command import (
    ARGUMENT_MAX_CHARS,
    CommandAgent,
    choose_command,
    open_agent,
    private_directory,
)
from agent_memory.agent.child_process import child_environment
from agent_memory.caller import HARNESS_VARIABLES, Caller, caller_of, depth_of
from agent_memory.config import LlmConfig, PresetConfig
from agent_memory.errors import (
    ActRefused,
    AgentFailed,
    AgentMissing,
    AgentTimedOut,
    AgentUnavailable,
    ConfigInvalid,
    Defect,
    Error,
    PresetRefused,
    ReplyRefused,
    SpendExhausted,
    StoreIo,
)
from agent_memory.note.note import Harness, Status
from agent_memory.presets import PRESETS, Preset
from agent_memory.rules.plan import AgentReply, DaySpend, SessionRequest
from agent_memory.session.history import History
from agent_memory.session.queue import Context, InboxEntry, InlineNote
from agent_memory.store.bookkeeping import SpendLedgerFiles
from stand_ins.dict_clock import DictClock
from stand_ins.temporary import temporary_locks, temporary_root

BEHAVES = str(Path(__file__).parents[1] / "fixtures" / "agents" / "behaves.py")
NOW_MS = 1_771_000_000_000
NONCE = "n0nce"


def a_request(prompt: str = f"[marker]\nnonce: {NONCE}\nhello\n") -> SessionRequest:
    entry = InboxEntry(at_ms=NOW_MS, harness=Harness.MANUAL, retrieval=InlineNote("t", "b"), context=Context())
    return SessionRequest(prompt, NONCE, entry, History(harness=Harness.MANUAL, session_id="s", turns=()))


def behaving(
    home: Path, mode: str, *arguments: str, ledger: SpendLedgerFiles | None = None, **llm: Any
) -> CommandAgent:
    command = Preset("test", (sys.executable, "-S", BEHAVES, mode, *arguments), variables=("MINE",))
    return an_agent(home, command, ledger=ledger, **llm)


def spend_ledger() -> SpendLedgerFiles:
    return SpendLedgerFiles(temporary_root(), temporary_locks())


def an_agent(
    home: Path,
    command: Preset,
    *,
    ledger: SpendLedgerFiles | None = None,
    environ: dict[str, str] | None = None,
    **llm: Any,
) -> CommandAgent:
    config = evolve(LlmConfig(timeout_seconds=30), **llm)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], **(environ or {})}
    directory = private_directory(str(home))
    return CommandAgent(command, config, ledger or spend_ledger(), DictClock(NOW_MS), environ, directory)


def error_of(result: Result[AgentReply, Error]) -> Error:
    return result.failure()


class TestWhatItIsGiven:
    def test_the_prompt_goes_to_stdin_and_the_reply_comes_back(self, home: Path) -> None:
        request = a_request(f"nonce: {NONCE}\ná é ü 漢字 😀\n" * 1_000)
        agent = behaving(home, "echo")
        assert agent.answer(request) == Success(AgentReply(request.prompt, len(request.prompt)))
        assert agent.status is Status.CONSOLIDATED

    def test_it_runs_in_a_private_marked_directory_p23(self, home: Path) -> None:
        seen = json.loads(behaving(home, "environment").answer(a_request()).unwrap().text)
        directory = home / ".local/state/agent-memory/child"
        assert seen["cwd"] == os.path.realpath(directory)
        assert (directory / ".agent-memory-child").is_file()
        assert directory.stat().st_mode & 0o777 == 0o700
        assert (directory / ".agent-memory-child").stat().st_mode & 0o777 == 0o600

    def test_it_sees_the_depth_and_what_was_passed_but_no_secret_of_ours_p21_p23(self, home: Path) -> None:
        ours = {"MINE": "1", "AWS_SECRET_ACCESS_KEY": "x", "ANTHROPIC_API_KEY": "x", "AGENT_MEMORY_ROOT": "/r"}
        command = Preset(
            "test", (sys.executable, "-S", BEHAVES, "environment"), {"SET": "{private}/x"}, "stdin", variables=("MINE",)
        )
        seen = json.loads(an_agent(home, command, environ=ours).answer(a_request()).unwrap().text)["environ"]
        seen.pop("LC_CTYPE", None)  # the interpreter's own (PEP 538)
        assert seen == {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "MINE": "1",
            "SET": f"{private_directory(str(home))}/x",
            "AGENT_MEMORY_DEPTH": "1",
        }

    def test_files_of_a_preset_are_written_first(self, home: Path) -> None:
        gemini = PRESETS["gemini"]
        command = Preset("gemini", (sys.executable, "-S", BEHAVES, "environment"), gemini.env, files=gemini.files)
        seen = json.loads(an_agent(home, command).answer(a_request()).unwrap().text)["environ"]
        settings = json.loads(Path(seen["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text())
        assert settings == {"hooksConfig": {"enabled": False}}

    def test_the_prompt_can_be_the_last_argument_whatever_is_in_it_p21(self, home: Path) -> None:
        command = Preset("test", (sys.executable, "-S", BEHAVES, "environment"), input="argument")
        prompt = "$(touch pwned); `id` 'quoted' \"too\"\n-rf \ud800 \0 é"
        seen = json.loads(an_agent(home, command).answer(a_request(prompt)).unwrap().text)
        assert seen["argv"] == [prompt.replace("\ud800", "?").replace("\0", "\ufffd")]
        assert sorted(os.listdir(private_directory(str(home)))) == [".agent-memory-child"]

    def test_the_longest_prompt_fits_into_an_argument(self, home: Path) -> None:
        command = Preset("test", (sys.executable, "-S", BEHAVES, "environment"), input="argument")
        agent = an_agent(home, command)
        assert agent.max_prompt_chars == ARGUMENT_MAX_CHARS
        prompt = "\U0001f600" * ARGUMENT_MAX_CHARS
        assert json.loads(agent.answer(a_request(prompt)).unwrap().text)["argv"] == [prompt]

    def test_a_prompt_over_the_limit_is_never_sent_p10(self, home: Path) -> None:
        ledger = spend_ledger()
        agent = behaving(home, "echo", ledger=ledger, max_prompt_chars=10)
        assert isinstance(error_of(agent.answer(a_request("x" * 11))), Defect)
        assert agent.answer(a_request("x" * 10)) == Success(AgentReply("x" * 10, 10))
        assert ledger.days() == Success({"2026-02-13": DaySpend(1, 10, 10)})


class TestRecursion:
    def test_inside_an_agent_command_of_ours_nothing_is_run_p23(self, home: Path) -> None:
        environ = {"HOME": str(home), "AGENT_MEMORY_DEPTH": "1"}
        refused = Failure(ActRefused("consolidate", "AGENT_MEMORY_DEPTH"))
        assert open_agent(LlmConfig(command="echo"), spend_ledger(), DictClock(NOW_MS), environ) == refused
        command = Preset("test", (sys.executable, "-S", BEHAVES, "echo"))
        ledger = spend_ledger()
        assert an_agent(home, command, ledger=ledger, environ=environ).answer(a_request()) == refused
        assert ledger.days() == Success({})


class TestSpend:
    def test_a_command_that_cannot_start_costs_nothing(self, home: Path) -> None:
        ledger = spend_ledger()
        agent = an_agent(home, Preset("test", ("/nowhere/llm",)), ledger=ledger)
        assert agent.answer(a_request()) == Failure(AgentMissing("/nowhere/llm"))
        assert ledger.days() == Success({"2026-02-13": DaySpend()})

    def test_a_call_that_cannot_be_counted_is_not_made_p10(self, home: Path, tmp_path: Path) -> None:
        class FullDisk(SpendLedgerFiles):
            def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> Result[None, Error]:
                return Failure(StoreIo("runs/spend.json", "write", "ENOSPC", "No space left on device"))

        proof = tmp_path / "called"
        command = Preset("test", ("/bin/sh", "-c", 'cat > "$0"', str(proof)))
        error = error_of(
            an_agent(home, command, ledger=FullDisk(temporary_root(), temporary_locks())).answer(a_request())
        )
        assert isinstance(error, StoreIo)
        assert not proof.exists()
        assert an_agent(home, command).answer(a_request()) == Success(AgentReply("", len(a_request().prompt)))
        assert proof.exists()


class TestEndings:
    """P9: only a reply is progress."""

    @pytest.mark.parametrize("program", ["no-such-command-anywhere", "/", "/dev/null"])
    def test_what_is_not_there_or_no_program_is_missing(self, home: Path, program: str) -> None:
        agent = an_agent(home, Preset("test", (program, "-p")))
        assert agent.answer(a_request()) == Failure(AgentMissing(f"{program} -p"))

    def test_a_valid_reply_with_a_non_zero_exit_is_a_failure(self, home: Path) -> None:
        agent = behaving(home, "exit_with", "3", f'{{"nonce": "{NONCE}"}}', "boom\n  at x")
        error = error_of(agent.answer(a_request()))
        assert isinstance(error, AgentFailed)
        assert (error.exit_status, error.stderr_tail) == (3, "boom at x")

    @pytest.mark.parametrize("mode", ["hang_after_output", "ignore_sigterm"])
    def test_a_command_that_takes_too_long_timed_out_p10(self, home: Path, mode: str) -> None:
        ledger = spend_ledger()
        agent = behaving(home, mode, ledger=ledger, timeout_seconds=0.3, max_calls_per_day=1)
        error = error_of(agent.answer(a_request("p" * 100_000)))
        assert isinstance(error, AgentTimedOut)
        assert error.seconds == 0.3
        # It was made, and may have been paid for: it counts.
        assert [day.prompt_chars for day in ledger.days().unwrap().values()] == [100_000]
        assert agent.answer(a_request()) == Failure(SpendExhausted(1, 1))

    def test_too_long_a_reply_is_refused_p10(self, home: Path) -> None:
        error = error_of(behaving(home, "endless").answer(a_request()))
        assert error == ReplyRefused(("it is longer than 4,194,304 bytes",))

    @pytest.mark.parametrize(
        ("arguments", "cause"),
        [
            (("0", "You've hit your usage limit. Try again at 3pm."), "rate-limit"),
            (("0", "Invalid API key · Please run /login"), "login"),
            (("0", "", "Not logged in"), "login"),
            (("1", "", "dial tcp: lookup api.example.com"), "network"),
            (("1", "Credit balance is too low", "noise"), "quota"),
        ],
    )
    def test_a_command_that_cannot_serve_is_so(self, home: Path, arguments: tuple[str, ...], cause: str) -> None:
        error = error_of(behaving(home, "exit_with", *arguments).answer(a_request()))
        assert isinstance(error, AgentUnavailable)
        assert error.cause == cause
        assert error.said

    def test_a_command_that_does_not_read_its_prompt_is_not_the_sessions_fault(self, home: Path) -> None:
        agent = behaving(home, "no_stdin_read", max_prompt_chars=10_000_000)
        error = error_of(agent.answer(a_request("p" * 10_000_000)))
        assert isinstance(error, AgentFailed)
        assert error.stderr_tail == "it did not read its prompt from stdin"

    def test_what_it_said_is_redacted_and_on_one_line_p20(self, home: Path) -> None:
        token = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
        error = error_of(behaving(home, "exit_with", "1", "", f"\x1b[31mbad\x1b[0m\ntoken {token}").answer(a_request()))
        assert isinstance(error, AgentFailed)
        assert error.stderr_tail.startswith("bad token [redacted:")
        command = Preset("test", ("/nowhere/llm", "--key", token))
        assert token not in str(error_of(an_agent(home, command).answer(a_request())))

    def test_p9_invalid_utf8_is_refused(self, home: Path) -> None:
        command = Preset("test", ("/bin/sh", "-c", "cat > /dev/null; printf 'a\\377b'"))
        error = error_of(an_agent(home, command).answer(a_request()))
        assert isinstance(error, ReplyRefused)
        assert "UTF-8" in error.reasons[0]

    def test_a_private_directory_that_cannot_be_made_is_a_store_error(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        (home / ".local").mkdir(parents=True)
        (home / ".local/state").write_text("in the way")
        error = error_of(behaving(home, "echo").answer(a_request()))
        assert isinstance(error, StoreIo)
        assert error.operation == "prepare"

    @pytest.mark.parametrize("status", ["126", "127"])
    def test_what_a_shell_could_not_run_is_missing(self, home: Path, status: str) -> None:
        assert isinstance(error_of(behaving(home, "exit_with", status).answer(a_request())), AgentMissing)


def chosen_by(llm: LlmConfig) -> Result[Preset, Error]:
    return choose_command(llm, "/home/ann")


class TestChoice:
    def test_a_preset_has_its_name_its_variables_and_those_passed(self) -> None:
        chosen = chosen_by(LlmConfig(preset="claude", model="m", pass_env=("MINE",))).unwrap()
        assert chosen.name == "claude"
        assert chosen.argv[:3] == ("claude", "--model", "m")
        assert {"ANTHROPIC_API_KEY", "MINE"} <= set(chosen.variables)
        assert "OPENAI_API_KEY" not in chosen.variables

    @pytest.mark.parametrize("preset", ["amp", "cursor", "goose"])
    def test_presets_that_keep_their_tools_need_leave(self, preset: str) -> None:
        assert chosen_by(LlmConfig(preset=preset)) == Failure(PresetRefused(preset))
        assert chosen_by(LlmConfig(preset=preset, allow_tools=True)).unwrap().name == preset

    @pytest.mark.parametrize(
        ("llm", "problem"),
        [
            (LlmConfig(preset="x", presets={"x": PresetConfig((" ",))}), "llm.presets.x must name a command"),
            (LlmConfig(command="./ask"), "llm.command names ./ask, a relative path"),
            (
                LlmConfig(preset="x", presets={"x": PresetConfig(("bin/ask",))}),
                "llm.presets.x names bin/ask, a relative path",
            ),
        ],
    )
    def test_a_choice_that_names_no_command_is_refused(self, llm: LlmConfig, problem: str) -> None:
        error = chosen_by(llm).failure()
        assert isinstance(error, ConfigInvalid)
        assert error.problems[0].startswith(problem)

    def test_a_command_wins_over_the_preset_and_no_shell_reads_it(self) -> None:
        chosen = chosen_by(LlmConfig(command="~/bin/ask --q 'a b' $HOME | tee", preset="claude")).unwrap()
        assert chosen.argv == ("/home/ann/bin/ask", "--q", "a b", "$HOME", "|", "tee")
        assert chosen.name.startswith("command:")
        assert len(chosen.name) == len("command:") + 8


# -- the environment ---------------------------------------------------------------------------------------------------


EDITOR_TERMINAL = {
    "CLAUDECODE": "1", "CLAUDE_CODE_SSE_PORT": "12345", "CURSOR_TRACE_ID": "abc", "GEMINI_CLI_IDE_SERVER_PORT": "4711",
    "VSCODE_PID": "17", "TERM_PROGRAM": "vscode", "CODEX_HOME": "/home/ann/.codex",
    "OPENCODE_CONFIG": "/home/ann/opencode.json",
}  # fmt: skip


def test_our_secrets_are_not_passed_to_an_agent_command_p21() -> None:
    ours = {
        "PATH": "/usr/bin", "HOME": "/home/ann", "LC_ALL": "pt_PT.UTF-8", "XDG_RUNTIME_DIR": "/run/user/1",
        "https_proxy": "http://proxy:3128", "AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "DATABASE_URL": "x",
        "LD_PRELOAD": "x", "GIT_DIR": "x", "AGENT_MEMORY_ROOT": "x", "CLAUDE_CODE_CHILD_SESSION": "1",
        "PATH_TO_SECRET": "x",
    }  # fmt: skip
    assert child_environment(ours, (), {}) == {
        "PATH": "/usr/bin", "HOME": "/home/ann", "LC_ALL": "pt_PT.UTF-8", "XDG_RUNTIME_DIR": "/run/user/1",
        "https_proxy": "http://proxy:3128", "AGENT_MEMORY_DEPTH": "1",
    }  # fmt: skip


def test_nothing_overrides_the_depth_p23() -> None:
    child = child_environment({"AGENT_MEMORY_DEPTH": "3"}, ["AGENT_MEMORY_DEPTH"], {"AGENT_MEMORY_DEPTH": "0"})
    assert child == {"AGENT_MEMORY_DEPTH": "4"}


@pytest.mark.parametrize(
    ("value", "depth"), [("", 0), ("0", 0), ("1", 1), (" 2 ", 2), ("yes", 1), ("-1", 1), ("٣", 1), ("9" * 5000, 1)]
)
def test_a_depth_that_is_no_number_counts_as_one_p23(value: str, depth: int) -> None:
    assert depth_of({"AGENT_MEMORY_DEPTH": value}) == depth


def test_every_harness_with_an_agent_of_its_own_is_recognised() -> None:
    found = caller_of({"CLAUDE_CODE_CHILD_SESSION": "1"})
    assert found == Caller(Harness.CLAUDE_CODE, "CLAUDE_CODE_CHILD_SESSION")
    assert set(HARNESS_VARIABLES.values()) == set(Harness) - {Harness.AIDER, Harness.MANUAL}


def test_a_persons_terminal_in_an_editor_is_not_an_agent() -> None:
    assert caller_of(EDITOR_TERMINAL) == Caller()
    assert caller_of({**EDITOR_TERMINAL, "CURSOR_AGENT": "1"}).variable == "CURSOR_AGENT"


def test_an_act_that_raises_trust_is_refused_to_an_agent_and_open_to_a_person_p19() -> None:
    for variable in ("AGENT_MEMORY_DEPTH", "OPENCODE"):
        with pytest.raises(ActRefused) as refused:
            caller_of({variable: "1"}).only_a_person("trust")
        assert refused.value == ActRefused("trust", variable)
    caller_of(EDITOR_TERMINAL).only_a_person("trust")
