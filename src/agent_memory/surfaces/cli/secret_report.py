"""What `memory doctor --secrets` shows: where and of what kind, never what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_memory.domain.doctor.catalogue import SecretFind, SecretSearch
from agent_memory.surfaces.console import Console

_ID = re.compile(r"id__[1-9A-HJ-NP-Za-km-z]{6}")
_COMMIT_CHARS = 10


def report_secrets(search: SecretSearch, console: Console) -> int:
    """Show it; the exit code: 1 when something was found, or could not be looked at."""
    console.document(_document(search))
    console.out("\n".join((*(_line(find) for find in search.finds), _summary(search))))
    for reason in search.unread:
        console.err(f"memory: not looked at: {reason}")
    return 0 if search.is_clean else 1


def _line(find: SecretFind) -> str:
    kinds = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in find.kinds)
    return f"{_place(find)}: {kinds}"


def _place(find: SecretFind) -> str:
    if not find.in_history:
        return find.path
    if find.commit is None:
        return "git, an object that no commit holds any more"
    commit = f"commit {find.commit[:_COMMIT_CHARS]}"
    return f"git, {commit}, {find.path}" if find.path else f"git, message of {commit}"


def _summary(search: SecretSearch) -> str:
    looked_at = f"{_count(search.files, 'file')} and {_count(search.objects, 'object')} of git"
    if not search.finds:
        return f"No secret found in {looked_at}"
    sentences = [
        f"Secrets in {_count(len(search.finds), 'place')} of {looked_at}",
        "change them where they were issued",
    ]
    if known := list(dict.fromkeys(_ids(search))):
        commands = ", ".join(f"`memory forget {id} --purge`" for id in known[:3])
        more = f" and {len(known) - 3} more" if len(known) > 3 else ""
        sentences.append(f"then remove them, from git's history too, with {commands}{more}")
    else:
        sentences.append("then remove them, from git's history too, with `memory forget ID|--session S --purge`")
    return "; ".join(sentences)


def _ids(search: SecretSearch) -> Iterator[str]:
    for find in search.finds:
        yield from _ID.findall(find.path)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _document(search: SecretSearch) -> dict[str, Any]:
    return {
        "secrets": [
            {
                "path": find.path or None,
                "commit": find.commit,
                "inHistory": find.in_history,
                "kinds": [{"name": name, "count": count} for name, count in find.kinds],
            }
            for find in search.finds
        ],
        "files": search.files,
        "objects": search.objects,
        "unread": list(search.unread),
    }
