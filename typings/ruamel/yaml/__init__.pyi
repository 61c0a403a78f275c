"""`ruamel.yaml` as far as we use it: the library says `Any` where it says anything. Every stream is a text here, and what a
parser makes always knows its place."""

from collections.abc import Iterator
from io import StringIO
from typing import Any, Literal

from ruamel.yaml.nodes import Node
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

class YAML:
    Scanner: type[Scanner]
    def __init__(self, *, typ: Literal["safe"], pure: bool) -> None: ...
    def scan(self, stream: str) -> Iterator[Token]: ...
    def compose(self, stream: str | StringIO) -> Node | None: ...
    def load(self, stream: str) -> Any: ...
