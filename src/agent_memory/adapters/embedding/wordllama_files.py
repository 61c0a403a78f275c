"""The two data files of the `wordllama` package. Its code is never imported: that would take a second, configure logging
and, where its tokenizer is not found, ask the network."""

from __future__ import annotations

import importlib.util
import os

from returns.result import Failure, Result, Success

from agent_memory.values import frozen

PACKAGE = "wordllama"
NOT_INSTALLED = (
    "Semantic search is not installed: `uv tool install '.[semantic]'` in the checkout of agent-memory adds it."
)

_WEIGHTS = os.path.join("weights", "l2_supercat_256.safetensors")
_TOKENIZER = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")


@frozen
class WordllamaFiles:
    """Paths of the vectors and of the vocabulary of their word pieces."""

    weights: str
    tokenizer: str


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
    for directory in directories:
        files = WordllamaFiles(os.path.join(directory, _WEIGHTS), os.path.join(directory, _TOKENIZER))
        if os.path.isfile(files.weights) and os.path.isfile(files.tokenizer):
            return Success(files)
    return Failure(broken(f"{os.path.join(directories[0], _WEIGHTS)} or its tokenizer is missing"))


def broken(problem: str) -> str:
    """What to tell of a package that is there and of no use."""
    return f"Semantic search is off, since its model is damaged: {problem}. Mend it with pip install --force-reinstall {PACKAGE}."
