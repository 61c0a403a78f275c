"""Episodes: what the person asked, the work that followed, and how the agent closed it."""

from __future__ import annotations

import re

from attrs import frozen

from agent_memory.domain.history import History, Role, Turn

_INJECTED = re.compile(
    r"\s*(?:<[a-z][\w-]*>|# AGENTS\.md instructions|Caveat: |This session is being continued|Your final response is"
    r"|\[Request interrupted|\[Image|Base directory for this skill)",
    re.IGNORECASE,
)
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
    return tuple(Episode(asked, tuple(work)) for asked, work in groups)


def is_injected(turn: Turn) -> bool:
    """Whether the text of a user turn was put there by a program and typed by nobody."""
    return bool(_INJECTED.match(turn.text)) or not turn.text.strip()
