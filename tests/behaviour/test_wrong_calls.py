"""A call that cannot be carried out is one sentence with a way on, and an exit code, and changes nothing."""

from __future__ import annotations

import shlex

import pytest

from memory_process import Memory

MISSING = "There is no note id__zzzzzz."
NO_STATE = "There is no state under the key nothing."
TOO_LONG = "x" * 201

CALLS = {
    "the program": (
        ("lst", 2, "There is no command 'lst'. Did you mean `memory list`?"),
        ("xyzzy", 2, "There is no command 'xyzzy'. `memory --help` lists the commands."),
        ("--nonsense", 2, "Unrecognized arguments: --nonsense. See `memory --help`."),
        ("help lst", 2, "Did you mean `memory list`?"),
        ("setup claude", 2, "There is no harness 'claude'. Did you mean claude-code? Known harnesses: "),
        ("pause 2h", 2, "arguments: 2h. For example: `memory pause --for 2h`. See `memory pause --help`."),
    ),
    "list": (
        ("list --kidn fact", 2, "Did you mean --kind? See `memory list --help`."),
        ("list --tags x", 2, "Did you mean --tag? See `memory list --help`."),
        ("list --js", 2, "--js"),  # a script that says it would change its meaning when an option is added
        (
            "list extra",
            2,
            "Unrecognized arguments: extra. For example: `memory list --kind decision --query 'lock migration'`. See `memory list --help`.",
        ),
        ("list --limit 0", 2, "--limit"),
        ("list --since tomorrow", 2, "--since is 'tomorrow', expected a period"),
    ),
    "import": (
        ("import", 2, "memory: Say which memory to import. `memory import --find` lists those on this machine."),
    ),
    "remember": (
        ("remember", 2, "The following arguments are required: TEXT."),
        ("remember ''", 20, "body: is empty"),
        ("remember \u200b", 20, "body: is empty"),
        ("remember x --title=--", 2, "Argument --title: -- is not a value."),
        ("remember x --tags ok,!!!", 2, "'!!!' in --tags cannot be a tag."),
        ("remember x --kind opinion", 2, "invalid choice: 'opinion'"),
        ("remember x --importnace high", 2, "Did you mean --importance?"),
        ("remember x --expires soon", 2, "expected a period such as 30d"),
        ("remember x --expires 2020-01-01", 2, "in the past. `memory archive` archives a note right away."),
        ("remember x --scope gloabl", 2, "--scope is 'gloabl', expected global, repo, or a repository's key such as"),
        ("remember x --supersedes id__zzzzzz", 20, MISSING),
    ),
    "one note": (
        ("read", 2, "The following arguments are required: ID."),
        ("read id__zzzzzz", 20, MISSING),
        ("read 'a\x1b[31m\n\u202eb'", 20, "There is no note a⟦U+001B⟧[31m ⟦U+202E⟧b."),
        ("read ../../etc/passwd", 20, "There is no note ../../etc/passwd."),
        ("edit id__zzzzzz", 20, MISSING),
        ("show --at nonsense", 2, "expected a commit, a period such as 30d"),
        ("edit id__aaaaaa --expires 1d0", 2, "expected a period such as 30d"),
        ("pin id__zzzzzz", 20, MISSING),
        ("archive id__zzzzzz", 20, MISSING),
        ("restore id__zzzzzz", 20, MISSING),
        ("links id__zzzzzz --private", 2, "--private"),
        ("forget id__a1b2c3 --dry-run id__d4e5f6", 2, "Unrecognized arguments: id__d4e5f6."),
        ("forget", 2, "Give either a note's id or --session. See `memory forget --help`."),
        ("forget id__zzzzzz --yes", 20, "id__zzzzzz"),
        ("forget nonsense --yes", 20, "nonsense"),
        ("forget id__zzzzzz --session s", 2, "--session"),
        ("forget id__zzzzzz --harness amp", 2, "--harness"),
        ("forget --session ' ' --yes", 2, "memory: "),
    ),
    "search": (
        ("search a --limit 2 b --nonsense", 2, "Unrecognized arguments: b --nonsense."),
        ("search x --limit 0", 2, "--limit is 0, expected a number from 1 to 1,000."),
        ("search x --min-score 1.5", 2, "--min-score is 1.5, expected a number from 0 to 1."),
        ("search x --min-score nan", 2, "--min-score is nan, expected a number from 0 to 1."),
        ("search x --since soon", 2, "--since is 'soon', expected a period"),
        ("search x --tag !!!", 2, "'!!!' in --tag cannot be a tag."),
        ("search x --mode vector", 2, "invalid choice: 'vector'"),
    ),
    "capture": (
        ("capture", 2, "There is nothing to capture."),
        ("capture --title t", 2, "A note also needs --body."),
        ("capture --tags t", 2, "A note also needs --title and --body."),
        ("capture --title t --body b --tags ok,!!!", 2, "'!!!' in --tags cannot be a tag."),
        ("capture --title t --body -", 2, "Standard input is not UTF-8 text."),
        ("capture --title t --body b --transcript /x", 2, "--transcript is for sessions, not for notes."),
        ("capture --thread-id T-1", 2, "A session also needs --harness, for example --harness amp."),
        ("capture --harness emacs --session x", 2, "invalid choice: 'emacs'"),
        ("capture --harness manual --session s", 2, "A session has a harness other than manual."),
        ("capture --harness amp --session s --transcript /x", 2, "--transcript says nothing about a session of amp"),
        ("capture --file x --title t", 2, "--file cannot be combined with --title."),
        ("capture --file missing.md", 2, "missing.md cannot be read: No such file or directory."),
        ("capture --title ' ' --body b", 30, "retrieval.title is empty"),
        ("capture --title t --body '\n'", 30, "retrieval.body is empty"),
        (f"capture --title t --body {'x' * 8001}", 30, "retrieval.body has 8,001 characters, at most 8,000"),
        (f"capture --title {TOO_LONG} --body b", 30, "retrieval.title has 201 characters"),
        ("capture --title t --body b --session='-rf /'", 30, "retrieval.threadId is '-rf /'"),
        *((f"capture --harness amp --session='{id}'", 30, "threadId") for id in ("", "../x", "a b", "-x", TOO_LONG)),
        ("capture --harness claude-code --session nope", 30, "nope"),  # it is nowhere, and not waited for
    ),
    "sessions": (
        ("consolidate --limit 0", 2, "--limit"),
        ("consolidate --limit many", 2, "Argument --limit: invalid int value: 'many'."),
        ("backfill --since soon", 2, "--since"),
        ("backfill --limit 0", 2, "--limit"),
        ("backfill clippy", 2, "no harness 'clippy'"),
        ("backfill manual", 2, "manual"),
        ("watch --debounce -1", 2, "--debounce"),
        ("watch --idle-timeout nan", 2, "--idle-timeout"),
        ("watch clippy", 2, "clippy"),
        ("handoff --session no-such-session", 2, "no-such-session"),
        ("handoff --session no-such-session --harness claude-code", 30, "no-such-session"),
        ("why", 2, "memory: "),
        ("why id__zzzzzz", 20, "id__zzzzzz"),
        ("why id__aaaaaa --session s", 2, "memory: "),
        ("why --session ' '", 2, "memory: "),
    ),
    "runs": (
        ("undo nonsense", 20, "nonsense"),
        ("diff nonsense", 20, "nonsense"),
        ("log -n 0", 2, "-n"),
        ("log --day yesterday", 2, "yesterday"),
        ("log --day 2026-02-30", 2, "2026-02-30"),
        ("stats --days=0", 2, "--days"),
        ("stats --days=3651", 2, "--days"),
        ("doctor --fix --secrets", 2, "--secrets"),
    ),
    "state": (
        ("state get nothing", 20, NO_STATE),
        ("state delete nothing", 20, NO_STATE),
        ("state get", 2, "`memory state get` takes a key."),
        ("state set k", 2, "`memory state set` takes a key and a value."),
        ("state set k --text v w", 2, "Unrecognized arguments: w."),
        ("state list k", 2, "`memory state list` takes no words."),
        ("state get ../../etc/passwd", 20, "That cannot be stored as state: key: "),
        ("state set k 1e999", 20, "value: is not JSON"),
        ("state put k", 2, "invalid choice"),
    ),
    "tags": (
        ("tags accept", 2, "takes either tags or --all."),
        ("tags accept x --all", 2, "takes either tags or --all."),
        ("tags accept !!!", 2, "'!!!' cannot be a tag."),
        ("tags rename x", 2, "The call is `memory tags rename OLD NEW`."),
        ("tags rename x y", 2, "No note has the tag topic__x."),
        ("tags rename x X", 2, "topic__x already has that name."),
        ("tags list x", 2, "takes no tags."),
        ("tags --all", 2, "--all goes with `memory tags accept` only."),
    ),
    "settings": (
        ("config unset llm.prest", 2, "There is no setting 'llm.prest'. Did you mean llm.preset?"),
        ("setup vim --yes", 2, "no harness 'vim'"),
        ("uninstall vim --yes", 2, "no harness 'vim'"),
        ("generate-agents-md --target ''", 2, "memory: "),
        ("generate-agents-md --target - --target x", 2, "memory: "),
        ("schedule run", 2, "`schedule run` needs a job. It is consolidate or defrag."),
        ("schedule off --every 3", 2, "--every does not go with `schedule off`."),
        ("schedule on defrag", 2, "JOB does not go with `schedule on`."),
    ),
}


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_what_cannot_be_done_is_one_sentence(memory: Memory, calls: tuple[tuple[str, int, str], ...]) -> None:
    (memory.home / ".claude" / "projects").mkdir(parents=True)
    for line, code, sentence in calls:
        words = shlex.split(line)
        done = memory(*words, data=b"\xff", environ={"EDITOR": "", "VISUAL": ""})
        assert (done.code, done.out, done.err.count("\n")) == (code, "", 1), (line, done)
        assert done.err.startswith("memory: "), (line, done)
        assert sentence in done.err, (line, done)
        as_document = memory("--json", *words, data=b"\xff", environ={"EDITOR": "", "VISUAL": ""})
        assert (as_document.code, as_document.error["code"] == "usage") == (code, code == 2), (line, as_document)
    assert (memory.snapshot(), memory.pending()) == ({}, [])
    assert not (memory.root / "state").exists()
