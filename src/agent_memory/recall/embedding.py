"""Search by meaning: `Embedder` over static word vectors that ship in a package, and how near the notes of an index are to a
query, by vectors that the index keeps.

Two data files of the `wordllama` package are read: a table of 16-bit floats in the safetensors format, and the vocabulary of
a tokenizer. The package's code is never imported: that would take a second, configure logging and, where its tokenizer is
not found, ask the network.
"""

from __future__ import annotations

import json
import math
import os
import re
import unicodedata
import zlib
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING, Any

from attrs import frozen
from returns.result import Failure

from agent_memory.errors import Error
from agent_memory.files.paths import as_store_io
from agent_memory.files.root import local_state_directory
from agent_memory.recall.hits import Nearness
from agent_memory.results import as_result, unwrap
from agent_memory.text.plain_text import counted

if TYPE_CHECKING:
    from agent_memory.ports import Embedder
    from agent_memory.recall.note_index import NoteIndex
    from agent_memory.store.store_files import Store

_INSTALL = "pip install --no-deps --upgrade --target ~/.local/state/agent-memory/model wordllama==0.4.0.post1"
NO_NUMPY = "Semantic search is off: it needs numpy; install it with `pip install 'agent-memory[semantic]'`."
NO_MODEL = f"Semantic search has no model. Get it once: `{_INSTALL}`."

_WEIGHTS = os.path.join("weights", "l2_supercat_256.safetensors")
_TOKENIZER = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")
_TABLE = "embedding.weight"
_FLOAT16_BYTES = 2

_RECIPE = 1
"""To be raised whenever a text would get a different vector than before."""
_MOST_CHARS = 8_000
"""Beyond this length a text changes its mean little."""
_WORD = re.compile(r"\w+")
_WORD_START = "▁"
_MOST_WORD_CHARS = 48
"""A longer run is cut: no word of a language is so long, and merging takes time by the square of the length."""


def open_static_vectors(home: str) -> StaticVectors | str:
    """Returns the embedder over an installed model, or over the one in `model` of this home's state directory; else a
    sentence that says why there is none. No network, no exception."""
    try:
        found = PathFinder.find_spec("wordllama")
    except OSError as error:  # of any directory in which Python looks for modules
        return f"Semantic search is off: cannot tell whether it is installed ({error.strerror})."
    places = list(found.submodule_search_locations or ()) if found else []
    places.append(os.path.join(local_state_directory(home), "model", "wordllama"))
    place = next(filter(os.path.isdir, places), None)
    if place is None:
        return NO_MODEL
    if find_spec("numpy") is None:
        return NO_NUMPY
    return open_model(os.path.join(place, _WEIGHTS), os.path.join(place, _TOKENIZER))


def open_model(weights: str, tokenizer: str) -> StaticVectors | str:
    """Returns the embedder over these two files; else a sentence that says what is wrong with them."""
    try:
        start, rows, dimensions, checksum = _table_in(weights)
        stem, _ = os.path.splitext(os.path.basename(weights))
        pieces = WordPieces(_read_vocabulary(tokenizer, rows))
        return StaticVectors(f"{stem}-{checksum}-{_RECIPE}", dimensions, weights, start, pieces)
    except OSError as error:
        problem = f"{error.filename} cannot be read: {error.strerror}"
    except _DamagedError as error:
        problem = str(error)
    return f"Semantic search is off, because its model is damaged: {problem}. Get it again: `{_INSTALL}`."


class _DamagedError(Exception):
    """A damaged model file; the text names it and says what is wrong."""


def _table_in(path: str) -> tuple[int, int, int, str]:
    """Returns where in a file the table of vectors starts, its rows and columns, and a checksum of the header and the
    first rows (8 hex digits), which identifies the model. A safetensors file begins with eight bytes of length, then
    JSON that says where each tensor's numbers are (https://huggingface.co/docs/safetensors)."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        sample = os.pread(file.fileno(), 1 << 16, 0)
        length = int.from_bytes(sample[:8], "little")
        header = os.pread(file.fileno(), length, 8) if length <= (1 << 20) else b""
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        tensor = json.loads(header)[_TABLE]
        kind, (rows, columns), (start, end) = tensor["dtype"], tensor["shape"], tensor["data_offsets"]
        are_numbers = all(type(number) is int and number >= 0 for number in (rows, columns, start, end))
        is_whole = end - start == rows * columns * _FLOAT16_BYTES > 0 and 8 + length + end <= size
        if kind == "F16" and are_numbers and is_whole:
            return 8 + length + start, rows, columns, f"{zlib.crc32(sample):08x}"
    raise _DamagedError(f"{path}: it holds no whole table {_TABLE} of 16-bit floats")


def _read_vocabulary(path: str, rows: int) -> dict[str, int]:
    """Returns the number of each piece, from a file of the `tokenizers` library; the merges that follow, two thirds of
    the file, are not read."""
    with open(path, "rb") as file:
        data = file.read()
    start = data.find(b"{", data.find(b'"vocab":') + 1)
    end = data.rfind(b"}", start, data.find(b'"merges":', start)) + 1
    try:
        vocabulary: dict[str, int] = json.loads(data[start:end])
        numbers = [*vocabulary.values()]
    except (ValueError, RecursionError, AttributeError):
        vocabulary, numbers = {}, []
    if not numbers or not all(type(number) is int and 0 <= number < rows for number in numbers):
        raise _DamagedError(f"{path}: it holds no vocabulary for {rows:,} vectors")
    return vocabulary


@frozen
class StaticVectors:
    """`Embedder` by static vectors: the vector of a text is the mean of those of its word pieces. The same text always
    has the same vector, whatever else is embedded with it."""

    name: str
    dimensions: int
    path: str
    """Of the file with the table: rows of little-endian 16-bit floats. It is opened for each reading and not mapped,
    since truncating a mapped file would end the process."""
    start: int
    pieces: WordPieces

    @as_result
    def embed(self, texts: Sequence[str]) -> tuple[bytes, ...]:
        return tuple(self._sum(self._weighed(text)) for text in texts)

    @as_result
    def embed_words(self, words: Sequence[tuple[str, float]]) -> bytes:
        total: dict[int, float] = {}
        for word, worth in words:
            for number, weight in self._weighed(word).items():
                total[number] = total.get(number, 0.0) + worth * weight
        return self._sum(total)

    def _weighed(self, text: str) -> dict[int, float]:
        """Returns the pieces of a text, each with the total weight of its occurrences."""
        total: dict[int, float] = {}
        for number in self.pieces.numbers(text[:_MOST_CHARS]):
            # The pieces are numbered by frequency (measured: 91 -> 93 % of notes found).
            total[number] = total.get(number, 0.0) + number / (number + 300)
        return total

    def _sum(self, pieces: dict[int, float]) -> bytes:
        if not pieces:
            return bytes(self.dimensions)
        numpy = load_numpy()
        size = self.dimensions * _FLOAT16_BYTES
        with as_store_io("read", self.path), open(self.path, "rb", buffering=0) as file:
            data = b"".join(os.pread(file.fileno(), size, self.start + number * size) for number in pieces)
            if len(data) != len(pieces) * size:
                raise OSError(None, "the file has become shorter", self.path)
        rows = numpy.frombuffer(data, dtype="<f2").reshape(len(pieces), self.dimensions)
        return packed((numpy.array([*pieces.values()]) @ rows).tolist())


class WordPieces:
    """Cuts texts into numbered pieces of a vocabulary; `▁` begins a word, `<0x41>` is a byte of a character that the
    vocabulary lacks.

    Byte-pair merging as in SentencePiece: of all neighbours whose union is a piece, the one with the lowest number is
    merged first, the leftmost of equals. Words are lower case and without punctuation (measured: that finds a tenth
    more turns of conversation, and half a note in 42 fewer), and a word is never merged with the next, so each is cut
    only once.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._pieces_of = lru_cache(maxsize=1 << 15)(self._cut)

    def numbers(self, text: str) -> list[int]:
        """Returns the numbers of all pieces in the order of the text."""
        numbers: list[int] = []
        for word in _WORD.findall(unicodedata.normalize("NFC", text).lower()):
            for start in range(0, len(word), _MOST_WORD_CHARS):
                numbers += self._pieces_of(word[start : start + _MOST_WORD_CHARS])
        return numbers

    def _cut(self, word: str) -> tuple[int, ...]:
        pieces = [_WORD_START, *word]
        while len(pieces) > 1:
            unions = map("".join, pairwise(pieces))
            ranked = ((self._vocabulary.get(union), at) for at, union in enumerate(unions))
            best = min(((number, at) for number, at in ranked if number is not None), default=None)
            if best is None:
                break
            at = best[1]
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        numbers: list[int | None] = []
        for piece in pieces:
            if piece in self._vocabulary:
                numbers.append(self._vocabulary[piece])
            else:
                data = piece.encode("utf-8", "surrogatepass")
                numbers += [self._vocabulary.get(f"<0x{byte:02X}>") for byte in data]
        return tuple(number for number in numbers if number is not None)


# -- how near the notes are to a query ------------------------------------------------------------------------------

_AT_ONCE = 256
"""Notes that are embedded and stored together: a search that is killed loses no more than these."""
_NO_LENGTH = 1e-6


@frozen
class IndexedMeanings:
    """How near in meaning the notes are to a query. A note's vector is made when a search first needs it, and kept
    until the note changes."""

    index: NoteIndex
    store: Store
    embedder: Embedder

    @as_result
    def nearness(self, words: Sequence[tuple[str, float]]) -> Nearness:
        """Returns how near each note is, by its number in the index, to these weighted words."""
        try:
            by_all = unwrap(self.embedder.embed_words([(word, 1.0) for word, _ in words]))
        except Error as error:  # the words are searched anyway
            return Nearness(notices=(f"Search by meaning failed. {error!s}",))
        by_worth = unwrap(self.embedder.embed_words(words))
        left = unwrap(self.fill())
        notes = counted(left, "note is", "notes are")
        notices = (f"{notes} not searched by meaning, since vectors could not be stored.",) if left else ()
        vectors = unwrap(self.index.vectors(self.embedder.name))
        if not vectors or not any(by_all):
            return Nearness(notices=notices)
        return _nearness(vectors, (by_all, by_worth), notices)

    @as_result
    def fill(self) -> int:
        """Makes vectors for notes that have none. Returns how many are left because they cannot be stored just now
        (another process writes, the disk is full): the others are searched all the same."""
        numbers = unwrap(self.index.without_vector(self.embedder.name))
        for start in range(0, len(numbers), _AT_ONCE):
            if isinstance(self._put(numbers[start : start + _AT_ONCE]), Failure):
                return len(numbers) - start
        return 0

    @as_result
    def _put(self, numbers: Sequence[int]) -> None:
        from agent_memory.rules.similarity import meaning_text  # most searches find that every note has a vector

        texts: dict[int, str] = {}
        for number, listed in unwrap(self.index.notes(numbers)).items():
            stored = self.store.read_again(listed).value_or(None)
            if stored is not None:  # else it is gone, or cannot be read just now: another search tries again
                texts[number] = meaning_text(stored.meta.title, stored.meta.description, stored.body)
        vectors = unwrap(self.embedder.embed(tuple(texts.values())))
        unwrap(self.index.put_vectors(self.embedder.name, dict(zip(texts, vectors, strict=True))))


def _nearness(vectors: Mapping[int, bytes], wanted: tuple[bytes, bytes], notices: tuple[str, ...]) -> Nearness:
    """Returns how near these vectors are to the two wanted ones: with all words weighted alike they find notes on the
    subject, with rare words weighted up the very thing, and the mean of both finds more than either. Cosines are those
    with the first wanted vector, 0 where either is all zeros; deviations are of cosines after the mean of all rows is
    subtracted from both: what all texts of a store have in common distinguishes none of them."""
    numpy = load_numpy()

    def over(table: Any, lengths: Any) -> Any:
        return numpy.divide(table, lengths, out=numpy.zeros_like(table), where=lengths > _NO_LENGTH)

    def units(rows: Sequence[bytes]) -> Any:
        table = numpy.frombuffer(b"".join(rows), dtype=numpy.int8).reshape(len(rows), -1).astype(float)
        return over(table, numpy.linalg.norm(table, axis=1)[:, None])

    theirs, mine = units([*vectors.values()]), units(wanted)
    mean = theirs.mean(axis=0)
    there = theirs.any(axis=1)[:, None]
    beside = numpy.where(there, theirs - mean, 0.0)
    lengths = numpy.linalg.norm(beside, axis=1)[:, None] * numpy.linalg.norm(mine - mean, axis=1)
    centred = over(beside @ (mine - mean).T, lengths)
    spread = centred.std(axis=0)
    # Below this deviation all notes are equally near, except for rounding.
    deviations = numpy.where(spread > 1e-6, (centred - centred.mean(axis=0)) / numpy.maximum(spread, 1e-9), 0)
    return Nearness(
        dict(zip(vectors, deviations.mean(axis=1).tolist(), strict=True)),
        dict(zip(vectors, (theirs @ mine[0]).tolist(), strict=True)),
        notices,
    )


def load_numpy() -> Any:
    """Returns numpy. Importing it takes 80 ms, so only comparing meanings pays for it."""
    import numpy

    return numpy


_LARGEST = 127


def packed(components: Sequence[float]) -> bytes:
    """Returns the vector as one signed byte for each component, the largest at ±127; zeros stay zeros."""
    largest = max(map(abs, components), default=0.0)
    if not largest or not math.isfinite(largest):
        return bytes(len(components))
    scale = _LARGEST / largest
    return array("b", [round(component * scale) for component in components]).tobytes()


def cosine(one: bytes, other: bytes) -> float:
    """Returns the cosine of two packed vectors, -1 to 1; 0 where one is all zeros or their lengths differ. It takes
    some 20 µs for 256 components, without numpy."""
    mine, theirs = memoryview(one).cast("b"), memoryview(other).cast("b")
    lengths = sum(map(mul, mine, mine)) * sum(map(mul, theirs, theirs))
    return sum(map(mul, mine, theirs)) / math.sqrt(lengths) if lengths and len(one) == len(other) else 0.0
