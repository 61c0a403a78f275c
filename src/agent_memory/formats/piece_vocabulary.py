"""The vocabulary of a tokenizer in the JSON form of the `tokenizers` library; of its other parts nothing is read."""

from __future__ import annotations

import json

from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_object

_KEY = b'"vocab":'
_AFTER = b'"merges":'


def parse_piece_vocabulary(data: bytes) -> Result[dict[str, int], str]:
    """The number of each piece; else what is wrong with the file. The merges after it, two thirds of the file, are left."""
    start = data.find(b"{", data.find(_KEY) + len(_KEY)) if _KEY in data else -1
    end = data.rfind(b"}", start, data.find(_AFTER, start)) + 1 if start >= 0 else 0
    if end <= 0:
        return Failure("it holds no vocabulary")
    try:
        vocabulary = json.loads(data[start:end])
    except (ValueError, RecursionError):
        return Failure("its vocabulary is no JSON")
    if not is_object(vocabulary) or not all(type(number) is int for number in vocabulary.values()):
        return Failure("its vocabulary does not number its pieces")
    return Success(vocabulary)
