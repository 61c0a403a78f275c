"""A note says which of the files that it names were changed, renamed or removed in the checkout that asks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memory_process import Memory
from places_of_work import git, repository, told

NOTE = (
    "The lamp server reads src/a.py, retries in `src/b.py:retry`, and and/or src/*.py, /etc/passwd, ../x.py and docs/."
)
TEXTS = {"src/a.py": range(40), "src/b.py": range(50, 90)} | {
    f"docs/{name}.md": range(number, number + 50) for name, number in (("c", 100), ("d", 200), ("e", 300))
}


@pytest.fixture
def lamp(home: Path) -> Path:
    lamp = repository(home / "lamp", "git@github.com:me/lamp")
    for path, numbers in TEXTS.items():
        (lamp / path).parent.mkdir(exist_ok=True)
        (lamp / path).write_text("\n".join(map(str, numbers)))
    return committed(lamp)


def committed(lamp: Path) -> Path:
    git(lamp, "add", "-A")
    git(lamp, "commit", "-q", "--allow-empty", "-m", os.urandom(4).hex())
    return lamp


def noted(memory: Memory, lamp: Path, text: str = NOTE) -> str:
    done = memory("remember", text, "--json", cwd=lamp)
    assert done.code == 0, done
    id: str = done.document["id"]
    return id


def grounding(memory: Memory, lamp: Path, id: str) -> Mapping[str, str]:
    """The state of each file, with its present name."""
    found = memory("read", id, "--json", cwd=lamp).document.get("grounding", [])
    return {each["path"]: each["state"] + (f" {each['now']}" if each["now"] else "") for each in found}


ALL_FRESH = {"src/a.py": "fresh", "src/b.py": "fresh", "docs": "fresh"}


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (["sh", "-c", "echo more >> src/a.py"], {"src/a.py": "changed"}),
        (["rm", "src/a.py"], {"src/a.py": "gone"}),
        (["rm", "-r", "docs"], {"docs": "gone"}),
        (["mv", "src/a.py", "lamp.py"], {"src/a.py": "changed lamp.py"}),
        (["mv", "docs", "doc"], {"docs": "changed doc"}),
        (["sh", "-c", "mv docs doc; mv doc/e.md ."], {"docs": "changed doc"}),
        (
            ["sh", "-c", "mkdir doc; mv docs/c.md doc; mv docs/d.md src; mv docs/e.md .; rmdir docs"],
            {"docs": "changed"},
        ),
        (["mv", "src", "lib"], {"src/a.py": "changed lib/a.py", "src/b.py": "changed lib/b.py"}),
    ],
)
def test_each_file_is_told_as_it_is(memory: Memory, lamp: Path, words: list[str], changed: dict[str, str]) -> None:
    id = noted(memory, lamp)
    if words:
        subprocess.run(words, cwd=lamp, check=True)
        assert "gone" not in grounding(memory, lamp, id).values(), "before that is committed"
    committed(lamp)
    assert grounding(memory, lamp, id) == {**ALL_FRESH, **changed}
    gone = [path for path, state in changed.items() if state == "gone"]
    assert f"{gone[0]} is gone" in told(memory, lamp) if gone else "is gone" not in told(memory, lamp)
    assert ("removed by" in memory("read", id, cwd=lamp).out) is bool(gone)


WORDS = (
    "Tides are parsed by src/t.py:parse_tide and `src/t.py::Tide.high`, retried in src/a.py:retry; `make tide-check` runs it, "
    "`pnpm lint:all` too, `lamp-oil`, `example.org/oil/v2` and `never-there` are used, `line-length` is 99. The `tide` command "
    "sends `version`, runs `mise run test:all` and `make mutants`, and is `well-known`."
)
MANIFESTS = {
    "src/t.py": "def parse_tide():\n    tide.high()\n",
    "Makefile": "tide-check:\n\ttrue\nmutants: all\n\ttrue\nlint\\:all:\n",
    "package.json": '{"version": "1", "description": "a well-known one", "scripts": {"lint:all": "x"}}',
    "pyproject.toml": "[project]\ndependencies = ['lamp-oil>=1']\n[tool.ruff]\nline-length = 99\n[tool.mutants]\n",
    "mise.toml": '[tasks."test:all"]\nrun = "x"\n',
    "go.mod": "module tide.org/cli\n\nrequire (\n\texample.org/oil/v2 v2.1.0\n)\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new", "gone"),
    [
        ("src/t.py", "parse_tide", "read_tide", ["src/t.py:parse_tide"]),
        ("src/t.py", "parse_tide", "parse_tides", ["src/t.py:parse_tide"]),
        ("src/t.py", "():", "(text):", []),
        ("Makefile", "tide-check", "tide-test", ["Makefile:tide-check"]),
        ("Makefile", "true", "false", []),
        ("package.json", "lint:all", "lint", ["package.json:lint:all"]),
        ("package.json", '"version": "1", ', "", []),
        ("package.json", "well-known", "famous", []),
        ("Makefile", "mutants", "mutate", ["Makefile:mutants"]),
        ("Makefile", "tide-check:", "include tides.mk\nsea:", []),
        ("Makefile", "tide-check:", "tide-%:", []),
        ("Makefile", "tide-check:", "$(TIDES): all\nsea:", []),
        ("Makefile", "tide-check:", "SEA := $(shell tide):\nsea:", ["Makefile:tide-check"]),
        ("mise.toml", "test:all", "test", ["mise.toml:test:all"]),
        ("go.mod", "example.org/oil", "example.org/gas", ["go.mod:example.org/oil/v2"]),
        ("go.mod", "tide.org", "sea.org", []),
        ("pyproject.toml", "lamp-oil", "lamp-gas", ["pyproject.toml:lamp-oil"]),
        ("pyproject.toml", "lamp-oil", "Lamp_Oil", []),
        ("pyproject.toml", "line-length", "line-width", ["pyproject.toml:line-length"]),
    ],
)
def test_a_word_is_gone(memory: Memory, lamp: Path, home: Path, path: str, old: str, new: str, gone: list[str]) -> None:
    for name, text in MANIFESTS.items():
        (lamp / name).write_text(text)
    git(lamp, "branch", "before")
    id = noted(memory, committed(lamp), WORDS)

    def found(where: Path = lamp) -> list[str]:
        return [path for path, state in grounding(memory, where, id).items() if state == "gone"]

    git(lamp, "worktree", "add", "-q", str(home / "before"), "before")
    assert found(home / "before") == [], "of a branch that never had it"
    (lamp / path).write_text(MANIFESTS[path].replace(old, new))
    assert found() == [], "before that is committed"
    committed(lamp)
    assert found() == gone
    assert ("".join(f"{each} is gone" for each in gone) or "Tides") in told(memory, lamp)
    assert waiting(memory) == []
    (lamp / path).write_text(MANIFESTS[path])
    assert found() == [], "since the work tree has it"
    (lamp / path).unlink()
    (lamp / "tox.ini").write_text(MANIFESTS[path])
    committed(lamp)
    run = {
        "Makefile": ["Makefile:tide-check", "Makefile:mutants"],
        "package.json": ["package.json:lint:all"],
        "mise.toml": ["mise.toml:test:all"],
    }
    assert found() == run.get(path, []), "another has it, where no command looks"


def test_a_file_is_followed_through_several_changes(memory: Memory, lamp: Path) -> None:
    id = noted(memory, lamp)
    git(lamp, "mv", "src/a.py", "b.py")
    committed(lamp)
    (lamp / "b.py").write_text("another text\n" * 9)
    committed(lamp)
    git(lamp, "mv", "b.py", "c.py")
    committed(lamp)
    for old, new in (("docs", "doc"), ("doc", "manual")):
        git(lamp, "mv", old, new)
        committed(lamp)
    found = grounding(memory, lamp, id)
    assert (found["src/a.py"], found["docs"]) == ("changed c.py", "changed manual")
    git(lamp, "rm", "-qr", "c.py", "manual")
    committed(lamp)
    found = grounding(memory, lamp, id)
    assert (found["src/a.py"], found["docs"]) == ("gone", "gone")


def test_what_git_said_is_asked_once_and_goes_on_from_there(memory: Memory, lamp: Path, home: Path) -> None:
    id = noted(memory, lamp)
    hung = home / "bin" / "git"
    hung.parent.mkdir()
    hung.write_text("#!/bin/sh\nexec sleep 60\n")
    hung.chmod(0o755)
    path = f"{hung.parent}:{os.environ['PATH']}"
    moves = {
        "rm src/a.py src/b.py": ("gone", "gone", "src/a.py and src/b.py are gone"),
        "seq 0 39 > c.py": ("changed c.py", "gone", "src/b.py is gone, src/a.py is now c.py"),
        "mv c.py d.py": ("changed d.py", "gone", "src/b.py is gone, src/a.py is now d.py"),
        "mkdir -p src; seq 50 90 > src/b.py": ("changed d.py", "changed", "src/a.py is now d.py"),
        "mv src/b.py b.py": ("changed d.py", "changed b.py", "src/a.py is now d.py, src/b.py is now b.py"),
        "rm d.py": ("gone", "changed b.py", "src/a.py is gone, src/b.py is now b.py"),
    }
    for words, (a, b, mark) in moves.items():
        subprocess.run(["sh", "-c", words], cwd=lamp, check=True)
        committed(lamp)
        found = grounding(memory, lamp, id)
        assert (found["src/a.py"], found["src/b.py"]) == (a, b), words
        assert mark in told(memory, lamp, PATH=path)
    (lamp / "src").mkdir(exist_ok=True)
    (lamp / "src" / "a.py").write_text("again")
    assert "is gone" not in told(memory, lamp, PATH=path), "the work tree has it"
    (lamp / "src" / "a.py").unlink()
    git(lamp, "reset", "-q", "--hard", "HEAD~5")
    for words in ("reflog expire --expire=now --all", "gc -q --prune=now"):
        git(lamp, *words.split())
    assert grounding(memory, lamp, id) == {"src/a.py": "gone", "src/b.py": "gone", "docs": "fresh"}
    git(lamp, "checkout", "-q", "-b", "other", "HEAD~1")
    assert grounding(memory, lamp, id)["src/b.py"] == "fresh"


def test_routes_blanks_and_files_without_an_ending_are_files(memory: Memory, lamp: Path) -> None:
    paths = ("app/(shop)/[id]/page.tsx", "docs/my plan.md", "文档.md", "Dockerfile", ".editorconfig")
    (lamp / "app" / "(shop)" / "[id]").mkdir(parents=True)
    for path in (*paths, "app/index.tsx"):
        (lamp / path).write_text(path * 40)
    id = noted(
        memory,
        committed(lamp),
        "Shown by app/(shop)/[id]/page.tsx, as `docs/my plan.md` and 文档.md、say, built by `Dockerfile` with "
        "`.editorconfig`, not by src/<name>/x.py.",
    )
    git(lamp, "rm", "-qr", *paths)
    committed(lamp)
    assert grounding(memory, lamp, id) == dict.fromkeys(paths, "gone")
    assert "app/(shop)/[id]/page.tsx and 4 more are gone" in told(memory, lamp)


def test_what_git_ignores_now_may_be_generated_again(memory: Memory, lamp: Path) -> None:
    (lamp / "dist").mkdir()
    for path in ("dist/app.js", "out.log", "src/c.py"):
        (lamp / path).write_text(path * 40)
    id = noted(memory, committed(lamp), "Served from dist/, as dist/app.js, logged to out.log by src/c.py.")
    git(lamp, "rm", "-qr", "dist", "out.log", "src/c.py")
    (lamp / ".gitignore").write_text("dist/\n*.log\n")
    committed(lamp)
    unknown = dict.fromkeys(("dist", "dist/app.js", "out.log"), "unknown")
    assert grounding(memory, lamp, id) == {**unknown, "src/c.py": "gone"}


def test_what_became_a_submodule_is_not_gone(memory: Memory, lamp: Path, home: Path) -> None:
    id = noted(memory, lamp, "It is in docs/c.md and src/a.py.")
    git(lamp, "rm", "-qr", "docs", "src/a.py")
    git(lamp, "-c", "protocol.file.allow=always", "submodule", "add", repository(home / "docs", "").as_uri(), "docs")
    committed(lamp)
    git(lamp, "submodule", "deinit", "-f", "docs")
    assert grounding(memory, lamp, id) == {"docs/c.md": "unknown", "src/a.py": "gone"}


def test_an_empty_file_and_a_licence_are_not_followed(memory: Memory, lamp: Path) -> None:
    licence = "".join(f"# licence {number}\n" for number in range(20))
    other = "".join(f"import lamp{number}\n" for number in range(8))
    for path, text in {
        "old/__init__.py": "",
        "old/core/__init__.py": "",
        "judge.py": f"{licence}import judge\n",
    }.items():
        (lamp / path).parent.mkdir(parents=True, exist_ok=True)
        (lamp / path).write_text(text)
    id = noted(memory, committed(lamp), "It is in old/core/__init__.py and judge.py.")
    git(lamp, "mv", "old", "new")
    (lamp / "new" / "cli").mkdir()
    (lamp / "new" / "cli" / "__init__.py").write_text("")
    git(lamp, "rm", "-q", "judge.py")
    committed(lamp)
    (lamp / "harness.py").write_text(f"{licence}{other}")
    committed(lamp)
    assert grounding(memory, lamp, id) == {"old/core/__init__.py": "unknown", "judge.py": "gone"}


def test_a_bare_file_name_may_be_that_of_another_directory(memory: Memory, lamp: Path) -> None:
    (lamp / "web").mkdir()
    for path in ("index.ts", "web/index.ts", "setup.ts"):
        (lamp / path).write_text(path * 40)
        (lamp / path).with_name("package.json").write_text('{"dependencies": {"lamp-oil": "1"}}')
    id = noted(memory, committed(lamp), "It starts in index.ts of web and in setup.ts, with `lamp-oil`.")
    git(lamp, "rm", "-q", "index.ts", "setup.ts")
    (lamp / "package.json").write_text("{}")
    committed(lamp)
    assert grounding(memory, lamp, id) == {"index.ts": "unknown", "setup.ts": "gone"}
    git(lamp, "rm", "-q", "web/index.ts")
    committed(lamp)
    assert "gone" not in grounding(memory, lamp, id)["index.ts"]


def test_what_a_hook_has_no_time_for_is_looked_at_after_it(memory: Memory, lamp: Path, home: Path) -> None:
    noted(memory, lamp)
    git(lamp, "rm", "-q", "src/a.py")
    committed(lamp)
    (home / "bin").mkdir()
    (home / "bin" / "git").write_text(f'#!/bin/sh\nsleep 0.2\nexec {shutil.which("git")} "$@"\n')
    (home / "bin" / "git").chmod(0o755)
    slow = f"{home}/bin:{os.environ['PATH']}"
    assert "is gone" not in told(memory, lamp, PATH=slow)
    for _ in range(30):
        time.sleep(1)
        if "src/a.py is gone" in told(memory, lamp, PATH=slow):
            break
    else:
        pytest.fail("no later hook told it")


def test_it_is_gone_only_on_the_branch_that_removed_it(memory: Memory, lamp: Path, home: Path) -> None:
    git(lamp, "switch", "-q", "-c", "topic")
    (lamp / "src" / "new.py").write_text("new")
    committed(lamp)
    id = noted(memory, lamp, "Retries are counted in src/new.py and src/a.py.")
    git(lamp, "rm", "-q", "src/a.py")
    committed(lamp)
    assert grounding(memory, lamp, id) == {"src/new.py": "fresh", "src/a.py": "gone"}
    git(lamp, "worktree", "add", "-q", str(home / "tree"), "main")
    assert grounding(memory, home / "tree", id) == {"src/new.py": "unknown", "src/a.py": "fresh"}
    git(home / "tree", "merge", "-q", "--squash", "topic")
    committed(home / "tree")
    assert grounding(memory, home / "tree", id)["src/a.py"] == "gone"
    git(lamp, "checkout", "-q", "--detach", "HEAD~1")
    assert grounding(memory, lamp, id) == {"src/new.py": "fresh", "src/a.py": "fresh"}


def test_a_session_in_a_directory_below_names_files_from_there(memory: Memory, lamp: Path, home: Path) -> None:
    below = lamp / "packages" / "web"
    for at in (lamp, below):
        (at / "src").mkdir(parents=True, exist_ok=True)
        (at / "src/index.ts").write_text("\n".join(f"{at.name} {number}" for number in range(40)))
        (at / "package.json").write_text(MANIFESTS["package.json"])
    git(committed(lamp), "worktree", "add", "-q", "-b", "other", str(home / "tree"))
    id = noted(
        memory,
        below,
        "It starts in src/index.ts:web by `npm run lint:all`; see src/a.py, packages/web/src and never.ts.",
    )
    for where in (home / "tree", lamp):
        git(where, "rm", "-q", "src/index.ts", "package.json")
        committed(where)
        fresh = {"packages/web/src/index.ts": "fresh", "src/a.py": "fresh", "packages/web/src": "fresh"}
        assert grounding(memory, where, id) == fresh
        assert "gone" not in told(memory, where)
    clone = home / "clone"
    git(home, "clone", "-q", str(lamp), str(clone))
    git(clone, "remote", "set-url", "origin", "git@github.com:me/lamp")
    assert "gone" not in grounding(memory, clone, id).values()
    git(lamp, "mv", "packages/web/src/index.ts", "packages/web/main.ts")
    committed(lamp)
    assert grounding(memory, lamp, id)["packages/web/src/index.ts"] == "changed packages/web/main.ts"
    assert "packages/web/src/index.ts is now packages/web/main.ts" in told(memory, lamp)


def test_without_its_commit_only_what_was_removed_since_is_known(memory: Memory, lamp: Path, home: Path) -> None:
    id = noted(memory, lamp)
    (note,) = memory.root.glob("topics/*.md")
    note.write_text("".join(line for line in note.read_text().splitlines(True) if "commit:" not in line))
    git(lamp, "rm", "-q", "src/a.py")
    git(lamp, "mv", "src/b.py", "b.py")
    who = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    late = {**os.environ, **who, "GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"}
    subprocess.run(["git", "commit", "-q", "-m", "x"], cwd=lamp, check=True, env=late)
    assert grounding(memory, lamp, id) == {"src/a.py": "gone", "src/b.py": "changed b.py", "docs": "unknown"}
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{lamp}", home / "shallow"], check=True)
    git(home / "shallow", "remote", "set-url", "origin", "git@github.com:me/lamp")
    assert "gone" not in grounding(memory, home / "shallow", id).values()


@pytest.mark.parametrize("how", ["empty", "bare", "gone", "hung"])
def test_nothing_is_gone_where_git_cannot_tell(memory: Memory, lamp: Path, home: Path, how: str) -> None:
    id = noted(memory, lamp)
    git(lamp, "rm", "-q", "src/a.py")
    committed(lamp)
    where, environ = lamp, {}
    if how == "empty":
        where = home / "empty"
        git(home, "init", "-q", str(where))
        git(where, "remote", "add", "origin", "git@github.com:me/lamp")
    if how == "bare":
        where = home / "bare"
        git(home, "clone", "-q", "--bare", str(lamp), str(where))
        lamp.rename(home / "moved")
    if how == "gone":
        where = home
        lamp.rename(home / "moved")
    if how == "hung":
        (home / "bin").mkdir()
        (home / "bin" / "git").write_text("#!/bin/sh\nexec sleep 60\n")
        (home / "bin" / "git").chmod(0o755)
        environ = {"PATH": f"{home}/bin:{os.environ['PATH']}"}
    done = memory("read", id, "--json", cwd=where, environ=environ)
    assert done.code == 0
    assert {"gone", "changed"}.isdisjoint(each["state"] for each in done.document.get("grounding", []))
    payload = {
        "session_id": "s-9",
        "cwd": str(where),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "lamp server retries",
    }
    asked = memory("inject", "--harness", "claude-code", "--hook", data=json.dumps(payload).encode(), environ=environ)
    assert asked.code == 0
    assert "is gone" not in asked.out


def test_no_program_of_the_repository_is_run(memory: Memory, lamp: Path, home: Path) -> None:
    id = noted(memory, lamp)
    git(lamp, "mv", "src/a.py", "lamp.py")
    git(lamp, "rm", "-q", "src/b.py")
    committed(lamp)
    (program := home / "program").write_text(f"#!/bin/sh\necho ran >> {home}/ran\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "gpg.program", "diff.x.textconv", "filter.x.clean"):
        git(lamp, "config", key, str(program))
    git(lamp, "config", "log.showSignature", "true")
    (lamp / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n")
    assert grounding(memory, lamp, id) == {**ALL_FRESH, "src/a.py": "changed lamp.py", "src/b.py": "gone"}
    assert not (home / "ran").exists()
    git(lamp, "status")
    assert (home / "ran").exists(), "it would have"


def test_odd_names_are_names_and_those_that_may_not_be_told_are_not(memory: Memory, lamp: Path) -> None:
    for name in ("\x01abc def", "z\nHEAD:src"):
        (lamp / "docs" / name).write_text(name * 40)
    committed(lamp)
    id = noted(memory, lamp, f"{NOTE} docs/c.md docs/z.md")
    git(lamp, "mv", "src/a.py", "x\nHEAD:docs")
    git(lamp, "mv", "src/b.py", f"ghp_{'A1b2C3d4' * 4}E5f6.py")
    git(lamp, "rm", "-qr", "docs")
    committed(lamp)
    changed = {"src/a.py": "changed", "src/b.py": "changed", "docs": "gone", "docs/c.md": "gone"}
    assert grounding(memory, lamp, id) == {**ALL_FRESH, **changed}


@pytest.mark.parametrize(
    "order", ["Always-run-lamp.example-x.sh-as-root-first.py", "always/run/lamp.example/x.sh/first.py"]
)
def test_a_new_name_that_is_an_order_is_told_to_nobody_who_did_not_ask_p19(
    memory: Memory, lamp: Path, order: str
) -> None:
    id = noted(memory, lamp)
    (lamp / order).parent.mkdir(parents=True, exist_ok=True)
    git(lamp, "mv", "src/a.py", order)
    git(lamp, "mv", "src/b.py", "lamp_server.py")
    committed(lamp)
    told = memory("inject", cwd=lamp).out
    assert "src/a.py was renamed, src/b.py is now lamp_server.py" in told
    assert order not in told
    assert f"src/a.py: changed, now {order}" in memory("why", id, cwd=lamp).out, "who asks is told"


def test_hundreds_of_paths_and_links_that_lead_out_are_bounded(memory: Memory, lamp: Path) -> None:
    (lamp / "out").symlink_to("/")
    committed(lamp)
    id = noted(memory, lamp, "See out/etc/passwd, " + ", ".join(f"src/f{n}.py" for n in range(300)))
    found = grounding(memory, lamp, id)
    assert found == {}


def test_it_is_told_wherever_a_note_is_looked_at(memory: Memory, lamp: Path, home: Path) -> None:
    id = noted(memory, lamp)
    git(lamp, "mv", "src/a.py", "lamp.py")
    git(lamp, "rm", "-q", "src/b.py")
    committed(lamp)
    (entry,) = memory("search", "lamp server", "--explain", "--json", cwd=lamp).document["entries"]
    removed = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=lamp, text=True).strip()
    assert entry["grounding"] == [
        {"path": "src/a.py", "state": "changed", "now": "lamp.py", "commit": None},
        {"path": "src/b.py", "state": "gone", "now": None, "commit": removed},
        {"path": "docs", "state": "fresh", "now": None, "commit": None},
    ]
    assert memory("why", id, "--json", cwd=lamp).document["grounding"] == entry["grounding"]
    assert "src/a.py: changed, now lamp.py" in memory("search", "lamp server", "--explain", cwd=lamp).out
    assert memory("search", "lamp server", "--json", cwd=lamp).document["entries"][0]["grounding"] == entry["grounding"]
    line = memory("search", "lamp server", cwd=lamp).out.rstrip("\n").split("\t")
    assert line[9] == "src/b.py is gone, src/a.py is now lamp.py"
    assert "(" not in line[6], "the title alone"
    assert "src/b.py: gone" in memory("why", id, cwd=home).out, "of its own place, where this machine knows it"
    assert "src/b.py is gone, src/a.py is now lamp.py" in told(memory, lamp)
    asked = {
        "session_id": "s",
        "cwd": str(lamp),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "the lamp server reads what",
    }
    answer = memory("inject", "--harness", "claude-code", "--hook", data=json.dumps(asked).encode(), cwd=lamp).out
    assert "src/b.py is gone" in answer


def test_what_is_gone_comes_last_but_what_is_pinned(memory: Memory, lamp: Path) -> None:
    stale = noted(memory, lamp, "Deploys: `src/a.py` starts them.")
    fresh = noted(memory, lamp, "The schedule: docs/c.md has it.")
    git(lamp, "rm", "-q", "src/a.py")
    assert memory("edit", stale, "--importance", "critical").code == 0
    before = told(memory, lamp)
    assert before.index(stale) < before.index(fresh)
    committed(lamp)
    after = told(memory, lamp)
    assert after.index(fresh) < after.index(stale)
    assert memory("pin", stale, cwd=lamp).code == 0
    pinned = told(memory, lamp)
    assert pinned.index(stale) < pinned.index(fresh)


def test_a_managed_section_marks_what_is_gone_and_a_hook_what_is_gone_since(
    memory: Memory, lamp: Path, home: Path
) -> None:
    id = noted(memory, lamp)
    assert memory("pin", id, cwd=lamp).code == 0
    git(lamp, "rm", "-q", "src/b.py")
    committed(lamp)
    (home / ".claude").mkdir(exist_ok=True)
    target = lamp / "CLAUDE.md"

    def published() -> str:
        assert memory("generate-agents-md", "--target", str(target), cwd=lamp).code == 0
        return target.read_text()

    assert f"{id} · " in published()
    assert ", src/b.py is gone\n" in published()
    assert id not in told(memory, lamp), "it is told there"
    git(lamp, "rm", "-q", "src/a.py")
    committed(lamp)
    assert "src/a.py and src/b.py are gone" in told(memory, lamp)
    assert "src/a.py and src/b.py are gone" in published()
    assert id not in told(memory, lamp)


def test_what_is_gone_for_some_days_waits_for_a_decision(memory: Memory, lamp: Path) -> None:
    id = noted(memory, lamp, "The lamp server starts in `src/a.py`.")
    noted(memory, lamp, "Retries: src/a.py counts what docs/c.md describes.")
    noted(memory, lamp, "Oil: src/a.py burns what src/new.py buys.")
    (lamp / "src" / "new.py").write_text("not committed before the note")
    git(lamp, "rm", "-q", "src/a.py")
    committed(lamp)
    assert waiting(memory) == []
    who = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    old = {**os.environ, **who, "GIT_COMMITTER_DATE": "2024-05-01T00:00:00Z"}
    subprocess.run(["git", "commit", "-q", "--amend", "--no-edit"], cwd=lamp, check=True, env=old)
    (item,) = waiting(memory)
    assert [note["id"] for note in item["notes"]] == [id]
    assert item["reason"].endswith("removed src/a.py on 2024-05-01")
    assert memory("review", "--kind", "gone", "--all", "keep", "--yes").code == 0
    assert waiting(memory) == []


def waiting(memory: Memory) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = memory("review", "--json").document["items"]
    return [each for each in found if each["kind"] == "gone"]
