"""One thing that an examination of the store found, and the kinds of things there are."""

from __future__ import annotations

from enum import StrEnum

from agent_memory.values import frozen


class Severity(StrEnum):
    """Declared from the worst to the least."""

    PROBLEM = "problem"
    """Wants a person, or `--fix`; `memory doctor` then ends with 1."""
    NOTE = "note"
    """Worth knowing; it settles by itself, or is a matter of judgement."""


class Area(StrEnum):
    """What of the store a symptom is about; declared in the order in which they are shown."""

    NOTES = "notes"
    LINKS = "links"
    TIERS = "tiers and targets"
    RUNS = "inbox and runs"
    GIT = "git"
    FILES = "files and settings"


@frozen
class Symptom:
    """One finding. `subject` is the file, the id or the setting that it is about."""

    code: str
    area: Area
    severity: Severity
    subject: str
    sentence: str
    """What is wrong and what to do, without a final full stop; it never quotes a secret."""
    fix: str | None = None
    """What `--fix` does about it; None where a person must."""


@frozen
class Ailment:
    """A kind of symptom."""

    code: str
    area: Area
    severity: Severity
    fix: str | None = None

    def found(self, subject: str, sentence: str, severity: Severity | None = None, *, fixed: bool = True) -> Symptom:
        """One case of it; with another severity, or beyond repair (`fixed=False`), where the case calls for that."""
        fix = self.fix if fixed else None
        return Symptom(self.code, self.area, severity or self.severity, subject, sentence, fix)
