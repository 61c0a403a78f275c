"""Numbers in a sentence that are the value of something, apart from those that only name which thing is meant."""

from __future__ import annotations

import re

from agent_memory.values import frozen

_SECOND, _BYTE = 1000.0, 1.0
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "milliseconds", "millisecond", "milissegundos"), ("time", 1.0)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "segundo", "segundos"), ("time", _SECOND)),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuto", "minutos"), ("time", 60 * _SECOND)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "hora", "horas"), ("time", 3_600 * _SECOND)),
    **dict.fromkeys(("day", "days", "dia", "dias"), ("time", 86_400 * _SECOND)),
    **dict.fromkeys(("week", "weeks", "semana", "semanas"), ("time", 604_800 * _SECOND)),
    **dict.fromkeys(("byte", "bytes"), ("size", _BYTE)),
    **dict.fromkeys(("kb", "kib"), ("size", 1024 * _BYTE)),
    **dict.fromkeys(("mb", "mib"), ("size", 1024**2 * _BYTE)),
    **dict.fromkeys(("gb", "gib"), ("size", 1024**3 * _BYTE)),
    **dict.fromkeys(("tb", "tib"), ("size", 1024**4 * _BYTE)),
    "%": ("share", 1.0),
    "px": ("pixels", 1.0),
}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?<![\w.,:#/@$+-])v?(?P<digits>\d{{1,15}}(?:[.,:]\d{{1,15}}){{0,4}})(?:[ -]?(?P<unit>{_UNIT})(?!\w))?(?![\w/@-]|[.,:]\d)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"[0-9]")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_LAST_WORD = re.compile(r"(?:([^\W\d_]+)|([=:≤≥<>]))[\s`\"'(~]*\Z")
_NEXT_WORD = re.compile(r"[\s`\"')]*([^\W\d_]+)")

# The word before a number tells a value ("port 8080", "is 30") from a name ("server 1", "phase 2").
_INTRODUCING_WORDS = """
    is are be equals equal to at on of by with than least most about = : ≤ ≥ < > é são ser de em para até por com
    port ports porta timeout limit limite version versão size tamanho level nível max min maximum minimum máximo mínimo
    depth width height length ttl budget quota threshold limiar workers replicas threads retries attempts concurrency
    python node nodejs java jdk go golang ruby php rust postgres postgresql mysql redis django rails react vue angular
    ubuntu debian alpine typescript kotlin gradle swift xcode ios android terraform kubernetes
    """
_INTRODUCING = frozenset(_INTRODUCING_WORDS.split())
_COUNTED_WORDS = """
    times time retries attempts workers replicas threads connections requests items entries lines characters chars columns
    spaces users backups copies pods nodes instances processes shards approvals reviewers reviews partitions rows
    vezes tentativas linhas caracteres colunas espaços réplicas cópias aprovações conexões instâncias processos itens
    """
_COUNTED = frozenset(_COUNTED_WORDS.split())
_NAMING_WORDS = """
    section chapter figure table step phase rule adr rfc issue pr item line lines page part option appendix ticket task
    case test example round sprint iteration attempt lesson note milestone stage release tag error code status http id
    seção capítulo figura tabela passo fase regra página linha parte opção tarefa caso teste exemplo erro código etapa
    """
_NAMING = frozenset(_NAMING_WORDS.split())
_REPORTING_WORDS = "took was were foi eram era levou demorou spent cost gave measured"
_REPORTING = frozenset(_REPORTING_WORDS.split())
"""What was so once says nothing about what is so."""


@frozen
class Quantity:
    """A value in a sentence. Two quantities of one `measure` can be compared by `value`."""

    start: int
    end: int
    measure: str
    """`time`, `size`, `share`, `pixels`, `version` (dotted) or `number`."""
    value: str
    """In the measure's base unit, normal."""


def quantities(sentence: str) -> tuple[Quantity, ...] | None:
    """The values in a sentence, in order; None where it only reports what was measured or what was so."""
    if not has_digits(sentence):
        return ()
    found: list[Quantity] = []
    for number in _NUMBER.finditer(sentence):
        before = _LAST_WORD.search(sentence, max(0, number.start() - 40), number.start())
        introduced = (before[1] or before[2]).lower() if before else ""
        if introduced in _REPORTING:
            return None
        if _is_value(number, introduced):
            found.append(_quantity(number))
    return tuple(found)


def has_digits(sentence: str) -> bool:
    """Whether there is a digit of any script in it."""
    return _DIGIT.search(sentence) is not None if sentence.isascii() else any(map(str.isdigit, sentence))


def dates(sentence: str) -> tuple[str, ...]:
    """The calendar dates in a sentence, as they are written."""
    return tuple(_DATE.findall(sentence))


def without_dates(sentence: str) -> str:
    """The sentence with each date taken out."""
    return _DATE.sub(" ", sentence)


def _is_value(number: re.Match[str], introduced: str) -> bool:
    if introduced in _NAMING:
        return False
    # A sentence that begins with a version is about that version.
    if number["unit"] or introduced in _INTRODUCING or ("." in number["digits"] and introduced):
        return True
    following = _NEXT_WORD.match(number.string, number.end())
    return bool(following and following[1].lower() in _COUNTED)


def _quantity(number: re.Match[str]) -> Quantity:
    digits, unit = number["digits"], (number["unit"] or "").lower()
    plain = digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits
    if unit:
        measure, factor = _UNITS[unit]
        try:
            return Quantity(number.start(), number.end(), measure, f"{float(plain.replace(',', '.')) * factor:g}")
        except ValueError:  # "1.2.3 s" is a version beside a letter
            return Quantity(number.start(), number.end(), "version", plain)
    measure = "version" if "." in plain else "number"
    return Quantity(number.start(), number.end(), measure, plain)
