"""The plain text in which Cursor kept its transcripts before 2026, as the lines of its later ones.

`user:` and `assistant:` stand on lines of their own; an assistant's part holds its words, `[Thinking]`, `[Tool call] Name`
and `[Tool result]`, these with indented lines below them.

The agent may have written any of these lines, so only what comes before its first words is sure to be the person's (P19).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from agent_memory.adapters.disk.lines import Line, LongLine, read_lines
from agent_memory.values import define, field

_SPEAKERS = ("user:", "assistant:")
_THOUGHT, _CALL, _RESULT = "[Thinking]", "[Tool call]", "[Tool result]"
_MAX_PART_CHARS = 1_000_000

Json = dict[str, object]


def plain_text_pieces(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    """The file's content as lines of JSON."""
    reader = _Reader()
    for piece in read_lines(descriptor, size_bytes):
        if isinstance(piece, LongLine):
            yield piece
            continue
        yield from map(_as_line, reader.take(piece.data.decode("utf-8", "replace").rstrip("\r")))
    yield from map(_as_line, reader.end())


def _as_line(value: Json) -> Line:
    return Line(json.dumps(value).encode())


@define
class _Reader:
    """Takes the file's lines; gives what was said as soon as it is over."""

    _speaker: str = ""
    _kind: str = "text"
    """What the lines at hand belong to: `text`, a thought, a call, a result."""
    _name: str = ""
    _lines: list[str] = field(factory=list[str])
    _chars: int = 0
    _content: list[Json] = field(factory=list[Json])
    _tagged: bool | None = None
    """Whether the first words of a person had tags: from then on a speaker's line without them is somebody's text."""
    _agent_spoke: bool = False
    _held: bool = False
    """The line before was `user:`."""

    def take(self, line: str) -> Iterator[Json]:
        if self._held:
            yield from self._begin_user(line)
        bare = line.strip()
        if line.rstrip() in _SPEAKERS:
            if bare == "user:":
                self._held = True
            else:
                yield from self._begin("assistant:")
        elif self._speaker == "assistant:" and bare.startswith((_THOUGHT, _CALL, _RESULT)):
            yield from self._begin_part(bare)
        else:
            if self._kind != "text" and line[:1] not in (" ", "\t"):
                yield from self._begin_part("")
            self._add(line)

    def end(self) -> Iterator[Json]:
        yield from self._finish()

    def _begin_user(self, next_line: str) -> Iterator[Json]:
        self._held = False
        tagged = next_line.lstrip().startswith(("<user_query>", "<timestamp>"))
        self._tagged = tagged if self._tagged is None else self._tagged
        if self._tagged and not tagged:
            self._add("user:")
        else:
            yield from self._begin("user:")

    def _begin(self, speaker: str) -> Iterator[Json]:
        yield from self._finish()
        self._speaker = speaker

    def _begin_part(self, mark: str) -> Iterator[Json]:
        self._close_part()
        if self._content and self._content[0]["type"] == "tool_result":
            yield from self._finish()
        if mark.startswith(_RESULT):
            yield from self._finish()
            self._kind = _RESULT
        elif mark.startswith(_CALL):
            self._kind, self._name = _CALL, mark.removeprefix(_CALL).strip()
        elif mark.startswith(_THOUGHT):
            self._kind = _THOUGHT

    def _add(self, line: str) -> None:
        self._chars += len(line)
        if self._chars <= _MAX_PART_CHARS:
            self._lines.append(line)

    def _close_part(self) -> None:
        lines, kind, name = self._lines, self._kind, self._name
        self._lines, self._kind, self._name, self._chars = [], "text", "", 0
        text = "\n".join(lines).strip()
        if kind == _CALL:
            self._content.append({"type": "tool_use", "name": name, "input": _arguments(lines)})
        elif kind == _RESULT:
            self._content.append({"type": "tool_result", "content": text})
        elif kind == "text" and text:
            self._content.append({"type": "text", "text": text})

    def _finish(self) -> Iterator[Json]:
        self._close_part()
        content, self._content = self._content, []
        if not content or not self._speaker:
            return
        answers = content[0]["type"] == "tool_result"
        role = "user" if answers or self._speaker == "user:" else "assistant"
        if role == "user" and self._agent_spoke and not answers:
            content = [{"type": "tool_result", "name": "history", "content": each["text"]} for each in content]
        self._agent_spoke = self._agent_spoke or role == "assistant" or answers
        yield {"role": role, "message": {"content": content}}


def _arguments(lines: list[str]) -> Json:
    found = (line.strip().partition("=") for line in lines)
    return {key: value for key, equals, value in found if equals and key}
