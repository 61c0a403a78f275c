"""The head without which a harness ignores a rule file: frontmatter that says that it always counts.

https://cursor.com/docs/context/rules, https://docs.windsurf.com/windsurf/cascade/memories, https://kiro.dev/docs/steering,
https://docs.github.com/en/copilot/customizing-copilot/adding-repository-custom-instructions-for-github-copilot
"""

from __future__ import annotations

import re

from attrs import evolve
from returns.result import Result

from agent_memory.formats.section_splice import Spliced, splice_section

_HEADS = (
    (re.compile(r"/\.cursor/rules/.+\.mdc\Z"), "description: Memory of earlier sessions\nalwaysApply: true"),
    (re.compile(r"/\.windsurf/rules/.+\.md\Z"), "trigger: always_on"),
    (re.compile(r"/\.kiro/steering/.+\.md\Z"), "inclusion: always"),
    (re.compile(r"/\.github/instructions/.+\.instructions\.md\Z"), 'applyTo: "**"'),
)


def rule_head(path: str) -> str:
    """The head that a file at this absolute path needs; empty for one that needs none."""
    return next((f"---\n{head}\n---\n\n" for pattern, head in _HEADS if pattern.search(path)), "")


def with_section(path: str, data: bytes | None, section: str) -> Result[Spliced, str]:
    """`splice_section`; a file that is new or empty gets its head with the section, which goes with it again."""
    head = "" if data else rule_head(path)
    spliced = splice_section(data or b"", section)
    return spliced.map(lambda new: evolve(new, data=head.encode() + new.data, separator=head)) if head else spliced
