"""`memory config` and `memory trust`, as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from forked_program import run_program


@pytest.fixture
def project(home: Path) -> Path:
    path = home / "a project"
    path.mkdir()
    return path


def memory(cwd: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    done = run_program(arguments, b"", cwd, {**os.environ, **environ}, 60)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())


def write_own(home: Path, document: object) -> Path:
    path = home / ".config/agent-memory/config.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document))
    return path


def write_local(project: Path, document: object) -> Path:
    path = project / "memory.config.json"
    path.write_text(json.dumps(document))
    return path


def lines_of(done: subprocess.CompletedProcess[str]) -> dict[str, list[str]]:
    return {
        line.split("  ")[0]: [part.strip() for part in line.split("  ") if part.strip()][1:]
        for line in done.stdout.splitlines()
    }


class TestConfig:
    def test_every_key_is_shown_with_its_value_and_source(self, home: Path, project: Path) -> None:
        write_own(home, {"llm": {"timeoutSeconds": 5, "presets": {"mine": "ask -q"}}})
        write_local(project, {"inject": {"tokenBudget": 9}})
        done = memory(project, "config", AGENT_MEMORY_ROOT="/srv/notes")
        assert (done.returncode, done.stderr) == (0, "")
        shown = lines_of(done)
        assert shown["llm.timeoutSeconds"] == ["5", "~/.config/agent-memory/config.json"]
        assert shown["llm.presets.mine"] == ['"ask -q"', "~/.config/agent-memory/config.json"]
        assert shown["inject.tokenBudget"] == ["9", "~/a project/memory.config.json"]
        assert shown["storage.root"] == ['"/srv/notes"', "AGENT_MEMORY_ROOT"]
        assert shown["llm.command"] == ["null", "default"]

    def test_secrets_in_it_are_not_shown_p20(self, home: Path, project: Path) -> None:
        token = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
        preset = {
            "argv": ["ask", "--token", token],
            "env": {"API_KEY": "0123456789abcdef0123456789abcdef", "PLAIN": "seen"},
        }
        write_own(home, {"llm": {"command": f"ask {token}", "presets": {"mine": preset}}})
        for done in (memory(project, "config"), memory(project, "config", "--json")):
            assert done.returncode == 0
            assert token not in done.stdout
            assert "0123456789abcdef" not in done.stdout
            assert "seen" in done.stdout

    def test_a_wrong_config_is_exit_10_with_every_problem(self, home: Path, project: Path) -> None:
        path = write_own(home, {"llm": {"comand": "x", "timeoutSeconds": "5"}})
        done = memory(project, "config")
        assert (done.returncode, done.stdout) == (10, "")
        assert str(path) in done.stderr
        assert "llm.comand is unknown (did you mean llm.command?)" in done.stderr
        assert "llm.timeoutSeconds is '5', expected a number" in done.stderr
        error = json.loads(memory(project, "config", "--json").stderr)["error"]
        assert error["code"] == "config-invalid"
        assert len(error["details"]["problems"]) == 2

    def test_an_untrusted_file_is_one_warning_and_changes_nothing_p21(self, home: Path, project: Path) -> None:
        path = write_local(project, {"llm": {"command": "evil"}})
        done = memory(project, "config")
        assert done.returncode == 0
        assert done.stderr.count("\n") == 1
        assert f"{path} sets llm.command; ignored" in done.stderr
        assert "evil" not in done.stdout

    def test_one_setting_is_shown_set_and_taken_out_again(self, home: Path, project: Path) -> None:
        assert memory(project, "config", "get", "llm.preset").stdout == "builtin\n"
        path = home / ".config/agent-memory/config.json"
        assert memory(project, "config", "set", "llm.preset", "claude").stdout == f"Changed {path}\n"
        assert memory(project, "config", "set", "limits.staleDays", "30").returncode == 0
        assert json.loads(path.read_text()) == {"llm": {"preset": "claude"}, "limits": {"staleDays": 30}}
        got = json.loads(memory(project, "config", "get", "llm.preset", "--json").stdout)
        assert got == {"key": "llm.preset", "value": "claude", "source": str(path)}
        assert memory(project, "config", "unset", "llm.preset").returncode == 0
        assert memory(project, "config", "unset", "llm.preset").stdout == f"Nothing changed in {path}\n"
        assert (
            memory(project, "config", "unset", "schedule.defragIntervalHours").stdout == f"Nothing changed in {path}\n"
        )
        assert json.loads(path.read_text()) == {"llm": {}, "limits": {"staleDays": 30}}

    def test_a_config_that_is_not_valid_is_mended_by_set_and_unset(self, home: Path, project: Path) -> None:
        path = home / ".config/agent-memory/config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        for wrong, mend in (
            ({"lmm": {}}, ("unset", "lmm")),
            ({"llm": {"timeoutSeconds": "soon"}}, ("set", "llm.timeoutSeconds", "60")),
        ):
            path.write_text(json.dumps(wrong))
            assert memory(project, "list").returncode == 10
            assert memory(project, "config", *mend).stdout == f"Changed {path}\n"
            assert memory(project, "list").returncode == 0

    def test_what_changes_nothing_makes_no_file(self, home: Path, project: Path) -> None:
        assert memory(project, "config", "edit", VISUAL="true").stdout.startswith("Nothing changed in ")
        assert memory(project, "config", "unset", "llm.preset").stdout.startswith("Nothing changed in ")
        assert not (home / ".config/agent-memory/config.json").exists()

    def test_what_cannot_be_set_changes_nothing(self, home: Path, project: Path) -> None:
        own = write_own(home, {"$schema": "mine.json", "llm": {"model": "m"}})
        before = own.read_bytes()
        for code, said, *words in (
            (2, "llm.presett is unknown (did you mean llm.preset?)", "set", "llm.presett", "x"),
            (2, "llm.preset is unknown; there are ", "set", "llm.preset", "nonsense"),
            (2, f"{own} was left as it is, since limits.staleDays is 'many'", "set", "limits.staleDays", "many"),
            (2, "llm.command is a list, expected text", "set", "llm.command", '["ask", "me"]'),
            (2, "search is unknown, expected storage, llm, ", "set", "search.limit", "5"),
            (2, "not a section", "set", "llm.model.name", "x"),
            (2, "There is no setting 'llm.modle'. Did you mean llm.model?", "get", "llm.modle"),
            (2, "The call is `memory config set KEY VALUE`.", "set", "llm.model"),
            (2, "EDITOR is not set", "edit"),
            (2, "--path and --schema do not go with `config get`.", "get", "llm.model", "--path"),
        ):
            done = memory(project, "config", *words, EDITOR="", VISUAL="")
            assert (done.returncode, done.stdout, said in done.stderr) == (code, "", True), done
        as_agent = memory(project, "config", "set", "llm.command", "x", CODEX_SANDBOX="1")
        assert (as_agent.returncode, own.read_bytes()) == (2, before)
        assert memory(project, "config", "set", "llm.model", "n").returncode == 0
        assert json.loads(own.read_bytes()) == {"$schema": "mine.json", "llm": {"model": "n"}}

    def test_it_opens_in_the_editor_and_what_is_not_valid_is_kept_aside(self, home: Path, project: Path) -> None:
        own = write_own(home, {"llm": {"preset": "claude"}})
        link = home / "dotfiles.json"
        own.rename(link)
        own.symlink_to(link)
        assert memory(project, "config", "edit", VISUAL="sed -i s/claude/codex/").stdout == f"Changed {own}\n"
        assert (own.is_symlink(), json.loads(link.read_text())) == (True, {"llm": {"preset": "codex"}})
        done = memory(project, "config", "edit", VISUAL="sed -i s/llm/lllm/")
        assert (done.returncode, json.loads(own.read_text())) == (2, {"llm": {"preset": "codex"}})
        kept = done.stderr.split("What you wrote is kept in ")[1].split("\n")[0].removesuffix(".")
        assert "lllm" in Path(kept).read_text()

    def test_the_path_is_printed_whether_or_not_the_file_is_there(self, home: Path, project: Path) -> None:
        assert memory(project, "config", "--path").stdout == f"{home}/.config/agent-memory/config.json\n"

    def test_the_schema_is_json(self, home: Path, project: Path) -> None:
        schema = json.loads(memory(project, "config", "--schema").stdout)
        assert schema["properties"]["llm"]["properties"]["timeoutSeconds"]["exclusiveMinimum"] == 0


class TestTrust:
    def test_what_is_trusted_counts_until_a_byte_changes(self, home: Path, project: Path) -> None:
        path = write_local(project, {"llm": {"command": "mine"}})
        done = memory(project, "trust")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"Trusted, as it is now: {path}\nIt sets llm.command.\n"
        assert lines_of(memory(project, "config"))["llm.command"] == ['"mine"', "~/a project/memory.config.json"]
        path.write_text(path.read_text() + " ")
        changed = memory(project, "config")
        assert lines_of(changed)["llm.command"] == ["null", "default"]
        assert "ignored" in changed.stderr

    def test_an_agent_cannot_trust_p19(self, home: Path, project: Path) -> None:
        path = write_local(project, {"llm": {"command": "mine"}})
        for variable in ("AGENT_MEMORY_DEPTH", "CLAUDE_CODE_CHILD_SESSION", "CURSOR_AGENT"):
            done = memory(project, "trust", str(path), **{variable: "1"})
            assert (done.returncode, done.stdout) == (2, "")
            assert variable in done.stderr
        assert memory(project, "trust", "--list").stdout == "No config is trusted.\n"

    def test_a_directory_a_file_and_a_link_name_the_same_config(self, home: Path, project: Path) -> None:
        path = write_local(project, {"llm": {"command": "mine"}})
        link = home / "link.json"
        link.symlink_to(path)
        for named in (str(project), str(path), str(link)):
            document = json.loads(memory(home, "trust", named, "--json").stdout)
            assert document["trusted"] == str(path)
            assert document["sets"] == ["llm.command"]
        assert len(json.loads(memory(home, "trust", "--list", "--json").stdout)["trusted"]) == 1

    def test_trust_is_listed_with_its_state_and_can_be_revoked(self, home: Path, project: Path) -> None:
        path = write_local(project, {"storage": {"autoCommit": False}})
        memory(project, "trust")
        assert str(path) in memory(home, "trust", "--list").stdout
        path.write_text("{}")
        assert memory(home, "trust", "--list").stdout.endswith("changed since, not trusted\n")
        assert memory(project, "trust", "--revoke").stdout == f"No longer trusted: {path}\n"
        assert memory(project, "trust", "--revoke").stdout == f"It was not trusted: {path}\n"

    def test_what_is_not_there_or_not_valid_is_not_trusted(self, home: Path, project: Path) -> None:
        assert memory(project, "trust").returncode == 2
        write_local(project, {"llm": {"comand": "x"}})
        assert memory(project, "trust").returncode == 10
        (project / "memory.config.json").unlink()
        os.mkfifo(project / "memory.config.json")
        assert memory(project, "trust").returncode == 10
        assert memory(project, "trust", "--list").stdout == "No config is trusted.\n"
