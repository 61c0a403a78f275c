"""Candidates, which of them stay, and the notes that are made of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import frozen

from agent_memory.extraction.text import (
    LONGEST_TITLE_CHARS,
    REDACTED,
    SUBJECTS,
    Sort,
    capitalised,
    clause,
    cut,
    in_words,
    is_anaphoric,
    names_in,
    overlap,
    says_all_of,
    says_enough,
    sentences_of,
    wording,
    words,
)
from agent_memory.note.note import Importance, Kind
from agent_memory.rules.plan import ProposedEntry
from agent_memory.session.history import Role
from agent_memory.text.salience import content_terms, coverage, lost_salience

MAX_PER_SORT = 10
MAX_NOTES = 40
"""Of a session, its handoff not counted; a reply may hold 50 entries."""

_SAME = 0.75
_SAME_ACROSS = 0.9
"""Of different speakers: the agent's lesson is not the person's decision that follows from it."""
_SAME_LESSON = 0.5
_TOLD = 0.9
_STRENGTH = {sort: position for position, sort in enumerate(Sort)}


@frozen
class Support:
    """A second statement of a note: `label` says what it is to the first one."""

    label: str
    text: str


@frozen
class Candidate:
    """One statement, who made it and where."""

    sort: Sort
    by: Role
    claim: str
    """Its statement on one line, whole sentences or clauses of 15 to 300 characters."""
    turns: tuple[int, ...]
    quote: str = ""
    """The speaker's words around the claim, lines kept; the claim itself where empty."""
    supports: tuple[Support, ...] = ()
    rejected: str = ""
    """The thing that it turns down (`Y` in `X instead of Y`)."""
    corrects: bool = False
    """Whether the person says that they take back something they said."""

    @property
    def is_option(self) -> bool:
        """Whether it is what the agent had offered, and the person only pointed at."""
        return self.by is Role.USER and self.sort is Sort.DECISION and self.claim not in self.quote

    @property
    def is_answer(self) -> bool:
        """Whether it is a question of the agent's with what the person answered."""
        return self.is_option and self.claim.endswith(f"? {self.quote}")

    @property
    def is_agents_answer(self) -> bool:
        return self.by is Role.AGENT and self.sort is Sort.LESSON

    @property
    def text(self) -> str:
        return " ".join((self.claim, self.quote, *(support.text for support in self.supports)))


def settled(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that stay, in the order of their turns.

    Of those that say the same, the stronger sort stays, or else the later one; what the person turned down or corrected
    later goes. What the person said goes only where all of it is said again, and what they asked to remember only in the
    same words: a number, a weekday or an `off` makes another fact.
    """
    ordered = sorted(candidates, key=lambda candidate: candidate.turns[-1])
    legible = [one for one in ordered if REDACTED not in f"{one.claim} {one.quote}"]
    return _capped(_without_repeats(_without_rejected(legible)))


def _without_rejected(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    return tuple(
        candidate
        for position, candidate in enumerate(candidates)
        if not any(
            _corrects(later, candidate) or (later.turns[-1] > candidate.turns[-1] and _turns_down(later, candidate))
            for later in candidates[position + 1 :]
        )
    )


def _turns_down(later: Candidate, earlier: Candidate) -> bool:
    """Whether a later word of the person rejects exactly what an earlier statement is for."""
    if later.by is not Role.USER or not later.rejected or earlier.sort in (Sort.REMEMBER, Sort.LESSON):
        return False
    rejected = content_terms(later.rejected)
    kept = content_terms(later.claim) - rejected
    said = content_terms(earlier.claim)
    return bool(rejected) and rejected <= said and not kept & said


def _corrects(later: Candidate, earlier: Candidate) -> bool:
    """Whether the person says an earlier statement of theirs anew and that it is otherwise: `correction: ...`, `9999, not 8081`."""
    if later.by is not Role.USER or earlier.by is not Role.USER:
        return False
    rejected, now, before = (content_terms(text) for text in (later.rejected, later.claim, earlier.claim))
    gone = before - (now - rejected)
    replaces = bool(gone) and gone <= rejected and bool(now - rejected - before)
    return overlap(now, before) >= _SAME and (replaces or later.corrects)


def _without_repeats(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    kept: list[Candidate] = []
    for candidate in candidates:
        twin = next((index for index, other in enumerate(kept) if _say_the_same(*_by_strength(other, candidate))), None)
        if twin is None:
            kept.append(candidate)
        else:
            kept[twin], _ = _by_strength(kept[twin], candidate)
    return tuple(sorted(kept, key=lambda candidate: candidate.turns[-1]))


def _by_strength(earlier: Candidate, later: Candidate) -> tuple[Candidate, Candidate]:
    """The stronger of two first; the later one where they are of one sort."""
    return (later, earlier) if _STRENGTH[later.sort] <= _STRENGTH[earlier.sort] else (earlier, later)


def _say_the_same(stronger: Candidate, weaker: Candidate) -> bool:
    """Whether nothing is lost where only the stronger one stays."""
    if in_words(stronger.claim) == in_words(weaker.claim):
        return stronger.quote == weaker.quote or not is_anaphoric(weaker.claim)
    if weaker.by is Role.USER:
        return weaker.sort is not Sort.REMEMBER and says_all_of(stronger.claim, weaker.claim)
    first, second = content_terms(stronger.claim), content_terms(weaker.claim)
    if min(len(first), len(second)) < 3:
        return False
    if any(coverage(second, content_terms(support.text)) >= _TOLD for support in stronger.supports):
        return True
    both_lessons = stronger.sort is weaker.sort is Sort.LESSON
    enough = _SAME_ACROSS if stronger.by is not weaker.by else _SAME_LESSON if both_lessons else _SAME
    return overlap(first, second) >= enough and not lost_salience(weaker.claim, stronger.text)


def _capped(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """At most ten of a sort, the latest ones; of all together, the strongest ones."""
    counts: Counter[Sort] = Counter()
    kept: list[Candidate] = []
    for candidate in reversed(candidates):
        counts[candidate.sort] += 1
        if counts[candidate.sort] <= MAX_PER_SORT:
            kept.append(candidate)
    kept.reverse()
    strongest = sorted(kept, key=lambda candidate: _STRENGTH[candidate.sort])[:MAX_NOTES]
    return tuple(sorted(strongest, key=lambda candidate: candidate.turns[-1]))


MAX_TAGS = 4

_TECHNOLOGIES = words("technologies")
_SYNONYMS = {"postgresql": "postgres", "next.js": "nextjs", "k8s": "kubernetes", "websockets": "websocket"}
_LANGUAGES = {
    "py": "python", "go": "go", "rs": "rust", "ts": "typescript", "tsx": "typescript", "js": "javascript",
    "jsx": "javascript", "java": "java", "kt": "kotlin", "rb": "ruby", "php": "php", "swift": "swift", "c": "c",
    "h": "c", "cpp": "c++", "cc": "c++", "cs": "c#", "sh": "shell", "sql": "sql", "css": "css", "html": "html",
    "tf": "terraform", "nix": "nix", "ex": "elixir", "dart": "dart", "vue": "vue", "svelte": "svelte", "lua": "lua",
}  # fmt: skip
_WORD = re.compile(r"(?<![\w.])[a-z][a-z0-9]*(?:\.js|\+\+|#)?")


def tags_of(text: str, files: Iterable[str] = ()) -> tuple[str, ...]:
    """At most four `topic__…` tags: technologies named, subjects, and the commonest language of the files."""
    words = dict.fromkeys(_SYNONYMS.get(word, word) for word in _WORD.findall(text.lower()))
    named = [word for word in words if word in _TECHNOLOGIES]
    subjects = [subject for subject, pattern in SUBJECTS.items() if pattern.search(text)]
    endings = [_LANGUAGES[ending] for path in files if (ending := path.rsplit(".", 1)[-1].lower()) in _LANGUAGES]
    found = dict.fromkeys((*named[:3], *subjects, *((max(endings, key=endings.count),) if endings else ())))
    return tuple(f"topic__{name}" for name in tuple(found)[:MAX_TAGS])


def names_a_technology(text: str) -> bool:
    """Whether a text names a technology that others made. What pages are written in is none: such code is at hand."""
    named = {_SYNONYMS.get(word, word) for word in _WORD.findall(text.lower())}
    return bool(named & _TECHNOLOGIES - {"css", "html", "javascript", "typescript"})


TITLE_CHARS = 110
MIN_TITLE_CHARS = 30
"""A shorter first sentence is not enough of a title."""
DESCRIPTION_CHARS = 160

_KINDS = {
    Sort.REMEMBER: Kind.FACT,
    Sort.REPEATED: Kind.FACT,
    Sort.CORRECTION: Kind.DECISION,
    Sort.PREFERENCE: Kind.PREFERENCE,
    Sort.CONVENTION: Kind.CONVENTION,
    Sort.ROUTINE: Kind.PREFERENCE,
    Sort.DECISION: Kind.DECISION,
    Sort.WANT: Kind.DECISION,
    Sort.LESSON: Kind.LESSON,
    Sort.TASK: Kind.TASK,
}
_IN_CONTEXT = frozenset({Sort.WANT, Sort.TASK, Sort.DECISION, Sort.LESSON})
"""The agent's conclusions say little without the question; what the person said mostly stands by itself, but for these."""
# No lead says what anybody must do or wants done: the note is an order only where the person's own words are one.
_LEADS = {
    Sort.REMEMBER: "The user asked to remember",
    Sort.REPEATED: "The user had said it before",
    Sort.CORRECTION: "The user corrected the agent",
    Sort.PREFERENCE: "A preference, in the user's words",
    Sort.CONVENTION: "A convention here, in the user's words",
    Sort.ROUTINE: "Said once, in the user's words",
    Sort.DECISION: "Decided by the user",
    Sort.WANT: "How it is meant to be, in the user's words",
    Sort.LESSON: "What the user found out",
    Sort.TASK: "Left to do, in the user's words",
}
_IMPORTANCE = {
    Sort.REMEMBER: Importance.HIGH,
    Sort.REPEATED: Importance.HIGH,
    Sort.ROUTINE: Importance.LOW,
}
_STANDING = wording("standing")
_EVERYWHERE = wording("everywhere")
_ASIDE = re.compile(
    r"\s\((?![^()]*(?:`--|\b(?:pre-existing|not|only|never|but|except|fails?)\b))[^()]{16,200}\)(?!\s*=)"
)
_SUBORDINATE = wording("subordinate")
_REASON = re.compile(r"\b(?:because|since|so|porque)\b", re.IGNORECASE)
_BREAKS_OFF = re.compile(r"(?:…|\b(?:an?|the|and|or|of|than|because|like|de|que|como))$", re.IGNORECASE)
"""So a sentence ends behind which code or a list stood."""
_IN_BRACKETS = re.compile(r"^\(([^()]*)\)$")
_PREAMBLE = wording("preamble")


def composed(candidate: Candidate, asked: str, files: tuple[str, ...] = ()) -> ProposedEntry | None:
    """The note; None where nothing in the claim makes a whole title. `asked` is what the person had asked for, for the
    notes that do not say it themselves."""
    title = headline(candidate.claim, with_reason=candidate.sort is Sort.LESSON)
    is_users = candidate.by is Role.USER
    if not title or not (is_users or len(names_in(title)) > 1 or says_enough(title, 4)):
        return None
    mark = "Said once: " if candidate.sort is Sort.ROUTINE else ""
    is_rule = candidate.sort in (Sort.REMEMBER, Sort.REPEATED, Sort.CORRECTION) and _STANDING.search(candidate.claim)
    return ProposedEntry(
        title=f"{mark}{title}",
        description=_described(candidate),
        body=_body(candidate, asked, files),
        kind=Kind.PREFERENCE if is_rule else _KINDS[candidate.sort],
        tags=tags_of(candidate.text, files) or tags_of(asked),
        scope="global" if is_users and _EVERYWHERE.search(candidate.quote) else None,
        importance=_IMPORTANCE.get(candidate.sort, Importance.MEDIUM),
        confidence=0.9 if is_users else 0.7,
        turns=candidate.turns,
    )


def _described(candidate: Candidate) -> str | None:
    if candidate.by is Role.USER:
        lead = "" if candidate.is_answer else f"{_LEADS[candidate.sort]}: "
        return f"{lead}{cut(candidate.claim.rstrip('.:'), DESCRIPTION_CHARS + 2 - len(lead))}"
    return cut(candidate.claim, DESCRIPTION_CHARS) if candidate.is_agents_answer else None


def headline(claim: str, *, with_reason: bool = False) -> str:
    """A title that says the thing: the claim's first sentence or its whole clauses, without lead-in and asides, and
    `with_reason` with the reason it gives; empty where it would have to be broken off."""
    sentences = sentences_of(claim)
    first = sentences[0] if sentences else claim
    if first.endswith("?") and len(claim) <= LONGEST_TITLE_CHARS:
        return capitalised(claim)  # a question with the person's answer
    text = first if len(first) >= MIN_TITLE_CHARS or len(sentences) < 2 else f"{first} {sentences[1]}"
    while (found := _PREAMBLE.match(text)) and len(text) - found.end() >= 12 and not is_anaphoric(text[found.end() :]):
        text = text[found.end() :]
    text = text.lstrip(" ,;:–—")
    text = text if len(text) <= TITLE_CHARS else _ASIDE.sub("", text)
    is_list = ": " in text and "; " in text
    short = "" if is_list else clause(text, TITLE_CHARS)
    short = "" if with_reason and _REASON.search(text) and not _REASON.search(short) else short
    whole = clause(text, LONGEST_TITLE_CHARS) if not short or _SUBORDINATE.match(short) else short
    if whole.endswith((").", ")")) and whole.count(")") > whole.count("("):
        whole = whole.rstrip(".").removesuffix(")")  # the last sentence of an aside
    return "" if _BREAKS_OFF.search(whole) else capitalised(_IN_BRACKETS.sub(r"\1", whole).rstrip(" .!,;:。！"))


def _body(candidate: Candidate, asked: str, files: Sequence[str]) -> str:
    main = candidate.quote or candidate.claim
    if candidate.is_agents_answer:
        return f"The agent's answer to “{asked}”:\n\n{main}" if asked else main
    if candidate.is_answer:
        # On one line, so that the answer is not told where the question is held back as an order.
        main = f"{candidate.claim} (the agent asked, the user chose)"
    elif candidate.by is Role.USER:
        quoted = "\n".join(f"> {line}".rstrip() for line in main.split("\n"))
        chosen = f" {candidate.claim}\n\nIn the user's words:" if candidate.is_option else ""
        main = f"{_LEADS[candidate.sort]}:{chosen}\n\n{quoted}"
    parts = [main, *(f"{support.label}: {support.text}" for support in candidate.supports if support.text not in main)]
    if files and candidate.sort is Sort.ROUTINE:
        # What belongs to it is what the next one forgets.
        parts.append(f"It changed {', '.join(f'`{path}`' for path in files)}.")
    is_bare = candidate.sort in _IN_CONTEXT and (candidate.is_option or not candidate.supports)
    if asked and (candidate.by is not Role.USER or is_bare):
        parts.append(f"It was about “{asked}”.")
    return "\n\n".join(parts)
