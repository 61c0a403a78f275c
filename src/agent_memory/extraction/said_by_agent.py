"""What the agent answered: its closing words on a request, without what holds only for the moment or is over by now.

While it works an agent says much that it takes back a minute later, so of that nothing counts. A single sentence of its answer
says too little: what it is about, and why, stands in those around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen

from agent_memory.extraction.notes import Candidate, headline, names_a_technology
from agent_memory.extraction.session import Episode
from agent_memory.extraction.text import (
    FENCE,
    MESSAGE_CHARS,
    REDACTED,
    SENTENCE_CHARS,
    Block,
    Signal,
    Sort,
    agent_hits,
    blocks_of,
    cut,
    in_third_person,
    is_anaphoric,
    is_quiet,
    is_void,
    names_in,
    prose_sentences,
    says_enough,
    sentences_of,
    shows,
    wording,
)
from agent_memory.session.history import Role, Turn
from agent_memory.text.salience import content_terms, is_directive

ANSWER_CHARS = 1_500
_PASSING_LABEL = wording("passing_label")
_UNCLEAR = (Signal.HEDGE, Signal.NARRATION, Signal.POINTS)
_OPEN_LABEL = wording("open_label")
_FLAGS = wording("flags")
_ASKS_STATE = wording("asks_state")
_OFFERS_WORK = wording("offers_work")
_WHY = wording("why")
_MEANT = wording("meant")
_STILL_FAILS = wording("still_fails")
_OF_THE_TWO = re.compile(r"(?:the agent|the user|you) (?:still )?(?:ha|could|can|did|was|need)", re.IGNORECASE)
_SUBJECTLESS = wording("subjectless")
_NORM = re.compile(r"\b(?:must|ha(?:s|ve) to|needs? to|requires?)\b", re.IGNORECASE)
_LEADS_IN = re.compile(r"(?:^#{1,6} .*|^\*\*[^*\n]+\*\*|:)\Z", re.MULTILINE)
_TO_THE_PERSON = re.compile(r"\b(?:you|your|shall i|should i)\b", re.IGNORECASE)
_NEEDS = re.compile(r"\bneed(?:ed)? from you\b", re.IGNORECASE)
_FEWEST_TERMS = 20
"""Of an answer that only names a cause or a change: a shorter one mostly says no more than that it is done."""
_IN_BRACKETS = re.compile(r"\s\([^()]*\)")


@frozen
class _Said:
    """One sentence of an answer, in its block."""

    sentence: str
    block: Block
    preceding: str
    """The one before it in the same block; empty where that is a guess, or about this very moment."""


def agent_candidates(episode: Episode, *, changed_later: bool, open_end: bool) -> Iterator[Candidate]:
    """The candidates in the agent's last words of one episode, after which files were changed or not. Open tasks only where
    nothing was worked on after it."""
    closing = episode.closing
    if closing is None:
        return
    # What it says of the code that it offers to change is over when that is done.
    is_proposal = not episode.acted and any(_OFFERS_WORK.search(each) for each in prose_sentences(closing.text))
    asked = episode.asked.text if episode.asked else ""
    answer = None if _ASKS_STATE.match(asked) else _answer(asked, closing)
    if answer and not (is_proposal and changed_later):
        yield answer
    if open_end and episode.worked:
        yield from filter(None, (_left_open(each, closing) for each in _sentences(closing)))


def outcome_of(episode: Episode) -> str:
    """Returns what the agent said it had done, in one sentence; empty where it changed nothing or said nothing of the kind."""
    if episode.closing is None or not episode.written:
        return ""
    said = [
        one.sentence
        for one in _sentences(episode.closing)
        if not is_quiet(one.sentence) and not shows(Signal.ANNOUNCES, one.sentence)
    ]
    told = (one for one in said if shows(Signal.REMEDY, one) or _tells_a_cause(one))
    whole = (one for one in (*told, *said[:2]) if says_enough(one, 4) and not is_anaphoric(one))
    return in_third_person(cut(next(whole, "")))


def left_open(episode: Episode) -> Iterator[str]:
    """Yields what the agent's closing words say is not done, or is left to do, in few words, too."""
    if (closing := episode.closing) is None:
        return
    for each in _sentences(closing):
        label = _label(each.block).rstrip(":")
        said = f"{label}: {each.sentence}" if _OPEN_LABEL.match(label) else each.sentence
        if task := _left_open(each, closing):
            yield task.claim
        elif shows(Signal.UNFINISHED, said) and not said.endswith(("?", ":")):
            yield in_third_person(cut(said))


def is_next_step(claim: str) -> bool:
    """Whether an open end is one only by the heading above it, or by what one of the two did not do in the session."""
    return _OPEN_LABEL.match(claim) is not None or _OF_THE_TWO.match(claim) is not None


def _label(block: Block) -> str:
    return block.label or ("" if block.style == "item" and block.section.endswith(":") else block.section)


def _sentences(turn: Turn) -> tuple[_Said, ...]:
    found: list[_Said] = []
    for block in blocks_of(turn.text):
        before = ""
        for sentence in sentences_of(block.text):
            if len(sentence) <= SENTENCE_CHARS:
                found.append(_Said(sentence, block, before))
            before = "" if is_quiet(sentence) else sentence
    return tuple(found)


def _answer(asked: str, closing: Turn) -> Candidate | None:
    """The answer under the sentence of it that says the most; None where none says why anything is so: what was done, and how it
    is, the code says, too."""
    paragraphs = [each for each in _paragraphs(closing.text[:MESSAGE_CHARS]) if not _is_aside(each)]
    is_long = sum(map(len, paragraphs)) > ANSWER_CHARS
    paragraphs = [each for each in paragraphs if not (is_long and _is_passing(each))]
    said = [(sentence, index) for index, each in enumerate(paragraphs) for sentence in _with_labels(each)]
    request, subject = content_terms(asked), Counter(term for each, _ in said for term in content_terms(each))

    def rank(sentence: str) -> tuple[bool, int]:
        title = headline(sentence, with_reason=True)
        terms = content_terms(title)
        return _says_why(title), sum((subject[term] > 1) + (term in request) for term in terms)

    titles = [each for each in said if _tells(each[0])]
    if not titles:
        return None
    claim, at = max(titles, key=lambda each: rank(each[0]))
    text = _as_many_as_fit(paragraphs, at)
    is_bare = shows(Signal.CHANGELOG, claim) or not _says_why(claim)
    if is_bare and len(content_terms(text)) < _FEWEST_TERMS:
        return None
    return Candidate(Sort.LESSON, Role.AGENT, in_third_person(cut(claim)), (closing.number,), quote=text)


def _with_labels(paragraph: str) -> Iterator[str]:
    """Yields its sentences. One that goes on from the bold words before it (`**Index** — declined, since …`) says nothing without them."""
    for block in blocks_of(paragraph):
        for position, each in enumerate(sentences_of(block.text)):
            sentence = f"{block.label}: {each}" if block.label and not position and each[0].islower() else each
            if len(sentence) <= SENTENCE_CHARS:
                yield sentence


def _tells(sentence: str) -> bool:
    """Whether a sentence says by itself why something is so or went wrong: what else an answer tells, the code tells, too."""
    title = headline(sentence, with_reason=True)
    return bool(
        title
        and (_says_why(title) or _FLAGS.match(sentence) or _tells_a_cause(sentence))
        and "?" not in sentence
        and not sentence.endswith(":")
        and not is_anaphoric(sentence)
        and not _SUBJECTLESS.match(sentence)
        and not is_void(Sort.LESSON, title)
        and not (is_directive(sentence) and not _NORM.search(title))
        and not any(shows(signal, title) for signal in _UNCLEAR)
        and (not shows(Signal.MOMENTARY, title) or _STILL_FAILS.search(sentence))
        and says_enough(title, 4)
        and (_FLAGS.match(sentence) or names_in(sentence) or names_a_technology(title))
    )


def _tells_a_cause(sentence: str) -> bool:
    return shows(Signal.HEEDED, sentence) or any(hit.shows is Sort.LESSON for hit in agent_hits(sentence))


def _says_why(sentence: str) -> bool:
    """Whether a sentence gives a reason, or says that something is meant to be so or to be heeded, which no code tells."""
    return (
        _FLAGS.match(sentence) is not None
        or shows(Signal.HEEDED, sentence)
        or any(each.search(sentence) for each in (_WHY, _MEANT, _STILL_FAILS))
    )


def _paragraphs(message: str) -> list[str]:
    """What stands between empty lines, as it was written. A block of code is one; what leads into something belongs to it."""
    found: list[str] = []
    fence, apart = "", True
    for line in message.split("\n"):
        mark = FENCE.match(line)
        if not (fence or line.strip()):
            apart = True
        elif fence or not apart or (found and _LEADS_IN.search(found[-1])):
            found[-1] += f"\n\n{line}" if apart and not fence else f"\n{line}"
        else:
            found.append(line)
        apart = apart and not (fence or line.strip())
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1][:3]
    return found


def _is_aside(paragraph: str) -> bool:
    """Whether it asks the person, only offers, announces, shows or lists what is suspected, or holds a secret."""
    lead = paragraph.partition("\n")[0].rstrip()
    if lead.endswith(":") and shows(Signal.HEDGE, lead):
        return True
    sentences = prose_sentences(paragraph)
    said = [each for each in sentences if not (each.endswith("?") or shows(Signal.NARRATION, each))]
    is_unfit = REDACTED in paragraph or len(paragraph) > ANSWER_CHARS
    asks = any(_NEEDS.search(each) or (each.endswith("?") and _TO_THE_PERSON.search(each)) for each in sentences)
    return is_unfit or asks or not any(says_enough(each, 1) for each in said)


def _is_passing(paragraph: str) -> bool:
    """Whether it tells what was changed or checked."""
    (block, *_) = blocks_of(paragraph)
    return _PASSING_LABEL.match(_label(block)) is not None or shows(Signal.CHANGELOG, block.text)


def _as_many_as_fit(paragraphs: Sequence[str], first: int) -> str:
    """The paragraphs in their order, as many whole ones as fit, and the one that matters most in any case."""
    room, taken = ANSWER_CHARS, list[int]()
    for index in dict.fromkeys((first, *range(len(paragraphs)))):
        if len(paragraphs[index]) <= room:
            room -= len(paragraphs[index])
            taken.append(index)
    return "\n\n".join(paragraphs[index] for index in sorted(taken))


def _left_open(statement: _Said, closing: Turn) -> Candidate | None:
    """Returns what is left to do: a sentence says so, or it stands under a heading that does."""
    sentence = statement.sentence
    hit = next((hit for hit in agent_hits(sentence) if hit.shows is Sort.TASK), None)
    if hit and not any(each.shows is Sort.TASK for each in agent_hits(_IN_BRACKETS.sub("", sentence))):
        return None  # what stands in brackets is not what the sentence says
    if hit is None and (
        not _OPEN_LABEL.match(_label(statement.block))
        or shows(Signal.CHANGELOG, sentence)
        or is_void(Sort.TASK, sentence)
    ):
        return None
    said = hit.said if hit else sentence
    if sentence.endswith(("?", ":")) or not says_enough(said, 4) or (is_anaphoric(said) and not statement.preceding):
        return None
    said = f"{statement.preceding} {said}" if is_anaphoric(said) else said
    said = in_third_person(cut(said if hit else f"{_label(statement.block).rstrip(':')}: {said}"))
    return Candidate(Sort.TASK, Role.AGENT, said, (closing.number,), quote=said)
