"""A Cursor conversation as turns, from the bubbles of the editor's store, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.adapters.harness.any_json import list_at, mapping_at, number_at, objects_at, text_at
from agent_memory.adapters.harness.cursor_calls import arguments_in, cursor_call, result_text
from agent_memory.adapters.harness.cursor_texts import typed_query
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Asked, NewFrom
from agent_memory.domain.history import History, Role
from agent_memory.domain.instants import ms_of
from agent_memory.domain.vocabulary import Harness

_PERSON, _AGENT = 1, 2
_UNFINISHED = frozenset(("loading", "pending", "running", "streaming", "generating"))
_FAILED = frozenset(("error", "cancelled", "rejected", "aborted"))

Json = Mapping[str, object]


class ComposerSession:
    """Takes a conversation, and its bubbles in order; `history` is what they say. The last bubble is left for the next
    time while it is being written."""

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._facts = SessionFacts(Harness.CURSOR, session_id)
        self._generating = False
        self._held: Json | None = None
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, or it is our own call."""
        return self._full or self.turns.own_call

    def take_composer(self, value: Json, *, is_sub_agent: bool) -> None:
        """What is known of the conversation as a whole."""
        self.turns.count(known=True)
        facts = self._facts
        facts.title = text_at(value, "name") or None
        repositories = objects_at(value, "trackedGitRepos")
        of_workspace = text_at(mapping_at(mapping_at(value, "workspaceIdentifier"), "uri"), "fsPath")
        facts.cwd = of_workspace or next((text_at(each, "repoPath") for each in repositories), "") or None
        facts.branch = _latest_branch(repositories)
        facts.agent = text_at(mapping_at(value, "modelConfig"), "modelName") or None
        facts.automated = is_sub_agent or bool(mapping_at(value, "subagentInfo") or text_at(value, "subagentTypeName"))
        facts.started(time_at(value))
        self._generating = text_at(value, "status") in _UNFINISHED

    def take_object(self, value: Json) -> None:
        """The next bubble."""
        held, self._held = self._held, value
        if held is not None and not self.done:
            self._take_bubble(held)

    def history(self) -> History:
        """The new turns."""
        last, self._held = self._held, None
        if last is not None and not self.done:
            tool = mapping_at(last, "toolFormerData")
            if last.get("type") == _AGENT and (self._generating or text_at(tool, "status") in _UNFINISHED):
                self.turns.skip("unfinished-message")
            else:
                self._take_bubble(last)
        return history_of(self._facts, self.turns, remaining=self._full)

    def _take_bubble(self, bubble: Json) -> None:
        kind = bubble.get("type")
        if kind not in (_PERSON, _AGENT):
            self.turns.skip_unknown(f"bubble {kind}")
            return
        if self.turns.has_enough:
            self._full = True
            return
        self.turns.count(known=True)
        at_ms = time_at(bubble)
        self._facts.started(at_ms)
        self.turns.enter(text_at(bubble, "bubbleId") or f"#{self.turns.position}", at_ms)
        if kind == _PERSON:
            self._take_query(bubble)
        else:
            self._take_answer(bubble)
        self.turns.leave()

    def _take_query(self, bubble: Json) -> None:
        query = typed_query(text_at(bubble, "text"))
        images = ["[image]"] * len(list_at(bubble, "images"))
        if self.turns.begins_with_own_prompt(query.raw):
            return
        said = "\n\n".join(filter(None, [query.text, *images]))
        if said:
            self.turns.say(Role.USER, said, raw=query.raw)
        else:
            self.turns.skip("injected" if text_at(bubble, "text").strip() else "empty")

    def _take_answer(self, bubble: Json) -> None:
        text, tool = text_at(bubble, "text").strip(), mapping_at(bubble, "toolFormerData")
        call_id = text_at(tool, "toolCallId") or text_at(bubble, "bubbleId")
        calls = [_asked(call_id, tool)] if text_at(tool, "name") else []
        if text or calls:
            self.turns.speak(None, text, calls)
        status = text_at(tool, "status")
        failed = status in _FAILED or text_at(tool, "userDecision") == "rejected"
        if calls and (tool.get("result") is not None or status not in _UNFINISHED):
            self.turns.answer(call_id, result_text(tool.get("result") or tool.get("error")), failed=failed)


def _asked(call_id: str, tool: Json) -> Asked:
    arguments = arguments_in(tool.get("rawArgs")) or arguments_in(tool.get("params"))
    return cursor_call(call_id, text_at(tool, "name"), arguments)


def time_at(value: Json) -> int | None:
    """When a conversation or a bubble was made."""
    timing = mapping_at(value, "timingInfo")
    numbers = (number_at(value, "createdAt"), number_at(timing, "clientStartTime"))
    at_ms = ms_of(text_at(value, "createdAt")[:40])
    return at_ms if at_ms is not None else next((number for number in numbers if number and number > 0), None)


def _latest_branch(repositories: list[Json]) -> str | None:
    branches = [branch for repository in repositories for branch in objects_at(repository, "branches")]
    named = [branch for branch in branches if text_at(branch, "branchName")]
    latest = max(named, key=lambda branch: number_at(branch, "lastInteractionAt") or 0, default=None)
    return text_at(latest, "branchName") if latest is not None else None
