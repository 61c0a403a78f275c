"""The two data files of the `wordllama` package. Its code is never imported: that would take a second, configure logging
and, where its tokenizer is not found, ask the network."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.values import frozen

PACKAGE = "wordllama"
NOT_INSTALLED = (
    "Semantic search is not installed: `uv tool install '.[semantic]'` in the checkout of agent-memory adds it."
)

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")


@frozen
class WordllamaFiles:
    """Where the vectors and the vocabulary of their word pieces are."""

    weights: Path
    tokenizer: Path


def find_wordllama_files() -> Result[WordllamaFiles, str]:
    """The files of the installed package; else a sentence that says what is missing and what to do."""
    try:
        return _found_files()
    except OSError as error:  # of any directory in which Python looks for modules
        return Failure(f"Semantic search is off: whether it is installed cannot be told ({error.strerror}).")


def _found_files() -> Result[WordllamaFiles, str]:
    try:
        found = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):  # a namesake without a specification
        found = None
    directories = tuple(found.submodule_search_locations or ()) if found else ()
    if not directories:
        return Failure(NOT_INSTALLED)
    for directory in map(Path, directories):
        files = WordllamaFiles(directory / _WEIGHTS, directory / _TOKENIZER)
        if files.weights.is_file() and files.tokenizer.is_file():
            return Success(files)
    return Failure(broken(f"{Path(directories[0]) / _WEIGHTS} or its tokenizer is missing"))


def broken(problem: str) -> str:
    """What to tell of a package that is there and of no use."""
    return f"Semantic search is off, since its model is damaged: {problem}. Mend it with pip install --force-reinstall {PACKAGE}."
