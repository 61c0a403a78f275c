"""A session as a conversation: episodes, whose words a message holds, and which of the options on offer was chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from agent_memory.extraction.text import Block, Signal, Sort, blocks_of, cut, shows, sort_of_section, wording
from agent_memory.session.history import History, Role, ToolCall, Turn

_INJECTED = wording("injected")
_QUESTION_TOOL = re.compile(r"AskUserQuestion|request_user_input|ask_user(?:_question)?|question")
_EDITS = re.compile(
    r"\bapply_patch\b|\b(?:sed|perl) -\w*i|\btee\b|\bwrite_text\b|\bgit (?:mv|apply|revert)\b|[^|&-]>{1,2} ?[\w./~-]+\.\w"
)


@frozen
class Episode:
    """From one message of the person to their next one."""

    asked: Turn | None
    work: tuple[Turn, ...]
    """The turns of the agent and of its tools."""

    @property
    def closing(self) -> Turn | None:
        """The agent's last word of the episode, unless it was still at work then."""
        for turn in reversed(self.work):
            if turn.role is Role.AGENT:
                return turn if turn.text.strip() and not turn.tool_calls else None
        return None

    @property
    def worked(self) -> bool:
        """Whether the agent used a tool."""
        return any(turn.tool_calls for turn in self.work)

    @property
    def acted(self) -> bool:
        """Whether the agent changed something."""
        return bool(self.changes)

    @property
    def changes(self) -> tuple[ToolCall, ...]:
        """The calls that changed something: a tool that writes, or a shell's command, as some agents do."""
        calls = (call for turn in self.work for call in turn.tool_calls)
        return tuple(call for call in calls if call.writes or _EDITS.search(call.brief))

    @property
    def written(self) -> tuple[str, ...]:
        """The files that the agent changed, each once, in the order of their first change."""
        return tuple(dict.fromkeys(call.path for call in self.changes if call.writes and call.path))


def episodes_of(history: History) -> tuple[Episode, ...]:
    """The episodes of a history in order. One that begins with the agent's turns was asked for before this part."""
    groups: list[tuple[Turn | None, list[Turn]]] = []
    for turn in history.turns:
        if turn.role is Role.USER and not is_injected(turn):
            groups.append((turn, []))
        elif groups:
            groups[-1][1].append(turn)
        else:
            groups.append((None, [turn]))
    return tuple(Episode(asked, tuple(work)) for asked, work in groups)


def is_injected(turn: Turn) -> bool:
    """Whether the text of a user turn was put there by a program and typed by nobody."""
    return bool(_INJECTED.match(turn.text)) or not turn.text.strip()


def is_question_tool(name: str | None) -> bool:
    """Whether a tool of this name puts a question to the person."""
    return name is not None and _QUESTION_TOOL.fullmatch(name) is not None


def confirms(episode: Episode) -> bool:
    """Whether the agent's first words in the episode say that the person is right."""
    spoken = next((turn.text for turn in episode.work if turn.role is Role.AGENT and turn.text.strip()), "")
    return shows(Signal.CONCEDES, spoken.lstrip("* "))


_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1, "primeira": 0, "segunda": 1, "terceira": 2, "última": -1}
_OPTION_WORDS = (
    r"(?:option|approach|variant|number|proposal|solution|alternative|plan|opção|opcao|alternativa|proposta)"
)
_CHOICE = wording("choice")
_OPTION_LABEL = re.compile(rf"{_OPTION_WORDS}\s+(?P<mark>\d|[a-e])\b", re.IGNORECASE)


@frozen
class Offer:
    """One option of those that the agent offered."""

    mark: str
    name: str
    text: str


def speaks_of_an_option(sentence: str) -> bool:
    """Whether a sentence names an option by its number, letter or place: without the offer nobody knows which."""
    return _CHOICE.search(sentence) is not None


def chosen_option(sentence: str, offered: Turn | None) -> tuple[Offer, str] | None:
    """The option that a sentence chooses from the agent's last message, and the names of all; None where it offers none."""
    choice = _CHOICE.search(sentence)
    offers = _offers_in(offered) if offered else ()
    if choice is None or len(offers) < 2:
        return None
    if choice["mark"]:
        chosen = next((offer for offer in offers if offer.mark == choice["mark"].lower()), None)
    else:
        place = _PLACES[choice["place"].lower()]
        chosen = offers[place] if place < len(offers) else None
    return (chosen, cut("; ".join(offer.name for offer in offers))) if chosen else None


def _offers_in(turn: Turn) -> tuple[Offer, ...]:
    """The options that are called so (`**Option A: small**`, in labels or headings), else the last numbered list."""
    blocks = blocks_of(turn.text)
    called: dict[str, Offer] = {}
    numbered: list[Offer] = []
    for block in blocks:
        for title in (block.label, block.section, block.text):
            if found := _OPTION_LABEL.match(title):
                mark = found["mark"].lower()
                text = f"{title}: {block.text}" if title != block.text and block.text else title
                if mark not in called or called[mark].text == called[mark].name:
                    called[mark] = Offer(mark, title, text)
        if block.style == "item" and block.ordinal and not block.depth and not block.text.endswith("?"):
            numbered = [] if block.ordinal in ("1", "a") else numbered
            text = f"{block.label}: {block.text}" if block.label and block.text else block.label or block.text
            numbered.append(Offer(block.ordinal, block.label or cut(block.text, 60), text))
    return tuple(called.values()) or tuple(numbered)


TYPED_CHARS = 1_500
"""Of a longer message what is between the first and the last paragraph was pasted: of that only lists and what stands under
a heading counts, as a plan does or a list of what is expected."""
PASTED_CHARS = 8_000
"""A longer one is a document."""
_PROGRAM = re.compile(
    r"\A\s*(?:you are (?:an? |the )?[\w -]{0,40}\b(?:assistant|agent|writing|generating|expert|evaluator|judge|reviewer)\b"
    r"|you (?:generate|write|summari[sz]e|evaluate|classify|will be given)\b|your (?:task|job|role) is\b|act as an? )"
    r"|<!--|^\s*(?:respond|reply|answer) with (?:only |just |exactly )?(?:an?|the|one) (?:\w+ )?(?:json|yaml|xml|marker|label|token)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER = wording("answer")
_REPORT = re.compile(
    r"\*\*[^*\n]{2,}\*\*|\.[a-z]{1,4}(?::|#L)\d+|^\s{0,3}-{3,}\s*$|^(?:new |key |main )?findings:"
    r"|\b(?:i've|i have) (?:reviewed|verified|analy[sz]ed)\b|\S [—→] \S[\s\S]*\S [—→] \S",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks of what was written up, by a reviewer, a bot or an agent: bold words, places in files, rules. A list of severities
was taken out before (`own_marks.pasted_review`)."""
_FRAME_CHARS = (240, 80)
"""So long the first and the last paragraph around a report may be to be the person's own: a longer one at the end would be the
reporter's conclusion. A message as short as the first was typed whatever its marks."""
_PLAN = re.compile(r"\s*(?:please )?(?:implement|execute|carry out) (?:the following|this) plan\b", re.IGNORECASE)
_TELLS = wording("tells")
_OPENING = re.compile(r"[\s:,]*(?:that|que)?[\s:,]*(?P<mark>[\"“'‘«])")
_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


def own_words(turn: Turn) -> tuple[Block, ...]:
    """The blocks without those that the person introduces as somebody else's words; none of a message that a program wrote,
    which tells a model its role or in what form it is to reply."""
    if _PROGRAM.search(turn.text):
        return ()
    kept: list[Block] = []
    last_run = -1  # up to there, what stands behind the introduction is somebody else's
    for block in _without_reports(turn):
        if block.behind_output or _ANSWER.search(block.text):
            break
        if block.run <= last_run or (kept and last_run == kept[-1].run == block.run - 1):
            last_run = block.run
            continue
        last_run = block.run if shows(Signal.REPORTED, block.text) else -1
        kept.append(block)
    return tuple(kept)


def typed_blocks(turn: Turn) -> tuple[Block, ...]:
    """The blocks of a user turn that the person typed."""
    blocks = blocks_of(turn.text)
    length = sum(len(block.text) for block in blocks)
    if length <= TYPED_CHARS:
        return blocks
    ends = (blocks[0], blocks[-1])
    if length > PASTED_CHARS or any(shows(Signal.ABOUT_TEXT, end.text) for end in ends):
        return tuple(dict.fromkeys(ends))
    return tuple(block for block in blocks if block in ends or block.style == "item" or block.section)


def pasted_blocks(turn: Turn) -> tuple[Block, ...]:
    """Those of them that stand in the middle of a long message, or make up a plan that is to be carried out."""
    blocks = typed_blocks(turn)
    if _PLAN.match(turn.text):
        return blocks[1:]
    return blocks[1:-1] if sum(len(block.text) for block in blocks_of(turn.text)) > TYPED_CHARS else ()


def _without_reports(turn: Turn) -> tuple[Block, ...]:
    """The typed blocks; of a message that brings somebody's report only what frames it, and what is under a heading."""
    blocks = typed_blocks(turn)
    if _PLAN.match(turn.text) or len(turn.text) <= _FRAME_CHARS[0] or not _REPORT.search(turn.text):
        return blocks
    frame = dict(zip((0, len(blocks) - 1), _FRAME_CHARS, strict=True)) if len(blocks) > 1 else {}
    return tuple(
        block
        for position, block in enumerate(blocks)
        if sort_of_section(block.section) is Sort.CONVENTION
        or (len(block.text) <= frame.get(position, 0) and not _REPORT.search("\n".join(block.lines)))
    )


def own_part(sentence: str) -> str | None:
    """The beginning of a sentence up to where it says who speaks next; None where the person speaks to its end."""
    told = _TELLS.search(sentence)
    return sentence[: told.end()] if told else None


def within_quotes(sentences: Sequence[str]) -> frozenset[int]:
    """Returns which of the sentences stand in a quotation that an earlier one opened after naming who says it."""
    inside: set[int] = set()
    closing = ""
    for position, sentence in enumerate(sentences):
        if closing:
            inside.add(position)
            closing = "" if _closes(sentence, closing) else closing
            continue
        if shows(Signal.REPORTED, sentence):
            return frozenset({*inside, *range(position + 1, len(sentences))})
        told = _TELLS.search(sentence)
        opened = _OPENING.match(sentence, told.end()) if told else None
        if opened:
            mark = _CLOSING[opened["mark"]]
            closing = "" if _closes(sentence[opened.end() :], mark) else mark
    return frozenset(inside)


def _closes(text: str, mark: str) -> bool:
    """Whether the quotation ends in the text. Within a word the mark is an apostrophe."""
    return bool(re.search(rf"{re.escape(mark)}(?!\w)", text))
