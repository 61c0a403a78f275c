from typing import Any

from ruamel.yaml.error import StreamMark

class Node:
    value: Any
    start_mark: StreamMark
    end_mark: StreamMark
    style: str | None
    flow_style: bool | None

class ScalarNode(Node):
    value: str

class CollectionNode(Node): ...

class SequenceNode(CollectionNode):
    value: list[Node]

class MappingNode(CollectionNode):
    value: list[tuple[Node, Node]]
