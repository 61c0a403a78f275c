"""`memory sync` as processes: two machines and a bare remote."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from memory_process import Memory
from tidying_homes import calls_of, struck_at
from two_machines import TwoMachines, clean, edited, file_of, head, in_git, joined_machines, synced, two_machines


@pytest.fixture
def machines(tmp_path: Path) -> TwoMachines:
    return two_machines(tmp_path)


@pytest.fixture
def joined(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TwoMachines, str]:
    """Both machines with the same note."""
    note = ("Deploys", "Deploys run from main only.\n\nThe staging host is turquoise-12.")
    machines, (id,) = joined_machines((note,), tmp_path, tmp_path_factory)
    return machines, id


def test_two_stores_that_began_apart_become_one(machines: TwoMachines) -> None:
    machines.one.remembered("Deploys run from main only.", "--title", "Deploys")
    machines.other.remembered("Linters are ruff and mypy.", "--title", "Linters")
    first = synced(machines.one, "--remote", str(machines.remote))
    assert (first["received"]["created"], first["sent"]["created"], first["pushed"]) == (0, 1, True)
    second = synced(machines.other, "--remote", str(machines.remote))
    assert (second["received"]["created"], second["sent"]["created"], second["merged"]) == (1, 1, True)
    machines.settled()
    assert machines.one.titles() == machines.other.titles() == ["Deploys", "Linters"]
    nothing = machines.one("sync")
    assert nothing.out.startswith("Nothing to sync")


def test_a_new_machine_takes_the_store_as_it_is(machines: TwoMachines) -> None:
    machines.one.remembered("Deploys run from main only.", "--title", "Deploys")
    synced(machines.one, "--remote", str(machines.remote))
    assert not machines.other.root.exists()
    document = synced(machines.other, "--remote", str(machines.remote))
    assert (document["received"]["created"], document["pushed"], document["merged"]) == (1, False, False)
    assert head(machines.one) == head(machines.other)
    assert clean(machines.other)
    assert file_of(machines.other, machines.one.notes()[0]["id"]).stat().st_mode & 0o777 == 0o600


def test_a_dry_run_says_what_would_come_and_changes_nothing(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    edited(machines.one, id, lambda text: text + "\nRollbacks take a minute.\n")
    synced(machines.one)
    before, was = machines.other.snapshot(), head(machines.other)
    done = machines.other("sync", "--dry-run")
    assert done.out.startswith("Dry run: would receive 1 changed; send no note")
    assert (machines.other.snapshot(), head(machines.other)) == (before, was)
    assert synced(machines.other)["received"]["changed"] == 1


def test_different_lines_merge_and_the_same_lines_stay_side_by_side(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    edited(machines.one, id, lambda text: text.replace("main only", "main and hotfix only"))
    edited(machines.other, id, lambda text: text + "\nThe canary host is amber-7.\n")
    synced(machines.one)
    assert synced(machines.other)["conflicts"] == []
    machines.settled()
    text = file_of(machines.one, id).read_text()
    assert "main and hotfix only" in text
    assert "amber-7" in text

    edited(machines.one, id, lambda text: text.replace("turquoise-12", "crimson-3"))
    edited(machines.other, id, lambda text: text.replace("turquoise-12", "violet-9"))
    synced(machines.one)
    told = machines.other("sync")
    assert f"{id}: both machines changed the same lines: Deploys (resolve it with `memory edit {id}`)" in told.out
    machines.settled()
    text = file_of(machines.one, id).read_text()
    assert text.count("<<<<<<< ") == text.count(">>>>>>> ") == 1
    assert "crimson-3" in text
    assert "violet-9" in text
    assert id in machines.one("doctor").out
    assert machines.one("edit", id, "--body", "The staging host is crimson-3.").code == 0
    machines.settled()
    assert "<<<<<<<" not in file_of(machines.other, id).read_text()


def test_fields_merge_each_by_itself_and_trust_is_not_raised(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    assert machines.one("edit", id, "--tags", "deploy,ci").code == 0
    assert machines.one("pin", id).code == 0
    assert machines.other("edit", id, "--title", "How deploys run").code == 0
    edited(machines.other, id, lambda text: text.replace("scope: global", "scope: global\nreviewer: Ana # asked twice"))
    machines.settled()
    note = machines.one("read", id, "--json").document
    assert (note["title"], note["tags"], note["pinned"]) == ("How deploys run", ["topic__deploy", "topic__ci"], True)
    assert "reviewer: Ana # asked twice" in file_of(machines.other, id).read_text()
    assert len(list((machines.one.root / "topics").glob(f"*{id}*"))) == 1
    assert file_of(machines.one, id).name.startswith("How deploys run -- topic__deploy topic__ci")


def test_a_note_whose_file_both_machines_renamed_merges_by_what_it_was(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    assert machines.one("edit", id, "--tags", "deploy,ci").code == 0
    machines.settled()
    assert machines.one("edit", id, "--title", "How deploys run", "--tags", "deploy").code == 0
    assert machines.other("edit", id, "--title", "Where to roll out", "--body", "Releases start at noon.").code == 0
    synced(machines.one)
    assert synced(machines.other)["conflicts"] == []
    machines.settled()
    note = machines.one("read", id, "--json").document
    assert (note["title"], note["tags"]) == ("Where to roll out", ["topic__deploy"])
    assert note["body"].strip() == "Releases start at noon."


@pytest.mark.parametrize("name", ["C:\\temp bug {}.md", "tab\u200bs {}.md", "two\nlines {}.md"])
def test_a_name_that_not_every_system_accepts_takes_the_note_from_no_machine_p12(
    joined: tuple[TwoMachines, str], name: str
) -> None:
    machines, id = joined
    before = file_of(machines.one, id)
    before.rename(before.with_name(name.format(id)))
    told = machines.one("sync")
    assert (told.code, f"{id}.md is now topics/{before.name}: not every system accepts its name" in told.err) == (
        0,
        True,
    )
    assert machines.settled()[f"topics/{before.name}"]


def test_a_title_that_one_machine_wrote_stays_though_the_other_changed_the_text(machines: TwoMachines) -> None:
    id = machines.one.remembered("The lamp is blue.")
    machines.joined()
    assert machines.one("edit", id, "--title", "Lamps").code == 0
    assert machines.other("edit", id, "--body", "The lamp is red.").code == 0
    machines.settled()
    note = machines.one("read", id, "--json").document
    assert (note["title"], note["body"].strip()) == ("Lamps", "The lamp is red.")


def test_archived_on_one_machine_and_edited_on_both_stays_live(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    edited(machines.one, id, lambda text: text.replace("main only", "main and hotfix only"))
    assert machines.one("archive", id).code == 0
    edited(machines.other, id, lambda text: text + "\nRollbacks take a minute.\n")
    synced(machines.one)
    remarks = synced(machines.other)["remarks"]
    assert remarks == [{"subject": id, "what": "was archived on one machine and changed on the other: it stays live"}]
    machines.settled()
    text = file_of(machines.one, id).read_text()
    assert "Rollbacks take a minute." in text
    assert "main and hotfix only" in text


def test_archived_on_one_machine_and_untouched_on_the_other_is_archived(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    assert machines.one("archive", id).code == 0
    synced(machines.one)
    assert synced(machines.other)["received"]["archived"] == 1
    machines.settled()
    assert machines.other.titles() == []


def test_the_same_session_consolidated_on_both_machines_is_one_entry(machines: TwoMachines, tmp_path: Path) -> None:
    said = "Remember: the staging database is restored from the turquoise snapshot every Monday."
    line = {
        "type": "user",
        "uuid": "u-1",
        "sessionId": "s-1",
        "timestamp": "2026-02-13T14:30:05.123Z",
        "cwd": "/srv/lamp",
        "message": {"role": "user", "content": said},
    }
    for machine in (machines.one, machines.other):
        machine.session("s-1", json.dumps(line) + "\n")
        assert machine("consolidate").code == 0
    assert machines.one.titles() == machines.other.titles()
    assert machines.one.titles()
    machines.joined()
    machines.settled()
    assert len(machines.one.notes()) == len({note["id"] for note in machines.one.notes()})
    assert [note["body"] for note in machines.one.notes()].count(machines.one.notes()[0]["body"]) == 1


def test_a_clock_that_is_days_ahead_decides_what_is_newer_and_loses_nothing(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    ahead = 5 * 24 * 3600 * 1000
    for machine, title, by in (
        (machines.one, "Deploys of the past", -ahead),
        (machines.other, "Deploys to come", ahead),
    ):
        was = machine("read", id, "--json").document["updatedAt"]

        def changed(text: str, title: str = title, at: int = was + by, was: int = was) -> str:
            return text.replace("title: Deploys", f"title: {title}").replace(f"updatedAt: {was}", f"updatedAt: {at}")

        edited(machine, id, changed)
    synced(machines.other)
    synced(machines.one)
    machines.settled()
    assert machines.one.titles() == ["Deploys to come"]
    assert "Deploys of the past" in in_git(machines.one.root, "log", "-p", "--all")


def test_another_machine_that_pushes_meanwhile_is_merged_before_the_push(joined: tuple[TwoMachines, str]) -> None:
    machines, _ = joined
    machines.one.remembered("Linters are ruff and mypy.", "--title", "Linters")
    machines.other.remembered("Tests run on every push.", "--title", "Tests")
    hook = machines.remote / "hooks" / "pre-receive"
    late = head(machines.other)
    synced(machines.other)
    theirs = machines.remote_head()
    subprocess.run(["git", "-C", str(machines.remote), "update-ref", "refs/heads/main", late], check=True)
    # The first push finds that the other machine's has just landed.
    hook.write_text(
        "#!/bin/sh\n"
        f"unset GIT_QUARANTINE_PATH\nif [ ! -e {machines.remote}/once ]; then touch {machines.remote}/once; "
        f"git update-ref refs/heads/main {theirs}; fi\nexit 0\n"
    )
    hook.chmod(0o755)
    document = synced(machines.one)
    assert document["merged"]
    assert (machines.remote / "once").exists()
    hook.unlink()
    machines.settled()
    assert machines.one.titles() == ["Deploys", "Linters", "Tests"]


def test_uses_tiers_and_marks_of_both_machines_come_together(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    other_id = machines.other.remembered("Linters are ruff and mypy.", "--title", "Linters")
    assert machines.one("pin", id).code == 0
    assert machines.other("pin", other_id).code == 0
    for machine, count in ((machines.one, 2), (machines.other, 3)):
        for _ in range(count):
            assert machine("read", id).code == 0
    # Both run on one host here, so that they append to one ledger.
    machines.settled()
    notes = {note["id"]: note for note in machines.one("list", "--json").document["entries"]}
    assert notes[id]["used"] == 5
    assert {id: note["tier"] for id, note in notes.items()} == {id: "hot", other_id: "hot"}


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_without_a_remote_nothing_is_synced_and_it_says_how(tmp_path: Path, words: tuple[str, ...]) -> None:
    memory = Memory(tmp_path)
    memory.remembered("Deploys run from main only.", "--title", "Deploys")
    done = memory("sync", "--json", *words)
    assert (done.code, done.error["code"]) == (60, "sync-refused")
    assert "memory sync --remote URL" in done.error["message"]


def test_a_remote_that_is_gone_is_one_error_and_a_later_sync_goes_on(joined: tuple[TwoMachines, str]) -> None:
    machines, _ = joined
    machines.one.remembered("Linters are ruff and mypy.", "--title", "Linters")
    away = machines.remote.with_name("away.git")
    machines.remote.rename(away)
    before = machines.one.snapshot()
    done = machines.one("sync", "--json")
    assert (done.code, done.error["code"], done.error["details"]["cause"]) == (60, "remote-unavailable", "gone")
    assert machines.one.snapshot() == before
    away.rename(machines.remote)
    machines.settled()
    assert machines.other.titles() == ["Deploys", "Linters"]


def test_a_rewritten_remote_is_refused_until_a_person_names_it_again(joined: tuple[TwoMachines, str]) -> None:
    machines, _ = joined
    machines.one.remembered("Linters are ruff and mypy.", "--title", "Linters")
    synced(machines.one)
    tree = in_git(machines.remote, "rev-parse", "main~1^{tree}").strip()
    author = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    commit = in_git(machines.remote, *author, "commit-tree", tree, "-m", "squashed").strip()
    in_git(machines.remote, "update-ref", "refs/heads/main", commit)
    before = machines.one.snapshot()
    done = machines.one("sync", "--json")
    assert (done.code, done.error["code"]) == (60, "sync-refused")
    assert "rewritten" in done.error["message"]
    assert machines.one.snapshot() == before
    assert machines.remote_head() == commit
    synced(machines.one, "--remote", str(machines.remote))
    assert machines.one.titles() == ["Deploys", "Linters"]
    assert in_git(machines.remote, "merge-base", "--is-ancestor", commit, "main") == ""


def test_a_repository_of_something_else_is_refused(machines: TwoMachines, tmp_path: Path) -> None:
    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "main", str(work)], check=True)
    (work / "main.c").write_text("int main(void) { return 0; }\n")
    author = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    in_git(work, "add", "main.c")
    in_git(work, *author, "commit", "-q", "-m", "A program")
    in_git(work, "push", "-q", str(machines.remote), "main")
    machines.one.remembered("Deploys run from main only.", "--title", "Deploys")
    done = machines.one("sync", "--remote", str(machines.remote), "--json")
    assert (done.code, done.error["code"]) == (60, "sync-refused")
    assert "no notes" in done.error["message"]
    assert not (machines.one.root / "main.c").exists()
    assert machines.one.git("remote") == ""


def test_an_agent_may_sync_but_neither_choose_where_to_nor_confirm_a_purge(joined: tuple[TwoMachines, str]) -> None:
    machines, _ = joined
    inside = {"CLAUDE_CODE_CHILD_SESSION": "1"}
    for words in (("--remote", str(machines.remote)), ("--after-purge",)):
        refused = machines.one("sync", "--json", *words, environ=inside)
        assert (refused.code, refused.error["code"]) == (2, "act-refused")
    assert machines.one("sync", environ=inside).code == 0


@pytest.mark.parametrize("address", ["--upload-pack=touch", "ext::sh -c touch% /tmp/x", "", "a\nb"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    memory = Memory(tmp_path)
    memory.remembered("Deploys run from main only.", "--title", "Deploys")
    assert memory("sync", f"--remote={address}").code == 2


def test_a_detached_head_and_a_merge_by_hand_are_refused(joined: tuple[TwoMachines, str]) -> None:
    machines, id = joined
    machines.one.git("checkout", "-q", "--detach")
    done = machines.one("sync", "--json")
    assert (done.code, done.error["code"]) == (60, "sync-refused")
    assert "detached" in done.error["message"]
    machines.one.git("checkout", "-q", "main")
    (machines.one.root / ".git" / "MERGE_HEAD").write_text(head(machines.one) + "\n")
    assert machines.one("sync").code == 60
    assert "by hand" in machines.one("sync").err
    assert file_of(machines.one, id).exists()


def test_a_second_sync_waits_for_nobody(joined: tuple[TwoMachines, str], tmp_path: Path) -> None:
    machines, _ = joined
    fetching, answering = tmp_path / "fetching", tmp_path / "answering"
    slow = tmp_path / "slow"
    waiting = f"until [ -e {answering} ]; do sleep 0.05; done"
    slow.write_text(f'#!/bin/sh\ntouch {fetching}\n{waiting}\nexec git-upload-pack "$@"\n')
    slow.chmod(0o755)
    machines.one.git("config", "remote.origin.uploadpack", str(slow))
    first = machines.one.start("sync")
    while not fetching.exists():
        assert first.poll() is None
    assert machines.one("sync").code == 75
    # What takes no run lock goes on while the remote is waited for.
    machines.one.remembered("Linters are ruff and mypy.", "--title", "Linters")
    assert first.poll() is None
    answering.touch()
    assert first.wait(60) == 0
    first.communicate()
    machines.settled()
    assert machines.other.titles() == ["Deploys", "Linters"]


# -- cli sync crashes --------------------------------------------------------------------------------------------------


@pytest.fixture
def diverged(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TwoMachines, str]:
    """Two machines that both changed one note, and each something else; the first one's is pushed."""
    note = ("Deploys", "Deploys run from main only.\n\nThe staging host is turquoise-12.")
    machines, (id,) = joined_machines((note,), tmp_path, tmp_path_factory)
    edited(machines.one, id, lambda text: text.replace("main only", "main and hotfix only"))
    machines.one.remembered("Linters are ruff and mypy.", "--title", "Linters")
    synced(machines.one)
    edited(machines.other, id, lambda text: text + "\nThe canary host is amber-7.\n")
    return machines, id


def test_a_killed_sync_is_finished(diverged: tuple[TwoMachines, str], tmp_path: Path) -> None:
    """By whatever comes next."""
    machines, id = diverged
    kept, bare = tmp_path / "kept", tmp_path / "kept.git"
    shutil.copytree(machines.other.home, kept)
    shutil.copytree(machines.remote, bare)
    assert struck_at(machines.other, 0, "sync").code == 0
    whole = calls_of(machines.other)
    assert whole > 10
    wanted = machines.other.snapshot()
    authors = machines.other.git("log", "--format=%an: %s").splitlines()
    for turn, at in enumerate(range(1, whole + 1, max(1, whole // 4))):
        for place, copy in ((machines.other.home, kept), (machines.remote, bare)):
            shutil.rmtree(place)
            shutil.copytree(copy, place)
        assert struck_at(machines.other, at, "sync").code == -9
        assert file_of(machines.other, id).exists()
        assert machines.other(("sync", "consolidate")[turn % 2]).code == 0
        synced(machines.other)
        assert machines.other.snapshot().keys() == wanted.keys(), at
        assert "<<<<<<<" not in file_of(machines.other, id).read_text(), at
        by_hand = [line for line in machines.other.git("log", "--format=%an: %s").splitlines() if "hand edits" in line]
        assert by_hand == [line for line in authors if "hand edits" in line], at
    machines.settled()


@pytest.mark.parametrize("service", ["uploadpack", "receivepack"])
def test_a_line_that_is_cut_is_one_error_and_the_next_sync_goes_on(
    diverged: tuple[TwoMachines, str], tmp_path: Path, service: str
) -> None:
    machines, id = diverged
    cut = tmp_path / "cut"
    program = {"uploadpack": "git-upload-pack", "receivepack": "git-receive-pack"}[service]
    # Listing the refs goes well; what comes after it ends in the middle.
    listing = f'[ -e {tmp_path}/listed ] || {{ touch {tmp_path}/listed; exec {program} "$@"; }}\n'
    cut.write_text("#!/bin/sh\n" + (listing if service == "uploadpack" else "") + "printf 00; exit 1\n")
    cut.chmod(0o755)
    machines.other.git("config", f"remote.origin.{service}", str(cut))
    before, was = machines.other.snapshot(), machines.remote_head()
    done = machines.other("sync", "--json")
    assert (done.code, done.error["code"]) == (60, "remote-unavailable")
    assert machines.remote_head() == was
    if service == "uploadpack":
        assert machines.other.snapshot() == before
    machines.other.git("config", "--unset", f"remote.origin.{service}")
    machines.settled()
    assert machines.one.titles() == ["Deploys", "Linters"]
    assert "amber-7" in file_of(machines.one, id).read_text()
