"""What the person said that is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from agent_memory.domain.extraction import cues_en, cues_pt
from agent_memory.domain.extraction.candidates import Candidate, Support
from agent_memory.domain.extraction.cue import Hit, Signal, Sort, first_hit, shows
from agent_memory.domain.extraction.episodes import Episode, typed_blocks
from agent_memory.domain.extraction.options import chosen_option
from agent_memory.domain.extraction.prose import Block, blocks_of
from agent_memory.domain.extraction.sentences import sentences_of
from agent_memory.domain.extraction.statements import (
    MAX_CHARS,
    cut,
    in_third_person,
    is_anaphoric,
    joined,
    names_in,
    says_enough,
)
from agent_memory.domain.extraction.told_by_others import own_part, within_quotes
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.text.terms import content_terms

_CUES = {sort: tuple(cue for cue in (*cues_en.BY_USER, *cues_pt.BY_USER) if cue.shows is sort) for sort in Sort}
_SIGNALS = {
    signal: tuple(cue for cue in (*cues_en.SIGNALS, *cues_pt.SIGNALS) if cue.shows is signal) for signal in Signal
}
_PASSING = re.compile(
    r"\b(?:for now|right now|this time|yet|just this once|por agora|por enquanto|desta vez|ainda não)\b", re.IGNORECASE
)
_CHOICE_WORD = re.compile(r"\b(?:option|approach|opção|alternativa)\b", re.IGNORECASE)
_WONDERS = re.compile(r"\b(?:wonder(?:ing)?|curious)\b", re.IGNORECASE)
_ACTS = _SIGNALS[Signal.REMEDY]
_REJECTED = re.compile(
    r"\b(?:instead of|rather than|not|and not|em vez de|em vez do|em vez da|ao invés de|e não)\s+(?P<what>[^,.;:]{2,60})",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"^(?:no|nope|wrong|incorrect|not quite|não|nao|errado)[,.!:;–—-]"
    r"|\b(?:correction|i was wrong|i misspoke|i meant|no longer|correção|correcção|enganei-me|quis dizer|já não)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:(?:ok|so|and|also|then|now)[,.]?\s+)*(?:can|could|would|will|shall) (?:you|we|i)\b|(?:podes|pode|poderia)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:hm+|ok|so|and|also)[,.]?\s+)?(?:(?:is there (?:any|a) way (?:to|for you to)|can (?:you|we)|could (?:you|we)|would you"
    r"|will you|please|pls|podes|pode|poderia|consegues|dá para|há forma de|por favor)\s+)+",
    re.IGNORECASE,
)
_BARE_NOT = re.compile(r"^not (?=[a-z])", re.IGNORECASE)
"""What is left of `is there any way to not`."""
_CLAUSE_MARKS = ",;:(–—"
_CONNECTS = re.compile(r"^(?:for|in|on|with|when|if|where|para|em|no|na|nos|nas|com|quando|se)\b", re.IGNORECASE)
_REMEDY_SENTENCES = 2
_LIST_INTRO_LINES = 8


def user_candidates(episode: Episode, before: Episode | None) -> Iterator[Candidate]:
    """The candidates in what the person said at the beginning of an episode; `before` is the episode it answers."""
    asked = episode.asked
    if asked is None:
        return
    for block in _own_words(asked):
        sentences = sentences_of(block.text)
        quoted = within_quotes(sentences)
        for position, sentence in enumerate(sentences):
            if len(sentence) <= 2 * MAX_CHARS and position not in quoted:
                yield from _from_sentence(sentences, position, asked, episode, before)


def withdraws(turn: Turn) -> bool:
    """Whether the person takes back what they said just before."""
    return shows(_SIGNALS[Signal.WITHDRAWN], turn.text.strip()[:MAX_CHARS])


def objects(turn: Turn) -> bool:
    """Whether the person rejects what the agent just did, or says that it did not help."""
    return any(
        shows(_SIGNALS[Signal.OBJECTION], sentence)
        for block in _own_words(turn)[:2]
        for sentence in sentences_of(block.text)[:2]
        if not sentence.endswith("?")
    )


def _own_words(turn: Turn) -> tuple[Block, ...]:
    """The blocks without those that the person introduces as somebody else's words."""
    kept: list[Block] = []
    reported_run: int | None = None
    for block in typed_blocks(turn):
        if reported_run is not None and block.run <= reported_run + (
            1 if not kept or kept[-1].run == reported_run else 0
        ):
            reported_run = max(reported_run, block.run)
            continue
        reported_run = block.run if shows(_SIGNALS[Signal.REPORTED], block.text) else None
        kept.append(block)
    return tuple(kept)


def _from_sentence(
    sentences: Sequence[str], position: int, asked: Turn, episode: Episode, before: Episode | None
) -> Iterator[Candidate]:
    sentence = sentences[position]
    if sentence.endswith("?"):
        if shows(_CUES[Sort.COMPLAINT], sentence):
            yield from _complaint(sentence, asked, episode)
        return
    own = own_part(sentence)
    if own is not None and _strongest(own, answering=before is not None) is None:
        return  # a cue in what others say shows nothing of what the person wants
    hit = _strongest(sentence, answering=before is not None)
    if hit is None or (_ASKS.match(sentence) and hit.shows not in (Sort.REMEMBER, Sort.COMPLAINT)):
        return
    if _PASSING.search(sentence) and _must_last(hit.shows, sentence):
        return
    match hit.shows:
        case Sort.COMPLAINT:
            yield from _complaint(sentence, asked, episode)
        case Sort.DECISION if before and (option := chosen_option(sentence, before.closing)):
            yield Candidate(
                Sort.DECISION,
                Role.USER,
                cut(option.text),
                (option.turn, asked.number),
                quote=joined(sentence, *_reason_after(sentences, position)),
                supports=(Support("Chosen among", option.among),) if option.among else (),
            )
        case Sort() as sort:
            yield from _statement(sort, hit, sentences, position, asked, before)
        case Signal():
            return  # makes no note by itself


def _must_last(sort: Sort | Signal, sentence: str) -> bool:
    """Whether `for now` makes a statement worthless: a rule always, a decision where it names nothing."""
    if sort is Sort.DECISION:
        return not names_in(sentence) and not _CHOICE_WORD.search(sentence)
    return sort in (Sort.PREFERENCE, Sort.CONVENTION)


def _reason_after(sentences: Sequence[str], position: int) -> tuple[str, ...]:
    """The next sentence, unless it asks something: what follows a choice mostly says why."""
    return tuple(other for other in sentences[position + 1 : position + 2] if not other.endswith("?"))


def _strongest(sentence: str, *, answering: bool) -> Hit | None:
    """The strongest cue. What would correct somebody is a plain decision where nobody had spoken before."""
    hits = (hit for sort in Sort if (hit := first_hit(_CUES[sort], sentence)))
    found = next(hits, None)
    if found is None or answering or found.shows is not Sort.CORRECTION:
        return found
    return next(hits, Hit(Sort.DECISION, found.said, found.rest) if _REJECTED.search(found.said) else None)


def _statement(
    sort: Sort, hit: Hit, sentences: Sequence[str], position: int, asked: Turn, before: Episode | None
) -> Iterator[Candidate]:
    said = _widened(hit.said, sentences[position])
    following = sentences[position + 1] if position + 1 < len(sentences) else ""
    if len(content_terms(said)) < 2 and following and not following.endswith("?"):
        said, following = following, ""
    example = _example_after(sentences[position], asked) if said.endswith(":") else ""
    if example:
        said = f"{said} {' '.join(example.split())}"
    if not says_enough(said, _words_needed(sort, said)):
        return
    quote = [sentences[position]]
    if (
        following
        and (is_anaphoric(following) or shows(_SIGNALS[Signal.REASON], following))
        and not following.endswith("?")
    ):
        quote.append(following)
    if not example and said not in sentences[position]:
        quote = [sentences[position], said]
    if is_anaphoric(said) and position:
        quote.insert(0, sentences[position - 1])
    answers = _what_it_answers(sort, said, before)
    if _WONDERS.search(sentences[position]) or (sort is Sort.CORRECTION and is_anaphoric(said) and not answers):
        return
    rejected = _REJECTED.search(said) if sort in (Sort.REMEMBER, Sort.CORRECTION, Sort.DECISION) else None
    yield Candidate(
        sort,
        Role.USER,
        cut(said),
        (asked.number,),
        quote=f"{joined(*quote)}\n{example}" if example else joined(*quote),
        supports=answers,
        rejected=rejected["what"] if rejected else "",
        corrects=bool(_TAKES_BACK.search(sentences[position])),
    )


def _widened(said: str, sentence: str) -> str:
    """The statement from the beginning of its clause on, without a bracket that is not closed in it."""
    start = sentence.find(said)
    if start > 0 and len(said) > 3:
        begins = max(sentence.rfind(mark, 0, start) for mark in _CLAUSE_MARKS)
        lead = sentence[begins + 1 : start].strip()
        said = f"{lead} {said}" if lead and len(lead) <= 40 and _CONNECTS.search(lead) else said
    return said.rstrip(") ") if said.count(")") > said.count("(") else said


def _words_needed(sort: Sort, said: str) -> int:
    if sort in (Sort.WANT, Sort.TASK):
        return 6 if is_anaphoric(said) else 4
    return 2 if sort in (Sort.REMEMBER, Sort.PREFERENCE) else 3


def _what_it_answers(sort: Sort, said: str, before: Episode | None) -> tuple[Support, ...]:
    """What the agent had said, where the person's words alone do not name their subject."""
    if before is None or before.closing is None or not (sort is Sort.CORRECTION or is_anaphoric(said)):
        return ()
    sentences = [sentence for block in blocks_of(before.closing.text) for sentence in sentences_of(block.text)]
    if not sentences:
        return ()
    words = content_terms(said)
    nearest = max(sentences, key=lambda sentence: len(content_terms(sentence) & words))
    return (Support("Said in answer to", in_third_person(cut(nearest))),) if says_enough(nearest, 2) else ()


def _example_after(sentence: str, asked: Turn) -> str:
    """The lines that follow a sentence which ends in a colon, as they were typed."""
    tail = sentence[-24:]
    start = asked.text.find(tail)
    if start < 0:
        return ""
    lines = [" ".join(line.split()) for line in asked.text[start + len(tail) :].strip("\n").split("\n")]
    chosen: list[str] = []
    for line in lines[: 2 * _LIST_INTRO_LINES]:
        if sum(map(len, chosen)) + len(line) > MAX_CHARS:
            break
        if not line.startswith("```"):
            chosen.append(line)
    return "\n".join(chosen[:_LIST_INTRO_LINES]).strip()


def _complaint(sentence: str, asked: Turn, episode: Episode) -> Iterator[Candidate]:
    """A fault found with the shape of the work, when the agent then said how it mended it."""
    closing = episode.closing
    claim = without_politeness(sentence)
    if closing is None or not episode.written or not says_enough(claim):
        return
    words = content_terms(claim)
    first_words = islice(_informative(closing), _REMEDY_SENTENCES)
    remedy = next((said for said in first_words if content_terms(said) & words or shows(_ACTS, said)), "")
    if remedy:
        yield Candidate(
            Sort.COMPLAINT,
            Role.USER,
            cut(claim),
            (asked.number, closing.number),
            quote=joined(sentence),
            supports=(Support("What was done about it", remedy),),
        )


def _informative(closing: Turn) -> Iterator[str]:
    quiet = (*_SIGNALS[Signal.NARRATION], *_SIGNALS[Signal.MOMENTARY], *_SIGNALS[Signal.HEDGE])
    for block in blocks_of(closing.text):
        for sentence in sentences_of(block.text):
            if says_enough(sentence, 5) and not shows(quiet, sentence) and not sentence.endswith((":", "?")):
                yield in_third_person(cut(sentence))


def without_politeness(request: str) -> str:
    """A request as a statement: without `could you` and its question mark."""
    bare = _POLITE.sub("", request)
    return (bare if bare == request else _BARE_NOT.sub("do not ", bare)).rstrip("? ")


def request_of(turn: Turn) -> str:
    """What a message asks for, in a sentence or two of the person's; empty for a nudge (`continue`, `commit this`)."""
    blocks = [block for block in typed_blocks(turn) if block.text]
    for index, block in enumerate(blocks):
        sentences = list(sentences_of(block.text))
        if block.text.endswith(":") and index + 1 < len(blocks):
            sentences.append(blocks[index + 1].text)
        for position, sentence in enumerate(sentences):
            if says_enough(sentence):
                second = [other for other in sentences[position + 1 : position + 2] if not other.endswith(":")]
                return joined(sentence, *second).rstrip(":")
            if sentence.endswith(":"):
                return joined(*sentences[position:]).rstrip(":")
    return ""
