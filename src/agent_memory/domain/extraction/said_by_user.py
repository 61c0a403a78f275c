"""What the person said that a later reader should know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from agent_memory.domain.extraction.answers import Answer, answer_in, informative
from agent_memory.domain.extraction.candidates import Candidate, Support
from agent_memory.domain.extraction.cue import Hit, Signal, Sort, shows, sort_of_section, user_hits
from agent_memory.domain.extraction.episodes import Episode, pasted_blocks, typed_blocks
from agent_memory.domain.extraction.options import chosen_option, speaks_of_an_option
from agent_memory.domain.extraction.overlap import overlap
from agent_memory.domain.extraction.prose import Block, blocks_of
from agent_memory.domain.extraction.sentences import sentences_of
from agent_memory.domain.extraction.statements import (
    LONGEST_TITLE_CHARS,
    MAX_CHARS,
    SENTENCE_CHARS,
    cut,
    in_third_person,
    is_anaphoric,
    joined,
    names_in,
    says_enough,
    tells_a_present_fault,
    without_politeness,
)
from agent_memory.domain.extraction.told_by_others import own_part, within_quotes
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.planning.directives import is_directive
from agent_memory.domain.text.terms import content_terms
from agent_memory.values import evolve

_REJECTED = re.compile(
    r"\b(?:instead of|rather than|not|and not|em vez de|em vez do|em vez da|ao invés de|e não)\s+(?P<what>[^,.;:]{2,60})",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead|rather than|em vez d|ao invés d)", re.IGNORECASE)
_TAKES_BACK = re.compile(
    r"^(?:no|nope|wrong|incorrect|not quite|não|nao|errado)[,.!:;–—-]"
    r"|\b(?:correction|i was wrong|i misspoke|i meant|no longer|correção|correcção|enganei-me|quis dizer|já não)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:(?:ok|so|and|also|then|now)[,.]?\s+)*(?:can|could|would|will|shall) (?:you|we|i)\b|(?:podes|pode|poderia)\b",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"(?:,?\s*\b(?:right|no|correct|yes|ok|okay|isn't it|eh|né|não é|certo)\s*\?+!*|\s*(?:!\?|\?!)[?!]*)$",
    re.IGNORECASE,
)
"""A question that only asks to be told that it is so."""
_GOES_ON = re.compile(
    r"(?:because|since|so|otherwise|that way|instead|which|as it|else|porque|assim|senão|já que)\b", re.IGNORECASE
)
_REASON = re.compile(r"\b(?:because|since|so that|otherwise|porque|já que)\b", re.IGNORECASE)
_NOT = re.compile(r"(?:no,? )?(?:not|não)\b", re.IGNORECASE)
_LIST_LINES = 8
_FEW_WORDS = 7
_FEW_CHARS = 25
_FEW_POINTING = 5
_POINTS = re.compile(r"(?<!for )\b(?:it|this|that|those|these|them|there|isto|isso)\b", re.IGNORECASE)
_STANDING = frozenset({Sort.REMEMBER, Sort.PREFERENCE, Sort.CONVENTION})
_FEW_SENTENCES = 2
_SHARED = 0.34


def user_candidates(episode: Episode, before: Episode | None) -> Iterator[Candidate]:
    """The candidates in what the person said at the beginning of an episode; `before` is the episode it answers."""
    if episode.asked is None:
        return
    answer = answer_in(episode)
    if before and before.closing and shows(Signal.APPROVES, episode.asked.text.strip()[:MAX_CHARS]):
        yield from _approved(before.closing, episode.asked)
        return
    found = list(_found(episode, before, answer))
    if answer.agrees and answer.says and before is not None:
        agreed = Support("The agent agreed", answer.says)
        if found:
            found[0] = evolve(found[0], supports=(*found[0].supports, agreed), turns=(*found[0].turns, answer.turn))
        elif _is_of(episode.asked, answer.says) and (quote := _quoted_whole(episode.asked)):
            yield Candidate(
                Sort.LESSON,
                Role.AGENT,
                cut(answer.says),
                (episode.asked.number, answer.turn),
                supports=(*_outcome(Sort.CORRECTION, answer.says, episode), Support("The user had said", f"“{quote}”")),
                mended=bool(episode.written) and tells_a_present_fault(sentences_of(answer.says)[0]),
            )
    yield from found


def _is_of(turn: Turn, said: str) -> bool:
    """Whether what the agent said names something, and speaks of what the person spoke of."""
    first = sentences_of(said)[0]
    return bool(names_in(first)) and overlap(content_terms(first), content_terms(turn.text)) >= _SHARED


def objects(turn: Turn) -> bool:
    """Whether the person rejects what the agent just did, or says that it did not help."""
    return any(
        shows(Signal.OBJECTION, sentence)
        for block in _own_words(turn)[:2]
        for sentence in sentences_of(block.text)[:2]
        if not sentence.endswith("?")
    )


def withdraws(turn: Turn) -> bool:
    """Whether the person takes back what they said just before, or has what was done undone."""
    return shows(Signal.WITHDRAWN, turn.text.strip()[:MAX_CHARS])


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


def _approved(closing: Turn, asked: Turn) -> Iterator[Candidate]:
    """What the agent proposed for a reason, and the person said yes to."""
    said = [sentence for block in blocks_of(closing.text) for sentence in sentences_of(block.text)]
    for position, sentence in enumerate(said):
        reason = [each for each in said[position + 1 : position + 2] if _GOES_ON.match(each)]
        if shows(Signal.PROPOSES, sentence) and (reason or _REASON.search(sentence)) and not sentence.endswith("?"):
            quote = in_third_person(joined(sentence, *reason))
            agreed = (Support("The user agreed", f"“{asked.text.strip()}”"),)
            yield Candidate(Sort.DECISION, Role.AGENT, cut(quote), (closing.number, asked.number), quote, agreed)
            return


def _found(episode: Episode, before: Episode | None, answer: Answer) -> Iterator[Candidate]:
    asked = episode.asked
    assert asked is not None
    blocks = _own_words(asked)
    for section in dict.fromkeys(block.section for block in blocks):
        if listed := sort_of_section(section.rstrip(":")):
            items = [block.text for block in blocks if block.section == section and says_enough(block.text, 3)]
            yield from _listed(listed, section.rstrip(":"), items, asked)
    pasted = pasted_blocks(asked)
    for block in blocks:
        if sort_of_section(block.section.rstrip(":")):
            continue
        sentences = sentences_of(block.text)
        quoted = within_quotes(sentences)
        held: list[Candidate] = []
        for position, sentence in enumerate(sentences):
            if len(sentence) > SENTENCE_CHARS or position in quoted:
                continue
            for candidate in _from_sentence(sentences, position, episode, before, answer):
                if block not in pasted or candidate.sort in (Sort.REMEMBER, Sort.CONVENTION):
                    held.append(candidate)
        yield from _united(held, block)


def _listed(sort: Sort, heading: str, items: Sequence[str], asked: Turn) -> Iterator[Candidate]:
    """The items of a list that the person gave: a note each, or one where all of them make a title."""
    whole = f"{heading}: {'; '.join(item.rstrip('.') for item in items)}"
    if len(items) > 1 and len(whole) <= LONGEST_TITLE_CHARS:
        yield Candidate(sort, Role.USER, whole, (asked.number,), quote="\n".join((f"{heading}:", *items)))
        return
    for item in items:
        first = next((each for each in sentences_of(item) if says_enough(each, 3)), item)
        yield Candidate(sort, Role.USER, cut(first), (asked.number,), quote=item)


def _united(found: Sequence[Candidate], block: Block) -> Iterator[Candidate]:
    """Sentences of one paragraph that are of one sort make one note."""
    for candidate in found:
        same = [each for each in found if each.sort is candidate.sort]
        if candidate.sort not in (Sort.WANT, Sort.LESSON) or len(same) == 1:
            yield candidate
        elif candidate is same[0]:
            yield evolve(candidate, quote=block.text if len(block.text) <= SENTENCE_CHARS else candidate.quote)


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
        reported_run = block.run if shows(Signal.REPORTED, block.text) else None
        kept.append(block)
    return tuple(kept)


def _from_sentence(
    sentences: Sequence[str], position: int, episode: Episode, before: Episode | None, answer: Answer
) -> Iterator[Candidate]:
    sentence, asked = sentences[position], episode.asked
    assert asked is not None
    tagged = sentence.endswith("?") and _TAG.search(sentence)
    if tagged and answer.confirms and before is not None:
        sentence = sentence[: tagged.start()]
    elif sentence.rstrip("!").endswith(("?", "？", "؟")):
        hits = user_hits(sentence.rstrip("?!"))
        if any(hit.shows is Sort.COMPLAINT for hit in hits):
            yield from _complaint(sentence, asked, episode)
        if not (_ASKS.match(sentence) and any(hit.shows is Sort.REMEMBER for hit in hits)):
            return
    own = own_part(sentence)
    if own is not None and not _strongest(own, answering=before is not None):
        return  # a cue in what others say shows nothing of what the person wants
    hit = _strongest(sentence, answering=before is not None)
    if hit is None and tagged and _REASON.search(sentence):
        hit = Hit(Sort.DECISION, sentence)
    unsure = shows(Signal.UNSURE, sentence) or _ASKS.match(sentence)
    if hit is None or (unsure and hit.shows not in (Sort.REMEMBER, Sort.COMPLAINT)):
        return
    if hit.shows is Sort.COMPLAINT:
        yield from _complaint(sentence, asked, episode)
    elif hit.shows is Sort.DECISION and speaks_of_an_option(sentence):
        if before and (option := chosen_option(sentence, before.closing)):
            yield Candidate(
                Sort.DECISION,
                Role.USER,
                cut(option.text),
                (option.turn, asked.number),
                quote=joined(sentence, *_reason_after(sentences, position)),
                supports=(Support("Chosen among", option.among),) if option.among else (),
            )
    elif not (shows(Signal.PASSING, sentence) and _must_last(hit.shows, sentence)):
        yield from _statement(hit, sentence, sentences, position, episode, before)


def _must_last(sort: Sort, sentence: str) -> bool:
    """Whether `for now` makes a statement worthless: a rule always, a decision where it names nothing."""
    return sort in (Sort.PREFERENCE, Sort.CONVENTION, Sort.WANT) or (sort is Sort.DECISION and not names_in(sentence))


def _reason_after(sentences: Sequence[str], position: int) -> tuple[str, ...]:
    """The next sentence, unless it asks something: what follows a choice mostly says why."""
    return tuple(other for other in sentences[position + 1 : position + 2] if not other.endswith("?"))


def _strongest(sentence: str, *, answering: bool) -> Hit | None:
    """The strongest cue. What would correct somebody is a plain decision where nobody had spoken before."""
    hits = user_hits(sentence)
    if not hits or answering or hits[0].shows is not Sort.CORRECTION:
        return hits[0] if hits else None
    if len(hits) > 1:
        return hits[1]
    return Hit(Sort.DECISION, hits[0].said) if _INSTEAD.search(hits[0].said) else None


def _statement(
    hit: Hit, sentence: str, sentences: Sequence[str], position: int, episode: Episode, before: Episode | None
) -> Iterator[Candidate]:
    asked, sort = episode.asked, hit.shows
    assert asked is not None
    quote = [sentences[position]]
    following = sentences[position + 1] if position + 1 < len(sentences) else ""
    tagged = sentence != sentences[position]
    said = hit.said if tagged or sort in (Sort.REMEMBER, Sort.CORRECTION) or len(sentence) > MAX_CHARS else sentence
    if (
        (len(content_terms(said)) < 2 or said.startswith("about "))
        and len(said) < _FEW_CHARS
        and following
        and not following.endswith("?")
    ):
        said, following = following, ""
        quote.append(said)
    elif sort is Sort.CORRECTION and not says_enough(said):
        said = sentence
    example = _example_after(sentences[position], asked) if sentences[position].endswith(":") else ""
    if example:
        said = f"{said} {' '.join(example.split())}"
    if following and not following.endswith("?") and (is_anaphoric(following) or _GOES_ON.match(following)):
        quote.append(following)
    turns: tuple[int, ...] = (asked.number,)
    previous = sentences[position - 1] if position else ""
    if is_anaphoric(said) and says_enough(previous, 2) and not previous.endswith("?"):
        quote.insert(0, previous)
        said = f"{previous.rstrip('.!')} — {said}"
        if len(said) > LONGEST_TITLE_CHARS:
            return
    elif sort is Sort.CORRECTION and len(content_terms(said)) < _FEW_WORDS and (earlier := _corrected(said, before)):
        said, turns = f"{earlier[0]} — {said}", (earlier[1], *turns)
    answers = _what_it_answers(sort, said, before)
    vague = is_anaphoric(said) or (len(content_terms(said)) < _FEW_POINTING and _POINTS.search(said))
    if not says_enough(said, _words_needed(sort, said)) or (vague and sort not in _STANDING and not answers):
        return
    rejected = _REJECTED.search(said) if sort in (Sort.REMEMBER, Sort.CORRECTION, Sort.DECISION) else None
    yield Candidate(
        sort,
        Role.USER,
        cut(said),
        turns,
        quote=f"{joined(*quote)}\n{example}" if example else joined(*quote),
        supports=(*answers, *_outcome(sort, said, episode)),
        rejected=rejected["what"] if rejected else "",
        corrects=bool(_TAKES_BACK.search(sentences[position])),
    )


def _words_needed(sort: Sort, said: str) -> int:
    if not said.isascii() and sort is Sort.REMEMBER:
        return 1  # of a script without spaces a sentence is one word
    if sort in (Sort.WANT, Sort.TASK):
        return 6 if is_anaphoric(said) else 4
    return 2 if sort in (Sort.REMEMBER, Sort.PREFERENCE) else 3


def _corrected(said: str, before: Episode | None) -> tuple[str, int] | None:
    """The person's own request that a short `not X but Y` says more exactly, and its turn."""
    if before is None or before.asked is None or not _NOT.match(said):
        return None
    shared = [
        sentence
        for block in typed_blocks(before.asked)
        for sentence in sentences_of(block.text)
        if content_terms(sentence) & content_terms(said) and len(sentence) < MAX_CHARS // 2
    ]
    return (shared[0].rstrip(".!?"), before.asked.number) if shared else None


def _what_it_answers(sort: Sort, said: str, before: Episode | None) -> tuple[Support, ...]:
    """What the agent had said, where the person's words alone do not name their subject."""
    if before is None or before.closing is None or not (sort is Sort.CORRECTION or is_anaphoric(said)):
        return ()
    sentences = [sentence for block in blocks_of(before.closing.text) for sentence in sentences_of(block.text)]
    if not sentences:
        return ()
    words = content_terms(said)
    nearest = max(sentences, key=lambda sentence: len(content_terms(sentence) & words))
    fits = overlap(content_terms(nearest), words) >= _SHARED
    if not (fits or len(sentences) <= _FEW_SENTENCES) or not says_enough(nearest, 2) or is_directive(nearest):
        return ()
    return (Support("Said in answer to", in_third_person(cut(nearest))),)


def _outcome(sort: Sort, said: str, episode: Episode) -> tuple[Support, ...]:
    """What the agent then said it had done about it."""
    if sort not in (Sort.WANT, Sort.CORRECTION) or episode.closing is None or not episode.written:
        return ()
    words = content_terms(said)
    said_of_it = tuple(informative(episode.closing))
    told = max(said_of_it, key=lambda each: len(content_terms(each) & words), default="")
    fits = len(content_terms(told) & words) > 1 or 0 < len(said_of_it) <= _FEW_SENTENCES
    return (Support("What was done about it", told),) if fits else ()


def _example_after(sentence: str, asked: Turn) -> str:
    """The lines that follow a sentence which ends in a colon, as they were typed."""
    tail = sentence[-24:]
    start = asked.text.find(tail)
    if start < 0:
        return ""
    lines = [" ".join(line.split()) for line in asked.text[start + len(tail) :].strip("\n").split("\n")]
    chosen: list[str] = []
    for line in lines[: 2 * _LIST_LINES]:
        if sum(map(len, chosen)) + len(line) > MAX_CHARS:
            break
        if not line.startswith("```"):
            chosen.append(line)
    return "\n".join(chosen[:_LIST_LINES]).strip()


def _complaint(sentence: str, asked: Turn, episode: Episode) -> Iterator[Candidate]:
    """A fault found with the shape of the work, when the agent then said how it mended it."""
    closing = episode.closing
    claim = without_politeness(sentence)
    if closing is None or not episode.written or not says_enough(claim):
        return
    words = content_terms(claim)
    first_words = islice(informative(closing), 2)
    remedy = next((said for said in first_words if content_terms(said) & words or shows(Signal.REMEDY, said)), "")
    if remedy:
        yield Candidate(
            Sort.COMPLAINT,
            Role.USER,
            cut(claim),
            (asked.number, closing.number),
            quote=joined(sentence),
            supports=(Support("What was done about it", remedy),),
        )


def _quoted_whole(turn: Turn) -> str:
    """The person's message, where it is short enough to be quoted whole."""
    text = "\n".join(block.text for block in _own_words(turn) if block.text)
    return text if len(text) <= SENTENCE_CHARS else ""
