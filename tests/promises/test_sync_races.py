"""P8, P12: nothing that is written on either machine while a sync talks to the remote is lost.

A hook of the remote, or its upload-pack, waits in the middle of the push or the fetch until the test has made its writes, so
that nothing here depends on time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forked_program import RunningCall
from memory_process import Memory
from two_machines import TwoMachines, edited, file_of, head, in_git, joined_machines, synced, two_machines

pytestmark = pytest.mark.faults

GONE = "The zebra-merger is announced on Thursday."
KEPT = "Deploys run from main only.\n\nThe staging host is turquoise-12."
CANARY = "The canary host is amber-7."
NEW = "Linters are ruff and mypy."
EDIT = "Never on Fridays."
ELSEWHERE = "Rollbacks take a minute."

LISTED = '[ -e {0}/listed ] || { touch {0}/listed; exec git-upload-pack "$@"; }\n'
"""What a machine asks first is what refs there are; the fetch is its second call."""


@pytest.fixture
def machines(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TwoMachines, str, str]:
    """Both machines with the same two notes: one to be purged, and one that stays."""
    two, (gone, kept) = joined_machines((("Zebra", GONE), ("Deploys", KEPT)), tmp_path, tmp_path_factory)
    return two, gone, kept


@pytest.fixture(
    params=[
        pytest.param(True, id="the other machine purges"),
        pytest.param(False, id="this machine purges", marks=pytest.mark.slow),
    ]
)
def other_purges(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# -- a push -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["pre-receive", pytest.param("post-receive", marks=pytest.mark.slow)])
def test_what_is_written_during_a_push_outlives_a_purge(
    machines: tuple[TwoMachines, str, str], hook: str, *, other_purges: bool
) -> None:
    two, gone, kept = machines
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")
    interrupted(two, hook, lambda: write(two.one, kept))
    assert not two.remote_holds(NEW), "it was written after the push had begun"
    purged_on_both(two, gone, other_purges=other_purges)
    assert_all_is_there(two, kept)


@pytest.mark.slow
def test_after_writes_during_a_push_every_later_sync_goes_on(machines: tuple[TwoMachines, str, str]) -> None:
    two, _, kept = machines
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")
    interrupted(two, "post-receive", lambda: write(two.one, kept))
    two.other.remembered(ELSEWHERE, "--title", "Rollbacks")
    synced(two.other)
    assert_all_is_there(two, kept)
    assert "Rollbacks" in two.one.titles()


@pytest.mark.slow
def test_what_is_written_during_a_first_sync_outlives_a_purge(tmp_path: Path, *, other_purges: bool) -> None:
    two = two_machines(tmp_path)
    gone, kept = (two.one.remembered(text, "--title", title) for text, title in ((GONE, "Zebra"), (KEPT, "Deploys")))
    interrupted(two, "post-receive", lambda: write(two.one, kept), "--remote", str(two.remote))
    synced(two.other, "--remote", str(two.remote))
    purged_on_both(two, gone, other_purges=other_purges)
    assert_all_is_there(two, kept)


@pytest.mark.slow
def test_what_is_written_while_a_purge_is_pushed_comes_to_both_machines(
    machines: tuple[TwoMachines, str, str], *, other_purges: bool
) -> None:
    two, gone, kept = machines
    purger = two.other if other_purges else two.one
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")
    assert purger("forget", gone, "--purge", "--yes").code == 0
    if other_purges:
        synced(two.other, "--after-purge")
    interrupted(two, "post-receive", lambda: write(two.one, kept), "--after-purge")
    if not other_purges:
        synced(two.other, "--after-purge")
    assert_all_is_there(two, kept)


def test_both_machines_write_while_a_push_is_refused_and_tried_again(machines: tuple[TwoMachines, str, str]) -> None:
    two, gone, kept = machines
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")

    def meanwhile() -> None:
        two.other.remembered(ELSEWHERE, "--title", "Rollbacks")
        edited(two.other, kept, lambda text: text.replace("main only", "main and hotfix only"))
        synced(two.other)
        write(two.one, kept)

    interrupted(two, "pre-receive", meanwhile)
    purged_on_both(two, gone, other_purges=True)
    assert_all_is_there(two, kept)
    assert "Rollbacks" in two.one.titles()
    assert "main and hotfix only" in file_of(two.one, kept).read_text()


@pytest.mark.slow
def test_the_other_machine_takes_an_edit_back_while_the_push_of_a_purge_is_refused(
    machines: tuple[TwoMachines, str, str], *, other_purges: bool
) -> None:
    """What was merged before the second try is what the two had in common then."""
    two, gone, kept = machines
    purger = two.other if other_purges else two.one
    edited(two.other, kept, lambda text: f"{text}\n{CANARY}\n")
    synced(two.other)
    assert purger("forget", gone, "--purge", "--yes").code == 0
    if other_purges:
        synced(two.other, "--after-purge")
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")

    def meanwhile() -> None:
        assert two.other("edit", kept, "--body", KEPT).code == 0
        synced(two.other)
        two.one.remembered(NEW, "--title", "Linters")

    interrupted(two, "pre-receive", meanwhile, "--after-purge")
    if not other_purges:
        synced(two.other, "--after-purge")
    two.settled()
    assert two.one.titles() == ["Deploys", "Linters", "Pier"]
    assert CANARY not in file_of(two.one, kept).read_text()


# -- a kill between the push and the mark of it -----------------------------------------------------------------------


def test_a_sync_killed_after_a_push_is_whole(machines: tuple[TwoMachines, str, str], *, other_purges: bool) -> None:
    two, gone, kept = machines
    two.one.remembered(NEW, "--title", "Linters")
    edited(two.one, kept, lambda text: f"{text}\n{EDIT}\n")
    killed(two)
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")
    synced(two.other)
    edited(two.other, kept, lambda text: text.replace("main only", "main and hotfix only"))
    purged_on_both(two, gone, other_purges=other_purges)
    assert_all_is_there(two, kept)
    assert "main and hotfix only" in file_of(two.one, kept).read_text()
    assert "<<<<<<<" not in file_of(two.one, kept).read_text()


def test_a_purge_whose_sync_was_killed_after_the_remote_took_it_is_known_on_both_sides(
    machines: tuple[TwoMachines, str, str], *, other_purges: bool
) -> None:
    two, gone, kept = machines
    purger = two.other if other_purges else two.one
    two.one.remembered(NEW, "--title", "Linters")
    assert purger("forget", gone, "--purge", "--yes").code == 0
    if other_purges:
        synced(two.other, "--after-purge")
    killed(two, "--after-purge")
    two.one.remembered("The pier has nine lamps.", "--title", "Pier")
    if not other_purges:
        synced(two.other, "--after-purge")
    edited(two.other, kept, lambda text: f"{text}\n{EDIT}\n")
    synced(two.other)
    synced(two.one)
    assert_all_is_there(two, kept)
    assert not two.remote_holds("zebra-merger")


# -- a fetch ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("purged", [pytest.param(False, marks=pytest.mark.slow), True])
def test_what_is_written_during_a_fetch_is_merged(machines: tuple[TwoMachines, str, str], *, purged: bool) -> None:
    two, gone, kept = machines
    edited(two.other, kept, lambda text: text.replace("main only", "main and hotfix only"))
    if purged:
        assert two.other("forget", gone, "--purge", "--yes").code == 0
    words = ("--after-purge",) if purged else ()
    synced(two.other, *words)
    interrupted(two, "upload-pack", lambda: write(two.one, kept), *words)
    assert_all_is_there(two, kept)
    assert "main and hotfix only" in file_of(two.one, kept).read_text()


@pytest.mark.slow
def test_a_note_edited_by_hand_during_a_fetch_is_merged_with_what_comes(machines: tuple[TwoMachines, str, str]) -> None:
    two, _, kept = machines
    edited(two.other, kept, lambda text: text.replace("main only", "main and hotfix only"))
    synced(two.other)
    interrupted(two, "upload-pack", lambda: edited(two.one, kept, lambda text: f"{text}\n{EDIT}\n"))
    two.settled()
    text = file_of(two.other, kept).read_text()
    assert "main and hotfix only" in text
    assert EDIT in text


# -- what an older version left ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("purged", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_store_marked_past_what_was_sent_recovers(machines: tuple[TwoMachines, str, str], *, purged: bool) -> None:
    two, gone, kept = machines
    write(two.one, kept)
    two.one.git("update-ref", "-d", "refs/agent-memory/agreed")
    two.one.git("update-ref", "refs/agent-memory/synced", "HEAD")
    two.other.remembered(ELSEWHERE, "--title", "Rollbacks")
    if purged:
        assert two.other("forget", gone, "--purge", "--yes").code == 0
    for machine in (two.other, two.one):
        synced(machine, *(("--after-purge",) if purged else ()))
    assert_all_is_there(two, kept)
    assert "Rollbacks" in two.one.titles()


def test_a_remote_that_lost_what_was_agreed_is_still_refused(machines: tuple[TwoMachines, str, str]) -> None:
    """Also where the two have a common history: bringing back what somebody took out of the remote is a person's decision."""
    two, _, kept = machines
    before = two.remote_head()
    write(two.one, kept)
    synced(two.one)
    in_git(two.remote, "update-ref", "refs/heads/main", before)
    two.other.remembered(ELSEWHERE, "--title", "Rollbacks")
    synced(two.other)
    refused = two.one("sync", "--json")
    assert (refused.code, refused.error["code"]) == (60, "sync-refused")
    assert "rewritten" in refused.error["message"]
    synced(two.one, "--remote", str(two.remote))
    assert_all_is_there(two, kept)


# -- what the tests share ---------------------------------------------------------------------------------------------


def write(machine: Memory, kept: str) -> None:
    """A new note and an edit, both acknowledged."""
    body = file_of(machine, kept).read_text().split("\n---\n", 1)[1].strip()
    machine.remembered(NEW, "--title", "Linters")
    assert machine("edit", kept, "--body", f"{body}\n\n{EDIT}").code == 0


def purged_on_both(two: TwoMachines, gone: str, *, other_purges: bool) -> None:
    purger, joiner = (two.other, two.one) if other_purges else (two.one, two.other)
    assert purger("forget", gone, "--purge", "--yes").code == 0
    synced(purger, "--after-purge")
    synced(joiner, "--after-purge")


def assert_all_is_there(two: TwoMachines, kept: str) -> None:
    two.settled()
    for machine in (two.one, two.other):
        assert NEW in [note["body"] for note in machine.notes()]
        assert EDIT in file_of(machine, kept).read_text()


def interrupted(two: TwoMachines, where: str, meanwhile: Callable[[], None], *words: str) -> None:
    """A sync of the first machine that stands still there once, while something else is done."""
    call = _at_a_stand(two, where, *words)
    meanwhile()
    _go_on(two)
    out, err = call.communicate(60)
    assert call.returncode == 0, (out, err)


def killed(two: TwoMachines, *words: str) -> None:
    """A sync of the first machine that dies when the remote has taken its push, and before it hears so."""
    call = _at_a_stand(two, "post-receive", *words)
    call.kill()
    call.communicate()
    _go_on(two)
    assert two.remote_head() == head(two.one)


def _at_a_stand(two: TwoMachines, where: str, *words: str) -> RunningCall:
    pause = "[ -e {0}/paused ] || { touch {0}/paused; until [ -e {0}/on ]; do sleep 0.02; done; }\n"
    if where == "upload-pack":
        script = two.remote / where
        lines = LISTED + 'git-upload-pack "$@"\n' + pause
        two.one.git("config", "remote.origin.uploadpack", str(script))
    else:
        script, lines = two.remote / "hooks" / where, pause
    script.write_text("#!/bin/sh\n" + lines.replace("{0}", str(two.remote)))
    script.chmod(0o755)
    call = two.one.start("sync", *words)
    while not (two.remote / "paused").exists():
        assert call.poll() is None, call.communicate()
        time.sleep(0.01)
    return call


def _go_on(two: TwoMachines) -> None:
    (two.remote / "on").touch()
