"""Redaction: what looks like a secret is replaced by its kind, before it reaches a prompt, a disk or git (P20)."""

from __future__ import annotations

import base64
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from attrs import frozen

from agent_memory.redaction.rule import ASSIGNMENTS, Rule, Span, is_drawn, is_placeholder, is_reference
from agent_memory.redaction.tables import ADDRESSES, HEADERS, TOKENS, VENDORS
from agent_memory.text.plain_text import one_line, spliced

_UNBOUNDED_CHARS = 1_000_000

RULES: tuple[Rule, ...] = (*TOKENS, *ADDRESSES, *VENDORS, *HEADERS, *ASSIGNMENTS)
"""Best-informed first: where two find the same secret, the earlier one names it."""

_MARK = "[redacted:"
_MARK_CHARS = 60
_STEP_CHARS = 1 << 20
CROWDED = "crowded"
"""The name of a stretch in which what announces secrets stands so close that to read each would take too long."""
_CROWDED_CHARS = 512
"""Such a stretch goes as a whole, up to the end of the line that reaches so far, or twice as far."""
_SPARSE_CHARS = 30
"""After so many without an announcement the next one is read again."""
_CREDIT, _LEAST_CREDIT, _CREDIT_CHAR, _PAY_CHAR = 8_000, 2_000, 4, 2
_TRY, _JUDGED, _FOUND = 12, 20, 40
"""The effort of the rules, in quarters of a microsecond: of one try, of one judgement at most, of one secret. Each character
of the text that is read pays for some; what they are ahead of that is their credit, less of it in a short text."""


@frozen
class Redacted:
    """A text without the secrets that were found in it."""

    text: str
    found: tuple[tuple[str, int], ...] = ()
    """How many secrets of each name, by name; empty when the text is unchanged."""


@cache
def _own_rules() -> dict[str, list[tuple[int, Rule]]]:
    """Returns the rules of each keyword, with their ranks; the shortest first."""
    own: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
    for rank, rule in enumerate(RULES):
        for keyword in rule.keywords:
            own[keyword].append((rank, rule))
    return {keyword: own[keyword] for keyword in sorted(own, key=len)}


@cache
def _rules_of(keyword: str) -> tuple[tuple[int, Rule, int], ...]:
    """Returns the rules of a keyword and of every keyword that it begins with, since a search reports the longest; with
    each the length of its longest keyword. Of those that read what stands behind a name only the one of the longest
    name counts."""
    own = _own_rules()
    found = {
        rank: (rank, rule, size) for size in range(1, len(keyword) + 1) for rank, rule in own.get(keyword[:size], ())
    }
    names = max((size for _, rule, size in found.values() if rule.judge), default=0)
    return tuple(each for each in found.values() if not each[1].judge or each[2] == names)


def _hits(low: str) -> Iterator[tuple[int, str]]:
    """Yields where a keyword begins in a lowered text and which, the longest, in order; also inside another one."""
    for first in range(0, len(low), _STEP_CHARS):
        found: dict[int, str] = {}
        for keyword in _own_rules():
            end = first + _STEP_CHARS + len(keyword) - 1
            start = low.find(keyword, first, end)
            while start >= 0:
                found[start] = keyword
                start = low.find(keyword, start + 1, end)
        yield from sorted(found.items())


def _plain_spans(text: str, credit: int = _CREDIT) -> Iterator[Span]:
    """Yields every secret, overlapping ones too. The end of one counts as the beginning of a word, as it will once it
    is gone."""
    low = lowered(text)
    yield from block_spans(text, low)
    ends: set[int] = set()
    credit = max(_LEAST_CREDIT, min(credit, _CREDIT_CHAR * len(text)))
    effort = covered = 0
    has_marks = _MARK in text
    for start, keyword in _hits(low):
        mark = text.rfind(_MARK, max(0, start - _MARK_CHARS), start) if has_marks else -1
        if start < covered or (mark >= 0 and "]" not in text[mark:start]):
            continue
        if effort > _PAY_CHAR * start + credit:
            end = start + _CROWDED_CHARS
            newline = text.find("\n", end, end + _CROWDED_CHARS)
            covered = newline if newline >= 0 else min(len(text), end + _CROWDED_CHARS)
            effort = _PAY_CHAR * (covered + _SPARSE_CHARS) + credit
            yield Span(start, covered, len(RULES), CROWDED)
            continue
        effort = max(effort, _PAY_CHAR * start)
        for rank, rule, size in _rules_of(keyword):
            effort += _TRY
            if read := rule.match(text, start, size, ends):
                chars = read.end() - start
                effort += min(2 * chars, _JUDGED + chars // 4)
                found = rule.secret(start, read)
                if found and _MARK not in text[slice(*found)]:
                    ends.add(found[1])
                    effort += _FOUND
                    yield Span(*found, rank, rule.name)


def _decoded_spans(text: str) -> Iterator[Span]:
    """Yields those of a text that itself was encoded: it may hide one more coat, and no more."""
    yield from _plain_spans(text)
    yield from encoded_spans(text, _plain_spans)
    yield from escaped_spans(text, _plain_spans)


def _united(spans: Iterable[Span]) -> list[Span]:
    """Returns the spans in order, overlapping ones as one that bears the best-informed name."""
    united: list[Span] = []
    for span in sorted(spans):
        if united and span.start < united[-1].end:
            last = united.pop()
            rank, name = min((last.rank, last.name), (span.rank, span.name))
            united.append(Span(last.start, max(last.end, span.end), rank, name))
        else:
            united.append(span)
    return united


def _replaced(text: str, spans: Iterable[Span]) -> str:
    """Returns the text with the kind of each of these, between which nothing overlaps, in its place."""
    return spliced(text, ((span.start, span.end, f"{_MARK}{span.name}]") for span in spans))


def redact(text: str) -> Redacted:
    """Returns `text` with every secret that is found replaced. Total and idempotent: a second pass finds nothing."""
    counts: Counter[str] = Counter()
    credit = _CREDIT
    while True:
        coated = (*encoded_spans(text, _decoded_spans), *escaped_spans(text, _decoded_spans))
        unmarked = (span for span in coated if _MARK not in text[span.start : span.end])
        spans = _united((*_plain_spans(text, credit), *wrapped_spans(text, _plain_spans), *unmarked))
        if not spans:
            return Redacted(text, tuple(sorted(counts.items())))
        counts.update(span.name for span in spans)
        text = _replaced(text, spans)
        if counts[CROWDED]:
            credit = _LEAST_CREDIT


_ENDINGS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,3}(?![^\s/\\\"'`,;:)\]}>])")
"""`.tar.gz`, at the end of a name: a token in front of it is whole."""
_PART = re.compile(r"[^/\\]+")
_WORD = re.compile(r"(?<![^\s\"'`])[^\s\"'`/\\=.]*+[/\\=.][^\s\"'`]*+")
"""What may be a path in a text: something with a separator, an assignment or an ending."""
_TELLS = re.compile(r"[/\\=][^\s/\\]*?(?:=|[\w+-]{20})|[\w+-]{20}\.[A-Za-z]|=.*\.[A-Za-z]")
"""What makes a part of it worth a look: an assignment, or what is long enough to be a token."""

_NAME_TELLS = re.compile(r"=[^=]{4}|[\w+-]{20}")
"""The same of one part."""
_NAME_CHARS = 1_000
"""No file has a longer name, and what is longer was looked at as text."""


def stored_line(text: str, max_chars: int = _UNBOUNDED_CHARS) -> str:
    """Returns one clean line without secrets, at most `max_chars` characters."""
    return one_line(redact(one_line(text, _UNBOUNDED_CHARS)).text, max_chars)


def redact_path(path: str) -> str:
    """Returns the path with every secret in it replaced, each of its parts and the name without its ending looked at by
    itself.

    Separators and endings stay. A part is `b` in `/a/b/c`, `a\\b\\c` and `fix/b`. Total and idempotent.
    """
    return _without_secrets_in_parts(redact(path).text)


def redact_with_paths(text: str) -> str:
    """Returns a text such as a command, with the secrets in it and in the paths that it names replaced."""

    def redacted(word: re.Match[str]) -> str:
        return _without_secrets_in_parts(word[0]) if _TELLS.search(word[0]) else word[0]

    return _WORD.sub(redacted, redact(text).text)


def _without_secrets_in_parts(path: str) -> str:
    def redacted(part: re.Match[str]) -> str:
        if not _NAME_TELLS.search(part[0]) or len(part[0]) > _NAME_CHARS:
            return part[0]
        name = _ENDINGS.sub("", part[0])
        return _replaced(part[0], _united((*_plain_spans(name), *encoded_spans(name, _plain_spans))))

    while (cleaned := _PART.sub(redacted, path)) != path:
        path = cleaned
    return path


def lowered(text: str) -> str:
    """Returns `text` in lower case with every character at its old index (`İ` alone would become two)."""
    return text.replace("İ", "i").lower()


# -- in another coat: encoded in base64 or hexadecimal, escaped for URLs, JSON or HTML, or cut in two by a line break ------
#
# Each form is read and searched like any text. What is found in base64 or hexadecimal takes the whole run with it, since no
# part of a run says which characters are the secret's. Every step is linear.

Search = Callable[[str], Iterable[Span]]

_BREAK = r"(?:\\{1,3}r)?(?:\\{1,3}n|\r?\n)[ \t]{0,24}(?:[>|#*][ \t]{1,4})?[\"']?"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{24,}}+(?:[\"']?{_BREAK}[A-Za-z0-9+/_-]{{4,}}+(?![ \t]*[\w.,(]))*+={{0,2}}"
)
_NOISE = re.compile(rf"{_BREAK}|[\"'\s\\]")
_HEX = re.compile(r"(?:0x)?[0-9A-Fa-f]{32,}")
_SPACED_HEX = re.compile(r"(?:[ :][0-9A-Fa-f]{2}){15,}+(?![0-9A-Za-z])")
_ESCAPED_HEX = re.compile(r"\\x[0-9A-Fa-f]{2}(?:\\x[0-9A-Fa-f]{2}){11,}+")
_HEX_PAIR = re.compile(r"[0-9A-Fa-f]{2}")
_HEX_NOISE = re.compile(r"0x|\\x|[ :]")
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_BYTES_FOR_EACH_UNPRINTABLE = 10
"""Of so many decoded bytes one may be unprintable for them to count as text."""
_LONGEST_TRIED = 4
"""A run that was cut in front may begin at any of so many places."""

_ESCAPE = re.compile(
    r"%(?:25)?(?P<hex>[0-9A-Fa-f]{2})|\\{1,3}(?:u00|x)(?P<code>[0-9A-Fa-f]{2})|&(?P<entity>amp|quot|apos|lt|gt|sol|colon|equals|commat|num"
    r"|#\d{2,3}|#x[0-9A-Fa-f]{2});|\\{1,3}(?P<plain>[/&=])|\\{1,3}(?P<space>[nrt])|(?P<hidden>[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\x1b\[[\d;]{0,16}[A-Za-z])"
)
_ESCAPE_TELLS = re.compile(
    r"%[0-9A-Fa-f]{2}|\\u00[2-7][0-9A-Fa-f]|\\x[0-9A-Fa-f]{2}|&(?:#|amp|quot|apos|lt|gt|sol|colon|equals|commat|num)|\\/|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\x1b]"
    r"|[Kk]ind: ?Secret\\{1,3}n"
)
"""What makes a second look at a place worth its time."""
_BEFORE_CHARS = 300
"""Of what stands before an escape on its line, what may tell what the secret is."""
_BEHIND = re.compile(r"[^\n]{0,200}[^\s]{0,8000}")


def encoded_spans(text: str, search: Search) -> Iterator[Span]:
    """Yields every run of base64 or hexadecimal in which `search` finds something once it is decoded."""
    for start, end, decoded in _decoded_runs(text):
        if found := next(iter(search(decoded)), None):
            yield Span(start, end, found.rank, found.name)


def _decoded_runs(text: str) -> Iterator[tuple[int, int, str]]:
    for run in _BASE64.finditer(text):
        content = _NOISE.sub("", run.group())
        yield *run.span(), _decoded_base64(content)
        if _HEX.fullmatch(content):
            yield *run.span(), _decoded_hex(content.removeprefix("0x"))
    # Byte by byte, as in `67 68 70`, `67:68:70`, `\x67\x68\x70`.
    dumps = [run.span() for run in _ESCAPED_HEX.finditer(text)]
    for run in _SPACED_HEX.finditer(text):
        first = _HEX_PAIR.fullmatch(text, max(0, run.start() - 2), run.start())
        dumps.append((run.start() - 2 if first else run.start() + 1, run.end()))
    for start, end in dumps:
        yield start, end, _decoded_hex(_HEX_NOISE.sub("", text[start:end]))


def _reread(text: str, start: int, end: int, pieces: Iterable[tuple[int, int, str]]) -> tuple[str, list[int]]:
    """Returns `text[start:end]` with these pieces of it replaced, and where each character of that, and its end, stands in
    `text`."""
    parts: list[str] = []
    places: list[int] = []
    for first, last, read in (*pieces, (end, end, "")):
        parts += (text[start:first], read)
        places += (*range(start, first), *[first] * len(read))
        start = last
    return "".join(parts), [*places, end]


def escaped_spans(text: str, search: Search) -> Iterator[Span]:
    """Yields every secret that only shows in a line once its escapes are read."""
    end = 0
    for tell in _ESCAPE_TELLS.finditer(text):
        if tell.start() < end:
            continue
        # The stretch of the line that holds escapes, with what stands around them; no two overlap.
        first = max(text.rfind("\n", end, tell.start()) + 1, tell.start() - _BEFORE_CHARS, end)
        behind = _BEHIND.match(text, tell.end())
        end = behind.end() if behind else tell.end()
        escapes = _ESCAPE.finditer(text, first, end)
        read, places = _reread(text, first, end, ((*each.span(), _character(each)) for each in escapes))
        found = list(search(read))
        if (
            text.find("+", first, end) >= 0 and text.find("%", first, end) >= 0
        ):  # a form, in which a plus sign is a space
            found.extend(search(read.replace("+", " ")))
        for span in found:
            yield Span(places[span.start], places[span.end], span.rank, span.name)


def _character(escape: re.Match[str]) -> str:
    if code := escape["hex"] or escape["code"]:
        return chr(int(code, 16))
    if entity := escape["entity"]:
        from html import unescape  # with the names of two thousand characters, for texts that name one

        return unescape(f"&{entity};")
    if escape["space"]:
        return "\n"
    return escape["plain"] or ""


def _decoded_base64(run: str) -> str:
    """Returns the text that the run holds, read from its beginning or, had it been cut there, from a later character on."""
    standard = run.replace("-", "+").replace("_", "/").rstrip("=")
    for skipped in range(_LONGEST_TRIED):
        kept = standard[skipped:]
        kept = kept[: len(kept) - (len(kept) % 4 == 1)]
        if text := _as_text(base64.b64decode(f"{kept}==")):
            return text
    return ""


def _decoded_hex(run: str) -> str:
    try:
        return _as_text(bytes.fromhex(run))
    except ValueError:
        return ""


def _as_text(raw: bytes) -> str:
    """Returns the text of the bytes, UTF-16 too; "" when they are none."""
    if raw.count(0) * 3 >= len(raw):
        raw = raw.replace(b"\0", b"")
    if len(raw) < 8 or len(raw.translate(None, _PRINTABLE)) * _BYTES_FOR_EACH_UNPRINTABLE > len(raw):
        return ""
    return raw.decode("utf-8", "replace")


_WRAP = re.compile(
    r"(?:\n|\\n)[ \t]{0,40}(?:(?:[>│|#*]|//|[+.][ \t]{0,4}[\"'`]|[\"'`])[ \t]{0,4})?(?=(?P<after>[\w+/=~%.@-]{4,120}+))"
)
_END_OF_LINE = re.compile(
    r"(?P<before>[\w+/=~%:@.-]{3,60}+)(?P<gap>[ \t]{0,4}(?:\\|=|[\"'`][ \t]{0,4}[+.\\]?|[│|])?[ \t]{0,40}\r?)\Z"
)
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]*(?:[_-][A-Z]?[a-z]*)*[.:=]*|[A-Z]+[.:]?|\d+[.)]?")
_DIGIT = re.compile(r"[0-9]")
_WITHIN = re.compile(r"[\w+/=~%.@-]+")
_END_CHARS = 100
"""How far before a break the end of a token may be."""
_LEAST_CHARS = 10
"""Of two lines that hold halves of a token one has so many."""
_AROUND_CHARS = 400
"""Of the first and the last line of a chain, what may tell what the token is."""


def wrapped_spans(text: str, search: Search) -> Iterator[Span]:
    """Yields every secret that goes on behind a line break.

    Two lines belong together when the end of one and the beginning of the next could be two halves of one token. Lines that
    do are read as one, and what crosses a break of theirs is a find. Each line is in one chain only.
    """
    chains: list[list[tuple[int, int]]] = []
    for joint in _joints(text):
        if chains and _WITHIN.fullmatch(text, chains[-1][-1][1], joint[0]):
            chains[-1].append(joint)
        else:
            chains.append([joint])
    for chain in chains:
        first, last = chain[0][0], chain[-1][1]
        begin = max(text.rfind("\n", 0, first) + 1, first - _AROUND_CHARS)
        line_end = text.find("\n", last, last + _AROUND_CHARS)
        end = line_end if line_end >= 0 else min(len(text), last + _AROUND_CHARS)
        read, places = _reread(text, begin, end, ((*joint, "") for joint in chain))
        for span in search(read):
            start, behind = places[span.start], places[span.end]
            if behind - start > span.end - span.start:
                yield Span(start, behind, span.rank, span.name)


def _joints(text: str) -> Iterator[tuple[int, int]]:
    """Yields where a token may be broken: the signs and spaces around a line break, half-open."""
    line = 0
    for found in _WRAP.finditer(text):
        first, line = max(line, found.start() - _END_CHARS), found.end()
        behind = found["after"]
        if (
            (found.start() - first < _LEAST_CHARS and len(behind) < _LEAST_CHARS)
            or _PLAIN_WORD.fullmatch(behind)
            or not (_DIGIT.search(behind) or _DIGIT.search(text, first, found.start()))
        ):
            continue
        before = _END_OF_LINE.search(text[first : found.start()])
        if before and (is_drawn(behind) or is_drawn(before["before"])):
            yield first + before.start("gap"), found.end()


# -- secrets that span lines: private keys, `<private>` spans, Kubernetes secrets; each search is linear in the text ---------

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
_WORD_SIGN = re.compile(r"\w")
_KUBERNETES = re.compile(r"""(?i)\bkind:[ \t]{0,4}["']?secret\b["']?""")
_DATA = re.compile(r"""(?m)^(?P<indent>[ \t]{0,12})(?:data|stringData):[ \t\r]*$""")
_DATA_LINE = re.compile(
    r"""(?P<indent>[ \t]{1,24})[\w.-]{1,253}:[ \t]{0,8}["']?(?P<secret>[^\s"'#|>][^\s"']{3,40000})"""
)
_JWK = re.compile(r'"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"(?P<secret>[A-Za-z0-9_-]{40,2000})"')


def _beheaded_pem_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields the lines that stand before the end of a key whose beginning was cut away; each is looked at once."""
    looked_at = 0
    for end in _PEM_END.finditer(text):
        lines = re.split(r"(?<=\n)|(?<=\\n)", text[max(looked_at, end.start() - _BODY_CHARS) : end.start()])
        begin = end.start()
        if _LINE_BEGINNING.fullmatch(lines[-1]):
            begin -= len(lines.pop())
        for line in reversed(lines):
            if line.strip() and not _BODY_BEFORE_END.fullmatch(_LINE_BEGINNING.sub("", line)):
                break
            begin -= len(line)
        if end.start() - begin >= 16:
            yield begin, end.end()
        looked_at = end.end()


def _private_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields the outermost balanced spans; what is never closed reaches to the end, and what was opened in a part that was left out
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
            if depth == 0 and _WORD_SIGN.search(_PRIVATE_TAG.sub("", text[start : tag.end()])):
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
    """Yields the values under `data:` and `stringData:` in each YAML document that is a Secret."""
    offset = 0
    for document in re.split(r"(?m)(?=^---[ \t\r]*$)", text):
        for heading in _DATA.finditer(document) if _KUBERNETES.search(document) else ():
            at = heading.end() + 1
            while (line := _DATA_LINE.match(document, at)) and len(line["indent"]) > len(heading["indent"]):
                if not is_placeholder(line["secret"]) and not is_reference(line["secret"]):
                    yield offset + line.start("secret"), offset + line.end("secret")
                at = document.find("\n", line.end()) + 1 or len(document)
        offset += len(document)


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
    """Yields every secret of `text` that spans lines; `low` is the text in lower case."""
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
