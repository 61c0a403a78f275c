"""Everything that memory wrote, unpacked, for tests that something is nowhere in it."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

Text = tuple[str, bytes]
"""Where something stands, and it."""


def texts_below(directory: Path) -> Iterator[Text]:
    """The name of each file, what is in it (kept histories unpacked, footprints decoded), and all objects of git."""
    for path in directory.rglob("*"):
        name = str(path.relative_to(directory))
        yield name, name.encode()
        if path.name == "HEAD" and (path.parent / "objects").is_dir():
            yield f"{Path(name).parent} objects", _objects(path.parent)
        if path.is_file() and "/objects/" not in name:
            data = path.read_bytes()
            yield name, gzip.decompress(data) if path.suffix == ".gz" else data
            if path.name.startswith("footprint-"):
                states = (each[at] for each in json.loads(data)["files"] for at in ("before", "after"))
                yield from ((name, base64.b64decode(each["data"])) for each in states if each is not None)


def _objects(repository: Path) -> bytes:
    words = ["git", "--git-dir", str(repository), "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    return subprocess.run(words, capture_output=True, check=True).stdout


def holders(directory: Path, word: str) -> list[str]:
    """Everything below the directory that holds the word in its name or in what it says."""
    return sorted({where for where, data in texts_below(directory) if word.encode() in data})


def leaks(secrets: Iterable[str], texts: Iterable[Text]) -> list[str]:
    """Which of the secrets stand where: as they are, as JSON has them, and in base64 at each of three places."""
    written = [*texts]
    whole = b"\0".join(data for _, data in written)
    found = [(secret, form) for secret in secrets for form in _forms(secret) if form in whole]
    return [f"{secret} in {where}" for secret, form in found for where, data in written if form in data]


def _forms(secret: str) -> tuple[bytes, ...]:
    encoded = [base64.b64encode(b"." * at + secret.encode())[4:-4] for at in range(3)]
    return (secret.encode(), json.dumps(secret)[1:-1].encode(), *(each for each in encoded if len(each) >= 12))
