"""Secrets that span lines: private keys, `<private>` spans, Kubernetes secrets. Each search is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from agent_memory.domain.redacting.rule import Span, is_placeholder, is_reference

_PEM = re.compile(
    r"-----?[ ]?BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?[ ]?-----?"
    r"(?:(?P<whole>(?:(?!-----?[ ]?(?:BEGIN|END))[\s\S]){16,100000}+-----?[ ]?END[ A-Z0-9_-]{0,100}KEY(?: BLOCK)?[ ]?-----?)"
    r"|(?P<cut>(?:\s{0,40}(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|Subject): [^\n]{0,300}+)*+"
    r"(?:[A-Za-z0-9+/=]|\\+[nr]|[\s\"'+,>|→]){16,100000}+))"
)
_PEM_END = re.compile(r"-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----")
_BODY_BEFORE_END = re.compile(
    r"(?:(?:[A-Za-z0-9+/]{8,100}={0,2}|=[A-Za-z0-9+/]{4})(?:\\{1,3}r)?(?:\\{1,3}n|\s{1,40}))+\Z"
)
_LINE_BEGINNING = re.compile(r"\A[ \t>\"']*(?:\d{1,6}[→|:\t][ \t]?)?")
_BODY_CHARS = 16_000
_PUTTY = re.compile(r"Private-Lines: \d{1,4}(?:\\n|\s)[A-Za-z0-9+/=\s\\]{40,20000}+")
_PRIVATE_TAG = re.compile(
    r"(?:<|&lt;|\\{1,3}u003c)[ ]?(?P<closes>/?)[ ]?private(?:[ ][a-z-]{1,20}=[^<>\n]{0,80})?[ ]?(?:>|&gt;|\\{1,3}u003e)",
    re.IGNORECASE,
)
_LEFT_OUT = " characters left out …]\n"
_WORD = re.compile(r"\w")
_KUBERNETES = re.compile(r"""(?i)\bkind:[ \t]{0,4}["']?secret\b["']?""")
_DATA = re.compile(r"""(?m)^(?P<indent>[ \t]{0,12})(?:data|stringData):[ \t\r]*$""")
_DATA_LINE = re.compile(
    r"""(?P<indent>[ \t]{1,24})[\w.-]{1,253}:[ \t]{0,8}["']?(?P<secret>[^\s"'#|>][^\s"']{3,40000})"""
)
_JWK = re.compile(r'"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"(?P<secret>[A-Za-z0-9_-]{40,2000})"')


def _beheaded_pem_spans(text: str) -> Iterator[tuple[int, int]]:
    """The lines that stand before the end of a key whose beginning was cut away; each is looked at once."""
    looked_at = 0
    for end in _PEM_END.finditer(text):
        first = max(looked_at, end.start() - _BODY_CHARS)
        body = _body_before(text[first : end.start()])
        if body is not None:
            yield first + body, end.end()
        looked_at = end.end()


def _body_before(text: str) -> int | None:
    """Where the key's body begins that `text` ends with."""
    lines = re.split(r"(?<=\n)|(?<=\\n)", text)
    begin = len(text)
    if _LINE_BEGINNING.fullmatch(lines[-1]):
        begin -= len(lines.pop())
    for line in reversed(lines):
        if line.strip() and not _BODY_BEFORE_END.fullmatch(_LINE_BEGINNING.sub("", line)):
            break
        begin -= len(line)
    return begin if len(text) - begin >= 16 else None


def _private_spans(text: str) -> Iterator[tuple[int, int]]:
    """Outermost balanced spans; what is never closed reaches to the end, and what was opened in a part that was left out
    begins behind it."""
    depth = start = left_out = looked_at = 0
    for tag in _PRIVATE_TAG.finditer(text):
        if text[tag.start() - 1 : tag.start()] == "`" == text[tag.end() : tag.end() + 1]:
            continue  # alone between backticks it is only named
        if not tag["closes"]:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0 and _WORD.search(_PRIVATE_TAG.sub("", text[start : tag.end()])):
                yield start, tag.end()
        else:
            if (found := text.rfind(_LEFT_OUT, looked_at, tag.start())) >= 0:
                left_out = found + len(_LEFT_OUT)
            looked_at = tag.start()
            if left_out:
                yield left_out, tag.end()
    if depth:
        yield start, len(text)


def _kubernetes_spans(text: str) -> Iterator[tuple[int, int]]:
    """The values under `data:` and `stringData:` in each YAML document that is a Secret."""
    offset = 0
    if "secret" not in text.lower() and "ſ" not in text:  # which is an `s` where case does not matter
        return
    for document in re.split(r"(?m)(?=^---[ \t\r]*$)", text):
        if _KUBERNETES.search(document):
            for heading in _DATA.finditer(document):
                yield from _mapping_values(document, heading.end() + 1, len(heading["indent"]), offset)
        offset += len(document)


def _mapping_values(document: str, position: int, indent: int, offset: int) -> Iterator[tuple[int, int]]:
    while line := _DATA_LINE.match(document, position):
        if len(line["indent"]) <= indent:
            return
        if not is_placeholder(line["secret"]) and not is_reference(line["secret"]):
            yield offset + line.start("secret"), offset + line.end("secret")
        newline = document.find("\n", line.end())
        if newline < 0:
            return
        position = newline + 1


_SEARCHES: tuple[tuple[str, str, re.Pattern[str] | Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    # name, what the lowered text must contain, search
    ("private", "private", _private_spans),  # what a person put between `<private>` and `</private>`
    ("private-key", "private key", _PEM),
    ("private-key", "private key", _beheaded_pem_spans),
    ("private-key", "private-lines:", _PUTTY),
    ("kubernetes-secret", "kind:", _kubernetes_spans),
    ("private-key", '"kty"', _JWK),
)


def block_spans(text: str, low: str) -> Iterator[Span]:
    """Every secret of `text` that spans lines; `low` is the text in lower case."""
    for name, needed, search in _SEARCHES:
        if needed not in low:
            continue
        if isinstance(search, re.Pattern):
            spans: Iterator[tuple[int, int]] = (
                found.span("secret" if "secret" in search.groupindex else 0) for found in search.finditer(text)
            )
        else:
            spans = search(text)
        yield from (Span(start, end, -1, name) for start, end in spans)
