"""The store's repository."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.values import frozen

GIT_DIRECTORY = ".git"


@frozen
class GitFacts:
    """The repository as it lies there; where `trouble` is set, nothing else is known but locks and debts."""

    present: bool
    trouble: str = ""
    """Why git could not be asked, or what it said."""
    stale_locks: tuple[str, ...] = ()
    """Lock files that no git works behind, relative to the root."""
    branch: str | None = "main"
    """None where HEAD is on no branch."""
    unfinished: str = ""
    """The operation that somebody began and did not finish: `merge`, `rebase`, `cherry-pick`, `revert`."""
    conflicted: tuple[str, ...] = ()
    """Paths with unresolved conflicts."""
    owed: int = 0
    """Writes that were not recorded."""


def examine_git(facts: GitFacts, *, has_notes: bool) -> Iterator[Symptom]:
    """What keeps the history from being written. No remote is no trouble; nor is no repository where there is nothing yet."""
    for path in facts.stale_locks:
        yield of.GIT_LOCKED.found(path, "A git that no longer runs left this lock behind")
    if facts.owed:
        count = f"{facts.owed} write{'' if facts.owed == 1 else 's'}"
        yield of.GIT_OWED.found("runs/owed.json", f"{count} not recorded by git yet; the next run records them")
    if facts.trouble:
        yield of.GIT_UNUSABLE.found(GIT_DIRECTORY, facts.trouble.rstrip("."))
    elif not facts.present:
        if has_notes:
            yield of.GIT_ABSENT.found(
                GIT_DIRECTORY, "There is no history, although storage.autoCommit is on; the next write begins one"
            )
    else:
        yield from _examine_state(facts)


def _examine_state(facts: GitFacts) -> Iterator[Symptom]:
    if facts.unfinished:
        yield of.GIT_CONFLICTED.found(
            GIT_DIRECTORY, f"A {facts.unfinished} was begun and not finished; finish or abort it with git"
        )
    for path in facts.conflicted:
        yield of.GIT_CONFLICTED.found(path, "It is in conflict, and is not recorded until that is resolved with git")
    if facts.branch is None and not facts.unfinished:
        yield of.GIT_DETACHED.found(
            GIT_DIRECTORY, "HEAD is on no branch, so what is recorded may be lost; `git switch main`, or another branch"
        )
