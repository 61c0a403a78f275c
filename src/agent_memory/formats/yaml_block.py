"""A YAML block as values with their places in the text. Only plain data: anchors, tags and merge keys are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from attrs import field, frozen
from returns.result import Failure, Result, Success
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

from agent_memory.formats.yaml_scalars import Plain, Scalar, plain_value

MAX_DEPTH = 8


@frozen
class ScalarNode:
    """One scalar. Offsets are characters of the block; both are that of the next token for a value that is not written."""

    value: Scalar
    start: int
    end: int
    style: str
    """Empty for a plain one, else the character that starts it: `'`, `"`, `|` or `>`."""


@frozen
class SequenceNode:
    """`[…]` or lines with dashes. The end of the latter is that of the last item."""

    items: tuple[Node, ...]
    start: int
    end: int
    flow: bool


@frozen
class Pair:
    """One key, as it is written without quotes, and its value."""

    key: str
    key_start: int
    key_end: int
    value: Node

    @property
    def end(self) -> int:
        """Where the value ends; for one that is not written, where the key ends."""
        unwritten = isinstance(self.value, ScalarNode) and not self.value.style and self.value.start == self.value.end
        return self.key_end if unwritten else self.value.end


@frozen
class MappingNode:
    """`{…}` or lines with colons. The end of the latter is that of the last value."""

    pairs: tuple[Pair, ...]
    start: int
    end: int
    flow: bool

    def get(self, key: str) -> Pair | None:
        """The pair with this key."""
        return next((pair for pair in self.pairs if pair.key == key), None)


Node = ScalarNode | SequenceNode | MappingNode


def read_block(text: str) -> Result[MappingNode, tuple[str, ...]]:
    """The mapping that the text is; an empty one for a text without any value. Else every problem, with its line.

    Lines are counted from 2: the block of a note begins below its first `---`.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    build = _Build(iter(yaml.parse(text)))
    try:
        root = build.root()
    except _RefusedError as refused:
        return Failure((*build.problems, str(refused)))
    except MarkedYAMLError as error:
        what = " ".join(str(error.problem or error.context).split())
        return Failure((*build.problems, f"line {_line(error.problem_mark or error.context_mark)}: {what}"))
    except (YAMLError, ValueError, OverflowError, AssertionError) as error:
        # A character that no YAML may hold, an escape that is no character, a directive that ruamel does not expect.
        return Failure((*build.problems, f"not YAML: {' '.join(str(error).split('in ')[0].split())}"))
    return Failure(tuple(build.problems)) if build.problems else Success(root)


def plain(node: Node) -> Plain:
    """The node as bare values."""
    match node:
        case ScalarNode(value):
            return value
        case SequenceNode(items):
            return [plain(item) for item in items]
        case MappingNode(pairs):
            return {pair.key: plain(pair.value) for pair in pairs}


class _RefusedError(Exception):
    """What makes going on pointless."""


class _Scanner(Scanner):
    """Refuses what is nested too deeply as it meets it: ruamel looks at every bracket that is open again at every token."""

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: Literal["[", "{"]) -> None:  # noqa: N803 - ruamel calls it so
        """The next `[` or `{`."""
        if len(self.flow_context) >= MAX_DEPTH:
            raise _too_deep(self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


def _too_deep(mark: object) -> _RefusedError:
    return _RefusedError(f"line {_line(mark)}: nested deeper than {MAX_DEPTH} levels")


def _line(mark: object) -> int:
    return int(getattr(mark, "line", 0)) + 2


@frozen
class _Build:
    """Builds nodes from events as they come, so that nothing is read beyond what is refused."""

    events: Iterator[Event]
    problems: list[str] = field(factory=list[str])

    def root(self) -> MappingNode:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, DocumentStartEvent) and (root or event.version or event.tags):
                raise _RefusedError(f"line {_line(event.start_mark)}: one document without directives expected")
            if isinstance(event, NodeEvent):
                root = self.node(event, depth=1)
        if root is None or (isinstance(root, ScalarNode) and root.value is None):
            return MappingNode((), 0, 0, flow=False)
        if not isinstance(root, MappingNode):
            raise _RefusedError("keys with values expected, like `title: something`")
        return root

    def node(self, event: Event, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise _too_deep(event.start_mark)
        if isinstance(event, SequenceStartEvent):
            self.refuse_indirection(event)
            return self.sequence(event, depth)
        if isinstance(event, MappingStartEvent):
            self.refuse_indirection(event)
            return self.mapping(event, depth)
        return self.scalar(event)

    def scalar(self, event: Event) -> ScalarNode:
        start, end = event.start_mark.index, event.end_mark.index
        if not isinstance(event, ScalarEvent):
            self.refuse(event, "aliases", f"*{getattr(event, 'anchor', '')}")
            return ScalarNode(None, start, end, "")
        self.refuse_indirection(event)
        style = event.style or ""
        return ScalarNode(event.value if style else plain_value(event.value), start, end, style)

    def refuse_indirection(self, event: ScalarEvent | CollectionStartEvent) -> None:
        if event.anchor:
            self.refuse(event, "anchors", f"&{event.anchor}")
        if event.tag:
            self.refuse(event, "tags", f"{event.tag}")

    def refuse(self, event: Event, what: str, sign: str) -> None:
        self.problems.append(
            f"line {_line(event.start_mark)}: {what} (`{sign}`) are not allowed; quote what is meant as text"
        )

    def sequence(self, start: CollectionStartEvent, depth: int) -> SequenceNode:
        items: list[Node] = []
        end = start.end_mark.index
        for event in self.events:
            if isinstance(event, SequenceEndEvent):
                end = event.end_mark.index
                break
            items.append(self.node(event, depth + 1))
        flow = bool(start.flow_style)
        return SequenceNode(tuple(items), start.start_mark.index, end if flow or not items else items[-1].end, flow)

    def mapping(self, start: CollectionStartEvent, depth: int) -> MappingNode:
        pairs: dict[str, Pair] = {}
        end = last_end = start.end_mark.index
        for event in self.events:
            if isinstance(event, MappingEndEvent):
                end = event.end_mark.index
                break
            pair = self.pair(event, depth)
            if pair.key in pairs:
                self.refuse(event, "repeated keys", pair.key)
            pairs[pair.key] = pair
            last_end = pair.end
        flow = bool(start.flow_style)
        return MappingNode(tuple(pairs.values()), start.start_mark.index, end if flow else last_end, flow)

    def pair(self, event: Event, depth: int) -> Pair:
        if not isinstance(event, ScalarEvent):
            raise _RefusedError(f"line {_line(event.start_mark)}: a key must be plain text")
        self.refuse_indirection(event)
        if event.value == "<<" and not event.style:
            self.refuse(event, "merge keys", "<<")
        value = self.node(next(self.events), depth + 1)
        return Pair(event.value, event.start_mark.index, event.end_mark.index, value)
