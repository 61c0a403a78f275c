"""P2, P3: a sync is killed at its n-th call that changes the disk, or its line is cut; the next one ends as if it had not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tidying_homes import calls_of, struck_at
from two_machines import TwoMachines, edited, file_of, head, joined_machines, synced


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


@pytest.mark.parametrize("next_call", ["sync", "consolidate"])
def test_a_killed_sync_is_finished(diverged: tuple[TwoMachines, str], tmp_path: Path, next_call: str) -> None:
    machines, id = diverged
    kept, bare = tmp_path / "kept", tmp_path / "kept.git"
    shutil.copytree(machines.other.home, kept)
    shutil.copytree(machines.remote, bare)
    states = home_states(machines)

    assert struck_at(machines.other, 0, "sync").code == 0
    whole = calls_of(machines.other)
    assert whole > 10
    wanted = machines.other.snapshot()
    authors = machines.other.git("log", "--format=%an: %s").splitlines()
    for at in range(1, whole + 1, max(1, whole // 4)):
        restore(machines, kept, bare)
        assert home_states(machines) == states
        assert struck_at(machines.other, at, "sync").code == -9
        assert file_of(machines.other, id).exists()
        assert machines.other(next_call).code == 0
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


def home_states(machines: TwoMachines) -> tuple[str, str]:
    return head(machines.other), machines.remote_head()


def restore(machines: TwoMachines, kept: Path, bare: Path) -> None:
    shutil.rmtree(machines.other.home)
    shutil.copytree(kept, machines.other.home)
    shutil.rmtree(machines.remote)
    shutil.copytree(bare, machines.remote)
