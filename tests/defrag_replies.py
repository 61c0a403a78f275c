"""What an agent might answer to a defrag prompt, honest and not: actions on the entries that it was shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from agent_memory.note.note import StoredEntry
from agent_memory.rules.plan import Action, Archive, Edit, Merge, Rename, Retag, Split, SplitPart
from agent_memory.text.markdown import append_see_also, find_links, without_see_also
from agent_memory.text.salience import salient_tokens

ALPHABET = (
    "alpha bravo charlie delta foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra "
    "tango uniform victor whiskey yankee zulu"
)
WORDS = ALPHABET.split()
TOKENS = (
    "`make x{}`", "port {}080", "src/app{}/main.py", "https://a.example/{}", "--flag-{}", "$HOME_{}", "SOME_{}",
    "fetchUser{}", "v2.{}.1", "#{}", "{}5s",
)  # fmt: skip


def a_body(random: Random, links: tuple[str, ...] = ()) -> str:
    """A few lines with commands, paths, numbers and negations in them, and perhaps a link."""
    body = "\n".join(_line(random) for _ in range(random.randint(1, 8)))
    return append_see_also(body, random.sample(links, min(len(links), random.randint(0, 2))))


def a_title(random: Random) -> str:
    """Three words."""
    return " ".join(random.sample(WORDS, 3)).capitalize()


def honest_merge(shown: list[StoredEntry], random: Random) -> Action:
    """All lines, laid out anew, and all links."""
    chosen = random.sample(shown, min(len(shown), random.randint(2, 3)))
    lines = list(dict.fromkeys(line for each in chosen for line in without_see_also(each.body).split("\n") if line))
    random.shuffle(lines)
    mark = random.choice(("- ", "* ", "", "> "))
    links = [link.target for each in chosen for link in find_links(each.body)]
    body = append_see_also("\n".join(mark + line for line in lines), links)
    titles = tuple(each.meta.title for each in chosen[1:])
    return Merge(tuple(each.meta.id for each in chosen), chosen[0].meta.title, body, drops=titles)


def lossy_merge(shown: list[StoredEntry], random: Random) -> Action:
    """A merge without one of its tokens, or one of its negations, or half of its lines."""
    merge = honest_merge(shown, random)
    assert isinstance(merge, Merge)
    tokens = sorted(salient_tokens(without_see_also(merge.body)))
    if tokens and random.random() < 0.6:
        return _merge_with(merge, re.sub(re.escape(random.choice(tokens)), "", merge.body, flags=re.IGNORECASE))
    if "Never " in merge.body and random.random() < 0.5:
        return _merge_with(merge, merge.body.replace("Never ", ""))
    lines = merge.body.split("\n")
    return _merge_with(merge, "\n".join(lines[: max(len(lines) // 2, 1)]))


def split(shown: list[StoredEntry], random: Random) -> Action:
    """Two or three parts between which all lines are dealt out; now and then one line is missing."""
    source = random.choice(shown)
    lines = without_see_also(source.body).split("\n")
    if random.random() < 0.3:
        lines.pop()
    count = random.randint(2, 3)
    parts = tuple(SplitPart(f"{a_title(random)} {n}", "\n".join(lines[n::count])) for n in range(count))
    return Split(source.meta.id, parts)


def edit(shown: list[StoredEntry], random: Random) -> Action:
    """A line becomes another, in half of the cases with the tokens named that go."""
    source = random.choice(shown)
    line = random.choice(source.body.split("\n"))
    drops = (line,) if random.random() < 0.5 else ()
    return Edit(source.meta.id, line, _line(random), drops)


def rename(shown: list[StoredEntry], random: Random) -> Action:
    """Another title, at times one that is taken."""
    source = random.choice(shown)
    return Rename(source.meta.id, a_title(random) if random.random() < 0.7 else random.choice(shown).meta.title)


def retag(shown: list[StoredEntry], random: Random) -> Action:
    """Other tags, at times none."""
    return Retag(random.choice(shown).meta.id, tuple(random.sample(WORDS, random.randint(0, 3))))


def archive(shown: list[StoredEntry], random: Random) -> Action:
    """One entry goes."""
    return Archive(random.choice(shown).meta.id, "nobody needs it")


def nonsense(shown: list[StoredEntry], random: Random) -> Action:
    """An entry that is not there, a merge with itself, everything at once for a summary."""
    ids = tuple(each.meta.id for each in shown)
    return random.choice(
        (
            Archive("id__zzzzzz", "stale"),
            Merge((ids[0], ids[0]), "Same", "Same."),
            Merge(ids, "Summary", "User works on software."),
            Split(ids[0], ()),
            Edit(ids[-1], "a", ""),
        )
    )


REPLIES: tuple[Callable[[list[StoredEntry], Random], Action], ...] = (
    honest_merge, honest_merge, lossy_merge, split, edit, rename, retag, archive, nonsense,
)  # fmt: skip


def some_actions(shown: list[StoredEntry], random: Random) -> tuple[Action, ...]:
    """A reply of one to eight actions."""
    return tuple(random.choice(REPLIES)(shown, random) for _ in range(random.randint(1, 8))) if shown else ()


def _line(random: Random) -> str:
    words = " ".join(random.sample(WORDS, random.randint(3, 7)))
    token = f" with {random.choice(TOKENS).format(random.randint(1, 99))}" if random.random() < 0.7 else ""
    return f"{random.choice(('', '', 'Never '))}{words}{token}."


def _merge_with(merge: Merge, body: str) -> Merge:
    return Merge(merge.ids, merge.title, body, drops=merge.drops)
