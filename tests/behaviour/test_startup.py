"""What a command loads before it does anything: nothing that it does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory import __version__
from hook_calls import payload

LATE = (
    "statemachine", "ruamel", "json_repair", "agent_memory.machines", "agent_memory.pipelines",
    "agent_memory.extraction",
)  # fmt: skip
"""Packages that only few commands need."""

WRITING = (
    "subprocess", "agent_memory.redaction.redact", "agent_memory.acts.service", "agent_memory.capture.inbox_files",
    "agent_memory.store.changes", "agent_memory.git.git_history",
)  # fmt: skip
"""What nothing needs that only looks."""

_PROGRAM = """
import atexit, sys
from pathlib import Path
loaded = Path(sys.argv.pop(1))
atexit.register(lambda: loaded.write_text("\\n".join(sys.modules)))
from agent_memory.cli.entry import main
sys.exit(main())
"""


def loaded_by(root: Path, *words: str) -> frozenset[str]:
    """Every module and package in memory when `memory WORDS` ends."""
    listed = root.parent / "modules"
    command = [sys.executable, "-c", _PROGRAM, str(listed), *words]
    subprocess.run(command, check=True, capture_output=True)
    modules = listed.read_text().splitlines()
    return frozenset(name.rsplit(".", depth)[0] for name in modules for depth in range(name.count(".") + 1))


def test_looking_loads_nothing_of_writing(root: Path) -> None:
    id = remembered(root)
    for words in (("list",), ("list", "--json"), ("read", id), ("--version",)):
        assert not loaded_by(root, *words).intersection((*WRITING, *LATE)), words


def test_what_needs_no_note_loads_nothing_that_reads_one(root: Path) -> None:
    for words in (("--version",), ("--help",)):
        assert not loaded_by(root, *words).intersection(("cattrs", "agent_memory.note.note_format")), words
    remembered(root)
    assert loaded_by(root, "list", "--json").issuperset(("cattrs", "agent_memory.note.note_format"))


@pytest.mark.parametrize(
    "words", [("remember", "Deploys run from main only."), ("capture", "--title", "Deploys", "--body", "From main.")]
)
def test_storing_a_note_loads_no_pipeline(root: Path, words: tuple[str, ...]) -> None:
    assert not loaded_by(root, *words).intersection(LATE)


def test_status_loads_no_extraction(root: Path) -> None:
    loaded = loaded_by(root, "status")
    assert not loaded.intersection(name for name in LATE if name != "json_repair")


def test_what_a_command_needs_is_loaded(root: Path) -> None:
    """The positive control: every name above is that of a real module, and is seen where it is used."""
    config = root.parent / ".config/agent-memory/config.json"
    config.parent.mkdir(parents=True)
    config.write_text("{}")
    storing = loaded_by(root, "remember", "Deploys run from main only.")
    assert storing.issuperset({*WRITING} - {"agent_memory.capture.inbox_files"})
    loaded_by(root, "capture", "--title", "Deploys", "--body", "Always deploy from main, never from a branch.")
    by_builtin = loaded_by(root, "consolidate")
    config.write_text('{"llm": {"command": "false"}}')
    by_command = loaded_by(root, "consolidate")
    assert {"agent_memory.capture.inbox_files", *LATE} - by_builtin - by_command == {"ruamel"}


def test_yaml_is_loaded_for_what_only_yaml_can_read(root: Path) -> None:
    (root / "topics").mkdir(parents=True)
    (root / "topics" / "by hand.md").write_text("---\ntags: [one, two]  # a flow list\n---\nText.\n")
    assert "ruamel" in loaded_by(root, "list")


def remembered(root: Path) -> str:
    """The id of a stored note."""
    program = "from agent_memory.cli.entry import main; main()"
    command = [sys.executable, "-c", program, "remember", "Deploys run from main only."]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1]


# -- entry -------------------------------------------------------------------------------------------------------------


REPORT = """
import os, sys
before = set(sys.modules)
from agent_memory.cli import entry
sys.argv = ["memory", *sys.argv[1:]]
real = os._exit
def report(code):
    os.write(1, " ".join(sorted(set(sys.modules) - before)).encode())
    real(code)
os._exit = report
entry.main()
"""
C_MODULES = {"_json", "select", "errno", "gc", "time"}


def modules_after(words: list[str], data: bytes) -> set[str]:
    finished = subprocess.run(
        [sys.executable, "-S", "-c", REPORT, *words],
        input=data,
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    return set(finished.stdout.decode().split())


def test_the_hook_imports_c_modules_and_our_own_light_ones_only(root: Path) -> None:
    imported = modules_after(["capture", "--harness", "claude-code", "--hook"], payload())
    ours = {name for name in imported if name.startswith("agent_memory")}
    assert imported - ours <= C_MODULES
    assert len(list((root / "inbox").iterdir())) == 1
    assert "agent_memory.capture.hook" in ours
    modules = {name for name in ours if not any(other.startswith(f"{name}.") for other in ours)}
    assert len(modules) <= 17


def test_a_hook_with_something_to_log_imports_no_more_than_the_log(root: Path, home: Path) -> None:
    imported = modules_after(["capture", "--harness", "claude-code", "--hook"], b"{}")
    others = {name for name in imported if not name.startswith("agent_memory")}
    assert others <= C_MODULES
    assert "agent_memory.capture.hook_files" in imported


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys; before = set(sys.modules); import agent_memory; print(*(set(sys.modules) - before))"
    finished = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, text=True)
    assert finished.stdout.split() == ["agent_memory"]


# -- how the process of a command ends: see `cli.entry.run` ------------------------------------------------------------


def ended(program: str, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys\nfrom agent_memory.cli.entry import run\n{program}\nrun()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={"HOME": str(home)}, check=False)


def test_all_that_was_printed_arrives_and_the_code_with_it(tmp_path: Path) -> None:
    done = ended("", "--version", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"agent-memory {__version__}\n")
    refused = ended("", "serch", home=tmp_path)
    assert refused.returncode == 2
    assert "Did you mean `memory search`?" in refused.stderr


def test_what_was_to_be_done_at_the_end_is_done(tmp_path: Path) -> None:
    done = ended("import atexit\natexit.register(print, 'the last word')", "--version", home=tmp_path)
    assert done.stdout == f"agent-memory {__version__}\nthe last word\n"


def test_what_is_still_at_work_is_waited_for(tmp_path: Path) -> None:
    at_work = (
        "from threading import Thread, main_thread\n"
        "def work():\n"
        "    main_thread().join()\n"
        "    print('done', flush=True)\n"
        "Thread(target=work).start()"
    )
    done = ended(at_work, "--version", home=tmp_path)
    assert done.stdout == f"agent-memory {__version__}\ndone\n"
    assert done.returncode == 0
