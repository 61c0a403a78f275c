"""What a purge takes out of the git history: every version of the notes that went, and what else came from the session.

It is a program: `python -m agent_memory.adapters.forgetting.purging ROOT GONE` rewrites the repository in the directory where it
is started (`adapters.git.history_purge`), by the journal of the forgetting at work in ROOT.
"""

from __future__ import annotations

import sys
from pathlib import Path

from attrs import evolve

from agent_memory.adapters.disk.paths import real_root, those_there
from agent_memory.adapters.forgetting.forgetting_files import ForgettingFiles
from agent_memory.adapters.forgetting.note_traces import id_at
from agent_memory.adapters.git.rewriting import PurgeRules, rewrite
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.forgetting.traces import forgetful_message, share_of, without_session
from agent_memory.formats.bookkeeping_json import ForgettingAtWork
from agent_memory.formats.note import render_note
from agent_memory.results import unwrap


def purge_rules(work: ForgettingAtWork, gone: frozenset[str]) -> PurgeRules:
    """The rules for a forgetting whose notes are gone by now: the files at these paths are."""
    titles = set(work.words.titles)
    """What was forgotten is called, and was called in the history: that is known only from there."""

    def drops_path(path: str) -> bool:
        return path in gone or (_is_note(path) and id_at(path) in work.words.ids)

    def looks_at(path: str) -> bool:
        return _is_note(path) and (work.session is not None or drops_path(path))

    def version(path: str, data: bytes) -> bytes | None:
        stored = understand(path, data, 0).value_or(None)
        session = work.session
        if not drops_path(path):
            if session is None or session.session_id.encode("utf-8", "surrogatepass") not in data:
                return data
            share = "all" if stored is None else share_of(stored.meta, session)  # nobody can tell what else is in it
            if share == "none":
                return data
            if stored is not None and share == "some":
                entry = MemoryEntry(without_session(stored.meta, session), stored.body)
                return render_note(entry, data.decode("utf-8")).encode("utf-8")
        if stored is not None:
            titles.add(stored.meta.title)
        return None

    def message(text: str, touched: bool) -> str:
        return forgetful_message(text, evolve(work.words, titles=frozenset(titles)), touched=touched)

    return PurgeRules(drops_path, looks_at, version, message)


def _is_note(path: str) -> bool:
    return path.startswith((f"{TOPICS}/", f"{ARCHIVE}/"))


def main() -> None:
    root, gone = map(Path, sys.argv[1:])
    work = ForgettingFiles(root).at_work()
    if work is None:
        raise SystemExit("nothing is being forgotten")
    still_there = unwrap(those_there(real_root(root), work.paths))
    rewrite(purge_rules(work, (frozenset(work.paths) - frozenset(still_there)) | frozenset(work.marks)), gone)


if __name__ == "__main__":
    main()
