"""From a candidate to a note that somebody who never saw the session understands."""

from __future__ import annotations

import re

from agent_memory.domain.change_set import ProposedEntry
from agent_memory.domain.extraction.candidates import Candidate
from agent_memory.domain.extraction.cue import Sort
from agent_memory.domain.extraction.prose import legible, sentences_of
from agent_memory.domain.extraction.statements import (
    LONGEST_TITLE_CHARS,
    capitalised,
    clause,
    cut,
    is_anaphoric,
    names_in,
    says_enough,
)
from agent_memory.domain.extraction.topics import tags_of
from agent_memory.domain.history import Role
from agent_memory.domain.vocabulary import Importance, Kind

TITLE_CHARS = 110
MIN_TITLE_CHARS = 30
"""A shorter first sentence is not enough of a title."""
LEAST_WORDS = 4
"""Of an agent's title: fewer say nothing without the rest."""
DESCRIPTION_CHARS = 160

_KINDS = {
    Sort.REMEMBER: Kind.FACT,
    Sort.CORRECTION: Kind.DECISION,
    Sort.PREFERENCE: Kind.PREFERENCE,
    Sort.CONVENTION: Kind.CONVENTION,
    Sort.ROUTINE: Kind.PREFERENCE,
    Sort.DECISION: Kind.DECISION,
    Sort.WANT: Kind.DECISION,
    Sort.LESSON: Kind.LESSON,
    Sort.REASONED: Kind.DECISION,
    Sort.FINDING: Kind.FACT,
    Sort.TASK: Kind.TASK,
}
# No lead says what anybody must do or wants done: the note is an order only where the person's own words are one.
_LEADS = {
    Sort.REMEMBER: "The user asked to remember:",
    Sort.CORRECTION: "The user corrected the agent:",
    Sort.PREFERENCE: "A preference, in the user's words:",
    Sort.CONVENTION: "A convention here, in the user's words:",
    Sort.ROUTINE: "Said once, in the user's words:",
    Sort.DECISION: "Decided by the user:",
    Sort.WANT: "How it is meant to be, in the user's words:",
    Sort.LESSON: "What the user found out:",
    Sort.FINDING: "What is so here, in the user's words:",
    Sort.TASK: "Left to do, in the user's words:",
}
_IMPORTANCE = {Sort.REMEMBER: Importance.HIGH} | dict.fromkeys(
    (Sort.ROUTINE, Sort.REASONED, Sort.FINDING), Importance.LOW
)
_STANDING = re.compile(
    r"\b(?:always|never|every time|whenever|from now on|going forward|sempre|nunca|a partir de agora|de agora em diante)\b",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(
    r"\b(?:in )?(?:all|any|every|each) (?:of )?(?:my |our |the )?(?:other )?(?:projects?|repos|repositories)\b|\beverywhere\b|\bglobally\b"
    r"|\bem tod[oa]s os (?:meus )?proje[c]?tos\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\s\((?![^()]*(?:`--|\b(?:pre-existing|not|only|never|but|except|fails?)\b))[^()]{16,200}\)(?!\s*=)"
)
_IN_BRACKETS = re.compile(r"^\(([^()]*)\)$")
_PREAMBLE = re.compile(
    r"^(?:so|and|but|also|actually|in fact|well|yes|please|just|that|then|na verdade|por favor|e|mas|que)[,:]?\s+"
    r"|^the user is (?:absolutely )?right[\s,.:;–—-]+|^the agent (?:would|recommends?|suggests?|proposes?) (?=[a-z])|^\[Image #\d+\]\s*"
    r"|^(?:no|nope|nah|não)[,:;–—-]\s*|^hm+[,.]?\s+"
    r"|^(?:(?:but )?(?:that's|that is|this is|it's) (?:wrong|incorrect|not (?:right|correct|true)))[,.:;–—-]\s*"
    r"|^(?:stop|wait|hold on|one moment)(?: for a (?:second|moment|minute))?[,.:;–—-]\s*"
    r"|^(?:from now on|going forward|in (?:the )?future|a partir de agora|de agora em diante|daqui em diante)[,:]?\s+"
    r"|^(?:the |o |a )?(?:root cause|(?:actual |real |underlying )?(?:problem|issue|bug|cause|culprit|reason)|causa raiz|problema|erro|causa)"
    r" (?:was|is|era|foi) (?:that|que)[,:]?\s+"
    r"|^(?:the )?(?:root cause|bug|issue)(?: found and fixed| (?:is|was) (?:real|confirmed)| of [^:]{3,60})?:\s+"
    r"|^(?:(?:one|two|another|an?) )?(?:side |other )?(?:notes?|things?|caveats?)\b[^:.]{0,40}:\s+"
    r"|^(?:it )?turn(?:s|ed) out(?: that)?[,:]?\s+|^(?:afinal|acontece que)[,:]?\s+"
    r"|^(?:we|i)(?:'ve| have)? (?:decided|agreed)(?: that| to)?(?! (?:on|against|for)\b)\s+|^(?:decidimos|decidi)(?: que)?\s+"
    r"|^(?:let's|lets|let us|vamos) (?:just )?(?=[a-z])"
    r"|^(?:i|we) (?:really |just |only |do |also )+(?:want|need) to |^(?:we|i) (?:still )?(?:need|have) to (?=[a-z])"
    r"|^(?:eu )?(?:só|apenas) quero\s+",
    re.IGNORECASE,
)

_WANTED = re.compile(
    r"^(?:(?:so|and|but|also|actually|well|yes|no)[,:]?\s+)*(?:i|we) (?:really |just |only |still |do )*(?:want|need|expect) "
    r"(?P<what>(?:the|this|that|these|those|our|each|every|all|any|users?|it)(?: (?!not\b)[\w`./'-]+){0,3}) "
    r"(?P<not>not )?to (?P<to_not>not )?(?=[a-z])(?!(?:the|a|an|our|my|your|this|that|its?|be able)\b)",
    re.IGNORECASE,
)
_TAKES_TO = re.compile(
    r"(?:\w+ed|ability|option|possibility|chance|choice|right|permission|way|back|close|set|sent|put|next|related)$",
    re.IGNORECASE,
)
"""Before these `to` leads on to no act of theirs: `the ability to resume`, `moved to main`."""


def composed(candidate: Candidate, asked: str, files: tuple[str, ...] = ()) -> ProposedEntry | None:
    """The note; None where nothing in the claim makes a whole title. `asked` is what the person had asked for, for the
    notes that do not say it themselves."""
    title = headline(candidate.claim)
    little = len(names_in(title)) < 2 and not says_enough(title, LEAST_WORDS)
    if not title or (candidate.by is not Role.USER and little):
        return None
    text = f"{candidate.text} {candidate.quote}"
    return ProposedEntry(
        title=f"{title} (dealt with since)"
        if candidate.mended
        else f"Said once: {title}"
        if candidate.sort is Sort.ROUTINE
        else title,
        description=_description(candidate, title),
        body=_body(candidate, asked),
        kind=_kind(candidate),
        tags=tags_of(text, files) or tags_of(asked),
        scope="global" if candidate.by is Role.USER and _EVERYWHERE.search(candidate.quote) else None,
        importance=_IMPORTANCE.get(candidate.sort, Importance.MEDIUM),
        confidence=0.9 if candidate.by is Role.USER else 0.7,
        turns=candidate.turns,
    )


def headline(claim: str) -> str:
    """A title that says the thing: the claim's first sentence or its whole clauses, without lead-in and asides; empty where
    it would have to be broken off."""
    sentences = sentences_of(claim)
    first = sentences[0] if sentences else claim
    text = first if len(first) >= MIN_TITLE_CHARS or len(sentences) < 2 else f"{first} {sentences[1]}"
    text = _WANTED.sub(_as_it_should_be, text)
    while (found := _PREAMBLE.match(text)) and len(text) - found.end() >= 12 and not is_anaphoric(text[found.end() :]):
        text = text[found.end() :]
    text = text.lstrip(" ,;:–—")
    text = text if len(text) <= TITLE_CHARS else _ASIDE.sub("", text)
    is_list = ": " in text and "; " in text
    whole = ("" if is_list else clause(text, TITLE_CHARS)) or clause(text, LONGEST_TITLE_CHARS)
    return "" if whole.endswith("…") else capitalised(_IN_BRACKETS.sub(r"\1", whole).rstrip(" .!,;:"))


def _as_it_should_be(found: re.Match[str]) -> str:
    """`this command should behave like` of `I want this command to behave like`."""
    if _TAKES_TO.search(found["what"]):
        return found[0]
    return f"{found['what']} should {'not ' if found['not'] or found['to_not'] else ''}"


def _kind(candidate: Candidate) -> Kind:
    if candidate.sort in (Sort.REMEMBER, Sort.CORRECTION) and _STANDING.search(candidate.claim):
        return Kind.PREFERENCE
    return _KINDS[candidate.sort]


def _description(candidate: Candidate, title: str) -> str:
    claim = candidate.claim.rstrip(".:")
    if candidate.by is Role.USER:
        return f"{_LEADS[candidate.sort].rstrip(':')}: {cut(claim, DESCRIPTION_CHARS - 45)}"
    if claim == title and candidate.supports:
        return cut(candidate.supports[0].text, DESCRIPTION_CHARS)
    return cut(claim, DESCRIPTION_CHARS)


def _body(candidate: Candidate, asked: str) -> str:
    main = _main_part(candidate)
    parts = [main, *(f"{support.label}: {support.text}" for support in candidate.supports if support.text not in main)]
    if asked and _needs_context(candidate):
        parts.append(f"The user had asked: “{asked}”")
    return "\n\n".join(parts)


def _main_part(candidate: Candidate) -> str:
    if candidate.by is not Role.USER:
        return (
            candidate.claim
            if candidate.sort is Sort.TASK and candidate.supports
            else candidate.quote or candidate.claim
        )
    quoted = "\n".join(f"> {line}".rstrip() for line in (candidate.quote or candidate.claim).split("\n"))
    chosen = (
        f"{candidate.claim}\n\n" if candidate.claim not in candidate.quote and candidate.sort is Sort.DECISION else ""
    )
    lead = _LEADS[candidate.sort]
    return f"{lead} {chosen}In the user's words:\n\n{quoted}" if chosen else f"{lead}\n\n{quoted}"


def _needs_context(candidate: Candidate) -> bool:
    """The agent's conclusions say little without the question; what the person said mostly stands by itself."""
    if candidate.by is not Role.USER:
        return candidate.sort is not Sort.TASK or not candidate.supports
    return candidate.sort in (Sort.WANT, Sort.TASK, Sort.DECISION, Sort.LESSON) and not candidate.supports


def inline_entry(
    title: str, body: str, tags: tuple[str, ...], kind: Kind | None, turns: tuple[int, ...]
) -> ProposedEntry:
    """A person's note, whole, without hidden characters."""
    return ProposedEntry(
        title=" ".join(legible(title).split()), body=legible(body), kind=kind or Kind.FACT, tags=tags, turns=turns
    )
