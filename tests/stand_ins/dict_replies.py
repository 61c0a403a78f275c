"""Replies in memory."""

from __future__ import annotations

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.run import KeptReply
from agent_memory.errors import Error


@define
class DictReplies:
    """`Replies` in a dict."""

    replies: dict[str, KeptReply] = field(factory=dict[str, KeptReply])
    spent: list[str] = field(factory=list[str])

    def find_reply(self, key: str) -> Result[KeptReply | None, Error]:
        return Success(self.replies.get(key))

    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
        self.replies[key] = reply
        return Success(None)

    def spend_reply(self, key: str) -> Result[None, Error]:
        if self.replies.pop(key, None) is not None:
            self.spent.append(key)
        return Success(None)

    def drop_reply(self, key: str) -> Result[None, Error]:
        self.replies.pop(key, None)
        self.spent = [each for each in self.spent if each != key]
        return Success(None)
