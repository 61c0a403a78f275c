"""Plans carried out on a disk that fails, by processes that die; the receipt; trials of hooks."""

from __future__ import annotations

import errno
import os
import shlex
from contextlib import suppress
from pathlib import Path

import pytest

from agent_memory.config import Config, StorageConfig
from agent_memory.errors import Error, SettingsRefused, StateCorrupt, StoreIo
from agent_memory.section.targets import Targets
from agent_memory.setup.harnesses import context_of
from agent_memory.setup.installation import Installation, tried, without_section
from agent_memory.setup.plan import (
    RECEIPT,
    Element,
    FileRecord,
    InstallPlan,
    Member,
    Part,
    Receipt,
    SectionRecord,
    SelfTest,
    SettingsFiles,
    SetupState,
    Whole,
)
from faults import each_failure, each_kill, failing_on, snapshot

SECTION = "<!-- agent-memory:start -->\n## Memory of earlier sessions\n<!-- agent-memory:end -->"
FILES = {
    ".claude/settings.json": b'{\n  "model": "opus" // mine\n}\n',
    ".claude/CLAUDE.md": b"# Mine",
    ".codex/config.toml": b'model = "o3"\n',
}
PARTS = frozenset(Part)


class Here:
    """Setup and uninstall of three harnesses in one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for name, data in FILES.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(data)
        self.state = SetupState(str(home))
        self.installation = Installation(
            context=context_of(str(home), "/usr/bin/memory", {}),
            environ={},
            root=home / "memories",
            files=SettingsFiles(Targets(str(home), f"{home}/memories")),
            state=self.state,
            config=Config(storage=StorageConfig(root=f"{home}/memories")),
            section_of=lambda path, in_repository: SECTION,
        )

    def plan(self) -> InstallPlan:
        return self.installation.plan(("claude-code", "codex", "amp"), PARTS)

    def install(self) -> None:
        outcomes = self.installation.install(self.plan())
        assert [each.error for each in outcomes if each.error is not None] == []

    def uninstall(self) -> None:
        plan = self.installation.plan_removal(None)
        assert plan.refused == ()
        outcomes = self.installation.uninstall(plan)
        assert [each.error for each in outcomes if each.error is not None] == []

    def files(self) -> dict[str, bytes]:
        return {name: data for name, data in snapshot(self.home).items() if not name.startswith(".local/")}

    def settle(self) -> None:
        """What a crash leaves beside a file is litter of a known name."""
        for path in self.home.rglob("*"):
            if ".agent-memory-" in path.name or path.name.startswith(".tmp-"):
                path.unlink()


@pytest.fixture
def here(home: Path) -> Here:
    return Here(home)


def whole(files: dict[str, bytes], before: dict[str, bytes], after: dict[str, bytes]) -> bool:
    """Whether every file is as it was or as it is to be (P2)."""
    litter = {name for name in files if ".agent-memory-" in name or name.rpartition("/")[2].startswith(".tmp-")}
    return all(data in (before.get(name), after.get(name)) for name, data in files.items() if name not in litter)


def test_killed_anywhere_a_second_uninstall_leaves_every_file_as_it_was_p2(tmp_path: Path) -> None:
    reference = Here(tmp_path / "reference")
    reference.install()
    after = {name: data.replace(str(reference.home).encode(), b"HOME") for name, data in reference.files().items()}
    for k, dying in each_kill(step=13):
        here = Here(tmp_path / f"{k}")
        plan = here.plan()
        with dying:
            here.installation.install(plan)
        files = {name: data.replace(str(here.home).encode(), b"HOME") for name, data in here.files().items()}
        assert whole(files, FILES, after), k
        here.settle()
        here.uninstall()
        assert here.files() == FILES, k
        again = Here(tmp_path / f"{k}")
        again.install()
        again.uninstall()
        assert again.files() == FILES, k
    assert k > 20


def test_an_uninstall_that_is_killed_anywhere_is_finished_by_the_next_p2(tmp_path: Path) -> None:
    for k, dying in each_kill(first=11, step=11):
        here = Here(tmp_path / f"{k}")
        here.install()
        plan = here.installation.plan_removal(None)
        with dying:
            here.installation.uninstall(plan)
        here.settle()
        here.uninstall()
        assert here.files() == FILES, k
    assert k > 20


@pytest.mark.parametrize("name", ["receipt.json", "setup", "backups"])
def test_an_uninstall_that_could_only_not_tidy_up_is_finished_by_the_next(tmp_path: Path, name: str) -> None:
    """P5: of what setup keeps nothing is left, either."""
    here = Here(tmp_path)
    here.install()
    plan = here.installation.plan_removal(None)
    with failing_on(name, "unlink", "rmdir", "open"), pytest.raises(StoreIo):
        here.installation.uninstall(plan)
    here.uninstall()
    assert here.files() == FILES
    assert list(Path(here.state.directory).iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_is_one_error_and_loses_nothing_p5(tmp_path: Path, number: int) -> None:
    for k, failing in each_failure(number, step=41):
        here = Here(tmp_path / f"{number}-{k}")
        plan = here.plan()
        with failing, suppress(Error):
            here.installation.install(plan)
        here.settle()
        here.uninstall()
        assert here.files() == FILES, k
    assert k > 20


def test_what_somebody_writes_at_the_same_moment_is_kept_p8(here: Here) -> None:
    plan = here.plan()
    settings = here.home / ".claude/settings.json"
    settings.write_text('{"model": "sonnet"}\n')
    outcomes = here.installation.install(plan)
    (refused,) = [each for each in outcomes if each.error is not None]
    assert isinstance(refused.error, SettingsRefused)
    assert settings.read_text() == '{"model": "sonnet"}\n'
    assert here.state.receipt().file(str(settings)) is None
    here.uninstall()
    assert settings.read_text() == '{"model": "sonnet"}\n'


def test_a_backup_that_is_gone_is_an_error_and_nothing_is_touched_p6(here: Here) -> None:
    here.install()
    between = here.files()
    for path in (here.home / ".local/state/agent-memory/setup/backups").iterdir():
        path.unlink()
    with pytest.raises(StateCorrupt):
        here.installation.plan_removal(None)
    assert here.files() == between


@pytest.mark.parametrize(
    ("backup", "now", "after"),
    [
        (None, f"{SECTION}\n", None),
        (b"# Mine", f"# Mine\n\n{SECTION}\n", b"# Mine"),
        (b"# Mine\n\n", f"# Mine\n\n{SECTION}\n", b"# Mine\n\n"),
        (None, f"mine\n{SECTION}\n", b"mine\n"),
        (
            f"# Mine\n{SECTION}\n".encode(),
            f"# Mine\n{SECTION}\n".replace("earlier", "other"),
            f"# Mine\n{SECTION}\n".encode(),
        ),
    ],
)
def test_a_section_goes_with_what_came_with_it(backup: bytes | None, now: str, after: bytes | None) -> None:
    assert without_section("/lamp/AGENTS.md", now.encode(), backup) == after


class TestSettingsFiles:
    @pytest.fixture
    def files(self, home: Path) -> SettingsFiles:
        return SettingsFiles(Targets(str(home), f"{home}/memories"))

    def test_a_directory_that_cannot_be_looked_at_is_not_missing_p6(self, files: SettingsFiles, home: Path) -> None:
        (home / "a").mkdir()
        (home / "a/c.json").write_text("{}")
        with failing_on("/a", "lstat"), pytest.raises(StoreIo):
            files.read(f"{home}/a/c.json")
        assert files.read(f"{home}/a/c.json").data == b"{}"

    @pytest.mark.parametrize(
        ("header", "who"),
        [
            (b"# Managed by Ansible: do not edit\n", "Ansible"),
            (b"// chezmoi:template\n{}\n", "chezmoi"),
            (b"{\n  // generated by home-manager\n}\n", "home-manager"),
        ],
    )
    def test_a_header_of_another_program(self, files: SettingsFiles, home: Path, header: bytes, who: str) -> None:
        path = home / "settings.json"
        path.write_bytes(header)
        with pytest.raises(SettingsRefused, match=who):
            files.read(str(path))


# -- the receipt -------------------------------------------------------------------------------------------------------


HASH = "0" * 64
EARLIER = """{"version": 1, "files": [{"path": "/x", "syntax": "jsonc", "before": null, "after": "HASH", "placed": [
  {"part": "hooks", "harnesses": ["amp"], "kind": "element", "keys": ["hooks", "Stop"], "value": {"a": [1]}, "command": "c", "mark": "m"},
  {"part": null, "harnesses": ["amp"], "kind": "member", "keys": ["storage", "root"], "value": "~/m", "command": null, "optional": true, "stays": false},
  {"part": "hooks", "harnesses": ["amp"], "kind": "whole", "text": "x"}]}],
  "sections": [{"path": "/y", "before": null, "harnesses": ["generate-agents-md"]}], "madeDirectories": ["/z"]}"""
EARLIER = EARLIER.replace("HASH", HASH)


def test_one_of_an_earlier_version_is_read() -> None:
    placed = (
        Element(("hooks", "Stop"), {"a": [1]}, "c", "m", Part.HOOKS, ("amp",)),
        Member(("storage", "root"), "~/m", None, True, harnesses=("amp",)),
        Whole("x", Part.HOOKS, ("amp",)),
    )
    files = (FileRecord("/x", "jsonc", None, HASH, placed),)
    sections = (SectionRecord("/y", None, ("generate-agents-md",)),)
    assert RECEIPT.parse(EARLIER.encode(), "/r") == Receipt(files, sections, ("/z",))


DAMAGE = (
    ('"harnesses": ["generate-agents-md"]', '"harnesses": {}'),
    ('"/x"', '"../x"'),
    ('"jsonc"', '"ini"'),
    ('"kind": "element"', '"kind": "other"'),
)


@pytest.mark.parametrize("damaged", ["", "{}", *(EARLIER.replace(*each) for each in DAMAGE)], ids=range(6))
def test_a_damaged_one_is_no_empty_one_p6(damaged: str) -> None:
    with pytest.raises(StateCorrupt):
        RECEIPT.parse(damaged.encode(), "/r")


# -- trials of a hook --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["listdir", "unlink"])
def test_an_inbox_that_cannot_be_looked_at_is_not_an_empty_one_p6(tmp_path: Path, call: str) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox/another.json").write_text("{}")
    arriving = SelfTest("cursor", f"cat > {shlex.quote(str(tmp_path))}/inbox/trial.json")
    with failing_on("", call):
        problem = tried(arriving, {"PATH": os.environ["PATH"]}, str(tmp_path), tmp_path)
    assert "cannot be looked at and removed" in problem
    assert "Input/output error" in problem
