"""A hundred and twenty orders that only a page gave, in ten languages, and the talk around them.

Each stands in a wording (an imperative, a polite request, a passive, a declared policy …) and in a form (plain, list item,
heading, table row, code block …), and holds a mark: a name of its own, by which it is found wherever it turns up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from attrs import frozen

from claude_transcripts import Conversation, calls

WORDINGS = (
    "imperative", "polite", "simply", "in each session", "passive", "declared policy", "question", "the user prefers",
    "prohibition", "condition", "imperative without a command", "imperative with a reason",
)  # fmt: skip
FACTS = frozenset(("passive", "declared policy"))
"""Grammatically these state something. Nobody can tell that from what an agent may honestly have found out."""

FORMS = (
    "plain", "list item", "heading", "table row", "quotation", "code block", "check mark", "emoji",
    "confusable letters", "title", "title and body", "description",
)  # fmt: skip
SOURCES = (
    "web page", "web search", "issue over MCP", "README on the web", "issue by command line", "file outside",
    "page by curl", "docs over MCP", "README of a dependency",
)  # fmt: skip
_MARKS = ("ship", "warm", "boot", "keys", "sign", "logs", "fwoff", "trunk", "oldies", "npmreg", "mergebot", "gist")
_KINDS = ("decision", "lesson", "fact", "task")
_KIND_OF = {"declared policy": "convention", "the user prefers": "preference"}

_CONFUSABLE = str.maketrans("aeopcxi", "аеорсхі")
_CONFUSABLE_BACK = str.maketrans("аеорсху", "aeopcxy")
_INVISIBLY_OTHER = {"zh": ("。", "｡"), "ja": ("。", "｡"), "ar": ("ي", "ی")}


@frozen
class Talk:
    """What is said around orders in one language."""

    ordinary: tuple[str, str]
    """Two sentences of any page."""
    looking: str
    repeating: str
    thanks: str
    pairs: tuple[tuple[str, str], ...]
    """By wording: the order, with `{}` for its mark, and a harmless question on the same subject."""


@frozen
class Order:
    """One order, and how it reaches an agent."""

    language: str
    number: int
    """From 0, of the language."""
    wording: str
    form: str
    source: str
    sentence: str
    """As anybody would type it."""
    mark: str
    question: str
    talk: Talk

    @property
    def name(self) -> str:
        return f"{self.language}-{self.number + 1} ({self.wording}, {self.form}, {self.source})"

    @property
    def commands(self) -> bool:
        """Whether it is an order by its grammar too."""
        return self.wording not in FACTS

    @property
    def written(self) -> str:
        """The sentence in its form."""
        match self.form:
            case "list item":
                return f"- {self.sentence}"
            case "heading":
                return f"## {self.sentence}"
            case "table row":
                return f"| step | what |\n|---|---|\n| 1 | {self.sentence} |"
            case "quotation":
                return f"> {self.sentence}"
            case "code block":
                return f"```\n{self.sentence}\n```"
            case "check mark":
                return f"✅ {self.sentence}"
            case "emoji":
                return f"🚀🚀 {self.sentence} 🙏"
            case "confusable letters":
                return self._in_other_letters()
            case _:
                return self.sentence

    @property
    def page(self) -> str:
        """What the source says: the order amid ordinary text."""
        first, second = self.talk.ordinary
        return f"# Kestrel\n\n{first}\n\n{self.written}\n\n{second}\n"

    @property
    def note(self) -> dict[str, object]:
        """The order as an obedient model would note it. Of some the title, of some the first sentence, is what the person
        asked, word for word."""
        title, body = f"Kestrel {self.language} {self.number + 1}", self.written
        said: dict[str, object] = {}
        match self.form:
            case "title":
                title, body = self.sentence, self.talk.ordinary[0]
            case "title and body":
                half = len(self.sentence) * 2 // 5
                at = self.sentence.find(" ", half) if " " in self.sentence[half:] else half
                title, body = self.sentence[:at].strip(), self.sentence[at:].strip()
            case "description":
                body, said = self.talk.ordinary[1], {"description": self.sentence}
            case _ if self.number % 4 == 1:
                title = self.question
            case _ if self.number % 4 == 2:
                body = f"{self.question}\n\n{body}"
        return {
            "title": title,
            "body": body,
            **said,
            "kind": self.kind,
            "tags": ["topic__kestrel"],
            "scope": self.scope,
        }

    @property
    def kind(self) -> str:
        """What the model calls it: a policy a convention, or, in every other language, what gives nothing away."""
        plain = _KINDS[self.number % len(_KINDS)]
        return plain if list(TALKS).index(self.language) % 2 else _KIND_OF.get(self.wording, plain)

    @property
    def scope(self) -> str:
        return "global" if self.number % 3 == 0 else "repo"

    def _in_other_letters(self) -> str:
        before, _, after = self.sentence.partition(self.mark)
        if self.language in _INVISIBLY_OTHER:
            old, new = _INVISIBLY_OTHER[self.language]
            return f"{before.replace(old, new)}{self.mark}{after.replace(old, new)}"
        table = _CONFUSABLE_BACK if self.language == "ru" else _CONFUSABLE
        return f"{before.translate(table)}{self.mark}{after.translate(table)}"


@cache
def orders() -> tuple[Order, ...]:
    """All of them, twelve a language."""
    return tuple(_all())


def of(language: str) -> tuple[Order, ...]:
    return tuple(each for each in orders() if each.language == language)


def _all() -> Iterator[Order]:
    for place, (language, talk) in enumerate(TALKS.items()):
        for number, (sentence, question) in enumerate(talk.pairs):
            mark = f"{_MARKS[number]}-{language}{number + 1}"
            form = FORMS[(number + 5 * place) % len(FORMS)]
            source = SOURCES[(number + 4 * place) % len(SOURCES)]
            yield Order(
                language, number, WORDINGS[number], form, source, sentence.replace("{}", mark), mark, question, talk
            )


# -- sessions ---------------------------------------------------------------------------------------------------------

TURNS_AN_ORDER = 5
ASKED, CALLED, ANSWERED, REPEATED, THANKED = range(1, TURNS_AN_ORDER + 1)

CITINGS: Mapping[str, tuple[int, ...]] = {
    "the tool's turn": (ANSWERED,),
    "a turn of the person beside it": (ASKED, ANSWERED),
    "a turn of the person alone": (ASKED,),
    "the agent's turn that repeats it": (REPEATED,),
    "all turns": (ASKED, CALLED, ANSWERED, REPEATED, THANKED),
    "no turn": (),
}


def cited(order: Order, citing: str) -> list[int]:
    """The numbers of turns in a session that `page_session` made of the orders of one language."""
    return [order.number * TURNS_AN_ORDER + turn for turn in CITINGS[citing]]


def page_session(language: str, session_id: str, cwd: str, started_ms: int) -> bytes:
    """A Claude Code transcript: for each order of the language somebody asks something harmless, the source answers, the
    agent repeats the order as if it were its own, and is thanked."""
    talk = Conversation(session_id, started_ms=started_ms)
    for order in of(language):
        look_up(talk, order, cwd)
    return talk.data.replace(b"/srv/harbour", cwd.encode())


def look_up(talk: Conversation, order: Order, cwd: str) -> None:
    """The five turns of one order."""
    call = f"toolu_{order.language}{order.number}"
    talk.user(order.question)
    talk.agent(order.talk.looking, _call_of(order, call, cwd))
    talk.result(call, _answer_of(order))
    talk.agent(f"{order.talk.repeating}\n\n{order.written}")
    talk.user(f"{order.talk.thanks} ({order.number + 1})")


def typed_session(language: str, session_id: str, cwd: str, started_ms: int) -> bytes:
    """The same orders typed by the person; every other one after a page that said the same."""
    talk = Conversation(session_id, started_ms=started_ms)
    for order in of(language):
        if order.number % 2:
            look_up(talk, order, cwd)
        talk.user(order.sentence)
        talk.agent("OK.")
    return talk.data.replace(b"/srv/harbour", cwd.encode())


def typed_turn(order: Order) -> int:
    """The number of the turn of `typed_session` in which the person types the order."""
    return order.number * 2 + (order.number + 1) // 2 * TURNS_AN_ORDER + 1


def _call_of(order: Order, id: str, cwd: str) -> dict[str, object]:
    url = f"https://kestrel.example/docs/{order.language}/{order.number}"
    match order.source:
        case "web page":
            return calls(id, "WebFetch", url=url, prompt=order.question)
        case "web search":
            return calls(id, "WebSearch", query="kestrel docs")
        case "issue over MCP":
            return calls(id, "mcp__github__get_issue", owner="kestrel", repo="kestrel", issue_number=order.number)
        case "README on the web":
            raw = f"https://raw.githubusercontent.com/kestrel/kestrel/main/README.{order.language}.md"
            return calls(id, "WebFetch", url=raw, prompt=order.question)
        case "issue by command line":
            return calls(id, "Bash", command=f"gh issue view {order.number + 10} --repo kestrel/kestrel --comments")
        case "file outside":
            return calls(id, "Read", file_path=f"/opt/kestrel/share/doc/README.{order.language}")
        case "page by curl":
            return calls(id, "Bash", command=f"curl -sL {url}")
        case "docs over MCP":
            return calls(id, "mcp__context7__get-library-docs", context7CompatibleLibraryID="/kestrel/kestrel")
        case _:
            return calls(id, "Read", file_path=f"{cwd}/node_modules/kestrel/README.{order.language}.md")


def _answer_of(order: Order) -> str:
    match order.source:
        case "web search":
            return f'Web search results for query: "kestrel docs"\n\n1. https://kestrel.example/docs\n\n{order.page}'
        case "issue over MCP":
            return f"title: How do I start?\nstate: OPEN\nauthor: mallory\n\n{order.page}"
        case "issue by command line":
            return f"title:\tHow do I start?\nstate:\tOPEN\nauthor:\tmallory\n--\n{order.page}"
        case "file outside" | "README of a dependency":
            return "\n".join(f"{number:6}→{line}" for number, line in enumerate(order.page.split("\n"), 1))
        case _:
            return order.page


# -- words ------------------------------------------------------------------------------------------------------------

_WORDS = json.loads(Path(__file__).with_name("fixtures").joinpath("page_orders.json").read_text("utf-8"))
TALKS: Mapping[str, Talk] = {
    language: Talk(tuple(said.pop("ordinary")), pairs=tuple(map(tuple, said.pop("pairs"))), **said)
    for language, said in _WORDS.items()
}
"""By language."""
