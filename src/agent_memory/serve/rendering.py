"""Values as HTML: templates, notes as markdown without raw HTML, diffs and figures. What cannot be seen is spelled out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from agent_memory.care.why_note import source_in_words
from agent_memory.note.file_name import id_in_name
from agent_memory.text.ids import is_id
from agent_memory.text.instants import day_of, instant
from agent_memory.text.markdown import find_links
from agent_memory.text.plain_text import counted, sentence, spliced, with_hidden_shown

_HERE = Path(__file__).parent
STATIC: Mapping[str, str] = {
    "htmx.min.js": "text/javascript",
    "page.js": "text/javascript",
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
}
"""What is sent as it is, by name."""

_FOLLOWED = re.compile(r"(?:https?://|mailto:)\S+|/notes/id__[1-9A-HJ-NP-Za-km-z]{6}", re.ASCII | re.IGNORECASE)


@cache
def static_file(name: str) -> bytes:
    return (_HERE / "static" / name).read_bytes()


def rendered(template: str, values: Mapping[str, Any]) -> str:
    return _templates().get_template(template).render(values)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Any = environment.filters  # typed as if it held jinja's own alone
    filters |= {
        "instant": instant,
        "day": day_of,
        "source_in_words": source_in_words,
        "counted": counted,
        "sentence": sentence,
        "id_in_name": id_in_name,
        "markdown": markdown,
        "marked": marked,
        "as_typed": escape,
        "inline": inline,
    }
    shared: Any = environment.globals
    shared["bars"] = bars
    return environment


def _seen(value: Any) -> Any:
    """Of what a template prints."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    return with_hidden_shown(value)


# -- notes ------------------------------------------------------------------------------------------------------------


def markdown(body: str) -> Markup:
    """Returns a note as HTML. Raw HTML in it is text, pictures are links, and a link leads to a note, the web or a mailbox."""
    text = with_hidden_shown(body)
    links = [(each.start, each.end, _note_link(each.target, each.label)) for each in find_links(text)]
    return Markup(_reader().render(spliced(text, links)))


def _note_link(target: str, label: str | None) -> str:
    shown = re.sub(r"([\\`*_\[\]<>!])", r"\\\1", label or target)
    return f"[{shown}](/notes/{target})" if is_id(target) else shown


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        return _FOLLOWED.fullmatch(url) is not None


@cache
def _reader() -> MarkdownIt:
    return _Reader("commonmark", {"html": False}).enable("table").disable("image")


def inline(text: str) -> Markup:
    """Returns one line with its `code` as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(with_hidden_shown(text)))))


def marked(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """Returns the text with these ranges, half-open and in order, marked."""
    found, at = Markup(), 0
    for start, end in marks:
        if start >= at:
            found += Markup("{}<mark>{}</mark>").format(*map(with_hidden_shown, (text[at:start], text[start:end])))
            at = end
    return found + with_hidden_shown(text[at:])


_BAR, _HEIGHT = 8, 60


def bars(amounts: Sequence[int], names: Sequence[str]) -> Markup:
    """Returns one bar for each day as SVG, beside words that say as much; its colours stand in the style sheet."""
    most = max(amounts, default=0) or 1
    bar = Markup('<rect x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>')
    bars = (
        bar.format(at * _BAR, _HEIGHT - tall, _BAR - 1, tall, names[at], f"{amount:,}")
        for at, amount in enumerate(amounts)
        if amount and (tall := max(1, round(_HEIGHT * amount / most)))
    )
    frame = Markup('<svg class="bars" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>')
    return frame.format(_BAR * max(len(amounts), 1), _HEIGHT, Markup().join(bars))
