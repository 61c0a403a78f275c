from __future__ import annotations

import errno
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.capture.hook import entry_text
from agent_memory.capture.hook_files import LOG_NAME, MAX_LOG_BYTES, PREVIOUS_LOG_NAME, log_hook_problem, timestamp_of
from agent_memory.capture.inbox_files import parse_inbox_entry, render_inbox_entry
from agent_memory.capture.session_event import SHAPES, SessionEvent, method_of, session_event
from agent_memory.files.root import is_marked
from agent_memory.note.note import Harness
from agent_memory.session.queue import Context, SessionFile
from faults import failing_at
from hook_calls import HOOK, ID, PAYLOADS, call, inbox_of, payload, problems_of
from inbox_entries import contexts, instants

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hook-payloads"
RECORDED = {
    *("stop", "session-end", "pre-compact", "session-start-resume", "session-start-compact", "user-prompt-submit"),
    *("post-tool-use", "cursor-session-end", "codex-user-prompt-submit", "gemini-before-agent"),
}


def test_a_turns_end_is_captured_with_nothing_that_anybody_wrote(root: Path, home: Path) -> None:
    call()
    (entry,) = inbox_of(root)
    assert entry.harness is Harness.CLAUDE_CODE
    assert entry.retrieval == SessionFile("claude-code-session", ID, f"/home/ada/.claude/projects/lamp/{ID}.jsonl")
    assert entry.context == Context(cwd="/nowhere/lamp", repo="path:/nowhere/lamp", event="Stop")
    assert "WROTE" not in next((root / "inbox").iterdir()).read_text()
    assert problems_of(home) == []


@pytest.mark.parametrize("file", sorted(FIXTURES.glob("*.json")), ids=lambda file: file.stem)
def test_recorded_payloads(file: Path, root: Path, home: Path) -> None:
    call(file.read_bytes())
    assert len(inbox_of(root)) == (file.stem in RECORDED)
    assert problems_of(home) == []


# -- what is in the entry


def test_a_secret_in_the_name_of_a_branch_is_not_stored_p20(root: Path, home: Path) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    project = home / "p"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text(f"ref: refs/heads/try/{secret}\n")
    call(payload(cwd=str(project)))
    (entry,) = inbox_of(root)
    assert (entry.context.branch or "").startswith("try/[redacted")
    assert secret not in next((root / "inbox").iterdir()).read_text()


def test_an_inbox_that_is_a_link_is_not_written_through_p21(root: Path, home: Path) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    root.mkdir()
    (root / "inbox").symlink_to(elsewhere)
    call()
    assert list(elsewhere.iterdir()) == []
    (problem,) = problems_of(home)
    assert "symbolic link" in problem["message"]


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles", "Europe/Berlin"])
def test_the_time_of_an_entry_is_utc_to_the_millisecond_p24(zone: str, root: Path, home: Path) -> None:
    before_ms = time.time_ns() // 1_000_000
    call(TZ=zone)
    (entry,) = inbox_of(root)
    assert before_ms <= entry.at_ms <= time.time_ns() // 1_000_000
    (path,) = (root / "inbox").iterdir()
    assert path.name.startswith(timestamp_of(entry.at_ms).replace(":", "-"))


@given(contexts, instants, st.sampled_from(sorted(SHAPES)))
@settings(max_examples=100)
def test_the_fast_way_writes_what_the_thorough_way_would(context: Context, at_ms: int, harness: str) -> None:
    event = SessionEvent(
        harness, method_of(harness), ID, None, context.cwd, context.event, context.reason, context.harness_version
    )
    text = entry_text(event, timestamp_of(at_ms), {})
    entry = parse_inbox_entry(text).unwrap()
    assert render_inbox_entry(entry) == text
    assert entry.at_ms == at_ms


_keys = st.sampled_from(["session_id", "transcript_path", "cwd", "hook_event_name", "reason", "source", "sessionId"])


@given(
    st.dictionaries(_keys, st.text() | st.integers() | st.none() | st.lists(st.text())), st.sampled_from(sorted(SHAPES))
)
@settings(max_examples=150)
def test_whatever_a_payload_says_the_entry_is_valid(members: dict[str, object], harness: str) -> None:
    event = session_event(harness, {"session_id": ID, "sessionId": ID, **members})
    if isinstance(event, SessionEvent):
        assert isinstance(parse_inbox_entry(entry_text(event, timestamp_of(0), {})), Success)


# -- where it goes


def configure(home: Path, text: str) -> None:
    (home / ".config" / "agent-memory").mkdir(parents=True)
    (home / ".config" / "agent-memory" / "config.json").write_text(text)


def test_the_configured_root_is_honoured(home: Path) -> None:
    configure(home, '{"storage": {"root": "~/mine", "autoCommit": false}, "llm": {"preset": "claude"}}')
    call()
    assert len(inbox_of(home / "mine")) == 1


def test_the_config_of_the_current_directory_has_no_say(home: Path, tmp_path: Path) -> None:
    (tmp_path / "memory.config.json").write_text(json.dumps({"storage": {"root": str(tmp_path / "theirs")}}))
    call(cwd=tmp_path)
    assert not (tmp_path / "theirs").exists()
    assert len(inbox_of(home / ".local" / "share" / "agent-memory")) == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"storage": []}', '{"storage": {"root": 7}}', '{"storage": {"root": ""}}']
)
def test_a_broken_config_loses_no_session_and_is_told(home: Path, text: str) -> None:
    configure(home, text)
    call()
    assert len(inbox_of(home / ".local" / "share" / "agent-memory")) == 1
    (problem,) = problems_of(home)
    assert problem["code"] == "config-invalid"
    assert problem["message"].endswith(f"so this session was captured to {home}/.local/share/agent-memory")


def test_everything_is_its_owners_even_where_the_umask_takes_all_p22(root: Path, home: Path) -> None:
    before = os.umask(0o777)
    try:
        call()
        call(b"")
    finally:
        os.umask(before)
    log = log_at(home)
    found = [stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"), log.parent, log)]
    assert sorted(found) == [0o600, 0o600, 0o700, 0o700, 0o700]


@pytest.mark.parametrize("where", ["own", "payload"])
def test_a_marked_directory_and_all_below_it_are_not_captured_p23(root: Path, home: Path, where: str) -> None:
    private = home / "private"
    (private / "a" / "b").mkdir(parents=True)
    (private / ".agent-memory-child").touch()
    if where == "own":
        call(cwd=private / "a" / "b")
    else:
        call(payload(cwd=str(private / "a" / "b")))
    assert (inbox_of(root), problems_of(home)) == ([], [])
    assert is_marked(str(private))
    (private / ".agent-memory-child").unlink()
    assert not is_marked(str(private / "a" / "b"))
    call(payload(cwd=str(private / "a" / "b")))
    assert len(inbox_of(root)) == 1


# -- bad input


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "nothing came on stdin"),
        (b" \n", "nothing came on stdin"),
        (b"not json: SECRET", "what came on stdin is not a JSON object"),
        (b"[1, 2]", "the payload is a list, expected an object"),
        (b"\x00\xff\xfe" * 100, "what came on stdin is not a JSON object"),
        (b"[" * 100_000, "what came on stdin is not a JSON object"),
        (payload(session_id="\ud800"), "session_id holds half of a surrogate pair"),
    ],
)
def test_a_bad_payload_is_told_in_the_log_alone(data: bytes, message: str, root: Path, home: Path) -> None:
    call(data)
    assert inbox_of(root) == []
    (problem,) = problems_of(home)
    assert (problem["code"], problem["harness"], problem["root"]) == ("payload", "claude-code", str(root))
    assert message in problem["message"]
    assert "SECRET" not in problem["message"]


def test_a_byte_order_mark_and_bad_bytes_in_a_message_do_no_harm(root: Path) -> None:
    call(b"\xef\xbb\xbf" + payload().replace(b"SOMEBODY", b"\xff\xfe"))
    assert len(inbox_of(root)) == 1


@pytest.mark.parametrize("size", [9 << 20, 30 << 20])
def test_a_huge_payload_is_captured_by_what_comes_before_its_bulk_p25(root: Path, size: int) -> None:
    call(payload(last_assistant_message="x" * size))
    (entry,) = inbox_of(root)
    assert entry.context.event == "Stop"


def test_a_payload_that_is_cut_off_is_captured_by_what_is_whole(root: Path) -> None:
    call(payload()[:-30])
    assert len(inbox_of(root)) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--hook"],
        ["--harness", "--hook"],
        ["--harness", "emacs", "--hook"],
        ["--harness", "manual", "--hook"],
        ["--harness=aider", "--hook"],
        ["--harness", "claude-code", "--hook", "--title", "x"],
    ],
)
def test_a_wrong_command_line_is_told_in_the_log(words: list[str], root: Path, home: Path) -> None:
    call(command=[*HOOK[:4], *words])
    assert inbox_of(root) == []
    assert [problem["code"] for problem in problems_of(home)] == ["usage"]


# -- as each harness calls it: nothing bad is stored whatever is sent


def as_hook_of(harness: str) -> list[str]:
    return [*HOOK[:4], "--harness", harness, "--hook"]


@pytest.mark.parametrize("harness", SHAPES)
def test_every_harness_is_captured_with_nothing_that_anybody_wrote(harness: str, root: Path, home: Path) -> None:
    sent = {**PAYLOADS[harness], "prompt": "WHAT SOMEBODY WROTE", "messages": ["WROTE"]}
    call(json.dumps(sent).encode(), command=as_hook_of(harness))
    (entry,) = inbox_of(root)
    assert entry.harness == harness
    assert (entry.retrieval.method, entry.retrieval.session_id) == (method_of(harness), ID)
    assert "WROTE" not in next((root / "inbox").iterdir()).read_text()
    assert problems_of(home) == []


@pytest.mark.parametrize("named", ["codex", "claude-code"])
def test_an_ephemeral_session_of_codex_is_not_kept(named: str, root: Path, home: Path) -> None:
    for event in ("SessionStart", "Stop", "SessionEnd"):
        sent = {**PAYLOADS["codex"], "transcript_path": None, "hook_event_name": event}
        call(json.dumps(sent).encode(), command=as_hook_of(named))
    assert (inbox_of(root), problems_of(home)) == ([], [])


@pytest.mark.parametrize("sign", ["$(touch {})", "; touch {} #", "`touch {}`", "../../../..{}", "{}\n", "| tee {}"])
def test_no_id_reaches_a_shell_or_a_path_p21(sign: str, root: Path, home: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for harness, sent in PAYLOADS.items():
        text = json.dumps(sent).replace(ID, sign.format(made).replace("\n", "\\n"))
        assert isinstance(session_event(harness, json.loads(text)), str), harness
    call(text.encode(), command=as_hook_of(harness))
    assert not made.exists()
    assert inbox_of(root) == []
    assert len(problems_of(home)) == 1


@pytest.mark.parametrize("where", ["home", "below the home", "temporary", "a repository"])
def test_a_session_is_of_its_repository_or_directory_or_of_none(where: str, root: Path, home: Path) -> None:
    git = home / ("lamp/.git" if where == "a repository" else ".git")  # dotfiles, perhaps
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://t:secret@github.com/ada/repo.git\n')
    (home / "notes").mkdir()
    cwd = {"home": home, "below the home": home / "notes", "temporary": Path("/var/tmp"), "a repository": home / "lamp"}
    call(payload(cwd=str(cwd[where])))
    (entry,) = inbox_of(root)
    repo = {"home": None, "a repository": "github.com/ada/repo"}.get(where, f"path:{cwd[where]}")
    assert (entry.context.repo, entry.context.branch) == (repo, "main" if where == "a repository" else None)
    assert "secret" not in next((root / "inbox").iterdir()).read_text()


# -- bad surroundings


def test_without_a_usable_home_nothing_breaks(tmp_path: Path) -> None:
    call(HOME="/dev/null/none")
    call(HOME="/dev/null/none", AGENT_MEMORY_ROOT=str(tmp_path / "r"))
    assert len(inbox_of(tmp_path / "r")) == 1


def test_a_root_that_cannot_be_written_is_told(home: Path) -> None:
    call(AGENT_MEMORY_ROOT="/dev/null/r")
    (problem,) = problems_of(home)
    assert problem["code"] == "store-io"
    assert "could not write to /dev/null/r/inbox" in problem["message"]


def test_closed_streams_do_no_harm(root: Path, home: Path) -> None:
    quoted = " ".join(f"'{word}'" for word in HOOK)
    assert subprocess.run(["sh", "-c", f"{quoted} <&- >&- 2>&-"], check=False).returncode == 0
    assert inbox_of(root) == []
    assert "stdin cannot be read" in problems_of(home)[0]["message"]
    (home / "payload").write_bytes(payload())
    assert subprocess.run(["sh", "-c", f"{quoted} <'{home}/payload' >&- 2>&-"], check=False).returncode == 0
    assert len(inbox_of(root)) == 1


def test_an_open_stdin_on_which_nothing_comes_is_not_waited_for(home: Path, root: Path) -> None:
    process = subprocess.Popen(HOOK, stdin=subprocess.PIPE)
    assert process.wait(timeout=20) == 0
    assert process.stdin is not None
    process.stdin.close()
    assert problems_of(home)[0]["message"] == "nothing came on stdin"


def test_a_payload_on_an_open_stdin_is_captured(root: Path) -> None:
    process = subprocess.Popen(HOOK, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(payload())
    process.stdin.flush()
    assert process.wait(timeout=20) == 0
    process.stdin.close()
    assert len(inbox_of(root)) == 1


def test_a_directory_that_was_removed_under_the_hook(root: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    quoted = " ".join(f"'{word}'" for word in HOOK)
    (tmp_path / "payload").write_bytes(payload())
    script = f"cd '{gone}' && rmdir '{gone}' && {quoted} < '{tmp_path}/payload'"
    finished = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, b"")
    assert len(inbox_of(root)) == 1


def test_a_file_size_limit_leaves_no_half_entry(root: Path, home: Path) -> None:
    """P1 P5: the write fails, as it does on a full disk, and the log cannot be written either."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    finished = subprocess.run(HOOK, input=payload(), capture_output=True, preexec_fn=limit, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"", b"")
    assert list((root / "inbox").iterdir()) == []


@pytest.mark.parametrize("most", [5, 6, 8])
def test_too_few_open_files_do_no_harm_p5(root: Path, most: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    finished = subprocess.run(HOOK, input=payload(), capture_output=True, preexec_fn=limit, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"", b"")
    assert len(inbox_of(root)) <= 1


def test_a_bug_of_ours_is_logged_by_its_place_without_its_text(root: Path, home: Path) -> None:
    script = (
        "import sys; from agent_memory.capture import hook\n"
        "def broken(*_): raise KeyError('WHAT SOMEBODY WROTE')\n"
        "hook.session_event = broken; hook.run_hook(sys.argv[1:])\n"
    )
    call(command=[sys.executable, "-c", script, "--harness", "claude-code", "--hook"])
    (problem,) = problems_of(home)
    assert problem["code"] == "defect"
    assert problem["message"].startswith("KeyError at <string>:2")


# -- hook log ----------------------------------------------------------------------------------------------------------


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def log_at(home: Path) -> Path:
    return home / ".local" / "state" / "agent-memory" / LOG_NAME


def test_the_log_is_bounded_and_keeps_the_newest(home: Path) -> None:
    for number in range(2_000):
        log_hook_problem(str(home), "/r", None, "payload", f"{number} " + "x" * 200)
    log = log_at(home)
    assert sorted(path.name for path in log.parent.iterdir()) == [LOG_NAME, PREVIOUS_LOG_NAME]
    assert all(path.stat().st_size <= MAX_LOG_BYTES for path in log.parent.iterdir())
    assert lines(log)[-1]["message"].startswith("1999 ")


def test_a_log_that_is_a_link_or_a_pipe_is_not_written_through_p21(home: Path, tmp_path: Path) -> None:
    log = log_at(home)
    log.parent.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    log.symlink_to(victim)
    log_hook_problem(str(home), str(tmp_path / "r"), None, "payload", "x")
    assert victim.read_text() == "mine"
    log.unlink()
    os.mkfifo(log)
    log_hook_problem(str(home), str(tmp_path / "r"), None, "payload", "x")
    assert len(lines(tmp_path / "r" / ".cache" / LOG_NAME)) == 2


def test_a_full_disk_is_survived_in_silence_p5(tmp_path: Path) -> None:
    for k in range(1, 30):
        with failing_at(k, errno.ENOSPC, once=False):
            log_hook_problem(str(tmp_path / "h"), str(tmp_path / "r"), None, "payload", "x")
    log_hook_problem(str(tmp_path / "h"), "/r", None, "payload", "afterwards")
    assert lines(log_at(tmp_path / "h"))[-1]["message"] == "afterwards"


def test_a_line_cut_short_spoils_no_other_p5(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "r"
    log_hook_problem(str(home), str(root), None, "payload", "first")
    really_write, cut = os.write, [True]

    def write(descriptor: int, data: bytes) -> int:
        return really_write(descriptor, data[: len(data) // 2] if cut and cut.pop() else data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        log_hook_problem(str(home), str(root), None, "payload", "second")
    log_hook_problem(str(home), str(root), None, "payload", "third")
    texts = log_at(home).read_text().splitlines()
    assert [json.loads(each)["message"] for each in (texts[0], texts[-1])] == ["first", "third"]
    assert len(texts) == 3
    assert [each["message"] for each in lines(root / ".cache" / LOG_NAME)] == ["second"]
