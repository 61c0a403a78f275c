"""The kinds of checks, and what an examination of the store came to."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from agent_memory.errors import Error


class Severity(StrEnum):
    """Declared from the worst to the least."""

    PROBLEM = "problem"
    """Wants a person, or `--fix`; `memory doctor` then ends with 1."""
    NOTE = "note"
    """Worth knowing; it settles by itself, or is a matter of judgement."""


class Area(StrEnum):
    """What of the store a finding is about; declared in the order in which they are shown."""

    NOTES = "notes"
    LINKS = "links"
    TIERS = "tiers and targets"
    RUNS = "inbox and runs"
    GIT = "git"
    FILES = "files and settings"


@frozen
class Finding:
    """One finding. `subject` is the file, the id or the setting that it is about."""

    code: str
    area: Area
    severity: Severity
    subject: str
    message: str
    """What is wrong and what to do, without a final full stop; it never quotes a secret."""
    fix: str | None = None
    """What `--fix` does about it; None where a person must."""


@frozen
class Check:
    """A kind of finding."""

    code: str
    area: Area
    severity: Severity
    fix: str | None = None

    def found(self, subject: str, message: str, severity: Severity | None = None) -> Finding:
        """One case of it; with another severity where the case calls for that."""
        return Finding(self.code, self.area, severity or self.severity, subject, message, self.fix)


_PROBLEM, _NOTE = Severity.PROBLEM, Severity.NOTE
_SEPARATES = "gives the copy an id of its own, or moves an exact twin to the archive"

UNREADABLE_NOTE = Check("unreadable-note", Area.NOTES, _PROBLEM)
HEADLESS_NOTE = Check("headless-note", Area.NOTES, _PROBLEM, "takes the frontmatter that git knows")
UNREADABLE_ARCHIVED = Check("unreadable-archived", Area.NOTES, _PROBLEM)
MISSING_ID = Check("missing-id", Area.NOTES, _PROBLEM, "writes an id into it")
DUPLICATE_ID = Check("duplicate-id", Area.NOTES, _PROBLEM, _SEPARATES)
SYNC_CONFLICT = Check("sync-conflict", Area.NOTES, _PROBLEM, _SEPARATES)
EMPTY_NOTE = Check("empty-note", Area.NOTES, _PROBLEM)
MERGE_CONFLICT = Check("merge-conflict", Area.NOTES, _PROBLEM)
NAME_CLASH = Check("name-clash", Area.NOTES, _PROBLEM, "renames one of them")
NAME_TOO_LONG = Check("name-too-long", Area.NOTES, _PROBLEM, "gives the file its proper name")
NAME_UNSAFE = Check("name-unsafe", Area.NOTES, _NOTE, "gives the file its proper name")
TAG_UNKNOWN = Check("tag-unknown", Area.NOTES, _NOTE)
TAG_ALIKE = Check("tag-alike", Area.NOTES, _NOTE)
EXPIRED = Check("expired", Area.NOTES, _NOTE, "moves it to the archive")
SECRET = Check("secret", Area.NOTES, _PROBLEM)
HIDDEN_TEXT = Check("hidden-text", Area.NOTES, _PROBLEM)
SECRET_IN_FRONT = Check("secret-in-front", Area.NOTES, _PROBLEM)
CONTRADICTION = Check("contradiction", Area.NOTES, _PROBLEM)
DUPLICATE = Check("duplicate", Area.NOTES, _PROBLEM)
NEAR_DUPLICATE = Check("near-duplicate", Area.NOTES, _NOTE)
OVERLAP = Check("overlap", Area.NOTES, _NOTE)
OVERSIZED = Check("oversized", Area.NOTES, _PROBLEM)
FRAGMENTED = Check("fragmented", Area.NOTES, _NOTE)
STALE = Check("stale", Area.NOTES, _NOTE)
GONE_PLACE = Check("gone-place", Area.NOTES, _NOTE)
ORPHAN = Check("orphan", Area.NOTES, _NOTE)

UNRESOLVED_LINK = Check("unresolved-link", Area.LINKS, _PROBLEM)
ALIAS_CLASH = Check("alias-clash", Area.LINKS, _PROBLEM)

TIERS_DAMAGED = Check("tiers-damaged", Area.TIERS, _PROBLEM)
TARGET_OUT_OF_DATE = Check("target-out-of-date", Area.TIERS, _NOTE, "writes the section anew")
TARGET_REFUSED = Check("target-refused", Area.TIERS, _PROBLEM)
TARGET_WARNING = Check("target-warning", Area.TIERS, _NOTE)

GIVEN_UP = Check("given-up", Area.RUNS, _PROBLEM)
MALFORMED_ENTRY = Check("malformed-entry", Area.RUNS, _PROBLEM)
CAPTURE_LOST = Check("capture-lost", Area.RUNS, _PROBLEM)
INJECTION_LOST = Check("injection-lost", Area.RUNS, _PROBLEM)
ORPHAN_SNAPSHOT = Check("orphan-snapshot", Area.RUNS, _NOTE)
LAST_RUN = Check("last-run", Area.RUNS, _PROBLEM)
NOT_CONSOLIDATED = Check("not-consolidated", Area.RUNS, _PROBLEM)
NOT_DEFRAGGED = Check("not-defragged", Area.RUNS, _PROBLEM)
SPEND_CAP = Check("spend-cap", Area.RUNS, _PROBLEM)
AGENT_UNUSABLE = Check("agent-unusable", Area.RUNS, _PROBLEM)

GIT_UNUSABLE = Check("git-unusable", Area.GIT, _PROBLEM)
GIT_ABSENT = Check("git-absent", Area.GIT, _PROBLEM, "begins the repository and records what there is")
GIT_LOCKED = Check("git-locked", Area.GIT, _PROBLEM, "removes the locks that no git works behind")
GIT_OWED = Check("git-owed", Area.GIT, _PROBLEM, "records them")
GIT_DETACHED = Check("git-detached", Area.GIT, _PROBLEM)
GIT_CONFLICTED = Check("git-conflicted", Area.GIT, _PROBLEM)

LOOSE_PERMISSIONS = Check("loose-permissions", Area.FILES, _PROBLEM, "closes it to others")
FOREIGN_OWNER = Check("foreign-owner", Area.FILES, _PROBLEM)
ODD_FILE = Check("odd-file", Area.FILES, _NOTE)
SYNC_CONFLICT_FILE = Check("sync-conflict-file", Area.FILES, _PROBLEM)
DAMAGED_STATE = Check("damaged-state", Area.FILES, _PROBLEM)
UNFINISHED_WRITE = Check("unfinished-write", Area.FILES, _PROBLEM, "undoes or finishes it")
LITTER = Check("litter", Area.FILES, _NOTE, "removes it")
UNREADABLE_STORE = Check("unreadable-store", Area.FILES, _PROBLEM)
SETTING = Check("setting", Area.FILES, _NOTE)

CATALOGUE: tuple[Check, ...] = tuple(each for each in globals().values() if isinstance(each, Check))
"""All of them, in the order in which they are shown."""


@frozen
class DoctorReport:
    """The state of a store."""

    root: str
    entries: int
    archived: int
    findings: tuple[Finding, ...] = ()
    """In the order of the catalogue; of one kind the problems first."""

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What counts for the exit code."""
        return tuple(each for each in self.findings if each.severity is Severity.PROBLEM)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Each finding once, as an examination holds them."""
    codes, severities = [check.code for check in CATALOGUE], list(Severity)
    known = dict.fromkeys(findings)
    return tuple(sorted(known, key=lambda each: (codes.index(each.code), severities.index(each.severity))))


def trouble(error: Error, check: Check, subject: str = "") -> Finding:
    """The finding of this kind that tells of the error, by itself of the path that it names."""
    return check.found(subject or getattr(error, "path", "") or "store", str(error).rstrip("."))


# -- secrets ----------------------------------------------------------------------------------------------------------


@frozen
class SecretFind:
    """One file, one object of git or one name in which redaction finds something."""

    path: str
    """Relative to the root, without secrets. "" for an object of git that no commit holds any more."""
    kinds: tuple[tuple[str, int], ...]
    """How many of each name (`github-token`), by name."""
    commit: str | None = None
    """The first commit that holds it, in full; None for a file as it stands on disk."""

    @property
    def in_history(self) -> bool:
        """Whether it is what git keeps, and no file."""
        return self.commit is not None or not self.path


@frozen
class SecretSearch:
    """The finds, files first, in the order in which they were come upon, and how much was looked at."""

    finds: tuple[SecretFind, ...] = ()
    files: int = 0
    objects: int = 0
    """Of git: versions of files and messages of commits."""
    unread: tuple[str, ...] = ()
    """What could not be looked at, each with the reason: where this is not empty, silence proves nothing."""
