"""How rules judge what no check of a value alone can: values given to names that say secret (`.env` lines, JSON, YAML,
code, options, sentences), options of a command, and secrets that span lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, frozen

from agent_memory.redaction.values import (
    TABLE,
    Check,
    is_drawn_key,
    is_environment_value,
    is_key,
    is_literal,
    is_password,
    is_plain_password,
    is_said_password,
    is_strong_password,
    is_unquoted_password,
    is_unquoted_strong_password,
    words_of,
)

Place = tuple[int, int]
"""Where something begins and ends in a text."""
Judge = Callable[[int, re.Match[str]], Iterable[Place]]
"""Returns where the secrets lie in what was read for the keyword at an index."""


# -- whether a name says that its value is secret ---------------------------------------------------------------------

_INNOCENT_TAIL = TABLE.expression("innocent tail", re.NOFLAG)
_OTHER_KEYS = words_of(*TABLE.lines["other keys"])
_NO_OTHER_KEY = re.compile("".join(rf"(?<!{word})(?<!{word}[ _-])" for word in _OTHER_KEYS) + "key", re.IGNORECASE)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z0-9_-]{0,40}\Z")
_OPTION_CHARS = 42
_NOTE_ID = re.compile(r"(?<!\w)id__[1-9A-HJ-NP-Za-km-z]{6}(?!\w)")
_ID_CHARS = 10
"""The id of a note names no secret, though chance may put `pw` into it."""
_OTHER_PASS = re.compile(r"(?:BY|COM|SUR|TRES|IM|UNDER|OVER|TRANS)\Z")


def _says_secret(_start: int, found: re.Match[str]) -> bool:
    return not _INNOCENT_TAIL.match(found["tail"])


def _is_short_name(start: int, found: re.Match[str]) -> bool:
    """Returns whether a short name is a word of its own; `userPass` holds one, `bypass` none."""
    text, before = found.string, found.string[max(0, start - _OPTION_CHARS) : start]
    begins = (
        not before[-1:].isalpha()
        or (text[start].isupper() and before[-1].islower())
        or (found["given"] == "=" and text[start : found.start()].isupper() and not _OTHER_PASS.search(before))
        or _OPTION.search(before) is not None
    )
    return begins and not found["tail"][:1].isalpha()


def _is_other_key(start: int, found: re.Match[str]) -> bool:
    """Returns whether a name is `key` with anything before it, except what opens nothing, and nothing behind it."""
    return not found["tail"] and _NO_OTHER_KEY.match(found.string, start) is not None


# -- whether the value is a secret ----------------------------------------------------------------------------------------

_KEY_END = re.compile(r"[,;<>(){}\[\]&|]")
_PASSWORD_END = re.compile(r"[,;]|&[\w.%-]{1,40}=|[&|]{2}|\|\Z|</?\w|[)\]}](?=[)\]}.:]|\Z)")
"""Where the next pair, command or element begins, since a password may hold nearly any sign."""


def _never(_value: str) -> bool:
    return False


def _is_key_or_strong(value: str) -> bool:
    return is_key(value) or is_unquoted_strong_password(value)


@frozen
class _ValueOfName:
    """Judges a value that is given to a name: what is a secret in each place where it may stand."""

    is_name: Callable[[int, re.Match[str]], bool] = _says_secret
    bare: Check = _is_key_or_strong
    option: Check = _is_key_or_strong
    """Behind an option, or in a sentence."""
    spaced: Check = _never
    """Behind a space, where no option is."""
    quoted: Check = lambda value: is_key(value) or is_strong_password(value)
    plain: Check = _never
    """Between quotes, right behind the whole name."""
    further: Check = is_key
    """Between quotes, and not right behind the name."""
    said: Check = is_key
    """Between quotes in a sentence."""
    environment: Check = is_environment_value
    element: Check = is_key
    end: re.Pattern[str] = _KEY_END
    """Where a bare value ends."""

    def __call__(self, start: int, found: re.Match[str]) -> Iterable[Place]:
        place = self._secret(start, found)
        if not place or not self.is_name(start, found):
            return ()
        id = _NOTE_ID.search(found.string, max(0, start - _ID_CHARS), start + _ID_CHARS + 1)
        return () if id is not None and id.start() <= start < id.end() else (place,)

    def _secret(self, start: int, found: re.Match[str]) -> Place | None:
        if (value := found["element"]) is not None:
            return found.span("element") if found["ended"] and self.element(value) else None
        if (value := found["quoted"]) is not None:
            return found.span("quoted") if found["close"] and self._is_quoted_secret(start, found, value) else None
        begin, value, given = found.start("bare"), found["bare"], found["given"]
        name = f"{found.string[start : found.start()]}{found['tail']}"
        if given == "=" and name.isupper() and self.environment(value):
            return found.span("bare")
        if end := self.end.search(value):
            value = "" if end.group() in "([" else value[: end.start()]
        value = value.rstrip("*.:")
        check = self.bare if given else self._behind_space(start, found, self.spaced)
        return (begin, begin + len(value)) if check(value) else None

    def _is_quoted_secret(self, start: int, found: re.Match[str], value: str) -> bool:
        if given := found["given"]:
            is_plain = not found["tail"] and self.plain(value)
            return self.quoted(value) or is_plain or ("==" in given and self.said(value))
        if found["further"]:
            return self.further(value)
        check = self.said if found["said"] else self._behind_space(start, found, self.option)
        return check(value)

    def _behind_space(self, start: int, found: re.Match[str], alone: Check) -> Check:
        """Returns the check of a value behind no more than a space, unless a verb is there: behind `"password"`, or on the
        next line, it is only an option's."""
        if not (spaced := found["spaced"]) or _OPTION.search(found.string, max(0, start - _OPTION_CHARS), start):
            return self.option
        return _never if found["closed"] or "\n" in spaced else alone


_PASSWORD = _ValueOfName(
    bare=is_unquoted_password,
    option=is_unquoted_password,
    spaced=is_unquoted_strong_password,
    quoted=is_password,
    plain=is_plain_password,
    further=is_password,
    said=is_said_password,
    element=is_password,
    end=_PASSWORD_END,
)

# -- what stands before a keyword tells ---------------------------------------------------------------------------------

_LAST_WORD = re.compile(r"""(?<!\S)["'`*]{0,2}(?P<secret>[^\s"'`*]{8,60}+)["'`*]{0,2}\Z""")
_LAST_WORD_CHARS = 64
_COMMAND_CHARS = 600
_OTHER_COMMAND = re.compile(r"(?<![\\])\r?\n|[|;]")


def _said_before(start: int, found: re.Match[str]) -> Iterable[Place]:
    """Returns the last word before `as the password` or `is my password`."""
    word = _LAST_WORD.search(found.string, max(0, start - _LAST_WORD_CHARS), start)
    return (word.span("secret"),) if word and is_unquoted_strong_password(word["secret"]) else ()


def given_to(tools: str, judge: Judge) -> Judge:
    """Returns the judge of what an option of one of the tools is given. Options and value are read first, since they
    are rarer than the tools' names in a long text; then what stands before them in the same command is searched."""
    named = re.compile(rf"(?i)(?<!\w)(?:{tools})(?![\w-])")

    def judge_given(start: int, found: re.Match[str]) -> Iterable[Place]:
        if places := judge(start, found):
            command = _OTHER_COMMAND.split(found.string[max(0, start - _COMMAND_CHARS) : start])[-1]
            return places if named.search(command) else ()
        return ()

    return judge_given


# -- secrets that span lines: each is linear in what was read ---------------------------------------------------------------

_BODY_LINE = re.compile(r"(?:(?:[A-Za-z0-9+/]{8,100}={0,2}|=[A-Za-z0-9+/]{4})(?:\\{1,3}r)?(?:\\{1,3}n|\s{1,40}))+")
_LINE_BEGINNING = re.compile(r"\A[ \t>\"']*(?:\d{1,6}[→|:\t][ \t]?)?")
_LINE_END = re.compile(r"(?<=\n)|(?<=\\n)")
_BODY_CHARS = 16_000
_PRIVATE_TAG = re.compile(
    r"(?:<|&lt;|\\{1,3}u003c)[ ]?(?P<closes>/?)[ ]?private(?:[ ][a-z-]{1,20}=[^<>\n]{0,80})?[ ]?(?:>|&gt;|\\{1,3}u003e)",
    re.IGNORECASE,
)
_LEFT_OUT = " characters left out …]\n"
_WORD_SIGN = re.compile(r"\w")
_KIND = re.compile(r"""(?i)\bkind:[ \t]{0,4}["']?secret\b["']?""")
_DATA = re.compile(r"""(?m)^(?P<indent>[ \t]{0,12})(?:data|stringData):[ \t\r]*$""")
_DATA_LINE = re.compile(
    r"""(?P<indent>[ \t]{1,24})[\w.-]{1,253}:[ \t]{0,8}["']?(?P<secret>[^\s"'#|>][^\s"']{3,40000})"""
)


def _beheaded_key(start: int, found: re.Match[str]) -> Iterable[Place]:
    """Returns the end of a private key whose beginning was cut away, with the lines of its body that stand before it."""
    end = begin = found.start("end")
    if end < 0:
        return ()
    lines = _LINE_END.split(found.string[max(start, end - _BODY_CHARS) : end])
    if _LINE_BEGINNING.fullmatch(lines[-1]):
        begin -= len(lines.pop())
    for line in reversed(lines):
        if line.strip() and not _BODY_LINE.fullmatch(_LINE_BEGINNING.sub("", line)):
            break
        begin -= len(line)
    return ((begin, found.end()),) if end - begin >= 16 else ()


def _marked_private(_start: int, found: re.Match[str]) -> Iterable[Place]:
    """Yields the outermost balanced spans between `<private>` and `</private>`; what is never closed reaches to the end,
    and what was opened in a part that was left out begins behind it."""
    text = found.string
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
            if (cut := text.rfind(_LEFT_OUT, looked_at, tag.start())) >= 0:
                left_out = cut + len(_LEFT_OUT)
            looked_at = tag.start()
            if left_out:
                yield left_out, tag.end()
    if depth:
        yield start, len(text)


def _kubernetes_data(start: int, found: re.Match[str]) -> Iterable[Place]:
    """Yields the values under `data:` and `stringData:` in a YAML document that is a Secret."""
    text, end = found.string, found.end()
    for heading in _DATA.finditer(text, start, end) if _KIND.search(text, start, end) else ():
        at = heading.end() + 1
        while (line := _DATA_LINE.match(text, at, end)) and len(line["indent"]) > len(heading["indent"]):
            if is_literal(line["secret"]):
                yield line.span("secret")
            at = text.find("\n", line.end(), end) + 1 or end


JUDGES: Mapping[str, Judge] = {
    "password-of-name": _PASSWORD,
    "short-password-of-name": evolve(
        _PASSWORD, is_name=_is_short_name, spaced=_never, plain=_never, further=_never, said=_never
    ),
    "secret-of-name": _ValueOfName(),
    "secret-of-code": _ValueOfName(environment=_never),
    "key-of-name": _ValueOfName(
        _is_other_key, bare=is_drawn_key, option=is_key, quoted=is_drawn_key, further=_never, environment=_never
    ),
    "said-before": _said_before,
    "beheaded-key": _beheaded_key,
    "marked-private": _marked_private,
    "kubernetes-data": _kubernetes_data,
}
"""The judges of more than the value, by the names that rules use."""
