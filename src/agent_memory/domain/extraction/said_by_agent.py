"""What the agent found out or did for a reason, from what it said when its work on a request was over.

While it works an agent says much that it takes back a minute later, so of that only an announced finding counts which
the closing words then confirm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_memory.domain.extraction import cues_en, cues_pt
from agent_memory.domain.extraction.candidates import Candidate, Support
from agent_memory.domain.extraction.cue import Signal, Sort, first_hit, shows
from agent_memory.domain.extraction.episodes import Episode
from agent_memory.domain.extraction.overlap import overlap
from agent_memory.domain.extraction.prose import Block, blocks_of
from agent_memory.domain.extraction.sentences import sentences_of
from agent_memory.domain.extraction.statements import (
    SENTENCE_CHARS,
    cut,
    in_third_person,
    is_anaphoric,
    joined,
    names_in,
    says_enough,
)
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.text.terms import content_terms
from agent_memory.values import frozen

_CUES = {sort: tuple(cue for cue in (*cues_en.BY_AGENT, *cues_pt.BY_AGENT) if cue.shows is sort) for sort in Sort}
_SIGNALS = {
    signal: tuple(cue for cue in (*cues_en.SIGNALS, *cues_pt.SIGNALS) if cue.shows is signal) for signal in Signal
}
_CAUSE_LABEL = re.compile(
    r"(?:the )?(?:root cause|actual cause|cause|bug|problem|issue|what (?:happened|went wrong|was wrong)"
    r"|why (?:it|this) (?:broke|failed|fails|happened|happens)"
    r"|causa(?:[- ]raiz)?|o (?:problema|erro)|o que aconteceu)(?: was| were)?$",
    re.IGNORECASE,
)
_REMEDY_LABEL = re.compile(
    r"(?:the )?(?:fix(?:ed)?|solution|resolution|remedy|correção|correcção|solução)\b", re.IGNORECASE
)
_MEASURED = re.compile(r"\d(?:[\d.,]*\d)?\s?(?:ms|µs|s|sec|seconds|min|minutes|[KMG]i?B|%|x|rps|req/s)\b")
_CONTRAST = re.compile(r"^(?:with|without|before|after|com|sem|antes|depois)\b", re.IGNORECASE)
_REST = re.compile(r"^(?:the )?(?:remaining|rest|o resto)\b", re.IGNORECASE)
_IMPROVEMENT = re.compile(r"\bdown (?:from|to)\b", re.IGNORECASE)
_SUBJECTLESS = re.compile(r"(?:caused by|due to|because|causad[oa] por|devido a|porque)\b", re.IGNORECASE)
_CONTINUES = re.compile(
    r"(?:this|that|these|it|they|otherwise|once|without|so|because|since|if|isto|isso|assim|senão|sem|se|porque)\b",
    re.IGNORECASE,
)
_FOUND_OUT = re.compile(
    r"\broot cause\b|\bturn(?:s|ed) out\b|\bthe (?:actual |real )?(?:problem|issue|bug|cause|culprit) (?:is|was)\b"
    r"|\bcausa[- ]raiz\b|\b(?:o problema|o erro|a causa) (?:é|era|foi)\b|\bafinal\b",
    re.IGNORECASE,
)
_ELSE = re.compile(r"(?:regarding|as for|as to|about)\b", re.IGNORECASE)  # answers what was asked on the way
_CONFIRMED = 0.25
MAX_LESSONS = 3
"""Of one episode."""


@frozen
class _Said:
    """One sentence of the agent's, with the list that it leads into, and those around it in the same block."""

    sentence: str
    following: tuple[str, ...]
    preceding: str
    label: str
    first: bool
    """Whether it is the first of its block."""


def agent_candidates(episode: Episode, *, open_end: bool) -> Iterator[Candidate]:
    """The candidates in the agent's words of one episode. Open tasks only where the session ends with it."""
    closing = episode.closing
    if not episode.worked:
        return
    if closing is None:
        if finding := _finding(episode, ""):
            yield finding
        return
    said = _sentences(closing)
    lessons = tuple(_lessons(said, closing, acted=bool(episode.written)))
    yield from lessons or _from_finding(episode, closing, said)
    taken = " ".join(lesson.text for lesson in lessons)
    for statement in said:
        if statement.sentence[:60] in taken or in_third_person(statement.sentence)[:60] in taken:
            continue
        yield from _reasoned(statement, closing)
        if open_end:
            yield from _left_open(statement, closing)
    yield from _measures(said, closing)


def outcome_of(episode: Episode) -> str:
    """What the agent said it had done, in one sentence; empty where it changed nothing or said nothing of the kind."""
    if episode.closing is None or not episode.written:
        return ""
    said = [one for one in _sentences(episode.closing) if _usable(one.sentence) and not _announces(one.sentence)]
    acts = (*_CUES[Sort.REASONED], *_SIGNALS[Signal.REMEDY], *_CUES[Sort.LESSON])
    for statement in (*(one for one in said if shows(acts, one.sentence)), *said[:2]):
        whole = statement.sentence
        if says_enough(whole, 4) and not is_anaphoric(whole) and not _ELSE.match(whole):
            return in_third_person(cut(whole))
    return ""


def _sentences(turn: Turn) -> tuple[_Said, ...]:
    found: list[_Said] = []
    blocks = blocks_of(turn.text)
    for index, block in enumerate(blocks):
        sentences = _with_list(sentences_of(block.text), blocks, index)
        for position, sentence in enumerate(sentences):
            found.append(
                _Said(
                    sentence,
                    sentences[position + 1 :],
                    sentences[position - 1] if position else "",
                    block.label or (block.section if not _is_child(block) else ""),
                    position == 0,
                )
            )
    return tuple(said for said in found if len(said.sentence) <= SENTENCE_CHARS)


def _with_list(sentences: tuple[str, ...], blocks: Sequence[Block], index: int) -> tuple[str, ...]:
    """The sentences; the last one, if it ends in a colon, with the list items that it leads into, or not at all."""
    if not sentences or not sentences[-1].endswith(":") or _announces(sentences[-1]):
        return sentences
    items = [item for item in _children(blocks, index) if _usable(item)]
    whole = joined(sentences[-1], "; ".join(items)) if items else ""
    return (*sentences[:-1], whole) if whole and not whole.endswith(":") else sentences[:-1]


def _children(blocks: Sequence[Block], index: int) -> Iterator[str]:
    parent = blocks[index]
    depth = parent.depth if parent.style == "item" else -1
    first = blocks[index + 1].depth if index + 1 < len(blocks) else 0
    for block in blocks[index + 1 :]:
        if block.style != "item" or block.depth <= depth:
            break
        if block.depth > first:
            continue
        yield f"{block.label}: {block.text}" if block.label and block.text else block.label or block.text


def _is_child(block: Block) -> bool:
    return block.style == "item" and block.section.endswith(":")


def _usable(sentence: str) -> bool:
    """Whether a sentence of the agent's is neither a guess, nor a question, nor about this very moment."""
    quiet = (*_SIGNALS[Signal.HEDGE], *_SIGNALS[Signal.NARRATION], *_SIGNALS[Signal.MOMENTARY])
    return not sentence.endswith("?") and not shows(quiet, sentence)


def _announces(sentence: str) -> bool:
    return shows(_SIGNALS[Signal.ANNOUNCES], sentence)


def _lessons(said: Sequence[_Said], closing: Turn, *, acted: bool) -> Iterator[Candidate]:
    """What was wrong, at most three times: a longer list is a report.

    What nothing was done about counts only where it is said to have been found out: the rest is an explanation of the code.
    """
    previous = ""
    used_labels: set[str] = set()
    for index, statement in enumerate(said):
        fresh_label = statement.first and statement.label not in used_labels
        labelled = fresh_label and bool(_CAUSE_LABEL.match(statement.label))
        told = acted or bool(_FOUND_OUT.search(statement.sentence))
        cause = _cause(statement, announced=_announces(previous), labelled=labelled) if told else ""
        previous = statement.sentence
        if cause and len(used_labels) < MAX_LESSONS:
            used_labels.add(statement.label if labelled else f"{index}")
            yield _lesson(cause, closing, _remedy(said[index + 1 :], cause), detail=_detail(statement, cause))


def _cause(statement: _Said, *, announced: bool, labelled: bool) -> str:
    """The statement of what was wrong that begins at a sentence; empty where none does."""
    sentence = statement.sentence
    if not _usable(sentence) or (_announces(sentence) and not labelled) or _SUBJECTLESS.match(sentence):
        return ""
    if not (labelled or announced or first_hit(_CUES[Sort.LESSON], sentence)):
        return ""
    preceding = [statement.preceding] if statement.preceding and _usable(statement.preceding) else []
    if is_anaphoric(sentence) and not preceding:
        return ""
    following = [other for other in statement.following[:2] if _usable(other)]
    cause = joined(*(preceding if is_anaphoric(sentence) else ()), sentence, *following)
    return in_third_person(cause) if says_enough(cause, 5) and names_in(cause) else ""


def _detail(statement: _Said, cause: str) -> str:
    """The sentence after the cause, where it no longer fitted into it."""
    following = statement.following[0] if statement.following else ""
    detail = in_third_person(following)
    return detail if following and _usable(following) and says_enough(following, 5) and detail[:40] not in cause else ""


def _remedy(rest: Sequence[_Said], cause: str) -> str:
    """How it was mended: what is called so, else what says most of the cause's words; empty where nothing does."""
    words = content_terms(cause)
    best, most = "", 0
    for statement in rest:
        remedy = statement.sentence
        if not _usable(remedy) or _IMPROVEMENT.search(remedy) or remedy in cause:
            continue
        if statement.first and _REMEDY_LABEL.match(statement.label) and says_enough(remedy, 2):
            return in_third_person(remedy)
        shared = len(content_terms(remedy) & words)
        if shared > most and shows(_SIGNALS[Signal.REMEDY], remedy) and names_in(remedy) and says_enough(remedy, 4):
            best, most = remedy, shared
    return in_third_person(best)


def _lesson(cause: str, turn: Turn, remedy: str, *also: int, detail: str = "") -> Candidate:
    told = (("More exactly", detail if detail != remedy else ""), ("Remedy", remedy))
    supports = tuple(Support(label, cut(text)) for label, text in told if text and text[:60] not in cause)
    return Candidate(Sort.LESSON, Role.AGENT, cut(cause), (*also, turn.number), supports=supports)


def _from_finding(episode: Episode, closing: Turn, said: Sequence[_Said]) -> Iterator[Candidate]:
    """A finding announced during the work, with the remedy that the closing words name."""
    finding = _finding(episode, closing.text)
    if finding:
        remedy = _remedy(said, finding.claim)
        yield _lesson(finding.claim, closing, remedy, *finding.turns)


def _finding(episode: Episode, closing: str) -> Candidate | None:
    """The last finding announced during the work that was acted upon and, where there are closing words, confirmed."""
    writes_after = False
    for turn in reversed(episode.work):
        if turn.role is not Role.AGENT:
            continue
        writes_after = writes_after or any(call.writes for call in turn.tool_calls)
        if not turn.tool_calls or not writes_after:
            continue
        claim = _announced(turn)
        if claim and (not closing or _confirms(closing, claim)):
            return Candidate(Sort.LESSON, Role.AGENT, cut(claim), (turn.number,))
    return None


def _announced(turn: Turn) -> str:
    sentences = [sentence for block in blocks_of(turn.text) for sentence in sentences_of(block.text)]
    for index, sentence in enumerate(sentences):
        if _announces(sentence):
            following = [other for other in sentences[index + 1 : index + 4] if _usable(other)]
            claim = joined(*following).rstrip(":") if following else ""
            if says_enough(claim, 5) and names_in(claim) and not is_anaphoric(claim):
                return in_third_person(claim)
    return ""


def _confirms(closing: str, claim: str) -> bool:
    return bool(names_in(claim) & names_in(closing)) and (
        overlap(content_terms(claim), content_terms(closing)) >= _CONFIRMED
    )


def _reasoned(statement: _Said, closing: Turn) -> Iterator[Candidate]:
    sentence = statement.sentence
    if not (_usable(sentence) and shows(_CUES[Sort.REASONED], sentence)):
        return
    following = statement.following[0] if statement.following and _usable(statement.following[0]) else ""
    reasons = _SIGNALS[Signal.REASON]
    reasoned = [text for text in (sentence, following) if text and shows(reasons, text)]
    if following in reasoned and not _CONTINUES.match(following):
        reasoned.remove(following)
    if not reasoned or (following in reasoned and sentence.endswith(":")):
        return
    whole = joined(sentence, following) if following in reasoned else joined(sentence)
    if is_anaphoric(sentence) and statement.preceding:
        whole = joined(statement.preceding, sentence)
    if says_enough(whole, 6) and names_in(whole):
        yield Candidate(Sort.REASONED, Role.AGENT, in_third_person(cut(whole.rstrip(":"))), (closing.number,))


def _left_open(statement: _Said, closing: Turn) -> Iterator[Candidate]:
    hit = first_hit(_CUES[Sort.TASK], statement.sentence)
    if hit and not statement.sentence.endswith("?") and says_enough(hit.said, 4):
        yield Candidate(Sort.TASK, Role.AGENT, in_third_person(cut(hit.said)), (closing.number,))


def _measures(said: Sequence[_Said], closing: Turn) -> Iterator[Candidate]:
    """Two measurements set against each other: `Without the cache: 40 ms. With it: 3 ms.`"""
    for index in range(len(said) - 1):
        pair = (said[index].sentence, said[index + 1].sentence)
        if all(_CONTRAST.match(one) and _MEASURED.search(one) and not _IMPROVEMENT.search(one) for one in pair):
            rest = said[index + 2].sentence if index + 2 < len(said) and _REST.match(said[index + 2].sentence) else ""
            yield Candidate(Sort.MEASURE, Role.AGENT, joined(*pair, rest), (closing.number,))
