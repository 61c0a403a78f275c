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
from agent_memory.results import sealed
from agent_memory.wording import describe


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

    def get(self, key: str) -> Result[StateValue | None, Error]:
        """What is kept under the key; None for nothing. Where nobody has kept anything under `project_tags`, where agents look
        for the tags of a project, it is the vocabulary of tags."""

        def or_vocabulary(kept: StateValue | None) -> Result[StateValue | None, Error]:
            if kept is not None or key != VOCABULARY_KEY:
                return Success(kept)
            return self.vocabulary().map(_vocabulary_value)

        return self._kept(key).bind(or_vocabulary)

    def list(self) -> KeptState:
        """Everything there is, by key."""
        found = [sealed(each) for each in self.keys.all()]
        values = sorted((each.unwrap() for each in found if isinstance(each, Success)), key=lambda value: value.key)
        return KeptState(tuple(values), tuple(each.failure() for each in found if isinstance(each, Failure)))

    def set(self, key: str, value: object) -> Result[StateValue, Error]:
        """Keep any JSON value under the key, in the place of what was there; one commit. Of two at once the last wins."""
        with self.locks.write() as held:
            return held.bind(lambda _: state_value(key, value, self.clock.now_ms())).bind(self._put)

    def delete(self, key: str) -> Result[StateValue, Error]:
        """Take the key away; git keeps what was there. What was there."""

        def gone(value: StateValue | None) -> Result[StateValue, Error]:
            if value is None:
                return Failure(StateNotFound(key))
            return self.keys.delete(key).map(lambda path: self._recorded(path, f"state: delete {key}", value))

        with self.locks.write() as held:
            return held.bind(lambda _: self._kept(key)).bind(gone)

    def _kept(self, key: str) -> Result[StateValue | None, Error]:
        problem = key_problem(key)
        return self.keys.get(key) if problem is None else Failure(StateInvalid((problem,)))

    def _put(self, value: StateValue) -> Result[StateValue, Error]:
        return self.keys.put(value).map(lambda path: self._recorded(path, f"state: set {value.key}", value))

    def _recorded(self, path: str, subject: str, value: StateValue) -> StateValue:
        """The value, once git was told; git's trouble fails nothing (P4)."""
        recorded = self.recorder.record((path,), subject, self.caller.signature)
        if isinstance(recorded, Failure):
            self.warn(describe(recorded.failure()))
        return value


def _vocabulary_value(vocabulary: TagVocabulary) -> StateValue | None:
    if not vocabulary.accepted:
        return None
    tags = sorted(tag.removeprefix(f"{DEFAULT_PREFIX}__") for tag in vocabulary.accepted)
    return StateValue(VOCABULARY_KEY, json.dumps({"vocabulary": tags}))
