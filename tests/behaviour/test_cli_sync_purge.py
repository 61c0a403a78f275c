"""`memory sync` and what was forgotten: it stays forgotten on every machine (P28)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_process import Memory
from two_machines import TwoMachines, clean, edited, file_of, head, holds, holds_in_any_object, joined_machines, synced

SECRET_PLAN = "The zebra-merger is announced on Thursday."


@pytest.fixture
def machines(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TwoMachines, str, str]:
    """Both machines with the same two notes: the one to go, and one that stays."""
    notes = (("Zebra-merger", SECRET_PLAN), ("Deploys", "Deploys run from main only."))
    machines, (gone, kept) = joined_machines(notes, tmp_path, tmp_path_factory)
    assert holds(machines.other.root, "zebra-merger")
    assert machines.remote_holds("zebra-merger")
    return machines, gone, kept


def test_what_one_machine_forgot_goes_from_the_other_even_if_edited(machines: tuple[TwoMachines, str, str]) -> None:
    two, gone, _ = machines
    assert two.one("forget", gone, "--yes").code == 0
    edited(two.other, gone, lambda text: text + "\nOr on Friday.\n")
    synced(two.one)
    told = two.other("sync")
    assert f"{gone} was forgotten on another machine" in told.out
    two.settled()
    assert two.one.titles() == two.other.titles() == ["Deploys"]
    assert "zebra" not in "".join(path.read_text() for path in (two.other.root / "topics").iterdir())


def test_an_edit_that_arrives_after_the_forgetting_brings_nothing_back(machines: tuple[TwoMachines, str, str]) -> None:
    two, gone, kept = machines
    edited(two.other, gone, lambda text: text + "\nOr on Friday.\n")
    edited(two.other, kept, lambda text: text + "\nNever on Fridays.\n")
    synced(two.other)
    assert two.one("forget", gone, "--yes").code == 0
    document = synced(two.one)
    assert document["forgotten"] >= 1
    two.settled()
    assert two.one.titles() == two.other.titles() == ["Deploys"]
    assert "Never on Fridays." in file_of(two.one, kept).read_text()


def test_after_a_purge_nothing_is_synced_until_a_person_says_so_and_then_no_clone_holds_the_text(
    machines: tuple[TwoMachines, str, str], tmp_path: Path
) -> None:
    two, gone, kept = machines
    # A ref that earlier versions kept, and moved with each sync.
    two.other.git("update-ref", "refs/agent-memory/synced", "HEAD")
    # The other machine goes on meanwhile, with the old history.
    edited(two.other, kept, lambda text: text + "\nNever on Fridays.\n")
    other_id = two.other.remembered("Linters are ruff and mypy.", "--title", "Linters")
    assert two.one("forget", gone, "--purge", "--yes").code == 0
    assert not holds(two.one.root, "zebra-merger")
    before = two.remote_head()

    refused = two.one("sync", "--json")
    assert (refused.code, refused.error["code"]) == (60, "sync-refused")
    assert "--after-purge" in refused.error["message"]
    assert two.remote_head() == before

    document = synced(two.one, "--after-purge")
    assert document["afterPurge"]
    assert not two.remote_holds("zebra-merger")
    assert not holds(two.one.root, "zebra-merger")
    assert two.one("sync").code == 0

    # The machine that does not know refuses, too: nothing of its old history is sent.
    refused = two.other("sync", "--json")
    assert (refused.code, refused.error["code"]) == (60, "sync-refused")
    assert holds(two.other.root, "zebra-merger")
    assert not two.remote_holds("zebra-merger")

    synced(two.other, "--after-purge")
    for directory in (two.one.root, two.other.root, two.remote):
        assert not holds(directory, "zebra-merger")
    for machine in (two.one, two.other):
        assert not holds_in_any_object(machine.root, "zebra-merger")
        assert holds_in_any_object(machine.root, "Deploys run from main only."), "the control"
    two.settled()
    assert two.one.titles() == two.other.titles() == ["Deploys", "Linters"]
    assert "Never on Fridays." in file_of(two.one, kept).read_text()
    assert file_of(two.one, other_id).exists()
    assert [path for path in _all_files(two.other) if "zebra" in path.read_text("utf-8", "replace")] == []

    third = Memory(tmp_path / "third")
    third.home.mkdir()
    synced(third, "--remote", str(two.remote))
    assert third.titles() == ["Deploys", "Linters"]
    assert head(third) == two.remote_head()
    assert clean(third)


def test_what_the_other_had_pushed_meanwhile_survives_the_purge(machines: tuple[TwoMachines, str, str]) -> None:
    two, gone, kept = machines
    assert two.one("forget", gone, "--purge", "--yes").code == 0
    edited(two.other, gone, lambda text: text + "\nOr on Friday.\n")
    edited(two.other, kept, lambda text: text + "\nNever on Fridays.\n")
    synced(two.other)
    assert two.remote_holds("zebra-merger")
    synced(two.one, "--after-purge")
    assert not two.remote_holds("zebra-merger")
    synced(two.other, "--after-purge")
    two.settled()
    assert two.one.titles() == ["Deploys"]
    assert "Never on Fridays." in file_of(two.one, kept).read_text()
    assert not holds(two.other.root, "zebra-merger")


@pytest.mark.parametrize("is_pushed", [False, True])
def test_p28_what_was_merged_or_split_meanwhile_does_not_bring_a_purged_text_back(
    machines: tuple[TwoMachines, str, str], *, is_pushed: bool
) -> None:
    two, gone, kept = machines
    fillers = [two.other.remembered(f"Gauge {number} is read at {number} o'clock.") for number in range(3)]
    split = two.other.remembered(f"{SECRET_PLAN}\n\nThe okapi-budget is halved.", "--title", "Plans")
    two.settled()
    parts = [{"title": f"Part {text[:9]}", "body": text} for text in ("The okapi-budget is halved.", SECRET_PLAN)]
    both = f"Deploys run from main only.\n\n{SECRET_PLAN}\n\nAsk Mara first."
    actions = [
        {"action": "merge", "ids": [kept, gone], "title": "Deploys and more", "body": both, "drops": []},
        {"action": "split", "id": split, "into": parts},
    ]
    two.other.configure(llm={"command": two.other.answered({"actions": actions})})
    assert two.other("defrag", "--force").out.startswith("1 merged, 1 split")
    if is_pushed:
        synced(two.other)
    assert two.one("forget", gone, "--purge", "--yes").code == 0
    assert two.one("forget", split, "--purge", "--yes").code == 0
    told = synced(two.one, "--after-purge")["remarks"] + synced(two.other, "--after-purge")["remarks"]
    assert f"came from {gone}, which was forgotten" in str(told)
    two.settled()
    for machine in (two.one, two.other):
        assert machine.titles() == ["Deploys and more", *(f"Gauge {n} is read at {n} o'clock." for n in range(3))]
        (merged,) = (each for each in machine.notes() if each["title"] == "Deploys and more")
        body = machine("read", merged["id"], "--json").document["body"]
        assert body.replace("\n", "") == "Deploys run from main only.Ask Mara first."
        assert not holds_in_any_object(machine.root, "zebra-merger")
        assert [path for path in _all_files(machine) if "zebra" in path.read_text("utf-8", "replace")] == []
    assert not two.remote_holds("zebra-merger")
    assert {each["id"] for each in two.one.notes()} >= set(fillers), "the control"


def test_both_machines_may_have_purged(machines: tuple[TwoMachines, str, str]) -> None:
    two, gone, kept = machines
    other_gone = two.other.remembered("The okapi-budget is halved.", "--title", "Okapi")
    synced(two.other)
    synced(two.one)
    assert two.one("forget", gone, "--purge", "--yes").code == 0
    assert two.other("forget", other_gone, "--purge", "--yes").code == 0
    synced(two.one, "--after-purge")
    assert two.other("sync").code == 60
    synced(two.other, "--after-purge")
    if two.one("sync").code == 60:
        synced(two.one, "--after-purge")
    two.settled()
    for directory in (two.one.root, two.other.root, two.remote):
        assert not holds(directory, "zebra-merger")
        assert not holds(directory, "okapi-budget")
    assert two.one.titles() == ["Deploys"]
    assert file_of(two.one, kept).exists()


def test_a_session_forgotten_on_one_machine_leaves_none_on_the_other(machines: tuple[TwoMachines, str, str]) -> None:
    two, _, _ = machines
    line = (
        '{"type":"user","uuid":"u-1","sessionId":"s-1","timestamp":"2026-02-13T14:30:05.123Z","cwd":"/srv/lamp",'
        '"message":{"role":"user","content":"Remember: the quokka-budget is approved by the board every single March."}}\n'
    )
    for machine in (two.one, two.other):
        machine.session("s-1", line)
        assert machine("consolidate").code == 0
    two.settled()
    assert list((two.other.root / "histories").rglob("*s-1*"))
    assert two.one("forget", "--session", "s-1", "--yes").code == 0
    synced(two.one)
    synced(two.other)
    assert not list((two.other.root / "histories").rglob("*s-1*"))
    assert [path for path in _all_files(two.other) if "quokka" in path.read_text("utf-8", "replace")] == []
    two.settled()


def _all_files(machine: Memory) -> list[Path]:
    return [path for path in machine.root.rglob("*") if path.is_file() and ".git" not in path.parts]


def test_p28_a_purged_state_value_is_in_no_history_and_on_no_machine(machines: tuple[TwoMachines, str, str]) -> None:
    two, *_ = machines
    two.one("state", "set", "plan", '"zebra-merger on Thursday"')
    two.one("state", "set", "plan", '"zebra-merger on Friday"')
    two.one("state", "set", "phase", "3")
    synced(two.one)
    synced(two.other)
    assert two.other("state", "get", "plan").out == "zebra-merger on Friday\n"
    done = two.one("state", "delete", "plan", "--purge")
    assert (done.code, done.out) == (0, "Deleted plan and rewrote the git history without it\n")
    assert not holds(two.one.root, "Friday")
    assert not holds_in_any_object(two.one.root, "Friday")
    assert two.one("state", "get", "phase").out == "3\n"
    for machine in (two.one, two.other):
        assert machine("sync").code == 60
        assert machine("sync", "--after-purge").code == 0
    two.settled()
    for machine in (two.one, two.other):
        assert machine("state", "get", "plan").code == 20
        assert not holds(machine.root, "Friday")
    assert not two.remote_holds("Friday")
