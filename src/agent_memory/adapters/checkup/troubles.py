"""What could not be looked at, as a symptom."""

from __future__ import annotations

from agent_memory.domain.checkup.symptom import Ailment, Symptom
from agent_memory.errors import Error
from agent_memory.wording import describe


def trouble(error: Error, ailment: Ailment) -> Symptom:
    """The symptom of this kind that tells of the error."""
    return ailment.found(getattr(error, "path", "") or "store", describe(error).rstrip("."))
