"""Which words of a note are looked for in a repository."""

from __future__ import annotations

from posixpath import normpath

import pytest
from hypothesis import given, strategies

from agent_memory.recall.grounding import names_in

PIECES = strategies.sampled_from(
    ["src", "a.py", "/", "//", "..", ".", ".git", "*", " ", "`", ":", "~", "\n", "\0", "é", "#", "-"]
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Edit `src/a.py`, (lib/b.rs:12) and pkg/mod.py::Class.method.",
            ["src/a.py", "lib/b.rs", "pkg/mod.py", "pkg/mod.py:method"],
        ),
        (
            "`make lint`, `npm run test:unit -- -x`, `pnpm check`, `yarn install`, `mise run a:b`, `tide-oil`, `entire`, `git push`",
            [":make lint", ":npm test:unit", ":pnpm check", ":mise a:b", ":tide-oil"],
        ),
        ("`Dockerfile`, `@me/oil`, `build`", ["@me/oil", "Dockerfile", ":@me/oil"]),
        ("app/(app)/docs/p.tsx, `app/[id]/p.tsx` in src/<name>/a.py", ["app/(app)/docs/p.tsx", "app/[id]/p.tsx"]),
        ("Run `./scripts/deploy.sh --all` after [this](docs/x.md#L3).", ["scripts/deploy.sh", "docs/x.md"]),
        (
            "`pyproject.toml` and .github/workflows/ci.yml, src/pkg/",
            ["pyproject.toml", ".github/workflows/ci.yml", "src/pkg"],
        ),
        (
            "https://github.com/a/b.py ~/x/y.py /etc/passwd ../up.py a/../../b.py .git/config src/*.py $HOME/a.py {a,b}/c",
            [],
        ),
        ("Version 1.2.3 of it, in 0.5 s.", []),
        (f"{':' * 30_000}= {'a:b' * 10_000}= lib/ src/{'a' * 200}", ["lib"]),
    ],
)
def test_paths_are_found(text: str, names: list[str]) -> None:
    assert list(names_in(text)) == names


@given(strategies.one_of(strategies.text(), strategies.lists(PIECES).map("".join)))
def test_no_name_leads_out_of_a_work_tree(text: str) -> None:
    for name in names_in(text):
        file, _, word = name.partition(":")
        assert file in text
        assert word in text
        assert normpath(f"/top/{file}") == f"/top/{file}".rstrip("/")
        assert not {"..", ".git"}.intersection(name.split("/"))
        assert name.isprintable()
