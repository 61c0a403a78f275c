"""A message as its author wrote it: blocks and sentences of prose, without code, logs, quotations and tables; and statements cut to
the length of a note.

What somebody else said, or a machine printed, is not what the speaker says: no cue is ever looked for in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from attrs import evolve, frozen

from agent_memory.text.plain_text import clean_text
from agent_memory.text.salience import content_terms, is_negated, lost_salience
from agent_memory.text.tables import read_table

# -- cues: wording that shows what a sentence is for; it is data, in `cues.txt`, which says how it is written ---------


class Sort(StrEnum):
    """The sort of a sentence with the cue. Declared from the strongest to the weakest: among equals the stronger one stays."""

    REMEMBER = "remember"  # the person asks that it be remembered
    CORRECTION = "correction"  # the person corrects what the agent said or did
    PREFERENCE = "preference"  # the person says how they want work to be done
    REPEATED = "repeated"  # the person says that they have said it before
    CONVENTION = "convention"  # the person says how it is done here
    ROUTINE = "routine"  # the person names a step of their routine as part of a request: `…, then run make lint`
    DECISION = "decision"  # somebody decided
    WANT = "want"  # the person says how the thing itself has to behave
    LESSON = "lesson"  # what was wrong, and what mended it
    TASK = "task"  # something is left to be done


class Signal(StrEnum):
    """A hint that makes no note by itself."""

    ANNOUNCES = "announces"  # the finding comes in what follows, or in the same sentence: `Found it!`, `The issue is …`
    REMEDY = "remedy"  # how it was mended
    HEDGE = "hedge"  # a guess, or a thing to be tried
    NARRATION = "narration"  # the agent tells what it does next
    MOMENTARY = "momentary"  # a state that holds now and says nothing later: tests pass
    HEEDED = "heeded"  # what has to be done or left from now on, and what happens otherwise
    OBJECTION = "objection"  # the person rejects what the agent just said or did
    WITHDRAWN = "withdrawn"  # the person takes back what they said, or has what was done undone
    WRAPS_UP = "wraps_up"  # the person has what was done committed or thanks for it: what was open stays so
    REPORTED = "reported"  # what follows are the words of somebody else, or of a machine
    ABOUT_TEXT = "about_text"  # what follows is to be read, judged or reworded: it is not what the person wants
    CONCEDES = "concedes"  # the agent says that the person is right
    CHANGELOG = "changelog"  # the agent lists what it changed
    UNSURE = "unsure"  # the person guesses, wonders or asks to be told
    REVERTS = "reverts"  # what was there before is there again, or what was added is gone
    REQUEST = "request"  # the person names work to be done in this session
    PASSING = "passing"  # it holds for now, or for this once
    SESSION = "session"  # it tells what one of the two did in this session
    UNFINISHED = "unfinished"  # the agent says that its work is not done, or what of it is left
    POINTS = "points"  # at what stands in another message, or before the eyes


@frozen
class Hit:
    """A cue found in a sentence, and what the sentence says without it."""

    shows: Sort
    said: str


Patterns = tuple[re.Pattern[str], ...]
_TABLE = read_table("agent_memory.extraction", "cues.txt")
_CUES: dict[str, Patterns] = {
    header: tuple(re.compile(line.replace("n't", "n'?t"), re.IGNORECASE) for line in lines)
    for header, lines in _TABLE.lines.items()
    if not header.startswith(("wording ", "words ", "subject "))
}


def wording(name: str) -> re.Pattern[str]:
    return _TABLE.expression(f"wording {name}")


def words(name: str) -> frozenset[str]:
    return _TABLE.words(f"words {name}")


def lines(name: str) -> tuple[str, ...]:
    return _TABLE.lines[f"words {name}"]


SUBJECTS = {
    header.removeprefix("subject "): _TABLE.expression(header)
    for header in _TABLE.lines
    if header.startswith("subject ")
}
"""The wording of each subject, by its tag."""


def user_hits(sentence: str) -> tuple[Hit, ...]:
    """Returns the sorts that a sentence of the person's may be of, the strongest first."""
    return _hits("user", sentence)


def agent_hits(sentence: str) -> tuple[Hit, ...]:
    """Returns the sorts that a sentence of the agent's may be of, the strongest first."""
    return _hits("agent", sentence)


def shows(signal: Signal, sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in _CUES[f"signal {signal}"])


def is_quiet(sentence: str) -> bool:
    """Returns whether a sentence of the agent's is a guess, a question, or about this very moment."""
    return sentence.endswith(("?", ":")) or any(
        shows(signal, sentence) for signal in (Signal.HEDGE, Signal.NARRATION, Signal.MOMENTARY)
    )


def is_void(sort: Sort, sentence: str) -> bool:
    """Returns whether a sentence is nothing of the sort, whatever cue or label it has."""
    return any(pattern.search(sentence) for pattern in _CUES.get(f"void {sort}", ()))


def sort_of_section(heading: str) -> Sort | None:
    """Returns the sort of the items under a heading of the person's (`Requirements`, `Findings`), if the heading says it."""
    return next((sort for sort in Sort if any(each.match(heading) for each in _CUES.get(f"heading {sort}", ()))), None)


def _hits(speaker: str, sentence: str) -> tuple[Hit, ...]:
    return tuple(hit for sort in Sort if (hit := _hit(sort, _CUES.get(f"{speaker} {sort}", ()), sentence)))


def _hit(sort: Sort, patterns: Patterns, sentence: str) -> Hit | None:
    found = next((found for pattern in patterns if (found := pattern.search(sentence))), None)
    if found is None or is_void(sort, sentence):
        return None
    return Hit(sort, (found.groupdict().get("said") or sentence).strip())


# -- blocks and sentences ---------------------------------------------------------------------------------------------

MESSAGE_CHARS = 24_000
"""Characters of one message that are looked at."""

FENCE = re.compile(r"\s*(```+|~~~+)")
_TRIPLE_QUOTE = re.compile(r'"""|' + "'''")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*$")
_RULE = re.compile(r"\s*([-*_=─━]\s*){3,}$")
_ITEM = re.compile(r"(\s*)(?:[-*+•–]|\(?(\d{1,2}|[A-Za-z])[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$")
_BOLD_LABEL = re.compile(r"\*\*(?P<label>[^*\n]{1,70}?)(?P<colon>:?)\*\*(?P<rest>.*)$", re.DOTALL)
_LABEL_END = re.compile(r"\s*(?:\([^()]*\)\s*)?:\s*|\s+[-–—]\s+|\s*$")
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,400}\)")
_EMPHASIS = re.compile(r"\*+|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)|~~")
_CODE_SPAN = re.compile(r"(`+[^`\n]{1,400}`+)")
_PLACE_IN_FILE = re.compile(
    r"\s*\((?:at |around |on )?lines? ~?\d+(?:[-–]\d+)?\)"
    r"|\s+(?:at|on|around) lines? \d+(?:[-–]\d+)?"
    r"|(?:(?<=\.[A-Za-z])|(?<=\.[a-z]{2})|(?<=\.[a-z]{3})):\d+(?:[-–:]\d+)?"
)
_EMOJI = re.compile(r"[\u2705\u274c\u2714\u2716\u26a0\u2728\U0001f300-\U0001faff\ufe0f]+\s*")
_MACHINE = re.compile(rf"\s*(?:{'|'.join(lines('machine'))})")
_COPIED_FROM = re.compile(r"https?://\S+[:.]?$|<<-?\s*[\"']?\w+|(?:^|\s)[➜❯]\s|\w@\w[\w.-]*:\S*[$#]\s")
"""Such an end leads into a page, a document or the output of a command that is copied below it."""
_LEADS_IN = re.compile(r"(?::|\b(?:errors?|warnings?)[?.!]?)\s*$", re.IGNORECASE)
_CODE_TAIL = re.compile(r"(?:[{}]|[)\]\"'];|=>|&&|\|\||\\)\s*$")
_WHOLE_LINE = re.compile(r".{20}[.!]$")
_HEADING_LINE = re.compile(r"[A-Z][\w'/-]*(?: [\w'/-]+){0,4}:?")
_END = re.compile(r"[.!?…]+[\"”»')\]]*(?=\s)|[。！？।؟][」』”]?")
_ABBREVIATION = wording("abbreviation")
_SPAN = re.compile(r"`[^`]*`")
_FEWEST_LINES = 3


@frozen
class Block:
    """One paragraph or list item as plain text on one line; code spans keep their backticks. A heading has no text."""

    text: str
    style: Literal["paragraph", "item"]
    label: str = ""
    """The bold words in front of it: `**Fix:** …`."""
    section: str = ""
    """The heading above it, or the line ending in a colon that leads into its list."""
    depth: int = 0
    """Indentation of an item, in characters."""
    ordinal: str = ""
    """Of an item: `2` of `2.`, `b` of `b)`."""
    lines: tuple[str, ...] = ()
    """The same text as its lines were."""
    run: int = 0
    """Blocks without an empty line between them have the same number."""
    behind_output: bool = False
    """A command, its output or a link to a page stands before it, outside a fence: it may be more of that."""


def blocks_of(message: str) -> tuple[Block, ...]:
    return tuple(_with_sections(_raw_blocks(message[:MESSAGE_CHARS].replace("\u2019", "'"))))


def legible(text: str) -> str:
    """The text without hidden and control characters, and without halves of characters."""
    return clean_text(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def plain(text: str) -> str:
    """One line without markdown, emoji and places in files; code spans are left as they are."""
    pieces = _CODE_SPAN.split(_LINK.sub(r"\1", text))
    pieces[::2] = (_EMPHASIS.sub("", _EMOJI.sub("", piece)) for piece in pieces[::2])
    return " ".join(_PLACE_IN_FILE.sub("", "".join(pieces)).split())


def is_machine_text(line: str) -> bool:
    """Whether a line looks like code, a log, a diff or markup rather than like something said."""
    dense = "".join(line.split())
    mostly_symbols = len(dense) > 12 and sum(map(str.isalpha, dense)) < len(dense) * 0.55
    return bool(_MACHINE.match(line) or _CODE_TAIL.search(line)) or mostly_symbols


def _raw_blocks(message: str) -> Iterator[Block | None]:
    """Blocks with their own label; None where a heading or a rule ends a list."""
    fence, quoted, run, behind_output = "", False, 0, False
    current: list[str] = []
    shape = Block("", "paragraph")

    def finish() -> Iterator[Block]:
        if current and shape.style == "paragraph" and (listed := _lines_of_a_list(current)):
            items = (Block(text, "item", section=section, lines=(text,), run=run) for section, text in listed)
            yield from (evolve(item, behind_output=behind_output) for item in items)
        elif current:
            yield _labelled(evolve(shape, lines=tuple(current), run=run, behind_output=behind_output))
        current.clear()

    for line in message.split("\n"):
        opening = FENCE.match(line)
        if fence:
            fence = "" if opening and opening[1].startswith(fence) else fence
            continue
        toggles = len(_TRIPLE_QUOTE.findall(line))
        item = _ITEM.match(line)
        heading = _HEADING.match(line)
        if quoted or toggles or opening or heading or item or not line.strip() or _is_no_prose(line, line):
            yield from finish()
        if quoted or toggles:
            quoted ^= bool(toggles % 2)
        elif opening:
            fence = opening[1][:3]
        elif not line.strip():
            run += 1
        elif _RULE.match(line):
            yield None
        elif heading:
            yield None
            yield Block("", "paragraph", section=plain(heading[1]).rstrip(":"))
        elif _is_no_prose(line, item[3] if item else line):
            behind_output = behind_output or is_machine_text(item[3] if item else line)
            continue
        else:
            if item:
                shape = Block("", "item", depth=len(item[1].expandtabs(4)), ordinal=(item[2] or "").lower())
            elif not current:
                shape = Block("", "paragraph")
            current.append(item[3] if item else line.strip())
            if _COPIED_FROM.search(line):
                yield from finish()
                behind_output = True
            if not item and _LEADS_IN.search(line):
                yield from finish()
    yield from finish()


def _is_no_prose(line: str, said: str) -> bool:
    return bool(_RULE.match(line)) or line.lstrip().startswith((">", "|")) or is_machine_text(said)


def _lines_of_a_list(lines: list[str]) -> list[tuple[str, str]]:
    """The lines of a paragraph, each with the heading above it, where each is one or more whole sentences or a heading of a
    few words: so a list looks from which its marks were lost. Empty where it is no list."""
    found: list[tuple[str, str]] = []
    heading = ""
    for index, line in enumerate(lines):
        if _WHOLE_LINE.search(line):
            found.append((heading, plain(line)))
        elif _HEADING_LINE.fullmatch(line) and index + 1 < len(lines) and _WHOLE_LINE.search(lines[index + 1]):
            heading = plain(line).rstrip(":")
        else:
            return []
    return found if len(found) >= _FEWEST_LINES and (heading or len(found) == len(lines)) else []


def _labelled(block: Block) -> Block:
    joined = " ".join(block.lines)
    found = _BOLD_LABEL.match(joined)
    end = _LABEL_END.match(found["rest"]) if found else None
    if found and (end or found["colon"]):
        rest = found["rest"][end.end() :] if end else found["rest"]
        return evolve(block, label=plain(found["label"]), text=plain(rest))
    return evolve(block, text=plain(joined))


def _with_sections(raw: Iterator[Block | None]) -> Iterator[Block]:
    """Each block with the heading above it or the line that leads into it."""
    heading = lead = ""
    for block in raw:
        if block is None:
            heading = lead = ""
        elif not block.lines:
            heading, lead = block.section, ""
            yield block
        elif block.style == "paragraph":
            if not block.text:
                heading, lead = block.label, ""
                yield evolve(block, section=heading, label="")
            else:
                yield evolve(block, section=heading)
                lead = block.text if block.text.endswith(":") else ""
                heading = heading if lead else ""
        elif block.text or block.label:
            yield evolve(block, section=block.section or lead or heading)


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text on one line. Points inside code spans, names, numbers and abbreviations end nothing."""
    masked = _SPAN.sub(lambda span: "x" * len(span[0]), text)
    found: list[str] = []
    start = 0
    for end in _END.finditer(masked):
        goes_on = end[0][:1] == "…" or end[0][:2] == ".."
        if goes_on and text[end.end() :].lstrip()[:1].islower():
            continue
        if _ABBREVIATION.search(text, start, end.end()):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return tuple(sentence for sentence in found if sentence)


def prose_sentences(message: str) -> tuple[str, ...]:
    """The sentences of a whole message, without those that are too long to have been written to be read."""
    sentences = (each for block in blocks_of(message) for each in sentences_of(block.text))
    return tuple(each for each in sentences if len(each) <= SENTENCE_CHARS)


REDACTED = "[redacted:"
MIN_CHARS = 15
MAX_CHARS = 300
LONGEST_TITLE_CHARS = 180
"""A sentence without clauses to end it at stays whole up to this; a longer one is no title, and the claim makes no note."""
SENTENCE_CHARS = 600
"""A longer sentence was not written to be read by anybody, and is left alone."""

_ANAPHORIC = wording("anaphoric")
_CLAUSE_END = wording("clause_end")
_OPENING_QUOTE = re.compile(r"(?<![\w.,!?])'(?=\S)")
_CLOSING_QUOTE = re.compile(r"(?<=\S)(?<!s)'(?!\w)")
_WIDE = re.compile(r"[\u2e80-\ud7a3]")
"""Characters that say as much as two."""
_NAME = re.compile(
    r"`[^`]+`|\b[A-Z][a-z]+[A-Z]\w*|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b|\b[A-Z]{2,}\w*\b|\b[\w-]+\.[a-z]{1,5}\b|\b\w+\(\)|(?<=\s)--?[a-z][\w-]+"
    r"|(?<=[\w,;:] )[A-Z][a-z]{2,}\w*|[\"“][^\"”]{3,60}[\"”]"
)
_LEADING_ON = words("leading_on")
_MARKS = ".,;:!?…\"'“”‘’`()[]*_"
_LOOSE = " ,;:–—-("
_DEFECT = wording("defect")
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|wasn't|weren't|failed|broke|caused|happened|moved|left|used|took|returned|read|kept|era|foi|estava|tinha|\w+ava)\b"
)
_AFTER_POINT = re.compile(r"([.!?] )the(?= (?:agent|user)\b)")
_FIRST_PERSON = tuple(
    (re.compile(said), told) for said, told in (each.split("  =>  ") for each in lines("third_person"))
)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends as a question does, in full-width and Arabic marks too."""
    return sentence.rstrip("!！").endswith(("?", "？", "؟"))


def is_anaphoric(sentence: str) -> bool:
    """Whether a sentence begins with a word that points to something said before it."""
    return bool(_ANAPHORIC.match(sentence))


def names_in(text: str) -> frozenset[str]:
    """Identifiers, code spans, proper names, options and quoted words, without their quotes, lower case."""
    return frozenset(found.strip('`"“”()').lower() for found in _NAME.findall(text))


def clause(text: str, limit: int) -> str:
    """The text, or as many of its whole clauses as fit into the limit; empty where none does."""
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [end.start() for end in _CLAUSE_END.finditer(text, 0, limit + 1)]
    heads = (text[:end].rstrip(_LOOSE) for end in reversed(ends) if end >= limit // 4)
    return next((head for head in heads if _is_whole(head)), "")


def _is_whole(text: str) -> bool:
    leads_on = text.rsplit(" ", 1)[-1].strip(_MARKS).lower() in _LEADING_ON
    return is_balanced(text) and text.count("(") == text.count(")") and not leads_on


def is_balanced(text: str) -> bool:
    """Whether every quotation and code span in a text begins and ends in it."""
    ends_before = len(_CLOSING_QUOTE.findall(text)) > len(_OPENING_QUOTE.findall(text))
    return not (text.count("`") % 2 or text.count('"') % 2 or text.count("“") != text.count("”") or ends_before)


def cut(text: str, limit: int = MAX_CHARS) -> str:
    """The text, or as many of its whole clauses as fit; where it has to break off it says so."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit - 1].rsplit(" ", 1)[0]
    for opened, closed in ("``", "()"):
        if head.count(opened) % 2 if opened == closed else head.count(opened) > head.count(closed):
            head = head[: head.rfind(opened)]
    words = head.rstrip(_LOOSE).split(" ")
    while len(words) > 2 and words[-1].strip(_LOOSE).lower() in _LEADING_ON:
        words.pop()
    return clause(text, limit) or f"{' '.join(words).rstrip(_LOOSE)} …"


def joined(*sentences: str) -> str:
    """Sentences one after another as far as they fit whole; the first one, and a list after a colon, are cut to fit."""
    result = ""
    for sentence in sentences:
        longer = f"{result} {sentence}".strip()
        if len(longer) > MAX_CHARS:
            if result.endswith(":"):
                return longer[: longer.rfind("; ", 0, MAX_CHARS)] if "; " in longer[:MAX_CHARS] else cut(longer)
            return result or cut(sentence)
        result = longer
    return result


def says_enough(text: str, words: int = 3) -> bool:
    """Whether a statement is long enough, short enough to have been written as one, and about something."""
    return (
        len(text) + len(_WIDE.findall(text)) >= MIN_CHARS
        and len(text) <= SENTENCE_CHARS
        and len(content_terms(text)) >= words
    )


def tells_a_fault(sentence: str) -> bool:
    """Whether a sentence tells of a fault or of something past."""
    return any(pattern.search(sentence) for pattern in (_DEFECT, _PAST))


def in_third_person(text: str) -> str:
    """An agent's words, for a reader who is neither it nor the person it spoke to."""
    pieces = _CODE_SPAN.split(text)
    for index in range(0, len(pieces), 2):
        for pattern, instead in _FIRST_PERSON:
            pieces[index] = pattern.sub(instead, pieces[index])
    return capitalised(_AFTER_POINT.sub(lambda found: f"{found[1]}The", "".join(pieces)))


def capitalised(text: str) -> str:
    """The text with a capital first letter where it begins with an ordinary word."""
    word = text.split(" ", 1)[0].strip(",.;:")
    return text[:1].upper() + text[1:] if word.replace("'", "").isalpha() and word.islower() else text


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set of content words that the other one holds too, 0 to 1; 0 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def in_words(statement: str) -> tuple[str, ...]:
    """All words of a statement as they were typed, small ones and signs too, without case and the punctuation around them.

    Two statements that differ in a single one of them may say the opposite: on and off, team A and team B, C and C++.
    """
    return tuple(filter(None, (word.strip(_MARKS) for word in statement.casefold().split())))


def holds_all_of(text: str, statement: str) -> bool:
    """Whether a text holds every content word of a statement, and every number, name and negation."""
    return content_terms(statement) <= content_terms(text) and not lost_salience(statement, text)


def says_all_of(sentence: str, statement: str) -> bool:
    """The same of one sentence, which must not deny what the statement affirms either."""
    return holds_all_of(sentence, statement) and is_negated(sentence) == is_negated(statement)
