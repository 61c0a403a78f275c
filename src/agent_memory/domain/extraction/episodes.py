"""Episodes: what the person asked, the work that followed, and how the agent closed it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_memory.domain.extraction.cue import Signal, shows
from agent_memory.domain.extraction.prose import Block, blocks_of
from agent_memory.domain.history import History, Role, Turn
from agent_memory.values import frozen

TYPED_CHARS = 1_500
"""Of a longer message what is between the first and the last paragraph was pasted: of that only lists and what stands under
a heading counts, as a plan does or a list of what is expected."""
PASTED_CHARS = 8_000
"""A longer one is a document."""

_INJECTED = re.compile(
    r"\s*(?:<[a-z][\w-]*>|# AGENTS\.md instructions|Caveat: |This session is being continued|Your final response is"
    r"|\[Request interrupted|\[Image|Base directory for this skill)",
    re.IGNORECASE,
)
_PLAN = re.compile(r"\s*(?:please )?(?:implement|execute|carry out) (?:the following|this) plan\b", re.IGNORECASE)
_EDITS = re.compile(
    r"\bapply_patch\b|\b(?:sed|perl) -\w*i|\btee\b|\bwrite_text\b|\bgit (?:mv|apply|revert)\b|[^|&-]>{1,2} ?[\w./~-]+\.\w"
)


@frozen
class Episode:
    """From one message of the person to their next one."""

    asked: Turn | None
    work: tuple[Turn, ...]
    """The turns of the agent and of its tools."""
    last: bool = False
    """Whether the history ends with it."""

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
        """Whether the agent changed something: by a tool that writes, or by a shell's command, as some agents do."""
        calls = (call for turn in self.work for call in turn.tool_calls)
        return any(call.writes or _EDITS.search(call.brief) for call in calls)

    @property
    def written(self) -> tuple[str, ...]:
        """The files that the agent changed, each once, in the order of their first change."""
        return tuple(
            dict.fromkeys(call.path for turn in self.work for call in turn.tool_calls if call.writes and call.path)
        )


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
    last = len(groups) - 1
    return tuple(Episode(asked, tuple(work), index == last) for index, (asked, work) in enumerate(groups))


def is_injected(turn: Turn) -> bool:
    """Whether the text of a user turn was put there by a program and typed by nobody."""
    return bool(_INJECTED.match(turn.text)) or not turn.text.strip()


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


def said_by(turns: Iterable[Turn], role: Role) -> str:
    """All that one speaker said in some turns."""
    return "\n".join(turn.text for turn in turns if turn.role is role)
