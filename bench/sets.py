"""Published sets of questions whose answers are known, each read into corpora: documents of one store, and questions to it.

A set is read as its authors document it, from a file or directory that you name; nothing is downloaded. Turns of talk are a
document each, and keep their session and their place in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

import cattrs
from attrs import evolve, frozen

HAND_WRITTEN = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "retrieval" / "coding_notes.json"
CREATED_MS = 1_760_000_000_000
TITLE_CHARS = 80
_TOON_FIELDS = re.compile(r"(.*?)\|[^|]*\|([^|]*)\|(20\d\d)(-\d\d-\d\d)?\|")
_T = TypeVar("_T")
_CONVERTER = cattrs.Converter()
_CONVERTER.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)


@frozen
class Document:
    """One thing to remember. `id` is unique in its corpus; in a text, `[[id]]` links to another document."""

    id: str
    text: str
    title: str
    tags: tuple[str, ...] = ()
    at_ms: int = CREATED_MS
    session: str = ""
    turn: int = 0
    kind: str = "fact"
    importance: str = "medium"
    superseded_by: str = ""


@frozen
class Question:
    """A query, and the ids of every document that answers it."""

    query: str
    relevant: frozenset[str]


@frozen
class Corpus:
    """One store's documents, and the questions to it that a document answers."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@frozen
class _Said:
    dia_id: str
    speaker: str
    text: str


@frozen
class _Asked:
    question: str
    evidence: frozenset[str]
    category: int


@frozen
class _Conversation:
    conversation: dict[str, object]
    qa: list[_Asked]


@frozen
class _Message:
    role: str
    content: str
    has_answer: bool = False
    id: int = 0
    time_anchor: str | None = None


@frozen
class _Instance:
    question_id: str
    question: str
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[list[_Message]]


@frozen
class _Batch:
    batch_number: int
    turns: list[list[_Message]]


@frozen
class _Probe:
    question: str
    source_chat_ids: object = None


def coding(path: Path) -> Iterator[Corpus]:
    """Returns the hand-written notes of an invented project, and what somebody who works on it asks."""
    written = _read(path, dict[str, object])
    notes = _structured(written["notes"], list[Document])
    documents = [evolve(each, at_ms=CREATED_MS + number * 3_600_000) for number, each in enumerate(notes)]
    yield _corpus(documents, _structured(written["questions"], list[Question]))


def toon(path: Path) -> Iterator[Corpus]:
    """Returns the notes of the toon-memory project, and the queries of `toon-gold-queries.json` beside them."""
    documents = []
    for line in path.read_text("utf-8").splitlines()[2:]:
        if line.startswith("  "):
            _, _, key, rest = line.strip().split("|", 3)
            fields = _TOON_FIELDS.match(rest)  # the text may hold bars of its own
            if fields is None:
                raise ValueError(f"the note {key} cannot be read")
            content, tags, year, day = fields.groups()
            text = content.replace("\\n", "\n").replace("\\|", "|")
            at_ms = _at_ms(year + (day or "-01-01"), "%Y-%m-%d")
            documents.append(Document(key, text, key.replace("-", " "), tuple(tags.split(";")), at_ms))
    gold = _read(path.with_name("toon-gold-queries.json"), dict[str, object])
    asked = _structured(gold["queries"], list[dict[str, object]])
    yield _corpus(documents, [Question(str(each["q"]), _structured(each["gold"], frozenset[str])) for each in asked])


def locomo(path: Path) -> Iterator[Corpus]:
    """Returns a corpus for each conversation of LoCoMo (Maharana et al., ACL 2024; `locomo10.json`), with its questions of
    categories 1 to 4."""
    for item in _read(path, list[_Conversation]):
        documents = []
        sessions = [key for key in item.conversation if re.fullmatch(r"session_\d+", key)]
        for session in sorted(sessions, key=lambda key: int(key[8:])):
            at_ms = _at_ms(str(item.conversation[f"{session}_date_time"]), "%I:%M %p on %d %B, %Y")
            for turn, said in enumerate(_structured(item.conversation[session], list[_Said]), 1):
                documents.append(_turn(said.dia_id, f"{said.speaker}: {said.text}", at_ms, session, turn))
        asked = [each for each in item.qa if each.category in (1, 2, 3, 4)]
        yield _corpus(documents, [Question(each.question, each.evidence) for each in asked])


def longmemeval(path: Path) -> Iterator[Corpus]:
    """Returns a corpus for each question of LongMemEval (Wu et al., ICLR 2025; `longmemeval_s_cleaned.json` and its like),
    answered by the turns with `has_answer`. As in its own retrieval figures, questions that have no answer (`_abs`) are
    left out."""
    for item in _read(path, list[_Instance]):
        documents, relevant = list[Document](), set[str]()
        sessions = zip(item.haystack_session_ids, item.haystack_dates, item.haystack_sessions, strict=True)
        for number, (session, date, messages) in enumerate(sessions):
            at_ms = _at_ms(re.sub(r" \(\w+\)", "", date), "%Y/%m/%d %H:%M")
            for turn, said in enumerate(messages, 1):
                id = f"{number}/{session}/{turn}"
                documents.append(_turn(id, f"{said.role}: {said.content}", at_ms, f"{number}/{session}", turn))
                relevant |= {id} if said.has_answer else set()
        if not item.question_id.endswith("_abs"):
            yield _corpus(documents, [Question(item.question, frozenset(relevant))])


def beam(path: Path) -> Iterator[Corpus]:
    """Returns a corpus for each conversation of BEAM (Tavakoli et al., ICLR 2026) below a directory such as `chats/100K`, cut
    as its own scripts cut it, with the questions whose `source_chat_ids` name messages."""
    conversations = sorted(path.glob("**/probing_questions/probing_questions.json"))
    if not conversations:
        raise ValueError("no probing_questions/probing_questions.json is in it")
    for probing in sorted(conversations, key=lambda each: (len(each.parts[-3]), each)):
        directory, documents, at_ms = probing.parent.parent, list[Document](), CREATED_MS
        cut = directory / "chat_trunecated.json"
        for batch in _read(cut if cut.is_file() else directory / "chat.json", list[_Batch]):
            for turn, said in enumerate((each for turns in batch.turns for each in turns), 1):
                at_ms = _at_ms(said.time_anchor, "%B-%d-%Y") if said.time_anchor else at_ms
                text = f"{said.role}: {re.sub(r' *->-> *[0-9,]+ *$', '', said.content)}"
                documents.append(_turn(str(said.id), text, at_ms, f"batch {batch.batch_number}", turn))
        probes = [each for kind in _read(probing, dict[str, list[_Probe]]).values() for each in kind]
        yield _corpus(documents, [Question(each.question, frozenset(_leaves(each.source_chat_ids))) for each in probes])


SETS: Mapping[str, Callable[[Path], Iterator[Corpus]]] = {
    "coding": coding,
    "toon": toon,
    "locomo": locomo,
    "longmemeval": longmemeval,
    "beam": beam,
}


def read_set(name: str, path: Path, limit: int | None = None) -> list[Corpus]:
    """Returns the first `limit` corpora that have a question. SystemExit where the file is not what the set's authors document."""
    try:
        found = list(islice((corpus for corpus in SETS[name](path) if corpus.questions), limit))
    except cattrs.BaseValidationError as error:
        raise SystemExit(
            f"{path} is not {name} as documented: {'; '.join(cattrs.transform_error(error)[:3])}"
        ) from error
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"{path} is not {name} as documented: {type(error).__name__}: {error}") from error
    if not found:
        raise SystemExit(f"{path} is not {name} as documented: no question names a document that answers it")
    return found


def _read(path: Path, kind: type[_T]) -> _T:
    return _structured(json.loads(path.read_text("utf-8")), kind)


def _structured(value: object, kind: type[_T]) -> _T:
    return _CONVERTER.structure(value, kind)


def _at_ms(date: str, form: str) -> int:
    return int(datetime.strptime(date, form).replace(tzinfo=UTC).timestamp()) * 1000


def _turn(id: str, text: str, at_ms: int, session: str, turn: int) -> Document:
    return Document(id, text, text[:TITLE_CHARS], (), at_ms, session, turn)


def _leaves(value: object) -> Iterator[str]:
    """Yields the numbers in lists and objects of any depth, as text."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    elif value is not None:
        yield str(value)


def _corpus(documents: Sequence[Document], asked: Sequence[Question]) -> Corpus:
    ids = {each.id for each in documents}
    questions = (Question(each.query, each.relevant & ids) for each in asked)
    return Corpus(tuple(documents), tuple(each for each in questions if each.relevant))
