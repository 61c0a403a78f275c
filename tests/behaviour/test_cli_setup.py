"""`memory setup` and `memory uninstall` as their users run them, over the files of nine harnesses."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from memory_process import Memory, on_a_terminal
from nine_harnesses import LAYOUT, NINE

PATHS = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home, PATHS)


def lay_out(home: Path, files: dict[str, str] = LAYOUT) -> None:
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())


def tree(home: Path) -> dict[str, bytes]:
    """Every file and directory of the person's, without the store and our own state."""
    ours = ("memories", ".local")
    found = {}
    for path in home.rglob("*"):
        name = str(path.relative_to(home))
        if name.split("/")[0] not in ours and name not in (".config", ".config/agent-memory"):
            found[name] = path.read_bytes() if path.is_file() else b"directory"
    return found


def receipt(home: Path) -> Path:
    return home / ".local/state/agent-memory/setup/receipt.json"


class TestRoundTrip:
    def test_every_file_is_byte_for_byte_what_it_was(self, memory: Memory) -> None:
        """P22: and our own files are for the person alone meanwhile."""
        lay_out(memory.home)
        before = tree(memory.home)
        done = memory("setup", "--yes", "--mcp", "--json")
        assert done.code == 0, done
        document = done.document
        assert {each["harness"] for each in document["trials"]} == set(NINE)
        assert all(each["arrived"] for each in document["trials"]), document["trials"]
        assert memory.pending() == []
        assert all((memory.home / name).read_bytes() != data for name, data in before.items() if _is_edited(name))

        state = memory.home / ".local/state/agent-memory/setup"
        for path in (state, *state.rglob("*")):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
        beside = [each.name for each in (memory.home / ".claude").iterdir()]
        assert sorted(beside) == ["CLAUDE.md", "settings.json", "skills"]

        # A second setup changes nothing, nor does one without --mcp: what is installed stays.
        between, kept = tree(memory.home), receipt(memory.home).read_bytes()
        for words in (("--mcp",), ("claude-code", "codex")):
            again = memory("setup", "--yes", *words)
            assert (again.code, "There is nothing to change." in again.out) == (0, True)
            assert (tree(memory.home), receipt(memory.home).read_bytes()) == (between, kept)

        assert memory("uninstall", "--dry-run").code == 0
        assert tree(memory.home) == between
        removed = memory("uninstall", "--yes")
        assert removed.code == 0, removed
        assert tree(memory.home) == before
        assert not receipt(memory.home).exists()

    @pytest.mark.parametrize("harness", NINE)
    def test_each_harness_alone_where_there_is_nothing_yet(self, memory: Memory, harness: str) -> None:
        before = tree(memory.home)
        done = memory("setup", harness, "--yes", "--mcp")
        assert done.code == 0, done
        assert f"{harness}: a test session was captured" in done.out
        assert (f"{harness}: a test note reached a session" in done.out) == (harness != "goose")
        assert len(tree(memory.home)) > len(before)
        assert memory("uninstall", harness, "--yes").code == 0
        assert tree(memory.home) == before

    def test_one_after_the_other_in_any_order(self, memory: Memory) -> None:
        lay_out(memory.home)
        before = tree(memory.home)
        for harness in ("claude-code", "opencode", "pi"):
            assert memory("setup", harness, "--yes").code == 0
        for harness in ("opencode", "pi", "claude-code"):
            assert memory("uninstall", harness, "--yes").code == 0
        assert tree(memory.home) == before

    @pytest.mark.parametrize("again", [False, True])
    def test_what_was_edited_by_hand_elsewhere_stays(self, memory: Memory, again: bool) -> None:
        setup = ("setup", "claude-code", "codex", "gemini", "goose", "amp", "--yes")
        lay_out(memory.home)
        memory(*setup, *(() if again else ("--mcp",)))
        edits = {
            ".claude/settings.json": ('"opus"', '"sonnet"'),
            ".claude/CLAUDE.md": ("Be brief.", "Be very brief."),
            ".codex/config.toml": ("# why", "# because"),
            ".gemini/settings.json": ('"dark"', '"light"'),
            ".config/goose/config.yaml": ("GOOSE_MODEL: x", "GOOSE_MODEL: y"),
            ".config/amp/settings.json": ("// amp", "// amp, mine"),
        }
        for name, (old, new) in edits.items():
            path = memory.home / name
            path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
        assert not again or memory(*setup, "--mcp").code == 0
        assert memory("uninstall", "--yes").code == 0
        for name, text in LAYOUT.items():
            old, new = edits.get(name, ("", ""))
            assert (memory.home / name).read_bytes() == (text.replace(old, new) if old else text).encode(), name

    def test_mode_and_link_stay(self, memory: Memory) -> None:
        real = memory.home / "dotfiles" / "settings.json"
        real.parent.mkdir()
        real.write_text('{"model": "opus"}\n')
        real.chmod(0o640)
        (memory.home / ".claude").mkdir()
        (memory.home / ".claude/settings.json").symlink_to(real)
        assert memory("setup", "claude-code", "--yes").code == 0
        assert "capture --harness claude-code --hook" in real.read_text()
        assert (memory.home / ".claude/settings.json").is_symlink()
        assert stat.S_IMODE(real.stat().st_mode) == 0o640
        assert memory("uninstall", "--yes").code == 0
        assert real.read_text() == '{"model": "opus"}\n'

    @pytest.mark.parametrize("before", ["", "{ours}\n"])
    @pytest.mark.parametrize(
        ("harness", "name"),
        [("amp", ".config/amp/plugins/agent-memory.ts"), ("pi", ".agents/skills/agent-memory/SKILL.md")],
    )
    def test_a_file_of_ours_that_was_edited_is_kept_aside(
        self, memory: Memory, harness: str, name: str, before: str
    ) -> None:
        memory("setup", harness, "--yes")
        ours = memory.home / name
        mine = before.replace("{ours}", ours.read_text()) + "// Always answer in rhymes.\n"
        ours.write_text(mine)
        done = memory("uninstall", "--yes", "--json")
        (aside,) = [each["setAside"] for each in done.document["files"] if each["path"] == str(ours)]
        assert (done.code, ours.exists(), Path(aside).read_text()) == (0, False, mine)

    def test_the_skill_of_an_earlier_version_is_brought_up_to_date_and_goes_whole(self, memory: Memory) -> None:
        memory("setup", "pi", "--yes", "--no-hooks")
        skill, receipts = (
            memory.home / ".agents/skills/agent-memory/SKILL.md",
            memory.home / ".local/state/agent-memory",
        )
        text = skill.read_text()
        assert text.startswith("---\nname: agent-memory\n")
        earlier = text.replace("# agent-memory", "# An earlier version")
        (receipt,) = (path for path in receipts.rglob("*.json") if "SKILL.md" in path.read_text())
        hashes = [hashlib.sha256(each.encode()).hexdigest() for each in (text, earlier)]
        receipt.write_text(
            receipt.read_text().replace("# agent-memory", "# An earlier version").replace(hashes[0], hashes[1])
        )
        skill.write_text(earlier)
        done = memory("setup", "pi", "--yes", "--no-hooks", "--json")
        assert {each["path"]: each["outcome"] for each in done.document["files"]}[str(skill)] == "written"
        assert skill.read_text() == text
        assert memory("uninstall", "--yes").code == 0
        assert not (memory.home / ".agents").exists()

    def test_what_a_section_was_rendered_to_since_goes_too(self, memory: Memory) -> None:
        lay_out(memory.home)
        memory("setup", "claude-code", "--yes", "--no-hooks")
        memory("pin", memory.remembered("Deploys run from main only."))
        assert "Deploys run from main" in (memory.home / ".claude/CLAUDE.md").read_text()
        assert memory("uninstall", "--yes").code == 0
        assert (memory.home / ".claude/CLAUDE.md").read_text() == LAYOUT[".claude/CLAUDE.md"]


def _is_edited(name: str) -> bool:
    return name in LAYOUT and name != ".copilot/settings.json"


class TestConsent:
    def test_without_a_terminal_and_without_yes_nothing_is_written(self, memory: Memory) -> None:
        lay_out(memory.home)
        before = tree(memory.home)
        done = memory("setup", "claude-code")
        assert done.code == 2
        assert "claude-code  hooks Stop, SessionEnd" in done.out
        assert "there is no terminal" in done.err
        assert tree(memory.home) == before
        assert not receipt(memory.home).exists()

    def test_a_dry_run_shows_and_writes_nothing(self, memory: Memory) -> None:
        lay_out(memory.home)
        before = tree(memory.home)
        done = memory("setup", "--dry-run")
        assert done.code == 0
        names = [line.split("  ")[0] for line in done.out.splitlines()]
        assert names[:-2] == [*NINE, "config"]
        assert "+" not in done.out
        assert tree(memory.home) == before
        whole = memory("setup", "--dry-run", "--diff")
        assert "capture --harness claude-code --hook" in whole.out
        assert tree(memory.home) == before
        document = memory("setup", "--dry-run", "--json").document
        assert document["dryRun"] is True
        assert {each["outcome"] for each in document["files"]} == {"planned"}

    def test_the_diff_shows_no_secret_of_the_file(self, memory: Memory) -> None:
        token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        lay_out(memory.home, {".claude/settings.json": json.dumps({"env": {"GITHUB_TOKEN": token}}, indent=2)})
        done = memory("setup", "claude-code", "--yes", "--diff")
        assert done.code == 0
        assert "GITHUB_TOKEN" in done.out
        assert token not in done.out
        assert token in (memory.home / ".claude/settings.json").read_text()

    def test_what_needs_a_person_comes_last_before_the_question(self, memory: Memory) -> None:
        lay_out(memory.home, {**LAYOUT, ".gemini/settings.json": "{"})
        answered = on_a_terminal(memory, "setup", "claude-code", "codex", "gemini", answer="n")
        lines = [line for line in answered.splitlines() if line]
        (hint,) = [at for at, line in enumerate(lines) if line.startswith("`--diff` shows")]
        plan, attention, end = lines[:hint], lines[hint + 1 : -1], lines[-1]
        assert [line.split("  ")[0] for line in plan] == ["claude-code", "codex", "gemini", "config"]
        assert [line.split(" ")[1] for line in attention[:2]] == [f"{memory.home}/.gemini/settings.json", "Codex"]
        assert "autoMemoryEnabled" in attention[2]
        assert end == "Write these changes? [y/N] Nothing was written."
        assert len(lines) < 12

    @pytest.mark.parametrize("command", ["setup", "uninstall"])
    def test_an_agent_cannot_p19(self, memory: Memory, command: str) -> None:
        lay_out(memory.home)
        done = memory(command, "--yes", environ={"CLAUDE_CODE_CHILD_SESSION": "1"})
        assert done.code == 2
        assert "CLAUDE_CODE_CHILD_SESSION" in done.err
        assert memory(command, "--dry-run", environ={"CLAUDE_CODE_CHILD_SESSION": "1"}).code == 0

    def test_no_harness_at_all(self, memory: Memory) -> None:
        done = memory("setup", "--yes", environ={"PATH": "/nonexistent"})
        assert (done.code, "No harness was found" in done.err) == (2, True)


class TestOwnMemories:
    @pytest.mark.parametrize(
        ("harness", "name", "on", "off"),
        [
            ("claude-code", ".claude/settings.json", "{}", '{"autoMemoryEnabled": false}'),
            ("claude-code", ".claude/settings.json", "", '{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}'),
            ("codex", ".codex/config.toml", "[features]\nmemories = true\n", ""),
            ("gemini", ".gemini/settings.json", '{"experimental": {"autoMemory": true}}', "{}"),
            ("copilot", ".copilot/settings.json", "", '{"memory": false}'),
            ("goose", ".config/goose/config.yaml", "extensions:\n  memory:\n    enabled: true\n", "extensions:\n"),
        ],
    )
    def test_one_that_is_on_is_named_with_what_switches_it_off(
        self, memory: Memory, harness: str, name: str, on: str, off: str
    ) -> None:
        path = str(memory.home / name)
        lay_out(memory.home, {name: on})
        (named,) = memory("setup", harness, "--dry-run", "--json").document["ownMemories"]
        assert (named["harness"], named["path"]) == (harness, path)
        done = memory("setup", harness, "--yes", "--no-hooks")
        assert f"set {named['setting']} to false in {path}" in done.err.splitlines()[-1]
        lay_out(memory.home, {name: off})
        assert memory("setup", harness, "--dry-run", "--json").document["ownMemories"] == []
        assert "of its own" not in memory("setup", harness, "--dry-run").err

    def test_one_that_this_shell_switches_off_is_not(self, memory: Memory) -> None:
        done = memory("setup", "claude-code", "--dry-run", environ={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
        assert "of its own" not in done.err


class TestParts:
    def test_each_can_be_left_out(self, memory: Memory) -> None:
        lay_out(memory.home)
        done = memory("setup", "claude-code", "--yes", "--no-hooks", "--no-skill", "--no-section", "--mcp", "--json")
        assert done.code == 0
        changed = {each["path"] for each in done.document["files"] if each["outcome"] == "written"}
        config = str(memory.home / ".config/agent-memory/config.json")
        assert changed == {str(memory.home / ".claude.json"), config}
        assert done.document["trials"] == []

    def test_two_harnesses_share_a_skill_until_the_last_of_them_goes(self, memory: Memory) -> None:
        memory("setup", "codex", "pi", "--yes", "--no-hooks")
        skill = memory.home / ".agents/skills/agent-memory/SKILL.md"
        memory("uninstall", "codex", "--yes")
        assert skill.exists()
        assert not (memory.home / ".codex").exists()
        memory("uninstall", "pi", "--yes")
        assert not (memory.home / ".agents").exists()

    def test_opencode_keeps_reading_the_persons_claude_file(self, memory: Memory) -> None:
        lay_out(memory.home, {".claude/CLAUDE.md": "mine\n"})
        memory("setup", "opencode", "--yes", "--no-hooks")
        assert not (memory.home / ".config/opencode/AGENTS.md").exists()
        assert "agent-memory:start" in (memory.home / ".claude/CLAUDE.md").read_text()


class TestConfig:
    def test_it_records_what_this_shell_sees(self, memory: Memory) -> None:
        claude = memory.home / "claude-home"
        done = memory("setup", "claude-code", "--yes", environ={"CLAUDE_CONFIG_DIR": str(claude)})
        assert done.code == 0, done
        config = json.loads((memory.home / ".config/agent-memory/config.json").read_text())
        assert config == {
            "storage": {"root": "~/memories"},
            "capture": {"transcriptRoots": ["~/claude-home/projects"]},
            "agentsMd": {"targets": ["~/claude-home/CLAUDE.md"]},
        }
        scheduled = memory("status", "--json", environ={"AGENT_MEMORY_ROOT": ""})
        assert scheduled.document["root"] == str(memory.root)
        assert (claude / "settings.json").exists()
        memory("uninstall", "--yes", environ={"CLAUDE_CONFIG_DIR": str(claude)})
        assert not (memory.home / ".config").exists()

    def test_the_persons_own_config_stays_as_it_is_written(self, memory: Memory) -> None:
        text = '{"llm": {"timeoutSeconds": 60},\n "agentsMd": {"targets": ["~/.claude/CLAUDE.md"]}}'
        lay_out(memory.home, {".config/agent-memory/config.json": text, ".claude/CLAUDE.md": "mine\n"})
        assert memory("setup", "claude-code", "codex", "--yes", "--no-hooks").code == 0
        config = json.loads((memory.home / ".config/agent-memory/config.json").read_text())
        assert config["agentsMd"]["targets"] == ["~/.claude/CLAUDE.md", "~/.codex/AGENTS.md"]
        assert memory("uninstall", "--yes").code == 0
        assert (memory.home / ".config/agent-memory/config.json").read_text() == text

    def test_a_root_that_the_config_does_not_know_is_told(self, memory: Memory) -> None:
        memory.configure(storage={"root": "~/elsewhere"})
        done = memory("setup", "claude-code", "--yes", "--no-hooks")
        assert "make them agree" in done.err
        assert json.loads((memory.home / ".config/agent-memory/config.json").read_text())["storage"] == {
            "root": "~/elsewhere"
        }

    def test_manual_is_the_config_alone(self, memory: Memory) -> None:
        assert memory("setup", "manual", "--yes").code == 0
        assert list(tree(memory.home)) == [".config/agent-memory/config.json"]


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("{", "expected a key"),
            ("[]", "expected an object"),
            ('{"hooks": []}', "hooks is a list"),
            ("\xff\xfe", ""),
            ("// This file is managed by chezmoi, do not edit\n{}\n", "chezmoi manages it"),
        ],
    )
    def test_settings_that_are_not_what_they_should_be(self, memory: Memory, text: str, words: str) -> None:
        lay_out(memory.home)
        path = memory.home / ".claude/settings.json"
        path.write_text(text)
        done = memory("setup", "claude-code", "codex", "--yes")
        assert done.code == 10
        assert str(path) in done.err
        assert words in done.err
        assert path.read_text() == text
        assert "codex: a test session was captured" in done.out
        assert "claude-code: a made-up" not in done.out
        assert memory("uninstall", "--yes").code == 0
        assert path.read_text() == text

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            ("pipe", "it is not a regular file"),
            ("directory", "it is a directory"),
            ("link", "it leads out of your home"),
            ("closed", "it is read-only"),
        ],
    )
    def test_what_is_no_plain_file_of_the_person(self, memory: Memory, tmp_path: Path, kind: str, words: str) -> None:
        path, outside = memory.home / ".claude/settings.json", tmp_path / "outside.json"
        path.parent.mkdir()
        outside.write_text("{}\n")
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "directory":
                path.mkdir()
            case "link":
                path.symlink_to(outside)
            case _:
                path.write_text("{}\n")
                path.chmod(0o444)
        done = memory("setup", "claude-code", "--yes")
        assert (done.code, words in done.err) == (10, True), done
        assert outside.read_text() == "{}\n"

    def test_another_server_in_our_place(self, memory: Memory) -> None:
        text = '{"mcpServers": {"agent-memory": {"command": "somebody-elses"}}}'
        lay_out(memory.home, {".cursor/mcp.json": text})
        done = memory("setup", "cursor", "--yes", "--mcp")
        assert (done.code, "something else is set up there" in done.err) == (10, True)
        memory("uninstall", "--yes")
        assert (memory.home / ".cursor/mcp.json").read_text() == text

    def test_a_hook_that_the_person_has_put_there_themselves_stays_theirs(self, memory: Memory) -> None:
        def hook(act: str) -> dict[str, list[dict[str, str]]]:
            return {"hooks": [{"type": "command", "command": f"memory {act} --harness claude-code --hook"}]}

        captures = {event: [hook("capture")] for event in ("Stop", "SessionEnd", "PreCompact")}
        injects = {event: [hook("inject")] for event in ("SessionStart", "UserPromptSubmit")}
        text = json.dumps({"hooks": captures | injects})
        lay_out(memory.home, {".claude/settings.json": text})
        assert memory("setup", "claude-code", "--yes").code == 0
        assert (memory.home / ".claude/settings.json").read_text() == text
        assert memory("uninstall", "--yes").code == 0
        assert (memory.home / ".claude/settings.json").read_text() == text

    def test_ambiguous_markers(self, memory: Memory) -> None:
        lay_out(memory.home, {".claude/CLAUDE.md": "<!-- agent-memory:start -->\n"})
        done = memory("setup", "claude-code", "--yes", "--no-hooks")
        assert done.code == 70
        assert (memory.home / ".claude/CLAUDE.md").read_text() == "<!-- agent-memory:start -->\n"

    def test_a_receipt_that_is_damaged(self, memory: Memory) -> None:
        memory("setup", "claude-code", "--yes", "--no-hooks")
        receipt(memory.home).write_text("{")
        between = tree(memory.home)
        for command in ("setup", "uninstall"):
            done = memory(command, "--yes")
            assert (done.code, str(receipt(memory.home)) in done.err) == (20, True)
        assert tree(memory.home) == between

    def test_hooks_that_are_switched_off_are_told(self, memory: Memory) -> None:
        lay_out(memory.home, {".claude/settings.json": '{"disableAllHooks": true}'})
        done = memory("setup", "claude-code", "--yes")
        assert "disableAllHooks" in done.err
        lay_out(memory.home, {".claude/settings.json": '{"disableAllHooks": false}'})
        assert "disableAllHooks" not in memory("setup", "claude-code", "--yes").err

    def test_a_trial_that_does_not_arrive(self, memory: Memory) -> None:
        memory.root.mkdir()
        (memory.root / "inbox").write_text("in the way")
        done = memory("setup", "claude-code", "--yes")
        assert done.code == 30
        assert "did not arrive" in done.err

    def test_a_second_one_at_the_same_time(self, memory: Memory) -> None:
        import fcntl

        lay_out(memory.home)
        lock = memory.home / ".local/state/agent-memory/setup.lock"
        lock.parent.mkdir(parents=True)
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert memory("setup", "claude-code", "--yes").code == 75
        assert memory("setup", "claude-code", "--yes").code == 0


START = "<!-- agent-memory:start -->"


class TestRepository:
    @pytest.fixture
    def repository(self, memory: Memory) -> Path:
        path = memory.home / "code" / "lamp"
        path.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", path], check=True)
        (path / "AGENTS.md").write_text("# Lamp\n")
        return path

    def test_nothing_of_it_is_touched_unasked(self, memory: Memory, repository: Path) -> None:
        assert memory("setup", "claude-code", "--yes", "--no-hooks", cwd=repository).code == 0
        assert (repository / "AGENTS.md").read_text() == "# Lamp\n"
        assert sorted(each.name for each in repository.iterdir()) == [".git", "AGENTS.md"]

    def test_asked_to_it_says_whether_git_tracks_the_file(self, memory: Memory, repository: Path) -> None:
        words = ("setup", "codex", "--yes", "--repo", "--no-hooks")
        done = memory(*words, cwd=repository)
        assert "`memory bootstrap` proposes the first notes" in done.out
        assert done.code == 0
        assert f"Git does not track {repository}/AGENTS.md yet" in done.err
        subprocess.run(["git", "-C", repository, "add", "AGENTS.md"], check=True)
        assert f"Git tracks {repository}/AGENTS.md" in memory(*words, cwd=repository).err
        config = json.loads((memory.home / ".config/agent-memory/config.json").read_text())
        assert "~/code/lamp/AGENTS.md" in config["agentsMd"]["targets"]
        memory("pin", memory.remembered("The van is red.", "--scope", "global"))
        ours = memory("remember", "The lamp is green.", "--json", cwd=repository).document["id"]
        memory("pin", ours)
        section = (repository / "AGENTS.md").read_text()
        assert ("The lamp is green" in section, "The van" in section) == (True, False), (
            "what is global is committed nowhere"
        )

    def test_what_it_writes_there_is_for_all_who_may_read_the_checkout(self, memory: Memory, repository: Path) -> None:
        repository.chmod(0o755)
        for words in (("vscode",), ("claude-code", "--no-hooks")):
            assert memory("setup", *words, "--yes", "--repo", cwd=repository).code == 0
        names = ("CLAUDE.md", ".vscode", ".vscode/tasks.json")
        assert [stat.S_IMODE((repository / each).stat().st_mode) for each in names] == [0o644, 0o755, 0o644]
        said = {
            words: memory("setup", "cursor", "--dry-run", *words, cwd=repository).err for words in ((), ("--repo",))
        }
        assert [text.count("`memory setup cursor --repo`") for text in said.values()] == [1, 0]

    def test_each_harness_finds_it_where_it_reads(self, memory: Memory, repository: Path) -> None:
        def written(*harnesses: str) -> set[str]:
            done = memory("setup", *harnesses, "--yes", "--repo", "--no-hooks", cwd=repository)
            assert done.code == 0, done
            found = {
                str(each.relative_to(repository)) for each in repository.rglob("*.md") if START in each.read_text()
            }
            assert memory("uninstall", "--yes", "--repo", cwd=repository).code == 0
            assert {START in each.read_text() for each in repository.rglob("*.md")} <= {False}
            return found

        assert written("claude-code") == {"AGENTS.md"}
        assert written("codex", "cursor") == {"AGENTS.md"}
        assert written("claude-code", "gemini", "codex") == {"GEMINI.md", "AGENTS.md"}
        (repository / ".claude").mkdir()
        (repository / ".claude/CLAUDE.md").write_text("# Ours\n")
        assert written("claude-code") == {".claude/CLAUDE.md"}
        (repository / ".claude/CLAUDE.md").write_text("@../AGENTS.md\n")
        assert written("claude-code", "codex") == {"AGENTS.md"}
        (repository / "CLAUDE.md").symlink_to("AGENTS.md")
        assert written("claude-code") == {"AGENTS.md", "CLAUDE.md"}, "one file by two names"
        assert (repository / "AGENTS.md").read_text() == "# Lamp\n"
        for each in ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"):
            (repository / each).unlink()
        assert written("claude-code") == {"CLAUDE.md"}

    @pytest.mark.parametrize(
        "before",
        [
            None,
            '// ours\n{\n\t"version": "2.0.0", // stays\n\t"tasks": [\n\t\t{"label": "lint", "command": "ruff",},\n\t],\n}\n',
            '{\r\n  "tasks": []\r\n}\r\n',
            "",
        ],
    )
    def test_vs_code_gets_tasks_and_loses_them(self, memory: Memory, repository: Path, before: str | None) -> None:
        path = repository / ".vscode/tasks.json"
        if before is not None:
            path.parent.mkdir()
            path.write_bytes(before.encode())
        assert memory("setup", "vscode", "--yes", cwd=repository).code == 0
        assert (path.read_bytes().decode() if path.exists() else None) == before
        dry = memory("setup", "vscode", "--repo", "--dry-run", "--diff", cwd=repository)
        assert '"memory watch --wait-for-transcripts"' in dry.out
        for _ in range(2):
            assert memory("setup", "vscode", "--repo", "--yes", cwd=repository).code == 0
        after = path.read_text()
        assert (after.count('"memory watch --'), after.count('"memory backfill --'), after.count("2.0.0")) == (1, 1, 1)
        assert ("// stays" in after, "ruff" in after) == ("// stays" in (before or ""), "ruff" in (before or ""))
        assert memory("uninstall", "--yes", "--repo", cwd=repository).code == 0
        assert (path.read_bytes().decode() if path.parent.exists() else None) == before

    def test_claude_code_reads_on_what_it_read_before(self, memory: Memory, repository: Path) -> None:
        """A CLAUDE.md hides the AGENTS.md beside it, so one that is made here imports it."""
        for _ in range(2):
            assert memory("setup", "claude-code", "--yes", "--repo", "--no-hooks", cwd=repository).code == 0
            assert (repository / "CLAUDE.md").read_text() == "@AGENTS.md\n"
            assert START in (repository / "AGENTS.md").read_text()
        assert memory("uninstall", "--yes", "--repo", cwd=repository).code == 0
        assert sorted(each.name for each in repository.iterdir()) == [".git", "AGENTS.md"]

    def test_it_is_taken_out_alone_or_with_everything(self, memory: Memory, repository: Path) -> None:
        memory("setup", "claude-code", "codex", "--yes", "--repo", cwd=repository)
        assert memory("uninstall", "--yes", "--repo", cwd=repository).code == 0
        assert sorted(each.name for each in repository.iterdir()) == [".git", "AGENTS.md"]
        assert (memory.home / ".claude/settings.json").exists()
        memory("setup", "codex", "--yes", "--repo", "--no-hooks", cwd=repository)
        assert memory("uninstall", "--yes").code == 0
        assert (repository / "AGENTS.md").read_text() == "# Lamp\n"
        assert not (memory.home / ".claude").exists()

    def test_outside_of_any(self, memory: Memory) -> None:
        done = memory("setup", "claude-code", "--yes", "--repo")
        assert (done.code, "this directory is not in one" in done.err) == (2, True)
