from typing import Literal

from ruamel.yaml.error import StreamMark
from ruamel.yaml.tokens import Token

class Reader:
    def get_mark(self) -> StreamMark: ...

class Scanner:
    flow_context: list[str]
    @property
    def reader(self) -> Reader: ...
    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: Literal["[", "{"]) -> None: ...  # noqa: N803
