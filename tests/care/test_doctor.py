"""A whole store examined: a healthy one has nothing, and whatever is damaged hides nothing else."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import time
import weakref
from collections.abc import Iterable
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.caller import Caller
from agent_memory.capture.hook_files import LOG_NAME, log_hook_problem
from agent_memory.care.checks import Finding
from agent_memory.care.doctor import Examined
from agent_memory.config import Config, LlmConfig, StorageConfig
from agent_memory.errors import MarkersAmbiguous, TargetRefused
from agent_memory.note.note import Meta, Sensitivity
from agent_memory.rules.change import Published, PublishedTarget, RenderedSection
from agent_memory.rules.forgotten import EntryTombstone
from agent_memory.store.bookkeeping import TOMBSTONE
from agent_memory.text.instants import HOUR_MS, iso_of
from faults import each_failure, failing_on
from store_under_examination import Patient

HOUR_SECONDS = 3600


@pytest.fixture
def patient(root: Path) -> Patient:
    return Patient(root)


@pytest.fixture
def healthy(patient: Patient) -> Patient:
    ports = patient.note("Ports", "The api listens on 8080.", tags=("topic__api",))
    patient.note("Deploys", f"They run from main only, on [[{ports}]].", tags=("topic__deploy",))
    assert patient.examine().findings == ()
    return patient


def aged(path: Path, seconds: float) -> Path:
    at = time.time() - seconds
    os.utime(path, (at, at), follow_symlinks=False)
    return path


class TestHealthy:
    def test_a_run_looks_at_one_note_at_a_time_p25(self, healthy: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is known of 10,000 notes together has no room, whether it is new or kept."""
        for number in range(20):
            healthy.note(f"Port {number}", f"The api {number} listens on {8100 + number}.")
        reads, seen = vars(Examined)["kept_of"].__func__, list[weakref.ref[Examined]]()
        most = 0

        def kept_of(meta: Meta, kept: bytes) -> Examined | None:
            nonlocal most
            most = max(most, sum(each() is not None for each in seen))
            known: Examined | None = reads(Examined, meta, kept)
            if known is not None:
                seen.append(weakref.ref(known))
            return known

        memory = healthy.memory
        del vars(memory)["finish_runs"]  # a run finishes others for itself
        memory.consolidate().unwrap()
        monkeypatch.setattr(Examined, "kept_of", kept_of)
        memory.consolidate().unwrap()
        assert (len(seen), most) == (22, 1)

    def test_nothing_is_written_by_looking(self, healthy: Patient) -> None:
        healthy.by_hand("topics/idea.md", "An idea.")
        before = {path: path.lstat().st_mtime_ns for path in healthy.root.rglob("*") if ".cache" not in str(path)}
        assert healthy.codes() == ["missing-id"]
        after = {path: path.lstat().st_mtime_ns for path in healthy.root.rglob("*") if ".cache" not in str(path)}
        assert after == before


class TestNotes:
    def test_an_agent_is_not_told_of_secret_notes(self, healthy: Patient) -> None:
        path = healthy.path_of(healthy.note("Safe", "Behind the picture.", sensitivity=Sensitivity.SECRET))
        path.write_text(path.read_text().replace("picture", "picture\u202e"))
        assert healthy.codes() == ["hidden-text"]
        agent = healthy.memory.called_by(Caller(variable="CLAUDECODE"))
        assert agent.doctor().examine().findings == ()

    def test_old_notes_are_stale_but_not_on_the_day_they_come(self, healthy: Patient) -> None:
        long_ago = 1_600_000_000_000
        id = healthy.note("Habits", "Tests are named for behaviour.")
        path = healthy.path_of(id)
        text = path.read_text()
        for key in ("createdAt", "updatedAt"):
            line = next(each for each in text.splitlines() if each.startswith(key))
            text = text.replace(line, f"{key}: {long_ago}")
        path.write_text(text)
        assert healthy.codes() == []
        aged(path, 200 * 24 * HOUR_SECONDS)
        assert healthy.codes() == ["stale"]


class TestFilesAndRuns:
    def test_open_files_are_remarks_behind_a_closed_root_p22(self, healthy: Patient) -> None:
        (healthy.root / "topics").chmod(0o755)
        (finding,) = healthy.examine().findings
        assert (finding.severity, finding.message) == ("note", "Its mode is 0755, it should be 0700")
        healthy.root.chmod(0o750)
        assert [each.severity for each in healthy.examine().findings] == ["problem", "problem"]

    def test_all_that_is_wrong_is_told_at_once(self, healthy: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
        topics = healthy.root / "topics"
        original = healthy.path_of(healthy.note("Tests", "They run first."))
        healthy.config = evolve(Config(), llm=LlmConfig(command="no-such-command-anywhere --flag"))
        healthy.planned = Failure(TargetRefused("/t/AGENTS.md", "it is a device"))
        healthy.by_hand("topics/Tests 2.md", original.read_text())
        healthy.by_hand("topics/broken.md", "---\nkind: nonsense\n---\nx\n")
        healthy.by_hand("topics/idea.md", "An idea.")
        (topics / "there.md").symlink_to("/etc/hostname")
        for name in ("usage/lamp.sync-conflict-20260213-143005-ABCDEFG.jsonl", "topics/Ports (conflicted copy).txt"):
            healthy.by_hand(name, "")
        for name in ("topics/.tmp-mine", "topics/0.new", "topics/.tmp-0123456789abcdeF"):  # none of ours
            healthy.by_hand(name, "")
        aged(healthy.by_hand(".transaction/0.new", ""), 2 * HOUR_SECONDS)
        for path in ("tiers.json", "phase.json", "sessions/amp_x.json"):
            healthy.by_hand(f"state/{path}", "{")
        for path in ("runs/deferred.json", "inbox/.queue.json"):
            healthy.by_hand(path, "{")
        found = healthy.examine().findings
        root = f"{healthy.root}/"
        told = sorted(f"{each.code} {each.subject.removeprefix(root)}" for each in found)
        assert told == [
            "agent-unusable llm", "damaged-state inbox/.queue.json", "damaged-state runs/deferred.json",
            "damaged-state state/phase.json", "damaged-state state/sessions/amp_x.json",
            "damaged-state state/tiers.json", "duplicate-id topics/Tests 2.md", "litter .transaction/0.new",
            "missing-id topics/idea.md",
            "sync-conflict-file topics/Ports (conflicted copy).txt",
            "sync-conflict-file usage/lamp.sync-conflict-20260213-143005-ABCDEFG.jsonl",
            "unreadable-note topics/broken.md", "unreadable-note topics/there.md", "unreadable-store /t/AGENTS.md",
        ]  # fmt: skip
        assert all(
            any(words in each.message for each in found) for words in ("no-such-command-anywhere", "it is a device")
        )
        monkeypatch.setattr(os, "getuid", lambda: 12_345)
        assert "foreign-owner" in healthy.codes()

    def test_what_cannot_be_looked_at_is_a_finding_and_hides_no_other_p6(self, healthy: Patient) -> None:
        unrecorded = evolve(healthy, config=Config(storage=StorageConfig(auto_commit=False)))
        for path in ("state/phase.json", "runs/deferred.json"):
            healthy.by_hand(path, "{")
        healthy.by_hand("state/project_tags.json", json.dumps({"vocabulary": ["deploy"], "updated": "2026-02-13"}))
        healthy.by_hand("topics/idea.md", "An idea.")
        whole, told = set(unrecorded.examine().findings), 0
        assert sorted(each.code for each in whole) == ["damaged-state", "damaged-state", "missing-id", "tag-unknown"]
        for k, failing in each_failure(errno.EIO, step=3):
            with failing:
                found = set(unrecorded.examine().findings)
            assert found >= whole or found - whole, f"call {k} was passed over"
            told += found != whole
        assert told > 7

    @pytest.mark.parametrize("name", [LOG_NAME, "owed.json"])
    def test_status_is_told_and_trouble_that_cannot_be_read_is_a_finding_p6(self, healthy: Patient, name: str) -> None:
        healthy.by_hand("runs/owed.json", json.dumps(["topics/x.md"]))
        log_hook_problem(os.environ["HOME"], str(healthy.root), "codex", "payload", "it is not JSON")
        assert healthy.codes() == ["status", "status"]
        with failing_on(name, "open"):
            found = healthy.examine().findings
        assert any("Could not" in each.message and name in each.message for each in found)


class TestGit:
    def git(self, patient: Patient, *words: str) -> None:
        subprocess.run(["git", "-C", str(patient.root), *words], check=True, capture_output=True)

    def test_no_repository_is_a_problem_only_where_one_is_wanted_p4(self, healthy: Patient) -> None:
        (healthy.root / ".git").rename(healthy.root.parent / "moved")
        assert healthy.codes() == ["git-absent"]
        healthy.config = evolve(Config(), storage=StorageConfig(auto_commit=False))
        assert healthy.codes() == []

    def test_a_detached_head_and_a_merge(self, healthy: Patient) -> None:
        self.git(healthy, "checkout", "--quiet", "--detach")
        assert healthy.codes() == ["git-detached"]
        self.git(healthy, "checkout", "--quiet", "main")
        healthy.by_hand(".git/MERGE_HEAD", "x")
        assert healthy.codes() == ["git-conflicted"]
        with failing_on("MERGE_HEAD", "lstat"):
            assert "git-unusable" in healthy.codes()

    def test_what_was_recorded_on_a_detached_head_and_is_on_no_branch_is_named_p12(self, healthy: Patient) -> None:
        self.git(healthy, "checkout", "--quiet", "--detach")
        id = healthy.note("Lamps", "There are fourteen lamps on the pier.")
        self.git(healthy, "checkout", "--quiet", "main")
        (found,) = healthy.examine().findings
        assert (found.code, id in found.subject) == ("git-dropped", True)
        commit = found.message.partition("git show ")[2].split("`")[0]
        self.git(healthy, "checkout", "--quiet", commit, "--", "topics")
        assert "git-dropped" not in healthy.codes()
        self.git(healthy, "reset", "--quiet", "--hard")
        assert healthy.codes() == ["git-dropped"]
        healthy.by_hand(f"state/forgotten/{id}.json", TOMBSTONE.render(EntryTombstone(id, 0, frozenset())))
        assert healthy.codes() == []

    def test_a_file_in_conflict_is_named(self, healthy: Patient) -> None:
        path = next((healthy.root / "topics").iterdir())
        as_me = ("-c", "user.name=me", "-c", "user.email=me@localhost")
        self.git(healthy, "checkout", "--quiet", "-b", "other")
        path.write_text(path.read_text() + "theirs\n")
        self.git(healthy, *as_me, "commit", "--quiet", "--all", "--message=theirs")
        self.git(healthy, "checkout", "--quiet", "main")
        path.write_text(path.read_text() + "ours\n")
        self.git(healthy, *as_me, "commit", "--quiet", "--all", "--message=ours")
        with pytest.raises(subprocess.CalledProcessError):
            self.git(healthy, *as_me, "merge", "other")
        conflicts = [each for each in healthy.examine().findings if each.code == "git-conflicted"]
        assert [each.subject for each in conflicts] == [".git", f"topics/{path.name}"]

    @pytest.mark.parametrize("object", ["HEAD", "HEAD^{tree}"])
    def test_a_history_of_which_an_object_is_lost(self, healthy: Patient, object: str) -> None:
        words = ("git", "-C", str(healthy.root), "rev-parse", object)
        name = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
        (healthy.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
        assert healthy.codes() == ["git-unusable"]

    @pytest.mark.parametrize("path", [".git/HEAD", ".git/refs/heads/main", ".git/index"])
    def test_a_damaged_repository(self, healthy: Patient, path: str) -> None:
        healthy.by_hand(path, "nonsense")
        assert healthy.codes() == ["git-unusable"]

    def test_a_git_that_does_not_answer_is_waited_for_once(
        self, healthy: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("agent_memory.care.doctor._GIT_SECONDS", 0.1)
        (tmp_path / "git").write_text("#!/bin/sh\necho >> $0.calls\nexec sleep 60\n")
        (tmp_path / "git").chmod(0o700)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        (finding,) = healthy.examine().findings
        assert finding.message.startswith("`git status` failed (it did not end within 0.1 s), so managed sections were")
        assert len((tmp_path / "git.calls").read_text()) == 1


# -- targets, runs and spending ----------------------------------------------------------------------------------------


def codes(findings: Iterable[Finding]) -> list[str]:
    return [each.code for each in findings]


def test_targets(healthy: Patient) -> None:
    refused = PublishedTarget("/t/A.md", "refused", MarkersAmbiguous("/t/A.md", "two ends"))
    planned = PublishedTarget("/t/B.md", "planned", diff="+x")
    fine = PublishedTarget("/t/C.md", "unchanged", rendered=RenderedSection("", warnings=("Too large.",)))
    healthy.planned = Success(Published((refused, planned, fine)))
    found = healthy.examine().findings
    assert codes(found) == ["target-out-of-date", "target-refused", "target-warning"]
    assert "two ends" in found[1].message


def test_a_capture_that_waits_though_nothing_is_scheduled(healthy: Patient) -> None:
    healthy.by_hand(f"inbox/{iso_of(now_ms() - 5 * HOUR_MS).replace(':', '-')}_amp_aaaaaa.json", "{}")
    assert healthy.codes() == []
    healthy.by_hand(f"inbox/{iso_of(now_ms() - 7 * HOUR_MS).replace(':', '-')}_amp_aaaaaa.json", "{}")
    assert healthy.codes() == ["not-consolidated"]


def now_ms() -> int:
    return time.time_ns() // 1_000_000
