"""What the agent found out, from what it said when its work on a request was over.

While it works an agent says much that it takes back a minute later, so of that only an announced finding counts which
was acted upon, which its next words do not take back, and which the closing words then confirm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from attrs import evolve, frozen

from agent_memory.extraction.notes import Candidate, Support, headline, names_a_technology
from agent_memory.extraction.session import Episode, speaks_of_an_option
from agent_memory.extraction.text import (
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
    joined,
    names_in,
    overlap,
    prose_sentences,
    says_enough,
    sentences_of,
    shows,
    tells_a_fault,
    tells_of_the_past,
    wording,
)
from agent_memory.session.history import Role, ToolCall, Turn
from agent_memory.text.salience import content_terms

_CAUSE_LABEL = wording("cause_label")
_BEFORE_LABEL = re.compile(r"(?:before|previously|old(?: behaviou?r)?|antes)\b", re.IGNORECASE)
"""Under it stands how it was."""
_REMEDY_LABEL = wording("remedy_label")
_OPEN_LABEL = wording("open_label")
_OF_THE_TWO = re.compile(r"(?:the agent|the user|you) (?:still )?(?:ha|could|can|did|was|need)", re.IGNORECASE)
_SUBJECTLESS = wording("subjectless")
_WORKS = wording("works")
_AT_HAND = wording("at_hand")
_CLAUSE = wording("clause")
_ON_A_CONDITION = re.compile(r"(?:when|whenever|if|while|before|after|once|since|as|quando|se)\b", re.IGNORECASE)
_NORM = re.compile(r"\b(?:must|ha(?:s|ve) to|needs? to|requires?)\b", re.IGNORECASE)
_DEFAULT = re.compile(r"\bdefault `|` defaults to\b", re.IGNORECASE)
"""The value of a setting that nobody set was chosen by others."""
_LINE = re.compile(r":\d+(?:-\d+)?$|\(\)$")
_DEFINES = r"\b(?:func|def|fn|function|class|struct|type|var|let|const|interface|enum)\b[^;{{}}()]{{0,40}}?\b{0}\b|\b{0}\s*(?::=|=(?!=))"
_QUOTED = re.compile(r"`[^`]*`|[\"“][^\"”]*[\"”]")
_PRODUCT = re.compile(r"(?<=[\w,)–—] )[A-Z][a-z]+(?:\.js)?(?!\w)")
"""A proper name within a sentence."""
_FOUND_OUT = wording("found_out")
_FAILED_TO_HELP = wording("failed_to_help")
_IN_BRACKETS = re.compile(r"\s\([^()]*\)")
_WHY = wording("why")
_MEANT = wording("meant")
_STILL_FAILS = wording("still_fails")
_PERSONAL = wording("personal")
_CONFIRMED = 0.25
MAX_LESSONS = 3
"""Of one episode."""


@frozen
class _Said:
    """One sentence of the agent's, with the list that it leads into, and those around it in the same block."""

    sentence: str
    following: tuple[str, ...]
    preceding: str
    """Empty where it is a guess, or about this very moment."""
    label: str
    first: bool
    """Whether it is the first of its block."""
    leads: bool = False
    """Whether it leads into a list, which it then holds."""

    @property
    def with_preceding(self) -> str:
        """The sentence, behind the one it points to; empty where nobody knows to which."""
        if not is_anaphoric(self.sentence):
            return self.sentence
        return f"{self.preceding} {self.sentence}" if self.preceding else ""


def agent_candidates(episode: Episode, changes: Sequence[ToolCall], *, open_end: bool) -> Iterator[Candidate]:
    """The candidates in the agent's words of one episode. `changes` are the writes from there to the end of the session. Open
    tasks only where nothing was worked on after it."""
    closing = episode.closing
    if closing is None or not episode.worked:
        return
    said = _sentences(closing)
    told = tuple(_lessons(said, closing, acted=episode.acted)) or tuple(_confirmed(episode, closing, said))
    lessons = tuple(islice((each for each in told if not _is_over(each.claim, changes)), MAX_LESSONS))
    yield from lessons
    taken = " ".join(lesson.text for lesson in lessons)
    for statement in said:
        if statement.sentence[:60] in taken or in_third_person(statement.sentence)[:60] in taken:
            continue
        found = _left_open(statement, closing) if open_end else None
        if episode.acted and not found:
            later = changes[len(episode.changes) :]
            found = _explained(statement, closing, later, open_end=open_end)
        if found:
            yield found


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


def is_next_step(claim: str) -> bool:
    """Whether an open end is one only by the heading above it, or by what one of the two did not do in the session."""
    return _OPEN_LABEL.match(claim) is not None or _OF_THE_TWO.match(claim) is not None


def _sentences(turn: Turn) -> tuple[_Said, ...]:
    found: list[_Said] = []
    blocks = blocks_of(turn.text)
    for index, block in enumerate(blocks):
        sentences = _with_list(sentences_of(block.text), blocks, index)
        label = block.label or ("" if block.style == "item" and block.section.endswith(":") else block.section)
        for position, sentence in enumerate(sentences):
            before = sentences[position - 1] if position and not is_quiet(sentences[position - 1]) else ""
            leads = sentence not in block.text
            found.append(_Said(sentence, sentences[position + 1 :], before, label, position == 0, leads))
    return tuple(said for said in found if len(said.sentence) <= SENTENCE_CHARS)


def _with_list(sentences: tuple[str, ...], blocks: Sequence[Block], index: int) -> tuple[str, ...]:
    """The sentences; the last one, if it ends in a colon, with the list items that it leads into, or not at all."""
    if not sentences or not sentences[-1].endswith(":") or shows(Signal.ANNOUNCES, sentences[-1]):
        return sentences
    items = [item.rstrip(".") for item in _children(blocks, index) if not is_quiet(item)]
    whole = f"{sentences[-1]} {'; '.join(items)}" if items else ""
    whole = whole if len(whole) <= SENTENCE_CHARS else joined(sentences[-1], "; ".join(items))
    return (*sentences[:-1], whole) if whole and not whole.endswith(":") else sentences[:-1]


def _children(blocks: Sequence[Block], index: int) -> Iterator[str]:
    depth = blocks[index].depth if blocks[index].style == "item" else -1
    for block in blocks[index + 1 :]:
        if block.style != "item" or block.depth <= depth:
            break
        if block.depth <= blocks[index + 1].depth:
            yield f"{block.label}: {block.text}" if block.label and block.text else block.label or block.text


def _lessons(said: Sequence[_Said], closing: Turn, *, acted: bool) -> Iterator[Candidate]:
    """Yields what was wrong and why.

    What nothing was done about counts only where it is said to have been found out: the rest is an explanation of the code.
    """
    announced, told_already = False, ""
    for index, statement in enumerate(said):
        sentence = statement.sentence
        shown = announced or (statement.first and _CAUSE_LABEL.match(statement.label) is not None)
        announced = shows(Signal.ANNOUNCES, sentence) and not says_enough(sentence, 4)
        if _BEFORE_LABEL.match(statement.label):
            continue
        cause = _cause(statement, shown=shown) if acted or _FOUND_OUT.search(sentence) else ""
        if not cause or in_third_person(sentence) in told_already:
            continue
        if lesson := _lesson(cause, closing, _remedy(said[index + 1 :], cause)):
            told_already = f"{told_already} {cause}"
            before = in_third_person(statement.preceding)
            yield evolve(lesson, quote=f"{before} {cause}") if before and before not in cause else lesson


def _tells_a_cause(sentence: str) -> bool:
    return shows(Signal.HEEDED, sentence) or any(hit.shows is Sort.LESSON for hit in agent_hits(sentence))


def _cause(statement: _Said, *, shown: bool) -> str:
    """The statement of what was wrong that begins at a sentence; empty where none does."""
    sentence = statement.sentence
    if is_quiet(sentence) or _SUBJECTLESS.match(sentence) or shows(Signal.CHANGELOG, sentence):
        return ""
    cued = _tells_a_cause(sentence.split(":", 1)[0] if statement.leads else sentence)
    if not (cued or shown) or not statement.with_preceding:
        return ""
    following = [other for other in statement.following[:2] if not is_quiet(other)]
    cause = " ".join((statement.with_preceding, *following))
    if is_void(Sort.LESSON, cause) or shows(Signal.POINTS, sentence) or speaks_of_an_option(sentence):
        return ""
    tells = says_enough(cause[:SENTENCE_CHARS], 5) and names_in(cause) and (cued or tells_a_fault(cause))
    return in_third_person(cause) if tells else ""


def _remedy(rest: Sequence[_Said], cause: str) -> str:
    """How it was mended: the first statement under a label that says so, else one that names what the cause names."""
    names = [name for name in names_in(cause) if len(name) > 2]
    for position, statement in enumerate(rest):
        remedy = statement.sentence
        if is_quiet(remedy) or remedy in cause:
            continue
        mends = shows(Signal.REMEDY, remedy)
        is_labelled = _REMEDY_LABEL.match(statement.label) and (mends or (not position and not tells_a_fault(remedy)))
        is_tied = mends and says_enough(remedy, 4) and any(name in remedy.lower() for name in names)
        if is_tied or (is_labelled and says_enough(remedy, 2)):
            return in_third_person(remedy)
    return ""


def _lesson(cause: str, turn: Turn, remedy: str, *also: int) -> Candidate | None:
    """The sentence of it that stays true, with the whole; None where none does. That is what has to be heeded, or how something
    made by others works, beside a fault: the fault itself is over once it is mended."""
    sentences = sentences_of(cause)
    is_told = remedy or tells_of_the_past(sentences[0])
    lasting = (
        each
        for each in sentences
        # A fault that is foretold is over, too, once it is mended.
        if (shows(Signal.HEEDED, each) and (_NORM.search(each) or not remedy))
        or (is_told and _lasts(each, beside_a_fault=len(sentences) > 1))
    )
    claim = next((each for each in lasting if not is_anaphoric(each)), "")
    supports = (Support("Remedy", remedy),) if remedy and remedy[:60] not in cause else ()
    return Candidate(Sort.LESSON, Role.AGENT, cut(claim), (*also, turn.number), cause, supports) if claim else None


def _lasts(sentence: str, *, beside_a_fault: bool) -> bool:
    """Whether a clause of it says how something of others works: in the present tense, and other than that it is at fault.
    The title must hold it, too."""
    is_over = tells_of_the_past(sentence)
    of_others = beside_a_fault and _names_others(sentence)
    return not shows(Signal.REMEDY, sentence) and any(
        (of_others or (is_over and _names_others(clause)))
        and _WORKS.search(_QUOTED.sub("x", clause))
        and not (_ON_A_CONDITION.match(clause) or _AT_HAND.search(clause) or tells_of_the_past(clause))
        and (_NORM.search(clause) or not tells_a_fault(clause))
        and says_enough(clause)
        and clause.rstrip(" .!").casefold() in headline(sentence).casefold()
        for clause in _CLAUSE.split(sentence)
    )


def _is_over(claim: str, changes: Sequence[ToolCall]) -> bool:
    """Whether a statement tells how the code was: it is about a file that was changed from there on, or what was defined anew.
    What has to be heeded holds after the change, too."""
    if _NORM.search(claim) or tells_of_the_past(_CLAUSE.split(claim, 1)[0]):
        return False
    names = {_LINE.sub("", name.rsplit("/", 1)[-1]) for name in names_in(_CLAUSE.split(claim, 1)[0])}
    files = {change.path.rsplit("/", 1)[-1].lower() for change in changes if change.path}
    defined = [re.compile(_DEFINES.format(re.escape(name)), re.IGNORECASE) for name in names]
    return bool(names & files) or any(each.search(change.brief) for each in defined for change in changes)


def _names_others(text: str) -> bool:
    return (
        names_a_technology(text) or bool(_DEFAULT.search(text)) or _PRODUCT.search(_QUOTED.sub("x", text)) is not None
    )


def _confirmed(episode: Episode, closing: Turn, said: Sequence[_Said]) -> Iterator[Candidate]:
    """The findings announced during the work, the last first, that were acted upon, that the agent's next words do not take
    back, and of which the closing words speak and name the remedy."""
    acted, next_words, told = False, closing.text, content_terms(closing.text)
    for turn in (turn for turn in reversed(episode.work) if turn.role is Role.AGENT):
        acted = acted or any(call.writes for call in turn.tool_calls)
        claim = _announced(turn) if turn.tool_calls and acted and not _FAILED_TO_HELP.match(next_words) else ""
        named = any(len(name) > 2 and name in closing.text.lower() for name in names_in(claim))
        if named and overlap(content_terms(claim), told) >= _CONFIRMED:
            lesson = _lesson(claim, closing, _remedy(said, claim), turn.number)
            if lesson and lesson.supports:
                yield lesson
        next_words = turn.text.strip() or next_words


def _announced(turn: Turn) -> str:
    """The finding that a turn announces; empty where it announces none, or guesses."""
    if shows(Signal.HEDGE, turn.text):
        return ""
    sentences = prose_sentences(turn.text)
    for index, sentence in enumerate(sentences):
        if not shows(Signal.ANNOUNCES, sentence):
            continue
        tells = [sentence] if _FOUND_OUT.search(sentence) and says_enough(sentence, 4) else []
        claim = joined(*tells, *(other for other in sentences[index + 1 : index + 4] if not is_quiet(other)))
        says = says_enough(claim, 5) and names_in(claim) and not is_anaphoric(claim) and tells_a_fault(claim)
        if says and not is_void(Sort.LESSON, f"{sentence} {claim}"):
            return in_third_person(claim)
    return ""


def _explained(statement: _Said, closing: Turn, later: Sequence[ToolCall], *, open_end: bool) -> Candidate | None:
    """Returns what the agent says of the code that only somebody who was there knows: why it is so, that it is meant to be so,
    or that a check still fails. A fault is told as a lesson, or is over; so is what was changed `later`."""
    sentence = statement.sentence
    main = _WHY.split(sentence, 1)[0]
    is_so = (main != sentence or _MEANT.search(sentence)) and _WORKS.search(_QUOTED.sub("x", main))
    is_over = tells_a_fault(main) or tells_of_the_past(main) or _AT_HAND.search(main)
    known = open_end if _STILL_FAILS.search(sentence) else is_so and not is_over
    if not known or statement.leads or is_quiet(sentence) or _PERSONAL.search(sentence) or is_anaphoric(sentence):
        return None
    passing = shows(Signal.CHANGELOG, sentence) or shows(Signal.POINTS, sentence)
    if passing or not says_enough(main, 2) or not names_in(sentence):
        return None
    claim = in_third_person(cut(sentence))
    return None if _is_over(claim, later) else Candidate(Sort.LESSON, Role.AGENT, claim, (closing.number,))


def _left_open(statement: _Said, closing: Turn) -> Candidate | None:
    """Returns what is left to do: a sentence says so, or it stands under a heading that does."""
    sentence = statement.sentence
    hit = next((hit for hit in agent_hits(sentence) if hit.shows is Sort.TASK), None)
    if hit and not any(each.shows is Sort.TASK for each in agent_hits(_IN_BRACKETS.sub("", sentence))):
        return None  # what stands in brackets is not what the sentence says
    if hit is None and (
        not _OPEN_LABEL.match(statement.label) or shows(Signal.CHANGELOG, sentence) or is_void(Sort.TASK, sentence)
    ):
        return None
    said = hit.said if hit else sentence
    if sentence.endswith(("?", ":")) or not says_enough(said, 4) or (is_anaphoric(said) and not statement.preceding):
        return None
    said = f"{statement.preceding} {said}" if is_anaphoric(said) else said
    said = in_third_person(cut(said if hit else f"{statement.label.rstrip(':')}: {said}"))
    return Candidate(Sort.TASK, Role.AGENT, said, (closing.number,), quote=said)
