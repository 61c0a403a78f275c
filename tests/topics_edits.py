"""What people and programs do to a directory of notes, for tests of who sees it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

WORDS = ("zebra", "camel", "otter", "llama", "koala")
IDS = tuple(f"id__{letter * 6}" for letter in "abcdef")
Edit = Callable[[Path, random.Random], None]


def write(path: Path, id: str, word: str) -> None:
    path.write_text(f"---\nid: {id}\ntitle: Title\ncreatedAt: 1771000205123\n---\nA {word}.\n")


def in_a_later_tick(path: Path, edit: Callable[[], object]) -> None:
    """What two edits within one tick of the clock do to the times of a file is why a fresh file is not believed."""
    before_ns = path.stat().st_ctime_ns
    edit()
    while path.exists() and path.lstat().st_ctime_ns == before_ns:
        os.chmod(path, 0o600)


def notes(topics: Path) -> list[Path]:
    shown = (each for each in topics.iterdir() if not each.name.startswith("."))
    return sorted(each for each in shown if each.is_file() and not each.is_symlink())


def rewrite_as_long_with_its_times(topics: Path, chance: random.Random) -> None:
    path = chance.choice(notes(topics))
    times = path.stat()
    text = path.read_text()
    word = next(word for word in chance.sample(WORDS, 5) if word not in text)
    old = next(word for word in WORDS if word in text)
    in_a_later_tick(path, lambda: path.write_text(text.replace(old, word)))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def rename(topics: Path, chance: random.Random) -> None:
    path = chance.choice(notes(topics))
    path.rename(topics / f"renamed {chance.random()} -- {path.name.rpartition(' -- ')[2]}")


def add(topics: Path, chance: random.Random) -> None:
    write(topics / f"new {chance.random()}.md", chance.choice(IDS), chance.choice(WORDS))


def add_with_the_directory_as_it_was(topics: Path, chance: random.Random) -> None:
    times = topics.stat()
    write(topics / f"new {chance.random()}.md", chance.choice(IDS), chance.choice(WORDS))
    os.utime(topics, ns=(times.st_atime_ns, times.st_mtime_ns))


def remove(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 2:
        chance.choice(notes(topics)).unlink()


def link_instead(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 2:
        path = chance.choice(notes(topics))
        moved = topics.parent / f"moved {chance.random()}.md"
        path.rename(moved)
        path.symlink_to(moved)


def swap(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 1:
        one, other = chance.sample(notes(topics), 2)
        one.rename(topics / "aside.md")
        other.rename(one)
        (topics / "aside.md").rename(other)


def put_away(topics: Path, chance: random.Random) -> None:
    if len(notes(topics)) > 2:
        path = chance.choice(notes(topics))
        path.rename(topics.parent / "archive" / path.name)


def make_a_directory(topics: Path, chance: random.Random) -> None:
    directory = topics / f"deeper {chance.randrange(3)}"
    directory.mkdir(exist_ok=True)
    if chance.random() < 0.5:
        write(directory / "lost.md", IDS[5], "zebra")


def hide(topics: Path, chance: random.Random) -> None:
    (topics / f".hidden {chance.random()}.md").write_text("of another program")


def damage(topics: Path, chance: random.Random) -> None:
    path = chance.choice(notes(topics))
    in_a_later_tick(path, lambda: path.write_text(f"---\nid: {path.name}\n: otter\n---\nA zebra.\n"))


EDITS: tuple[Edit, ...] = (
    rewrite_as_long_with_its_times, rename, add, add_with_the_directory_as_it_was, remove, link_instead, swap, put_away,
    make_a_directory, hide, damage,
)  # fmt: skip
