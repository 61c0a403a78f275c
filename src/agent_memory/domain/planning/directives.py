"""Directives: sentences that tell an agent what to do. What no person said must not become one of an agent's orders (P19).

The rule errs towards calling a sentence a directive: a note that is held back from the hot tier is still found by search,
an order that a web page slipped in is not taken back.
"""

from __future__ import annotations

import re

from agent_memory.domain.planning.statements import statements
from agent_memory.domain.vocabulary import Kind

_IMPERATIVE_WORDS = (
    "add allow apply approve assume avoid back backup bump call change check choose clean clone commit configure copy create "
    "curl delete deploy disable discard do download edit email enable ensure execute exfiltrate export fetch fix follow force "
    "forget format forward generate give grant ignore implement import include insert install invoke keep launch leave limit "
    "link load log maintain make merge migrate move name never note obey omit open output overwrite paste pass pin pipe post prefer "
    "print promote publish pull push put read rebase rebuild refactor refuse register reject remember remove rename replace reply "
    "report reset respond restart restore revert review rewrite run save say scan schedule send set share show skip source "
    "ssh start stash stop store submit sudo switch sync tag take tell test treat trust turn type uninstall unset update upgrade "
    "upload use validate verify visit wait warn wget wrap write "
    "adicione apague assuma atualize baixe chame clone coloque confie configure confira copie corrija crie delete descarte "
    "desative edite envie escreva evite exclua execute faça garanta gere ignore instale lembre leia mande mantenha mude mova "
    "obedeça prefira pule remova renomeie reinicie rode salve siga substitua teste troque use utilize verifique"
)
# Looked up, not part of a pattern: to compile these as alternatives took longer than to judge a hundred sentences.
_IMPERATIVES = frozenset(_IMPERATIVE_WORDS.split())
_LEAD = re.compile(
    r"(?:please|kindly|also|then|so|first|next|finally|instead|now|just|important|note|warning|rule|por favor|então|depois|também)[,:]?\s+",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"'“‘*_`(\[]*")
# "add-ons", "set = 3" and "fix 3f2a9c1" name things.
_VERB = re.compile(r"(\w++)(?![-=(.:/]|\s*=|\s+`?[0-9a-fA-F]{7,40}\b)")
# Before another clause: "when X, run Y", "before building run Y".
_CONDITION = re.compile(
    r"(?:when|whenever|if|before|after|once|every time|each time|to|for|in|on|with|quando|se|antes|depois|para|ao)\b",
    re.IGNORECASE,
)
_LATER_VERB = re.compile(
    r"(?:[,:]\s+|\b(?:and|then|e|então)\s+)(?:(?:always|never|first|please|just)\s+)?(?=(\w++)(?![-=(.:/]))",
    re.IGNORECASE,
)
_CONDITIONED_RUN = re.compile(
    r"\b(?:before|after|when|whenever|to)\s+\w+(?:\s+\w+){0,3}\s+(?:run|execute|call|use|fetch|curl|install|rode|execute)\b",
    re.IGNORECASE,
)
# A sentence may begin with anything and still end in an order.
_COMMAND_IN_CODE = re.compile(
    r"(?<!to )(?<!can )(?<!could )(?<!they )(?<!we )(?<!it )(?<!that )(?<!which )(?<!did )(?<!not )\b(?:run|execute|use|invoke|type|call|install|rode|execute|use)\s+`",
    re.IGNORECASE,
)
_SECOND_ORDER = re.compile(
    r"(?:,\s+(?:and\s+|then\s+)?|\b(?:and|so) (?:then |please |always |never )+)(?:always|never|run|execute|install|delete|curl|wget|fetch|download|ignore|upload|send|push|publish)\s+(?!by\b|in\b|on\b|to\b|of\b|from\b)\w",
    re.IGNORECASE,
)
# What a person is said to want is an order in other words.
_WISH = re.compile(
    r"\b(?:user|person|maintainer|developer|owner|team|client|customer|boss)s?\s+(?:(?:also|always|explicitly|strongly|clearly)\s+)*"
    r"(?:wants?|prefers?|insists?|expects?|requires?|demands?|likes?|wishe?s?|does(?: not|n['’]t) (?:want|like)|do(?: not|n['’]t) (?:want|like)|"
    r"(?:asked|told|instructed|ordered) (?:all |every |any |the )?(?:agents?|assistants?|you|us)|(?:said|asked|decided|requested) (?:that |to )(?:always|never)|"
    r"quer|prefere|exige|não quer|não gosta)\b|\bo (?:usuário|utilizador) (?:quer|prefere|exige|não quer)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:must|shall|ought to|should(?! (?:now |already |have |work))|needs? to|(?:have|has) to|(?:is|are) to be|(?:is|are) required|required to|requires? that|"
    r"(?:is|are) (?:mandatory|forbidden|prohibited|not allowed|expected to|supposed to)|may not|can ?not be|never ever|"
    r"deve(?:m|mos|ria|riam)?|precisa(?:m|mos)? (?!de)|tem (?:que|de)|têm (?:que|de)|é (?:obrigatório|proibido|preciso|necessário))\b",
    re.IGNORECASE,
)
# "never returns" and "is always stale" describe; "always run", "never commit" and "agents always …" command.
_ALWAYS = re.compile(
    r"\b(?:(?:you|we|agents?|everyone|developers?)\s+(?:should\s+|must\s+)?(?:always|never)\b|"
    r"(?:always|never|sempre|nunca|jamais)\s+(?![\w']*(?:s|ed|en|ing)\b|be(?:en)?\b|the\b|a\b|in\b|on\b|at\b)[\w']+)",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    r"\b(?:is|are|was|were|will|would|can|could|did|does|had|has|have|been|it|they|which|that|foi|é|era)\s+(?:always|never|sempre|nunca)\b",
    re.IGNORECASE,
)
_PROHIBITION = re.compile(
    r"do not|don['’]t|no\s+\w+ing\b|(?<!when )(?<!how )(?<!where )(?<!why )(?<!whether )(?<!what )(?<!or )not?\s+to\b|não\s+\w+|\b(?:please|you)\s+(?:do not|don['’]t|cannot|can['’]t|may not)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b(?:make sure|be sure|remember to|don['’]t forget|ignore (?:all |any |the )?(?:previous|prior|above|earlier|other)|from now on|the (?:correct|right|proper|only|recommended) "
    r"(?:way|procedure|command|step)|(?:the |our |company |project |team |security )(?:policy|rule|requirement|mandate|standard)|you are (?:now |allowed |authorized |required )|"
    r"as (?:an|the) (?:ai|agent|assistant)|certifique-se|lembre-se|a partir de agora|de agora em diante)\b"
    r"|\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
    re.IGNORECASE,
)
# "source, schedule, storage" names what a note is about, though each word could also command.
_NAMES = re.compile(r"[\w-]+(?: [\w-]+)?(?:, [\w-]+(?: [\w-]+)?){2,}(?:,? (?:and|or|e|ou) [\w-]+(?: [\w-]+)?)?\.?")
_TOKEN = re.compile(r"\w+")
_LIKE_ASCII = re.compile("[ſıİ]")
"""Letters that a pattern in any case takes for `s` and `i`, though in lower case they are others."""

# Whatever a pattern finds has one of its words, whole: to look for these first takes a third of the time.
_ALWAYS_WORDS = frozenset(("always", "never", "sempre", "nunca", "jamais"))
_PROHIBITING = ("no", "n't", "n’t", "não")
"""Whatever `_PROHIBITION` finds has one of these somewhere."""
_MODAL_WORDS = """
    must shall ought should need needs have has be required requires mandatory forbidden prohibited allowed expected supposed
    may ever deve devem devemos deveria deveriam precisa precisam precisamos tem têm obrigatório proibido preciso necessário
    """
_ADDRESS_WORDS = """
    sure remember forget ignore now way procedure command step policy rule requirement mandate standard allowed authorized
    required ai agent assistant certifique lembre agora curl wget
    """
_SECOND_ORDER_WORDS = """
    always never run execute install delete curl wget fetch download ignore upload send push publish
    """
_WISH_WORDS = """
    user users person persons maintainer maintainers developer developers owner owners team teams client clients customer
    customers boss bosss usuário utilizador
    """
_ANYWHERE = (
    (_MODAL, frozenset(_MODAL_WORDS.split())),
    (_ADDRESS, frozenset(_ADDRESS_WORDS.split())),
    (_SECOND_ORDER, frozenset(_SECOND_ORDER_WORDS.split())),
    (_WISH, frozenset(_WISH_WORDS.split())),
)
_TELLING = _ALWAYS_WORDS.union(*(words for _, words in _ANYWHERE))


def is_directive(text: str) -> bool:
    """Whether any sentence of the text tells a reader what to do."""
    return any(map(_commands, statements(text)))


def directive_sentences(text: str) -> tuple[str, ...]:
    """The sentences that tell a reader what to do, in order."""
    return tuple(sentence for sentence in statements(text) if _commands(sentence))


def is_directive_kind(kind: Kind) -> bool:
    """Whether every entry of this kind says what to do, however it is worded."""
    return kind in (Kind.PREFERENCE, Kind.CONVENTION)


def _commands(sentence: str) -> bool:
    if _NAMES.fullmatch(sentence) and not _ALWAYS.search(sentence):
        return False
    if _begins_with_imperative(sentence) or ("`" in sentence and _COMMAND_IN_CODE.search(sentence)):
        return True
    if _CONDITION.match(sentence) and (_has_later_imperative(sentence) or _CONDITIONED_RUN.search(sentence)):
        return True
    return _commands_anywhere(sentence)


def _commands_anywhere(sentence: str) -> bool:
    """Whether some word in it, wherever it stands, makes it an order."""
    low = sentence.lower()
    if any(map(low.__contains__, _PROHIBITING)) and _PROHIBITION.search(sentence):
        return True
    if not low.isascii() and _LIKE_ASCII.search(sentence):
        return _is_always(sentence) or any(pattern.search(sentence) for pattern, _ in _ANYWHERE)
    words = _TELLING.intersection(_TOKEN.findall(low))
    if not words:
        return False
    if not words.isdisjoint(_ALWAYS_WORDS) and _is_always(sentence):
        return True
    return any(pattern.search(sentence) for pattern, needed in _ANYWHERE if not words.isdisjoint(needed))


def _is_always(sentence: str) -> bool:
    return _ALWAYS.search(sentence) is not None and not _DESCRIBED.search(sentence)


def _begins_with_imperative(sentence: str) -> bool:
    """Behind quotes, and any number of words that lead up to it: some of these are imperatives themselves."""
    at = _after(_QUOTES, sentence, 0)
    while True:
        verb = _VERB.match(sentence, _after(_QUOTES, sentence, at))
        if verb is not None and _is_imperative(verb[1]):
            return True
        lead = _LEAD.match(sentence, at)
        if lead is None:
            return False
        at = lead.end()


def _has_later_imperative(sentence: str) -> bool:
    return any(_is_imperative(word) for word in _LATER_VERB.findall(sentence))


def _is_imperative(word: str) -> bool:
    # A dotted capital I folds into two characters.
    return word.replace("İ", "i").casefold() in _IMPERATIVES


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
