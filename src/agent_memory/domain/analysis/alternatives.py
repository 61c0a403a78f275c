"""Things of which a project chooses one: what a sentence says was chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.text.ascii_words import words_of_letters
from agent_memory.domain.text.terms import content_terms


@frozen
class Alternatives:
    """A question with several answers."""

    question: str
    exclusive: bool
    """A project has one of them and no other, so that nothing else need be said: "we use pnpm"."""
    about: frozenset[str]
    """Content words that only repeat the question."""


_CHOOSING_VERBS = "managed chosen adopted standardised prefer picked gerido geridas escolhido adotado"


def _group(
    question: str, words: str, about: str = "", exclusive: bool = True
) -> tuple[Alternatives, Mapping[str, str]]:
    """A question, and its answers by each way of writing them; `a=b` says that `a` is written for `b`."""
    pairs = (word.partition("=") for word in words.split())
    answers = {name.replace("+", " "): (same or name).replace("+", " ") for name, _, same in pairs}
    return Alternatives(question, exclusive, content_terms(f"{question} {about} {_CHOOSING_VERBS}")), answers


_GROUPS = (
    _group("package manager", "npm pnpm yarn bun", "javascript node install installs installing dependencies packages lockfile"),
    _group("python package manager", "pip poetry uv pipenv conda pdm", "install installs dependencies environment packages lockfile"),
    _group("test runner", "jest vitest mocha jasmine", "javascript unit tests testing"),
    _group("test framework", "pytest unittest nose", "python unit tests testing"),
    _group("bundler", "webpack vite rollup esbuild parcel turbopack", "build bundle javascript"),
    _group("formatter", "prettier biome dprint", "javascript format formatting code"),
    _group("indentation", "tabs spaces tab=tabs tabulações=tabs espaços=spaces", "indent indenting code files lines"),
    _group("quotes", "single+quotes double+quotes aspas+simples=single+quotes aspas+duplas=double+quotes", "strings code"),
    _group("line ends", "lf crlf", "line endings files"),
    _group("default branch", "main master trunk", "branch branches"),
    _group("merge strategy", "squash+merge squash=squash+merge rebase merge+commits merge+commit=merge+commits", "merging pull requests strategy branches"),
    _group("database", "postgres postgresql=postgres mysql mariadb sqlite mongodb mongo=mongodb dynamodb cassandra redis", exclusive=False),
    _group("message queue", "kafka rabbitmq sqs nats pulsar sidekiq celery", exclusive=False),
    _group("cloud", "aws gcp azure heroku vercel netlify fly.io render", exclusive=False),
    _group("continuous integration", "github+actions gitlab+ci circleci jenkins buildkite travis", "ci pipeline runs", exclusive=False),
    _group("web framework", "django flask fastapi express koa fastify rails laravel spring", exclusive=False),
    _group("user interface framework", "react vue svelte angular solid", exclusive=False),
    _group("time zone", "utc gmt localtime local+time=localtime hora+local=localtime", exclusive=False),
    _group("license", "mit apache-2.0 gpl-3.0 agpl-3.0 bsd-3-clause mpl-2.0", exclusive=False),
)  # fmt: skip
QUESTIONS: Mapping[str, Alternatives] = {group.question: group for group, _ in _GROUPS}
"""Every question by its words."""
_BY_WORD = {word: (group, answer) for group, answers in _GROUPS for word, answer in answers.items()}
_SPLIT = re.compile(r"[^a-zçã]+")
_FIRST_WORDS = frozenset(_SPLIT.split(word)[0] for word in _BY_WORD)
_WORD = rf"`?(?<![\w./-])(?:{'|'.join(map(re.escape, sorted(_BY_WORD, key=len, reverse=True)))})(?![\w/-]|\.\w)`?"
_ANY = re.compile(_WORD, re.IGNORECASE)
_LIST = rf"{_WORD}(?:\s*(?:,|or|nor|and|ou|nem|e)\s*{_WORD})*"
_REJECTED = re.compile(
    rf"[,;(]?\s*\b(?:and\s+|e\s+|but\s+)?(?:not|never|instead of|rather than|over|em vez de|ao invés de|não|nunca)\s+"
    rf"(?:use\s+|using\s+|usar\s+|o\s+|with\s+|in\s+|on\s+)?{_LIST}\)?"
    rf"|\b(?:from|de|do)\s+{_LIST}(?=\s+(?:to|para)\b)"
    rf"|\b(?:replaced|dropped|removed|left|substituímos|trocamos)\s+(?:o\s+)?{_LIST}",
    re.IGNORECASE,
)
_CHOOSING = re.compile(
    r"\b(?:use|uses|using|used for|prefers?|chose|chosen|picks?|standardi[sz]ed? on|adopt\w*|manag\w+ (?:with|by)|(?:runs?|deploy\w*|host\w*) (?:on|in|to|with)"
    r"|(?:stored|kept|sav\w+|writ\w+|built|format\w+|test\w+|indent\w*|stores?|keeps?|migrated|moved|switched) (?:\w+ )?(?:in|on|with|to|using|by|as)|is|are|goes? to"
    r"|usa|usam|usamos|usar|utiliza\w*|prefer\w*|adota\w*|escolh\w+|fica|guardad\w+|gravad\w+|roda\w*|é|são)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"\s+(?:is|are|was chosen|é)\s+(?:used|the|our|o|a)\b", re.IGNORECASE)


@frozen
class Choice:
    """An answer that a sentence gives. `rest` is the sentence without it and without what it rejects."""

    among: Alternatives
    answer: str
    rest: str


def choice_in(sentence: str) -> Choice | None:
    """The one alternative that a sentence says is used; None where it names none, several, or only rejects."""
    if _FIRST_WORDS.isdisjoint(words_of_letters(sentence) if sentence.isascii() else _SPLIT.split(sentence.lower())):
        return None
    kept = _REJECTED.sub(" ", sentence)
    named = tuple(_ANY.finditer(kept))
    found = {_BY_WORD[word[0].strip("`").lower()] for word in named}
    if len(found) != 1 or not (_CHOOSING.search(kept, 0, named[0].start()) or _CHOSEN.match(kept, named[0].end())):
        return None
    [(among, answer)] = found
    return Choice(among, answer, _ANY.sub(" ", kept))
