from ruamel.yaml.error import StreamMark

class Node:
    start_mark: StreamMark
    end_mark: StreamMark

class ScalarNode(Node):
    value: str

class CollectionNode(Node):
    flow_style: bool | None

class SequenceNode(CollectionNode):
    value: list[Node]

class MappingNode(CollectionNode):
    value: list[tuple[Node, Node]]
