"""What the tools do: each takes what was asked, and answers with text or an error."""

from __future__ import annotations

from collections.abc import Callable

from returns.result import Failure, Result, Success

from agent_memory.bootstrap import Memory
from agent_memory.domain.entry import Meta
from agent_memory.domain.injecting.profiles import SESSION_START
from agent_memory.domain.injecting.request import InjectRequest
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.note_draft import Expiry, MetaPatch, NoteDraft
from agent_memory.domain.planning.drafts import stored_agent
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.search_answer import SearchAnswer, SearchHit
from agent_memory.domain.searching.search_request import SearchRequest
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import Error
from agent_memory.reading import ListedEntries, ListFilter, ReadEntry
from agent_memory.surfaces.mcp import answers
from agent_memory.surfaces.mcp.asked import (
    AskedId,
    AskedKey,
    AskedList,
    AskedSearch,
    AskedSession,
    AskedUpdate,
    AskedValue,
    AskedWrite,
    Scope,
)
from agent_memory.wording import describe

Told = Result[str, Error]


def search_context(memory: Memory, asked: AskedSearch) -> Told:
    """The best hits, and which mode answered; counts no read."""
    here = memory.scope_here()
    request = SearchRequest(
        query=asked.query,
        limit=asked.top_k,
        mode=asked.mode,
        tags=asked.tags,
        agent=asked.agent and stored_agent(asked.agent),
        min_score=asked.min_score,
        here=here,
    )

    def told(answer: SearchAnswer) -> str:
        return answers.found_text(answer, [_body(memory, hit) for hit in answer.hits], here)

    return memory.search(request).map(told)


def write_context(memory: Memory, asked: AskedWrite) -> Told:
    """A new entry, or the one that says the same already."""
    now_ms = memory.clock.now_ms()
    draft = NoteDraft(
        body=asked.content,
        title=asked.topic,
        tags=asked.tags,
        kind=asked.kind,
        scope=memory.scope_here() if asked.scope is Scope.REPO else GLOBAL_SCOPE,
        here=memory.scope_here(),
        importance=asked.importance,
        cwd=memory.cwd,
        agent=asked.agent,
        expiry=Expiry(None if asked.ttl_days is None else now_ms + round(asked.ttl_days * DAY_MS)),
    )
    return memory.service.remember(draft).map(answers.saved_text)


def update_context(memory: Memory, asked: AskedUpdate) -> Told:
    """The entry changed in place; its earlier text goes to the archive."""
    patch = MetaPatch(title=asked.topic, tags=asked.tags, importance=asked.importance)
    return memory.service.edit(asked.id, patch, asked.content).map(answers.updated_text)


def read_context(memory: Memory, asked: AskedId) -> Told:
    """The whole entry, and one more read in the ledger."""

    def told(entry: ReadEntry) -> str:
        if entry.uncounted is not None:  # no matter for the agent: it is told to whoever runs the server
            memory.warn(f"This read is not counted. {describe(entry.uncounted)}")
        return answers.read_text(entry.stored, memory.scope_here())

    return memory.reading.read(asked.id).map(told)


def list_context(memory: Memory, asked: AskedList) -> Told:
    """A page of the entries, last changed first."""
    accepts = _filter(asked)

    def told(listed: ListedEntries) -> str:
        chosen = [each for each in listed.entries if accepts(each.listed.meta)]
        page = chosen[asked.offset : asked.offset + asked.limit]
        return answers.listed_text(page, len(chosen), asked.offset, len(listed.unreadable), memory.scope_here())

    return memory.reading.list(ListFilter()).map(told)


def delete_context(memory: Memory, asked: AskedId) -> Told:
    """The entry is in the archive."""
    return memory.service.remove(asked.id).map(lambda listed: answers.deleted_text(listed.meta.id))


def get_state(memory: Memory, asked: AskedKey) -> Told:
    """The value; that there is none is an answer, too."""
    return memory.state.get(asked.key).map(lambda value: answers.state_text(asked.key, value))


def set_state(memory: Memory, asked: AskedValue) -> Told:
    """The value is kept."""
    return memory.state.set(asked.key, asked.value).map(answers.state_set_text)


def session_context(memory: Memory, asked: AskedSession) -> Told:
    """What `memory inject` would put before the session, within its budget; counts no read."""
    request = InjectRequest(query=asked.task, profile=SESSION_START, harness=memory.caller.harness)
    return memory.inject(request).map(lambda injection: injection.text or answers.NOTHING_YET)


def section(memory: Memory) -> Told:
    """The managed section of the working directory, as a file there would hold it."""
    return memory.section_here().map(lambda rendered: rendered.text + "\n")


def _filter(asked: AskedList) -> Callable[[Meta], bool]:
    agent = asked.agent and stored_agent(asked.agent)
    tags = frozenset(asked.tags)
    return lambda meta: (not agent or answers.agent_of(meta) == agent) and (not tags or not tags.isdisjoint(meta.tags))


def _body(memory: Memory, hit: SearchHit) -> str | None:
    found = memory.store.read(hit.listed.meta.id, archived=hit.listed.archived)
    match sealed(found):
        case Success(stored):
            return stored.body
        case Failure(_):  # it went away since it was found
            return None
