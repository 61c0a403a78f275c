"""A package of static vectors, small and made here: the two files of `wordllama` in its directories."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_memory.recall.embedding import StaticVectors, open_model

BYTES = {f"<0x{byte:02X}>": 3 + byte for byte in range(256)}
WORDS = ("▁", "a", "b", "c", "d", "▁a", "ab", "▁ab", "▁b", "cd", "abc", "▁abc", "▁zebra", "▁lock")
VOCABULARY = {"<unk>": 0, "<s>": 1, "</s>": 2, **BYTES, **{word: 259 + at for at, word in enumerate(WORDS)}}
COLUMNS = 8


def row_of(number: int) -> tuple[float, ...]:
    """The vector of a piece: no two are parallel."""
    return tuple(((number * (column + 3) * 37) % 64 - 31) / 32 for column in range(COLUMNS))


def weights_of(rows: Sequence[Sequence[float]], *, kind: str = "F16") -> bytes:
    """A safetensors file of one table of 16-bit floats."""
    table = b"".join(struct.pack(f"<{len(row)}e", *row) for row in rows)
    shape = [len(rows), len(rows[0]) if rows else 0]
    tensor = {"dtype": kind, "shape": shape, "data_offsets": [0, len(table)]}
    header = json.dumps({"embedding.weight": tensor}).encode()
    return len(header).to_bytes(8, "little") + header + table


def tokenizer_of(vocabulary: Mapping[str, object]) -> bytes:
    """A tokenizer's file with this vocabulary."""
    text = json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b"]}}, indent=1)
    return text.encode()


def make_package(directory: Path, concepts: Sequence[Sequence[str]] = ()) -> tuple[Path, Path]:
    """The package in `directory`, as an importer finds it; its table and its vocabulary. The words of a concept, of
    whatever language, have one vector, and then no other word has any."""
    starts = {
        f"▁{word[:end]}": at for at, words in enumerate(concepts) for word in words for end in range(1, len(word) + 1)
    }
    pieces = {start: len(VOCABULARY) + at for at, start in enumerate(starts)}
    rows = [(0.0,) * COLUMNS if concepts else row_of(number) for number in range(len(VOCABULARY))]
    rows += [row_of(7 + 50 * at) for at in starts.values()]
    weights = directory / "wordllama" / "weights" / "l2_supercat_256.safetensors"
    tokenizer = directory / "wordllama" / "tokenizers" / "l2_supercat_tokenizer_config.json"
    for path, content in ((weights, weights_of(rows)), (tokenizer, tokenizer_of({**pieces, **VOCABULARY}))):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    (directory / "wordllama" / "__init__.py").write_text("raise RuntimeError('the code of the package ran')\n")
    return weights, tokenizer


def small_embedder(directory: Path, *concepts: Sequence[str]) -> StaticVectors:
    """The embedder over such a package."""
    return opened(open_model(*map(str, make_package(directory, concepts))))


def opened(found: StaticVectors | str) -> StaticVectors:
    assert isinstance(found, StaticVectors), found
    return found
