"""Whether a note has to do with what the person just asked. Told by words in common, not by a score: the best of a hundred
notes that have nothing to do with it would score as well as a match."""

from __future__ import annotations

from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.text.terms import content_terms, stem

_LEAST_IN_COMMON = 2
_LEAST_IN_BODY = 3
_LEAST_SHARE = 0.2
_ENOUGH_IN_COMMON = 5

# What a person says to any agent about any code: alone it connects nothing.
_EVERYDAY_WORDS = """
    agent answer app application apply area begin better bit branch bug build button case change check claude clean code codex
    command commit continue correct create current data day debug default delete deploy detail doc document done down edit end
    error example execute expect explain fail feature file fine finish fix folder follow function give go good great handle help
    idea implement improve input instead issue key keep kind line list load log look main maybe method missing mode module more
    move name new next nice number ok okay open option output page part pass path place please point possible problem process
    prompt push question read really ready refactor remove rename repeat result return review run save second see session set
    show simple small some something sort source start state step still stop string support sure system take task test text
    thank thank thing think time try turn two type understand update use user value version view wait way work wrong
    agora ajuda arquivo código corrige erro faz fazer função linha muda novo pasta problema testa teste tudo
"""
_EVERYDAY = frozenset(stem(word) for word in _EVERYDAY_WORDS.split())


def telling_terms(prompt: str) -> frozenset[str]:
    """The stems of a prompt that can connect it with a note."""
    return content_terms(prompt) - _EVERYDAY


def can_connect(prompt: str) -> bool:
    """Whether a prompt says enough to look for notes at all: `yes` and `continue` do not."""
    return len(telling_terms(prompt)) >= _LEAST_IN_COMMON


def is_relevant(prompt: str, stored: StoredEntry) -> bool:
    """Whether they have enough telling words in common: two of which one is in the note's title, description or tags, or three
    anywhere in it; and of a long prompt a fifth of its own, or five."""
    asked = telling_terms(prompt)
    meta = stored.meta
    head = content_terms(f"{meta.title} {meta.description} {' '.join(_words_of(tag) for tag in meta.tags)}")
    in_head = len(asked & head)
    in_common = len(asked & (head | content_terms(stored.body)))
    if in_common < min(_ENOUGH_IN_COMMON, len(asked) * _LEAST_SHARE):
        return False
    return (in_common >= _LEAST_IN_COMMON and in_head > 0) or in_common >= _LEAST_IN_BODY


def _words_of(tag: str) -> str:
    return tag.rpartition("__")[2].replace("-", " ").replace("_", " ")
