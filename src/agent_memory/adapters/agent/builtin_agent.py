"""The built-in agent: answers without a language model, without a network, the same every time.

Its answer is a reply in the envelope like any other agent's, so that the same checks apply to it.
"""

from __future__ import annotations

import json

from attrs import asdict

from agent_memory.domain.actions import Action, DefragProposal, kind_of
from agent_memory.domain.agent_request import AgentReply, AgentRequest, DefragRequest, SessionRequest
from agent_memory.domain.inbox_entry import FileSnapshot, InlineNote
from agent_memory.domain.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.vocabulary import Status
from agent_memory.results import as_result

NAME = "builtin"


class BuiltinAgent:
    """The agent for everyone who has configured none: it extracts by cues (`agent_memory.domain.extraction`), and tidies
    what needs no judgement (`agent_memory.domain.tidying`)."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def status(self) -> Status:
        return Status.CAPTURED

    @property
    def max_prompt_chars(self) -> int | None:
        return None

    @as_result
    def answer(self, request: AgentRequest) -> AgentReply:
        """The reply, made from the values behind the prompt; never a failure."""
        if isinstance(request, DefragRequest):
            return AgentReply(_defrag_reply(request))
        return AgentReply(rendered_reply(_change_set(request), request.nonce))


def _change_set(request: SessionRequest) -> ChangeSet:
    # Its name is asked for more often than an answer, and the cues of two languages take their time to compile.
    from agent_memory.domain.extraction.extract import extracted
    from agent_memory.domain.extraction.notes import document_notes, inline_entry

    note = request.entry.retrieval
    if isinstance(note, InlineNote):
        turns = tuple(turn.number for turn in request.window.turns)
        return ChangeSet((inline_entry(note.title, note.body, note.tags, note.kind, turns),))
    if isinstance(note, FileSnapshot):
        return document_notes(request.window)
    return extracted(
        request.window,
        now_ms=request.now_ms,
        shown=request.shown,
        handoff_id=request.handoff_id,
        final_window=request.final_window,
    )


def _defrag_reply(request: DefragRequest) -> str:
    from agent_memory.domain.defragging.tidied import tidied

    return rendered_defrag_reply(tidied(request), request.nonce)


def rendered_reply(change_set: ChangeSet, nonce: str) -> str:
    """The change set as the JSON object of the reply envelope. What is empty is left out, except an entry's tags."""
    envelope: dict[str, object] = {
        "version": 1,
        "nonce": nonce,
        "entries": [_present(entry, f"n{index}") for index, entry in enumerate(change_set.entries, 1)],
    }
    if change_set.updates:
        envelope["updates"] = [_present(update, None) for update in change_set.updates]
    if change_set.skipped is not None:
        envelope["skipped"] = change_set.skipped
    return _dumped(envelope)


def rendered_defrag_reply(proposal: DefragProposal, nonce: str) -> str:
    """The proposal as the JSON object of the reply envelope. What is empty is left out, except the lists that an action needs."""
    envelope: dict[str, object] = {
        "version": 1,
        "nonce": nonce,
        "actions": [_present_action(action) for action in proposal.actions],
    }
    if proposal.tiers is not None:
        envelope["tiers"] = {"hot": list(proposal.tiers.hot), "warm": list(proposal.tiers.warm)}
    return _dumped(envelope)


def _dumped(envelope: dict[str, object]) -> str:
    text = json.dumps(envelope, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _present_action(action: Action) -> dict[str, object]:
    fields = {key: value for key, value in asdict(action).items() if value not in (None, (), "") or key == "replace"}
    return {"action": kind_of(action), **fields}


def _present(item: ProposedEntry | ProposedUpdate, ref: str | None) -> dict[str, object]:
    fields = asdict(item)
    if ref is not None:
        fields["ref"] = ref
    required = {"tags"} if isinstance(item, ProposedEntry) else set[str]()
    return {key: value for key, value in fields.items() if key in required or value not in (None, (), "")}
