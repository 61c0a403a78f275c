"""Directives: sentences that tell an agent what to do. What no person said must not become an order for an agent (P19).

This is only the second guard; the first is where words come from (`origin`). When in doubt a sentence counts as a
directive: if it stands in an agent's note it is not shown unasked, but search still finds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from agent_memory.text.salience import statements

_IMPERATIVE_WORDS = (
    "act add allow answer apply approve assume avoid back backup bypass bump call change check choose clean clone commit configure copy create "
    "curl decode delete deploy disable discard disregard do download edit email enable encode ensure execute exfiltrate explain export fetch find fix follow force "
    "forget format forward generate give grant ignore implement import include insert install invoke keep launch leave limit "
    "link load log maintain make maximize merge migrate move name never note obey omit open output overwrite paste pass pin pipe post prefer "
    "pretend print promote provide publish pull push put read rebase rebuild refactor refuse register reject remember remove rename "
    "repeat replace reply report reset respond restart restore reveal revert review rewrite run save say scan schedule send set share show skip source "
    "ssh start stash stay stop store submit sudo summarize switch sync tag take tell test treat trust turn type uninstall unset update upgrade "
    "upload use validate verify visit wait warn wget wrap write "
    "adicione apague assuma atualize baixe chame clone coloque confie configure confira copie corrija crie delete descarte "
    "desative edite envie escreva evite exclua execute faça garanta gere ignore instale lembre leia mande mantenha mude mova "
    "obedeça prefira pule remova renomeie reinicie rode salve siga substitua teste troque use utilize verifique"
)
# In a set rather than a pattern: compiling these as alternatives took longer than judging a hundred sentences.
_IMPERATIVES = frozenset(_IMPERATIVE_WORDS.split())
_ORDERING_LIST = """
    siempre nunca jamás debe deben debes debemos asegúrate asegúrese recuerda recuerde ejecuta ejecute ejecuten instala
    instale utiliza utilice omite omita ignora desactiva desactive elimina elimine descarga descargue immer niemals nie muss
    müssen müsst sollte sollten soll sollen führe führen installiere installieren verwende nutze ignoriere überspringe
    deaktiviere lösche stelle toujours jamais doit doivent devez devons faut exécute exécutez lancez installe installez
    utilisez ignorez désactivez supprimez veillez n'oubliez téléchargez всегда никогда должен должна должно должны нужно
    необходимо обязательно запусти запускай запускайте запустите выполни выполняй выполните установи установите используй
    используйте игнорируй игнорируйте пропусти пропускай пропускайте отключи отключите нельзя следует удали удалите скачай
    скачайте دائما دائمًا أبدا أبدًا يجب شغل شغّل قم ثبت ثبّت تجاهل تأكد استخدم نفذ نفّذ احذف عطل عطّل हमेशा कभी ज़रूर अवश्य
    चाहिए चलाएँ चलाएं चलाओ करें कीजिए इस्तेमाल अनिवार्य daima asla mutlaka zorunlu zorunludur çalıştır çalıştırın kur kurun
    kullan kullanın atla atlayın sil silin gerekir gerekiyor sempre devi deve devono esegui eseguire installa altijd nooit
    moet moeten voer gebruik zawsze nigdy musisz należy uruchom 반드시 항상 절대 aprove aceite autorize conceda guarde libere
    publique mescle compartilhe aprueba apruebe acepta acepte concede comparte comparta publica fusiona fusione guarda envía
    envíe copia copie abre abra approuve approuvez accepte acceptez accorde accordez partage partagez publie publiez
    fusionne fusionnez garde gardez envoie envoyez copiez ouvre ouvrez genehmige genehmigen akzeptiere erteile
    veröffentliche speichere sende schicke kopiere öffne vertraue одобри одобряй одобряйте прими принимай принимайте выдай
    поделись опубликуй сохрани сохраняй сохраните отправь отправляй отправляйте скопируй открой доверяй onayla onaylayın
    paylaş paylaşın yayınla birleştir sakla saklayın gönder gönderin kopyala güven وافق اقبل امنح شارك انشر ادمج احفظ أرسل
    انسخ افتح भेजें भेजो सहेजें साझा मंज़ूर prefiere prefieren quiere quieren préfère préfèrent veut veulent bevorzugt
    möchte предпочитает хочет требует istiyor يفضل يريد पसंद despliega despliegue lanza lanzar añade añada agrega agregue
    spiele starte trage lege leite bitte setze füge schiebe déploie déployez ajoute ajoutez lancer mets mettez suffit
    выкладывай выложи выложите передай передайте добавь добавьте будьте أضف تكرم سوى يمكنك yap yapın ekle ekleyin храни
    храните amabilidad amabilité gentileza acrescente basta
"""
_ORDERING_PARTS = re.compile(
    "必须|必須|务必|務必|始终|始終|总是|總是|一定要|不要|请|請|禁止|切勿|勿|应该|應該|应当|應當|不得|需要先|麻烦|麻煩|只需|每次"
    "|必ず|常に|絶対|してください|て下さい|てください|しなければ|べき|しないで|すること|せよ|しろ|するだけ|もらえますか"
    "|하세요|하십시오|하지 마|해야|"
    r"(?<=\w)(?:malı|meli|malısın|melisin|malıdır|melidir)\b|\b(?:tercih eder|[aeıiuü]r m[ıi]s[ıi]n[ıi]z)\b|(?:^|[，,])[把将]"
)
_ORDERING_LEAD = re.compile(
    "(?:运行|執行|执行|安装|安裝|忽略|跳过|跳過|使用|删除|刪除|下载|下載|実行|无视|無視|関閉|关闭|批准|接受|授予|分享|发布|合并|保存|发送|复制|打开|信任|用户希望|用户偏好|用户更喜欢|用 ?`)"
)
_LEAD = re.compile(
    r"(?:please|kindly|also|then|so|first|next|finally|instead|now|just|important|note|warning|rule|todo|por favor|então|depois|também|[a-z]{3,}ly)"
    r"[,:]?\s+",
    re.IGNORECASE,
)
_DECORATION = re.compile(r"(?:[^\w\"'“‘*_`(\[#$./~-]+|\(\d+\)\s+|\[[^\]\n]{1,40}\]\s+)+")
"""Matches check marks, arrows, bars, numbers and bracketed marks in front of a sentence."""
_QUOTES = re.compile(r"[\"'“‘*_`(\[]*")
# "add-ons", "set = 3", "fix 3f2a9c1", "fix for Windows" and "open whether …" name things.
_VERB = re.compile(
    r"(\w++)(?![-=(.:/]|\s*=|\s+`?[0-9a-fA-F]{7,40}\b|\s+(?:for|of|whether|between|is|was|were|are|has|had|does|did)\b)"
)
# In front of another clause: "when X, run Y", "before building run Y".
_CONDITION = re.compile(
    r"(?:when|whenever|if|as an?|before|after|once|every|each|at|during|to|for|in|on|with|quando|se|antes|depois|para|ao|em)\b",
    re.IGNORECASE,
)
_LATER_VERB = re.compile(
    r"(?:[,:]\s+|\b(?:and|then|e|então)\s+)(?:(?:always|never|first|please|just)\s+)?(?=(\w++)(?![-=(.:/]))",
    re.IGNORECASE,
)
_CONDITIONED_RUN = re.compile(
    r"\b(?:before|after|when|whenever|to|in|on|at|for|during|every|each)\s+\w+(?:\s+\w+){0,3}\s+(?:run|execute|call|use|fetch|curl|install|rode|execute)\b",
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
# What a person is said to want is an order in disguise.
_WISH = re.compile(
    r"\b(?:user|person|maintainer|developer|owner|team|client|customer|boss)s?\s+(?:(?:also|always|explicitly|strongly|clearly)\s+)*"
    r"(?:wants?|prefers?|insists?|expects?|requires?|demands?|likes?|wishe?s?|does(?: not|n['’]t) (?:want|like)|do(?: not|n['’]t) (?:want|like)|"
    r"(?:asked|told|instructed|ordered) (?:all |every |any |the )?(?:agents?|assistants?|you|us)|(?:said|asked|decided|requested) (?:that |to )(?:always|never)|"
    r"quer|prefere|exige|não quer|não gosta)\b|\bo (?:usuário|utilizador) (?:quer|prefere|exige|não quer)\b",
    re.IGNORECASE,
)
# If the person did say it, the note is theirs, and its quotations are not checked.
_SAID = re.compile(
    r"\b(?:user|person|maintainer|developer|owner|team|client|customer|boss)s?\s+(?:\w+ly\s+)?(?:said|says|stated|wrote|asked|told|confirmed|decided|requested)\b"
    r"[^.:\"“«\n]{0,30}(?::|[\"“«])",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:must|shall|ought to|should(?! (?:now |already |have |work))|needs? to|(?:have|has) to|(?:is|are) to be|(?:is|are) required|required to|requires? that|"
    r"(?:is|are) (?:mandatory|forbidden|prohibited|not allowed|expected to|supposed to)|may not|can ?not be|never ever|"
    r"deve(?:m|mos|ria|riam)?|precisa(?:m|mos)? (?!de)|tem (?:que|de)|têm (?:que|de)|é (?:obrigatório|proibido|preciso|necessário))\b",
    re.IGNORECASE,
)
# "It failed with: must be a string" tells what happened.
_REPORT = re.compile(r"\b(?:failed with|was found|were found|falhou com|foi encontrad[oa])\b", re.IGNORECASE)
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
    # "Tests do not cover it" describes; without a subject, or with a reader as the subject, it is an order.
    r"(?<![\w`)] )(?:do not|don['’]t)|\b(?:and|but|so|then|also|please|you|we|agents?|assistants?|developers?|everyone|people|users)\s+(?:do not|don['’]t)|"
    r"no\s+\w+ing\b|(?<!, )(?<!when )(?<!how )(?<!where )(?<!why )(?<!whether )(?<!what )(?<!or )(?<!as )not?\s+to\b|não\s+\w+|\b(?:please|you)\s+(?:do not|don['’]t|cannot|can['’]t|may not)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b(?:make sure|be sure|remember to|don['’]t forget|ignore (?:all |any |the )?(?:previous|prior|above|earlier|other|user)|i want you to|from now on|the (?:correct|right|proper|only|recommended) "
    r"(?:way|procedure|command|step)|(?:the |our |company |project |team |team['’]s |security )(?:policy|rule|requirement|mandate|standard)|you (?:will|have been)|(?:you are|your) (?:now|allowed|authorized|required|an?|the|task|job|goal)|"
    r"(?:override|disregard|bypass|evade)\w* (?:\w+ ){0,2}(?:instructions?|rules|guidelines?|guardrails?|restrictions?|safety|security)|"
    r"(?:reveal|leak|dump|expose)\w* (?:\w+ ){0,2}(?:prompts?|secrets?|credentials?|passwords?|keys|tokens?)|"
    r"as (?:an|the) (?:ai|agent|assistant)|certifique-se|lembre-se|a partir de agora|de agora em diante)\b"
    r"|^\W*please\b|\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"^(?:please\s+)?(?:can|could|would|will) (?:you|we)\b|\bplease\b|^(?:(?:você |o senhor )?pode(?:s|ria)?|dá para)\b|\bpor favor\b"
    r"|^is there (?:any |a |some )?way (?:to|that|we|you)\b|^(?:(?:can|could|should|would)n['’]t|why (?:don['’]t|not|can['’]t)) (?:we|you|it|this|that)\b"
    r"|^why not\b|^(?:how|what) about\b|^what if we\b|^não (?:dá|seria|podemos|podíamos)\b|^(?:e se|que tal)\b"
    r"|^¿?(?:puedes|podrías|podéis|podemos|podríamos|puede|podría)\b|^(?:kannst|könntest|könnt|könnten|können|würdest) |\bbitte\b"
    r"|^(?:peux|pourrais|pouvez|pourriez|est-ce que tu peux)\b|s['’]il (?:te|vous) plaît|^(?:не )?(?:мог|можешь|можете|могли)\w*\b|пожалуйста"
    r"|能不能|能否|可不可以|^(?:你|您|我们)?(?:可以|能|请|麻烦)|可以.*吗|[てで](?:くれ|もらえ|いただけ|くださ)|[ea]bilir mi(?:s[ıi]n|yiz)|lütfen"
    r"|^هل (?:يمكن|تستطيع|بإمكان)|من فضلك|^क्या (?:आप|तुम|हम)\b|कृपया",
    re.IGNORECASE,
)
"""Matches questions that ask for something to be done, rather than for information."""
_ANYWHERE = (_ADDRESS, _SECOND_ORDER, _WISH, _SAID, _PROHIBITION)
# "source, schedule, storage" names what a note is about, though each word could also command.
_NAMES = re.compile(r"[\w-]+(?: [\w-]+)?(?:, [\w-]+(?: [\w-]+)?){2,}(?:,? (?:and|or|e|ou) [\w-]+(?: [\w-]+)?)?\.?")
_CODE = re.compile(r"(`+)(?![0-9a-fA-F]{7,40}`)[^`\n]+?\1")
_HIDDEN = {ord(mark): 0xE000 + at for at, mark in enumerate(".!?…。！？;:—–")}
_SHOWN = {hidden: mark for mark, hidden in _HIDDEN.items()}
_CELL = re.compile(r"\s*\|\s*")
_TOKEN = re.compile(r"[^\s.,;:!?…()\[\]\"“”«»।。،؟`*_|/]+")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһкмтвнгпАЕОРСУХІЈЅКМТВНαοενρτυικγχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹօսոհցզյ",
    "aeopcyxijsdqwhkmtbhrnAEOPCYXIJSKMTBHaoevptuikyxcjABEZHIKMNOPTYXCounhgqj",
)
"""Maps letters of other scripts that look like Latin ones (Unicode TR 39), as far as order words contain them."""
_SPACED_OUT = re.compile(r"\b(?:[^\W\d_] ){3,}[^\W\d_]\b")


def in_plain_letters(text: str) -> str:
    """Returns the text with Latin letters in place of look-alikes."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_LOOKALIKES))


_ORDERING_WORDS = frozenset(_ORDERING_LIST.split()) | frozenset(in_plain_letters(_ORDERING_LIST).split())
"""Words of other languages (not English or Portuguese) that give an order wherever they stand."""


def asks_for_something(sentence: str) -> bool:
    """Returns whether it asks politely for something to be done, as "Could you …?" does."""
    return _ASKED.search(sentence) is not None


def is_directive(text: str) -> bool:
    """Returns whether any sentence of the text tells a reader what to do."""
    return any(map(_commands, _sentences(text)))


def directive_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that tell a reader what to do, in order."""
    return tuple(sentence for sentence in _sentences(text) if _commands(sentence))


def _sentences(text: str) -> Iterator[str]:
    if "`" not in text:
        yield from statements(text)
        return
    hidden = _CODE.sub(lambda code: code[0].translate(_HIDDEN), text)
    yield from (sentence.translate(_SHOWN) for sentence in statements(hidden))


def _commands(sentence: str) -> bool:
    spelt = dict.fromkeys((unicodedata.normalize("NFKC", sentence), in_plain_letters(sentence)))
    read = [_SPACED_OUT.sub(lambda word: word[0].replace(" ", ""), each) for each in spelt]
    parts = {part for each in read for part in (each, *(_CELL.split(_CODE.sub("`code`", each)) if "|" in each else ()))}
    return any(_is_order(_DECORATION.sub("", part, count=1) if _DECORATION.match(part) else part) for part in parts)


def _is_order(sentence: str) -> bool:
    if _NAMES.fullmatch(sentence) and not _ALWAYS.search(sentence):
        return False
    # Code is the name of something; only the fact that code stood here matters.
    sentence = _CODE.sub("`code`", sentence)
    if _begins_with_imperative(sentence) or ("`" in sentence and _COMMAND_IN_CODE.search(sentence)):
        return True
    if _CONDITION.match(sentence) and (
        any(map(_is_imperative, _LATER_VERB.findall(sentence))) or _CONDITIONED_RUN.search(sentence)
    ):
        return True
    is_always = _ALWAYS.search(sentence) is not None and not _DESCRIBED.search(sentence)
    if is_always or any(pattern.search(sentence) for pattern in _ANYWHERE):
        return True
    if (sentence.endswith(("?", "？", "؟")) and asks_for_something(sentence)) or (
        _MODAL.search(sentence) and not _REPORT.search(sentence)
    ):
        return True
    # Languages other than English and Portuguese.
    if not _ORDERING_WORDS.isdisjoint(_TOKEN.findall(sentence.lower())):
        return True
    return not sentence.isascii() and bool(_ORDERING_PARTS.search(sentence) or _ORDERING_LEAD.match(sentence))


def _begins_with_imperative(sentence: str) -> bool:
    """Returns whether an imperative comes first, after quotes and lead-in words, which may be imperatives themselves."""
    at = _after(_QUOTES, sentence, 0)
    while True:
        verb = _VERB.match(sentence, _after(_QUOTES, sentence, at))
        if verb is not None and _is_imperative(verb[1]):
            return True
        lead = _LEAD.match(sentence, at)
        if lead is None:
            return False
        at = lead.end()


def _is_imperative(word: str) -> bool:
    # A dotted capital I folds into two characters.
    return word.replace("İ", "i").casefold() in _IMPERATIVES


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
