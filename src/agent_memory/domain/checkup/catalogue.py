"""Every kind of symptom: its stable code, where it belongs, how bad it is, and what `--fix` does."""

from __future__ import annotations

from agent_memory.domain.checkup.symptom import Ailment, Area, Severity

_PROBLEM, _NOTE = Severity.PROBLEM, Severity.NOTE

UNREADABLE_NOTE = Ailment("unreadable-note", Area.NOTES, _PROBLEM)
HEADLESS_NOTE = Ailment("headless-note", Area.NOTES, _PROBLEM, "takes the frontmatter that git knows")
UNREADABLE_ARCHIVED = Ailment("unreadable-archived", Area.NOTES, _PROBLEM)
MISSING_ID = Ailment("missing-id", Area.NOTES, _PROBLEM, "writes an id into it")
DUPLICATE_ID = Ailment(
    "duplicate-id", Area.NOTES, _PROBLEM, "gives the copy an id of its own, or moves an exact twin to the archive"
)
SYNC_CONFLICT = Ailment(
    "sync-conflict", Area.NOTES, _PROBLEM, "gives the copy an id of its own, or moves an exact twin to the archive"
)
EMPTY_NOTE = Ailment("empty-note", Area.NOTES, _PROBLEM)
MERGE_CONFLICT = Ailment("merge-conflict", Area.NOTES, _PROBLEM)
NAME_CLASH = Ailment("name-clash", Area.NOTES, _PROBLEM, "renames one of them")
NAME_TOO_LONG = Ailment("name-too-long", Area.NOTES, _PROBLEM, "gives the file its proper name")
NAME_UNSAFE = Ailment("name-unsafe", Area.NOTES, _NOTE, "gives the file its proper name")
NAME_NOT_DERIVED = Ailment("name-not-derived", Area.NOTES, _NOTE)
TAG_FORM = Ailment("tag-form", Area.NOTES, _NOTE, "writes the tags in their normal form")
TAG_UNKNOWN = Ailment("tag-unknown", Area.NOTES, _NOTE)
TAG_ALIKE = Ailment("tag-alike", Area.NOTES, _NOTE)
EXPIRED = Ailment("expired", Area.NOTES, _NOTE, "moves it to the archive")
SECRET = Ailment("secret", Area.NOTES, _PROBLEM)
HIDDEN_TEXT = Ailment("hidden-text", Area.NOTES, _PROBLEM)
SECRET_IN_FRONT = Ailment("secret-in-front", Area.NOTES, _PROBLEM)
FROM_THE_FUTURE = Ailment("from-the-future", Area.NOTES, _NOTE)
CONTRADICTION = Ailment("contradiction", Area.NOTES, _PROBLEM)
DUPLICATE = Ailment("duplicate", Area.NOTES, _PROBLEM)
NEAR_DUPLICATE = Ailment("near-duplicate", Area.NOTES, _NOTE)
OVERLAP = Ailment("overlap", Area.NOTES, _NOTE)
SURPLUS = Ailment("surplus", Area.NOTES, _NOTE)
OVERSIZED = Ailment("oversized", Area.NOTES, _PROBLEM)
FRAGMENTED = Ailment("fragmented", Area.NOTES, _NOTE)
STALE = Ailment("stale", Area.NOTES, _NOTE)
GONE_PLACE = Ailment("gone-place", Area.NOTES, _NOTE)
ORPHAN = Ailment("orphan", Area.NOTES, _NOTE)

UNRESOLVED_LINK = Ailment("unresolved-link", Area.LINKS, _PROBLEM)
ARCHIVED_LINK = Ailment("archived-link", Area.LINKS, _NOTE)
UNKNOWN_SUPERSEDED = Ailment("unknown-superseded", Area.LINKS, _NOTE)
ALIAS_CLASH = Ailment("alias-clash", Area.LINKS, _PROBLEM)

TIERS_DAMAGED = Ailment("tiers-damaged", Area.TIERS, _PROBLEM)
TIERS_UNKNOWN_ID = Ailment("tiers-unknown-id", Area.TIERS, _NOTE)
PINNED_NOT_HOT = Ailment("pinned-not-hot", Area.TIERS, _NOTE, "makes it hot")
TARGET_OUT_OF_DATE = Ailment("target-out-of-date", Area.TIERS, _NOTE, "writes the section anew")
TARGET_REFUSED = Ailment("target-refused", Area.TIERS, _PROBLEM)
TARGET_WARNING = Ailment("target-warning", Area.TIERS, _NOTE)

GIVEN_UP = Ailment("given-up", Area.RUNS, _PROBLEM)
MALFORMED_ENTRY = Ailment("malformed-entry", Area.RUNS, _PROBLEM)
SET_BACK = Ailment("set-back", Area.RUNS, _NOTE)
CAPTURE_LOST = Ailment("capture-lost", Area.RUNS, _PROBLEM)
INJECTION_LOST = Ailment("injection-lost", Area.RUNS, _PROBLEM)
ORPHAN_SNAPSHOT = Ailment("orphan-snapshot", Area.RUNS, _NOTE)
NO_COPY = Ailment("no-copy", Area.RUNS, _PROBLEM, "forgets that, so that `memory backfill` reads it")
LAST_RUN = Ailment("last-run", Area.RUNS, _PROBLEM)
NOT_CONSOLIDATED = Ailment("not-consolidated", Area.RUNS, _PROBLEM)
NOT_DEFRAGGED = Ailment("not-defragged", Area.RUNS, _PROBLEM)
INTERRUPTED_RUN = Ailment("interrupted-run", Area.RUNS, _NOTE)
SPEND_CAP = Ailment("spend-cap", Area.RUNS, _PROBLEM)
AGENT_UNUSABLE = Ailment("agent-unusable", Area.RUNS, _PROBLEM)

GIT_UNUSABLE = Ailment("git-unusable", Area.GIT, _PROBLEM)
GIT_ABSENT = Ailment("git-absent", Area.GIT, _PROBLEM, "begins the repository and records what there is")
GIT_LOCKED = Ailment("git-locked", Area.GIT, _PROBLEM, "removes the locks that no git works behind")
GIT_OWED = Ailment("git-owed", Area.GIT, _PROBLEM, "records them")
GIT_DETACHED = Ailment("git-detached", Area.GIT, _PROBLEM)
GIT_CONFLICTED = Ailment("git-conflicted", Area.GIT, _PROBLEM)

LOOSE_PERMISSIONS = Ailment("loose-permissions", Area.FILES, _PROBLEM, "closes it to others")
FOREIGN_OWNER = Ailment("foreign-owner", Area.FILES, _PROBLEM)
ODD_FILE = Ailment("odd-file", Area.FILES, _NOTE)
SYNC_CONFLICT_FILE = Ailment("sync-conflict-file", Area.FILES, _PROBLEM)
DAMAGED_STATE = Ailment("damaged-state", Area.FILES, _PROBLEM)
DAMAGED_LEDGER = Ailment("damaged-ledger", Area.FILES, _NOTE)
DAMAGED_CACHE = Ailment("damaged-cache", Area.FILES, _NOTE, "removes it; it is made anew")
UNFINISHED_WRITE = Ailment("unfinished-write", Area.FILES, _PROBLEM, "undoes or finishes it")
LITTER = Ailment("litter", Area.FILES, _NOTE, "removes it")
UNREADABLE_STORE = Ailment("unreadable-store", Area.FILES, _PROBLEM)
SETTING = Ailment("setting", Area.FILES, _NOTE)

CATALOGUE: tuple[Ailment, ...] = tuple(each for each in globals().values() if isinstance(each, Ailment))
"""All of them, in the order in which they are shown."""
