"""Tables of wording: data that stands in a text file beside the module that judges by it.

A line is an expression or a list of words, under the header that says what it shows (`[modal]`). `«name»  expression` names a part
that later lines use as «name»; a line that begins with `# ` is a comment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pkgutil import get_data

from attrs import frozen

_HEADER = re.compile(r"\[([a-z_ -]+)\]")
_PART = re.compile("«([a-z]+)»")


@frozen
class Table:
    """The lines of a table by their headers."""

    lines: Mapping[str, tuple[str, ...]]

    def expression(self, header: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
        """Returns an expression that matches where any of the lines under this header does."""
        return re.compile("|".join(self.lines[header]), flags)

    def words(self, header: str) -> frozenset[str]:
        return frozenset(" ".join(self.lines[header]).split())


def read_table(package: str, name: str) -> Table:
    """Returns a table that is shipped in a package."""
    data = get_data(package, name)
    assert data is not None
    parts: dict[str, str] = {}
    lines: dict[str, list[str]] = defaultdict(list)
    above = ""
    for line in data.decode().splitlines():
        expression = _PART.sub(lambda part: parts.get(part[1], part[0]), line)
        if header := _HEADER.fullmatch(line):
            above = header[1]
        elif named := _PART.match(expression):
            parts[named[1]] = expression[named.end() :].lstrip()
        elif line.strip("#") and not line.startswith("# "):
            lines[above].append(expression)
    return Table({header: tuple(some) for header, some in lines.items()})
