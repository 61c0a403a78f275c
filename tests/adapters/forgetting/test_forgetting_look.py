"""Before anything is forgotten all that would go is looked at: what cannot be looked at is an error, and never left out."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from attrs import evolve
from returns.result import Failure, Success

from agent_memory import app
from agent_memory.domain.forgetting import ForgetTarget, Forgetting, SessionKey
from agent_memory.results import sealed
from claude_transcripts import Conversation
from faults import failing_at
from memory_process import Memory

SESSION = "aaaaaaaa-1111-4222-8333-444444444444"


def opened() -> app.Memory:
    return app.open_memory(os.environ, None, lambda _: None).unwrap()


def looked(memory: app.Memory) -> Forgetting | None:
    """What would be forgotten; None where that could not be told."""
    match sealed(memory.look_at_forgetting(ForgetTarget(session=SessionKey(SESSION)))):
        case Success(found):
            return evolve(found.told, work=evolve(found.told.work, at_ms=0))
        case Failure(_):
            return None


def test_a_look_that_is_not_whole_is_an_error_p6_p28(home: Path, root: Path) -> None:
    talk = Conversation(SESSION)
    talk.user("Remember that the zanzibar deploys run from the release branch only.")
    talk.agent("Understood.")
    process = Memory(home)
    process.session(SESSION, b"\n".join(talk.lines) + b"\n")
    assert process("consolidate").code == 0
    whole = looked(opened())
    assert whole is not None
    assert whole.notes
    assert all((whole.work.inbox, whole.work.marks, whole.work.histories, whole.work.runs))
    assert whole.has_history
    refused = 0
    for k in range(1, 2_000, 3):
        memory = opened()
        with failing_at(k, errno.EIO, once=True) as counter:
            seen = looked(memory)
        if not counter.struck:
            break
        assert seen in (None, whole), k
        refused += seen is None
    assert refused > 7
