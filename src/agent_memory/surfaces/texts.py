"""Text that a person hands over on the command line."""

from __future__ import annotations

import sys

from agent_memory.domain.text.tags import normal_tag, split_tags
from agent_memory.errors import UsageInvalid

MAX_STDIN_BYTES = 1 << 20


def text_of(argument: str) -> str:
    """The argument; for `-` all of standard input, which must be UTF-8 and at most 1 MiB."""
    if argument != "-":
        return argument
    if sys.stdin is None:
        raise UsageInvalid("`-` reads standard input, which is closed")
    try:
        content = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    except OSError as error:
        raise UsageInvalid(f"Standard input cannot be read: {error.strerror}") from None
    if len(content) > MAX_STDIN_BYTES:
        raise UsageInvalid(f"What came on standard input is larger than {MAX_STDIN_BYTES >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageInvalid("What came on standard input is not text in UTF-8") from None


def tags_of(words: str) -> tuple[str, ...]:
    """The normal tags in a list separated by commas or spaces, each once; refused where nothing of one can be a tag."""
    tags: dict[str, None] = {}
    for word in split_tags(words):
        tag = normal_tag(word)
        if tag is None:
            raise UsageInvalid(f"Nothing of {word!r} in --tags can be a tag")
        tags[tag] = None
    return tuple(tags)


def scope_of(given: str, here: str) -> str:
    """The scope that `--scope` means: `repo` is that of the working directory, `here`."""
    from agent_memory.domain.queueing.scope import stated_scope  # few commands take one
    from agent_memory.domain.text.plain_text import one_line

    scope = here if given == "repo" else stated_scope(given)
    if scope is None:
        expected = "expected global, repo, or a repository's key such as github.com/owner/repo"
        raise UsageInvalid(f"--scope is {one_line(given, 80)!r}, {expected}")
    return scope


def is_text(word: str) -> bool:
    """Whether an argument is text: bytes that are not UTF-8 reach us as halves of surrogate pairs."""
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
