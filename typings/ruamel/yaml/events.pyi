from ruamel.yaml.error import StreamMark

class Event:
    start_mark: StreamMark
    end_mark: StreamMark

class NodeEvent(Event):
    anchor: str | None

class CollectionStartEvent(NodeEvent):
    flow_style: bool | None
    @property
    def tag(self) -> str | None: ...

class CollectionEndEvent(Event): ...

class DocumentStartEvent(Event):
    version: tuple[int, int] | None
    tags: dict[str, str] | None

class AliasEvent(NodeEvent): ...

class ScalarEvent(NodeEvent):
    value: str
    style: str | None
    @property
    def tag(self) -> str | None: ...

class SequenceStartEvent(CollectionStartEvent): ...
class SequenceEndEvent(CollectionEndEvent): ...
class MappingStartEvent(CollectionStartEvent): ...
class MappingEndEvent(CollectionEndEvent): ...
