"""OpenMemory, once the server of mem0: its database, or the zip that it exported, with a line a memory."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator

from agent_memory.errors import UsageInvalid
from agent_memory.imports import base
from agent_memory.imports.formats.mem0 import memory_in


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    if not path.endswith((".db", ".sqlite")):
        yield from map(memory_in, map(base.decoded, filter(bytes.strip, _lines(path))))
        return
    memories, apps, categories, of = base.read_tables(
        path, "content", "it has no memories of OpenMemory", "memories", "apps", "categories", "memory_categories"
    )
    names = {each.get("id"): str(each.get("name")) for each in (*apps, *categories)}
    tags: dict[object, list[str]] = {}
    for each in of:
        tags.setdefault(each.get("memory_id"), []).append(names.get(each.get("category_id"), ""))
    for each in memories:
        yield memory_in({**each, "app": names.get(each.get("app_id")), "categories": tags.get(each.get("id"))})


def _lines(path: str) -> list[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(base.read_file(path))) as archive:
            name = next((each for each in archive.namelist() if each.endswith("memories.jsonl.gz")), None)
            base.need(name is not None, path, "there is no memories.jsonl.gz in it")
            with archive.open(str(name)) as packed, gzip.open(packed) as lines:
                data = lines.read(base.MAX_FILE_BYTES + 1)
    # Of a damaged archive, zipfile passes on a ValueError; of one with a password or an unknown method, a RuntimeError.
    except (zipfile.BadZipFile, EOFError, zlib.error, OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageInvalid(f"{path} is not an export of OpenMemory: {reason}") from None
    base.need(len(data) <= base.MAX_FILE_BYTES, path, f"it holds more than {base.MAX_FILE_BYTES >> 20} MiB")
    return data.split(b"\n")


SOURCE = base.Source("OpenMemory", _read, has_ids=True)
