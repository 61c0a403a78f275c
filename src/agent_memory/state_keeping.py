"""Keeping state: what `memory state` and the state tools of MCP do. Every change is on disk before it returns."""

from __future__ import annotations

import json
from collections.abc import Callable

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.note_draft import Caller
from agent_memory.domain.state_value import StateValue, key_problem
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_KEY, TagVocabulary
from agent_memory.domain.text.tags import DEFAULT_PREFIX
from agent_memory.errors import Error, StateInvalid, StateNotFound
from agent_memory.formats.bookkeeping_json import state_value
from agent_memory.ports import Clock, Locks, Recorder, StateKeys
from agent_memory.results import as_result, unwrap
from agent_memory.wording import warning_of


@frozen
class KeptState:
    """What `list` found, by key, and why the rest could not be read."""

    values: tuple[StateValue, ...]
    unreadable: tuple[Error, ...] = ()


def _none_accepted() -> Result[TagVocabulary, Error]:
    return Success(TagVocabulary())


@frozen
class StateKeeping:
    """State on behalf of a caller. `warn` is told what did not go wrong enough to fail: trouble with git."""

    keys: StateKeys
    recorder: Recorder
    locks: Locks
    clock: Clock
    caller: Caller
    warn: Callable[[str], None]
    vocabulary: Callable[[], Result[TagVocabulary, Error]] = _none_accepted
    """The tags that a person has accepted."""

    @as_result
    def get(self, key: str) -> StateValue | None:
        """What is kept under the key; None for nothing. Where nobody has kept anything under `project_tags`, where agents look
        for the tags of a project, it is the vocabulary of tags."""
        kept = self._kept(key)
        if kept is not None or key != VOCABULARY_KEY:
            return kept
        return _vocabulary_value(unwrap(self.vocabulary()))

    def list(self) -> KeptState:
        """Everything there is, by key."""
        found = list(self.keys.all())
        values = sorted((each.unwrap() for each in found if isinstance(each, Success)), key=lambda value: value.key)
        return KeptState(tuple(values), tuple(each.failure() for each in found if isinstance(each, Failure)))

    @as_result
    def set(self, key: str, value: object) -> StateValue:
        """Keep any JSON value under the key, in the place of what was there; one commit. Of two at once the last wins."""
        with self.locks.write() as held:
            unwrap(held)
            new = unwrap(state_value(key, value, self.clock.now_ms()))
            self._record(unwrap(self.keys.put(new)), f"state: set {key}")
            return new

    @as_result
    def delete(self, key: str) -> StateValue:
        """Take the key away; git keeps what was there. What was there."""
        with self.locks.write() as held:
            unwrap(held)
            value = self._kept(key)
            if value is None:
                raise StateNotFound(key)
            self._record(unwrap(self.keys.delete(key)), f"state: delete {key}")
            return value

    def _kept(self, key: str) -> StateValue | None:
        problem = key_problem(key)
        if problem is not None:
            raise StateInvalid((problem,))
        return unwrap(self.keys.get(key))

    def _record(self, path: str, subject: str) -> None:
        """Git's trouble fails nothing (P4)."""
        for warning in warning_of(self.recorder.record((path,), subject, self.caller.signature)):
            self.warn(warning)


def _vocabulary_value(vocabulary: TagVocabulary) -> StateValue | None:
    if not vocabulary.accepted:
        return None
    tags = sorted(tag.removeprefix(f"{DEFAULT_PREFIX}__") for tag in vocabulary.accepted)
    return StateValue(VOCABULARY_KEY, json.dumps({"vocabulary": tags}))
