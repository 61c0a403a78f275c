"""Search: any text is a query and any text a note; a snippet is a passage of the text with the words marked in it."""

from __future__ import annotations

from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.note.terms import MAX_QUERY_TERMS, MAX_TERM_CHARS, chunk_terms, chunks_of, note_terms, query_words
from agent_memory.recall.hits import SNIPPET_CHARS, snippet_of
from agent_memory.recall.ranking import ids_in, periods_in, slips_of
from fuzz.target import Target

NOW_MS = 1_770_984_000_000


def _check(data: bytes) -> None:
    """The first line is the query, the rest the note."""
    first, _, rest = data.partition(b"\n")
    query, body = first.decode("utf-8", "surrogateescape"), rest.decode("utf-8", "replace")
    words = query_words(query)
    assert len(words) <= MAX_QUERY_TERMS
    assert len({word.term for word in words}) == len(words)
    assert all(word.term for word in words)
    ids_in(query)
    periods_in(query, NOW_MS)
    _check_terms(body)
    title = query.encode("utf-8", "replace").decode()[:200]
    note_terms(StoredEntry(Listed(Meta("id__a1b2c3", title, 1, 1, description=title), "topics/a.md", "h"), body))
    for word in words[:20]:
        slips_of(word.term, [other.term for other in words[:20]])
    _check_snippet(body, dict.fromkeys((word.term for word in words), 1.0) | dict.fromkeys(list(_terms(body))[:3], 2.0))


def _terms(body: str) -> dict[str, None]:
    return {term: None for chunk in chunks_of(body)[:50] for term in chunk_terms(chunk).all}


def _check_terms(text: str) -> None:
    for chunk in chunks_of(text):
        assert all(term and len(term) <= MAX_TERM_CHARS for term in chunk_terms(chunk).all), chunk


def _check_snippet(body: str, worth: dict[str, float]) -> None:
    snippet = snippet_of((body, "A title"), worth)
    assert len(snippet.text) <= SNIPPET_CHARS, f"{len(snippet.text)} characters"
    assert not any(character in snippet.text for character in "\n\r\x00\x1b\u202e\u200b")
    at = 0
    for start, end in snippet.marks:
        assert at <= start < end <= len(snippet.text), snippet
        at = end


SEARCH = Target(
    "search",
    _check,
    ("zebra", "getUserLocale", "src/db/session.py", "C++", "C#", ".env", "a.b.c", "id__a1b2c3", "last week", "since 2024-02-30", "yesterday", "数据库", "데이터", "ข้อมูล", "naïve",
     "ſt", "ﬁ", "İ", "ı", "ß", "🦓", "👩\u200d🚀", "\u0301", "\u202e", "\u200b", "\ud800", "[[id__a1b2c3|x]]", "```\n", "<!--", "-->", "| --- |", "**", "…", "'s", "\u0085", "\u2028"),
)  # fmt: skip
