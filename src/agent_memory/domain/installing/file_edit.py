"""One file before and after, as a person is shown it."""

from __future__ import annotations

import difflib

from attrs import frozen

from agent_memory.domain.redaction import redact


@frozen
class FileEdit:
    """What is to become of a file; None: there is none."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def is_change(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        """A unified diff, without secrets: settings hold keys of other servers, and a screen is often shared."""
        old, new = (self.path if each is not None else "/dev/null" for each in (self.before, self.after))
        lines = difflib.unified_diff(_lines(self.before), _lines(self.after), old, new, lineterm="")
        return redact("\n".join(lines)).text


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()
