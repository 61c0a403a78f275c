"""Any directory of markdown, a note a file, with or without frontmatter: a wiki, a vault, notes that memory exported."""

from __future__ import annotations

import os

from agent_memory.imports import base
from agent_memory.imports.formats.jsonl import own_document
from agent_memory.text.markdown import first_heading


def note_in(each: base.Document, place: str) -> base.Record:
    """Returns the record in a file, by the keys that programs use; of an exported note, as it was."""
    if (own := own_document(each)) is not None:
        return own
    path, tags = os.path.splitext(each.name)[0].split("/"), base.texts_in(each.front.get("tags"))
    return base.Record(
        each.name,
        each.body,
        each.text("title", "name") or first_heading(each.body) or base.title_in(each.stem),
        each.text("description", "summary"),
        base.kind_of((each.text("type", "kind"), each.text("category"), *tags)),
        tags,
        each.instant("created", "created_at", "createdAt", "date"),
        each.instant("modified", "updated", "updated_at", "updatedAt", "timestamp") or each.changed_at_ms,
        place,
        names=(
            *(each.text("title"), each.text("permalink"), each.name),
            *("/".join(path[at:]) for at in range(len(path))),
        ),
    )


SOURCE = base.Source("markdown files", base.each_file(note_in))
