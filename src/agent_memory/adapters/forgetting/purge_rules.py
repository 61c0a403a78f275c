"""What a purge takes out of the git history: every version of the notes that went, and what else came from the session."""

from __future__ import annotations

from attrs import define, evolve, field
from returns.result import Result

from agent_memory.adapters.disk.paths import those_there
from agent_memory.adapters.forgetting.note_traces import id_at
from agent_memory.adapters.git.purge_choice import PurgeRules
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.forgetting.sources import share_of, without_session
from agent_memory.domain.forgetting.trace_words import forgetful_message
from agent_memory.errors import Error
from agent_memory.formats.forgetting_json import ForgettingAtWork
from agent_memory.formats.note import render_note


def purge_rules(root: str, work: ForgettingAtWork) -> Result[PurgeRules, Error]:
    """The rules for the real root, whose notes are gone by now. An error where it cannot be told whether they are.

    Every version is looked at before any message is: what a note was called in the history, and which notes came from the
    session, is known only from there once they are gone.
    """
    return those_there(root, work.paths).map(
        lambda there: _rules(work, (frozenset(work.paths) - frozenset(there)) | frozenset(work.marks))
    )


def _rules(work: ForgettingAtWork, gone: frozenset[str]) -> PurgeRules:
    met = _Met()

    def drops_path(path: str) -> bool:
        return path in gone or (_is_note(path) and id_at(path) in work.words.ids)

    def looks_at(path: str) -> bool:
        return _is_note(path) and (work.session is not None or drops_path(path))

    def version(path: str, data: bytes) -> bytes | None:
        stored = understand(path, data, 0).value_or(None)
        if drops_path(path):
            met.add(stored)
            return None
        session = work.session
        if session is None or session.session_id.encode("utf-8", "surrogatepass") not in data:
            return data
        if stored is None:
            return None  # nobody can tell what in it came from elsewhere
        match share_of(stored.meta, session):
            case "all":
                met.add(stored)
                return None
            case "some":
                entry = MemoryEntry(without_session(stored.meta, session), stored.body)
                return render_note(entry, data.decode("utf-8")).encode("utf-8")
            case _:
                return data

    def message(text: str, touched: bool) -> str:
        words = evolve(work.words, titles=work.words.titles | met.titles)
        return forgetful_message(text, words, touched=touched)

    return PurgeRules(drops_path, looks_at, version, message)


@define
class _Met:
    """What the versions that go were called."""

    titles: set[str] = field(factory=set[str])

    def add(self, stored: StoredEntry | None) -> None:
        if stored is not None:
            self.titles.add(stored.meta.title)


def _is_note(path: str) -> bool:
    return path.startswith((f"{TOPICS}/", f"{ARCHIVE}/"))
