"""All targets, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fuzz.documents import DOCUMENT
from fuzz.hooks import HOOK
from fuzz.notes import NOTE
from fuzz.replies import CONSOLIDATE, DEFRAG
from fuzz.searches import SEARCH
from fuzz.sections import CRONTAB, SECTION
from fuzz.settings import SETTINGS
from fuzz.target import Target
from fuzz.texts import TEXT
from fuzz.tools import TOOL
from fuzz.transcripts import TRANSCRIPTS

TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        *TRANSCRIPTS,
        CONSOLIDATE,
        DEFRAG,
        NOTE,
        SECTION,
        CRONTAB,
        SETTINGS,
        SEARCH,
        TEXT,
        HOOK,
        TOOL,
        DOCUMENT,
    )
}
