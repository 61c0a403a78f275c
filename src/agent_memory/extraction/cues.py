r"""Cues: wording that shows what a sentence is for. The wording is data, in tables by what it shows; the end of the module reads it.

Each pattern is matched against one sentence of prose, in any case. English comes first, then Portuguese (of Portugal and Brazil,
with and without accents); of other languages only what is asked to be remembered. `(?P<said>…)` is what the sentence says
without the cue; `<starten>` and `<startpt>` stand for the small words that a sentence may begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum

from attrs import frozen


class Sort(StrEnum):
    """What a sentence with the cue is. Declared from the strongest to the weakest: among equals the stronger one stays."""

    REMEMBER = "remember"  # the person asks that it be remembered
    CORRECTION = "correction"  # the person corrects what the agent said or did
    PREFERENCE = "preference"  # the person says how they want work to be done
    CONVENTION = "convention"  # the person says how it is done here
    ROUTINE = "routine"  # the person names a step of their routine as part of a request: `…, then run make lint`
    DECISION = "decision"  # somebody decided
    WANT = "want"  # the person says how the thing itself has to behave
    LESSON = "lesson"  # what was wrong, and what mended it
    TASK = "task"  # something is left to be done


_ACT = (
    r"(?:use|add|put|write|commit|push|touch|edit|change|mock|create|delete|install|upgrade|rename|format|rebase|squash|amend"
    r"|import|introduce|skip|assume|invent|guess|explain|apologi[sz]e|summari[sz]e|ask|mention|include|hard-?code|swallow|catch|log|print|leave)"
)
_ONE = r"(?:the|this|that|these|those|it|them|my|your|our|his|her|their|a|an|anything|yet)\b"
"""Before the name of one thing: an order about it is a request and no rule."""
_COMMAND = r"(?:the )?`?(?:npm|pnpm|yarn|bun|npx|make|just|cargo|go|uv|uvx|poetry|pytest|tox|nox|mise|gradle|\./\w+|mvn|ruff|docker|bazel|task|rake|bundle|composer|dotnet|mix|deno|nix)\b`?"
_WORK = (
    r"(?:re-?)?(?:add(?:ed)?|implement|create|build|write|fix|change|update|refactor|rename|move|remove|delete|check|look|investigate|review|run"
    r"|test|try|find|search|explore|read|analy[sz]e|improve|reduce|simplify|clean|replace|convert|extract|split|merge|rebase|commit|push|open"
    r"|close|show|list|explain|mention|document|spawn|migrate|generate|install|set up|finish|continue|go(?! with| for)|get|give|help|take|see|ensure|make|tell|new"
    r"|mark|deduplicate|sort|order|organi[sz]e|arrange|group|enable|disable|configure|integrate|connect|deploy|copy|translate|compare|adjust|align|tweak|polish|bump|rewrite|drop|do(?! not)|think|simulate|pretend|start|switch|pull|reconstruct|revert|restore|turn|include|begin|proceed|debug|verify|cherry-pick|wait|stop|ship|log|serve|publish|expose|provide)"
)
_STANDING = r"\b(?:always|never|every time|whenever|from now on|going forward)\b"
_LEADS = {
    "starten": r"^(?:(?:and|but|so|ok(?:ay)?|also|well|yes|yeah|hm+|hey|oh|btw|by the way|one more thing|please|right|sorry|wait|actually|correction|i was wrong|my mistake|just|fyi)[,:!.]?\s+)*",
    "thenen": r"(?:^|[,;:–—-]\s+(?:and\s+|but\s+|so\s+)?(?:please\s+)?|\band\s+|\bbut\s+|\bplease\s+)",
    "startpt": r"^(?:(?:e|mas|então|entao|ok|olha|sim|ah|já agora|a propósito|por favor|bom|bem|desculpa|espera|afinal|correção|enganei-me)[,:!.]?\s+)*",
    "thenpt": r"(?:^|[,;:–—-]\s+(?:e\s+|mas\s+)?(?:por favor,?\s+)?|\be\s+|\bmas\s+|\bpor favor,?\s+)",
}
"""What several patterns begin with, by the name that stands for it in them."""
_AFTER = r"[\s:,，：、]*(?P<said>.*)"

_BY_USER_WORDS = {
    "remember": (
        r"<starten>(?:please |always |do )?remember(?:,|:|\s+this[:,]?|\s+that\b|\s+to\b(?=.*\b(?:always|every|(?:before|after) \w+ing|when|next time)\b))\s*(?P<said>.+)",
        r"\b(?:please|should|must|to|can you|could you|you) remember (?:that|this[:,]?|for next time[:,]?|:)\s*(?P<said>.+)",
        r"^(?:just )?so (?:that )?you (?:remember|know|don't forget)(?: (?:it|this|next time|for next time|for later))?[,:–—-]?\s+(?:that )?(?P<said>.+)",
        r"^(?P<said>.{15,}?)[,;:–—-]*\s+(?:(?:just )?so (?:that )?you (?:remember|know|don't forget)|(?:please )?(?:remember|memori[sz]e) (?:this|that|it)(?! is\b)|(?:please )?keep (?:this|that|it) in mind|from now on|going forward)\b[^.]{0,20}[.!]?$",
        r"<starten>(?:for (?:the )?future(?: reference)?|for next time|for the record|note to self|note for later|fyi|for your information|heads[- ]up|good to know)\s*[,:–—-]\s*(?P<said>.+)",
        r"<starten>(?:(?:please )?(?:make a note|take note|note down|note(?= that)|keep (?:it )?in mind|bear in mind|be aware|don't (?:ever )?forget|do not forget|never forget|memori[sz]e))(?:\s+that|\s+this|\s+of the fact that|\s+(?:so|that) (?:we|you|i) (?:don't forget|remember) that)?[:,]?\s+(?P<said>.+)",
        r"<starten>(?:please )?(?:save|add|put|store|write|commit|record) (?:this|that|it)?\s*(?:(?:in|to|into) (?:your |the |our )?memory|as an? (?:\w+ )?(?:rule|preference|convention))[:,]\s*(?:that )?(?P<said>.+)",
        r"<starten>(?P<said>(?:from now on|going forward|in (?:the )?future|from here on(?: out)?|henceforth),? (?!.*\b(?:may|might|could|would)\b|i'd\b|(?:i|we) (?:want|plan|hope)\b).+)",
        # Portuguese
        r"<startpt>(?:lembra|lembre)(?:-te|-se|m-se)?(?:,|:|\s+(?:disto|disso|sempre)[:,]?|\s+(?:de\s+)?que\b|\s+de\b)\s*(?P<said>.+)",
        r"<startpt>(?:guarda|guarde|memoriza|memorize|anota|anote|regista|registe|registra|registre)(?:\s+(?:isto|isso|aí|na memória|na memoria))?(?:[:,]|\s+que\b)\s*(?P<said>.+)",
        r"<startpt>n[ãa]o (?:te |se )?(?:esqueças|esquecas|esqueça|esqueca|esquece)(?:-te|-se)?\s*(?:de\s+)?(?:que\s+)?(?P<said>.+)",
        r"<startpt>(?:(?:tem|tenha|ter) em (?:mente|conta)(?:\s+que)?|para (?:referência futura|referencia futura|o futuro|a próxima|a proxima|mais tarde)(?=[,:]))[:,]?\s*(?P<said>.+)",
        r"<startpt>(?P<said>(?:a partir de agora|de agora em diante|daqui em diante|daqui para a frente|doravante|no futuro)\b.+)",
        # Spanish, French, German, Italian, Dutch
        r"^(?:por favor,?\s*)?(?:recuerda|recuerde|recordad|acuérdate|ten en cuenta|tenga en cuenta|no (?:te )?olvides?|no olvide|apunta|memoriza)(?:\s+(?:de\s+)?que\b|\s+esto\b|:)"
        + _AFTER,
        r"^(?:s'il (?:te|vous) plaît,?\s*)?(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|n'oublie(?:z)? pas|garde en tête|gardez en tête|note(?:z)? bien)(?:\s+(?:bien\s+)?(?:que\b|qu'|de\b|ceci\b)|:)"
        + _AFTER,
        r"^(?:bitte\s+)?(?:merke?\s+(?:dir|euch)|merken sie sich|denk(?:e)? (?:daran|dran)|denken sie daran|vergiss nicht|vergessen sie nicht|behalte im kopf|beachte|notiere? dir)(?:\s+bitte)?(?:,?\s+dass\b|:|,)"
        + _AFTER,
        r"^(?:per favore,?\s*)?(?:ricorda(?:ti)?|ricordati|tieni (?:presente|a mente)|non dimenticare|non scordare|annota)(?:\s+(?:di\s+)?che\b|:)"
        + _AFTER,
        r"^(?:alsjeblieft\s+)?(?:onthoud|vergeet niet|denk eraan|houd er rekening mee|noteer)(?:,?\s+dat\b|:)" + _AFTER,
        # Polish, Russian, Ukrainian, Swedish
        r"^(?:proszę,?\s*)?(?:zapamiętaj|pamiętaj|nie zapomnij|miej na uwadze)(?:cie)?(?:,?\s+(?:że|o tym, że)\b|:)"
        + _AFTER,
        r"^(?:пожалуйста,?\s*)?(?:запомни|помни|учти|учтите|не забудь|не забывай|имей(?:те)? в виду|запам'ятай|пам'ятай)(?:те)?(?:,?\s+(?:что|що)\b|:)"
        + _AFTER,
        r"^(?:snälla\s+)?(?:kom ihåg|glöm inte|tänk på)(?:\s+att\b|:)" + _AFTER,
        # Chinese, Japanese, Korean
        r"^(?:请|請|麻烦|麻煩)?(?:你|您)?(?:记住|記住|记得|記得|牢记|牢記|别忘了|別忘了|不要忘记|不要忘記|请注意|請注意|记下|記下)"
        + _AFTER,
        r"^(?:覚えておいて(?:ください|下さい)?|覚えて(?:ください|下さい)?|忘れないで(?:ください|下さい)?|メモして(?:ください|下さい)?)[。:：、,\s]*(?P<said>.*)",
        r"^.{6,}(?:を|は|も|と)(?:覚えて(?:おいて|ください|下さい)|忘れないで|記憶して|メモして)",
        r"^(?:기억해(?: ?줘| ?주세요| ?두세요| ?둬)?|잊지 마(?:세요)?)[.:,\s]*(?P<said>.*)",
        r"^.{6,}(?:것|걸|점)(?:을|도)?\s*(?:꼭\s*)?(?:기억해|잊지 마)",
        # Turkish, Arabic, Hindi
        r"^(?:lütfen\s+)?(?:unutma(?:yın)?|hatırla(?:yın)?|şunu (?:unutma|bil|hatırla)|aklında (?:tut|olsun))[:,]\s*(?P<said>.+)",
        r"^.{10,}(?:ını|ini|unu|ünü)\s+(?:unutma|hatırla|aklında tut)(?:yın)?[.!]*$",
        r"^(?:من فضلك[،,]?\s*)?(?:تذكّ?ر(?:ي|وا)?|لا تنس[َى]?|ضع في اعتبارك|احفظ)\s*(?:أن|أنّ|ان|:)" + _AFTER,
        r"^(?:कृपया\s+)?(?:याद (?:रखना|रखें|रखो|रखिए)|मत भूलना|ध्यान रखें)\s*(?:कि|:)" + _AFTER,
    ),
    "correction": (
        r"^(?:no|nope|nah|wrong|not quite|incorrect|stop)[,.!:;–—-]+\s*(?P<said>(?=\S)(?!.*\bwondering\b)(?!(?:that|this|it|you)(?:'s|'re| is| are) (?:wrong|incorrect|mistaken|not right)\b)(?!(?:thanks|thank|worries|problem|need|idea|wonder|way|not yet)\b).+)",
        r"(?:^|[,;–—-] |\b(?:but|and|no|hm+) )(?:that's|that is|this is|it's|it is|you're|you are|you have it) (?:wrong|incorrect|not (?:right|correct|true)|mistaken|backwards|the wrong way)\b(?: there| here)?(?:[,.:;–—-]+| because| since)?\s*(?P<said>.*)",
        r"<starten>(?:actually|in fact),?\s+(?P<said>(?!can you|could you|let me|i'd like|i wonder|do |does |is |are |how |what |why ).*\b(?:not|never|n't|instead|rather|should|only|wrong)\b.*)",
        r"<thenen>(?P<said>(?:use|call|put|keep|name|return|store|take|choose|go with)\b[^?!]*(?:\binstead(?: of\b|[.!]?$)|\brather than\b|, (?:and )?not [`\"'\w]).*)",
        r"(?P<said>\binstead of\b[^?!]*,\s*(?:use|call|put|keep|return|store|we)\b.*)",
        r"(?P<said>\b(?:don't|do not|stop|never) (?:use|using|do|doing|call|calling|put|putting|add|adding|write|writing)\b [^?!]*[,;]\s*(?:use|do|call|put|keep|write|just|rather|instead)\b.*)",
        r"<starten>(?P<said>not (?!sure|now|yet|really|bad|only|if|working|necessar)[^?!,;]{3,80}[,;]?\s*but\s+\w.*)",
        r"(?P<said>\b(?:it|that|this|they|the [\w -]{2,30}|`[^`]+`)(?:'s|'re| is| are| goes?| lives?| belongs?| comes?) [^?!,;]{3,60}, not [`\"'\w][^?!,;]{1,60}.*)",
        r"^(?:n[ãa]o|errado|nada disso|para)[,.!:;–—-]+\s*(?P<said>(?!(?:obrigad|faz mal|há problema|precisa|te preocupes)).+)",
        r"<startpt>(?:isso|isto|assim) (?:está|esta|é|e|fica) (?:errado|mal|incorreto|incorrecto|ao contrário)[,.:;–—-]*\s*(?P<said>.*)",
        r"<startpt>(?:na verdade|na realidade|aliás|alias),?\s+(?P<said>.*\b(?:n[ãa]o|nunca|devia|deve|em vez|só|apenas)\b.*)",
        r"<thenpt>(?P<said>(?:usa|use|usar|usem|põe|poe|coloca|coloque|mete|chama|chame|guarda)\b[^?!]*\b(?:em vez d|ao invés d|ao inves d|e n[ãa]o\b).*)",
        r"(?P<said>\b(?:em vez d|ao invés d|ao inves d)[^?!]*,\s*(?:usa|use|põe|coloca|coloque)\b.*)",
    ),
    "preference": (
        r"(?P<said>\b(?:i|we) (?:really |just |still |also |definitely |strongly )*(?:don't|do not|never) (?:want|like|care for)\b(?!\s+(?:to (?:bother|be rude|interrupt|sound)|(?:the|this|that(?! (?:we|you))|it|you|your|where|how)\b)).+)",
        r"(?P<said>\bi(?:'d| would)? (?:really |much |strongly |always |generally |usually )*(?:prefer|hate|dislike|rather (?:have|not|keep|use|see|you)|love it when|like it when)\b.+)",
        r"<starten>(?:(?:in|for|on|when|whenever|before|after)\b[^,;]{2,60},\s+)?(?P<said>(?:please )?(?:never|always|don't ever|do not ever) (?!\w*[^s\W]s\b)(?!\w+ed\b|read\b|mind\b|again\b|seen\b|been\b|had\b|was\b|is\b|on\b|gets?\b|fail|works?\b|return(?:s|ed|ing)\b)[a-z`]+.*)",
        r"<thenen>(?P<said>(?:never|always) (?!(?:in|on|at|for|from|with|to)\b)[a-z]+ (?:.+ )?(?:when(?:ever)?|before|after|unless|without|until)\b.+)",
        r"<starten>(?P<said>(?:please )?(?:don't|do not) \w+ an? .*\b(?:for|in|on|with|after|before) (?:every|each|any)\b.+)",
        rf"(?P<said>.*\b(?:use|write|prefer|import|keep|name)\b (?:only )?(?!{_ONE})(?:[\w-]+ ){{0,3}}[\w-]+s (?:rather than|instead of) (?:[\w-]+ ){{0,3}}[\w-]+s\b.*)",
        r"<starten>(?P<said>(?:the |an? |all |any |coding )?(?:ai )?agents? (?:should|must)(?:n't)?\b.+)",
        rf"<starten>(?P<said>(?:please )?(?:don't|do not) {_ACT}\b (?!{_ONE}|for now)(?:any |in )?[\w`\"'-]+.*)",
        r"<starten>(?P<said>no (?!.{0,40}\b(?:is|are|was|were|appears?|shows?|gets?)\b)(?!only\b|i\b|we\b|you\b|its?\b|it's\b|that's\b|not\b|they\b|this\b|that\b|the\b|need|problem|worries|idea|thanks|way|longer|matter|one\b|doubt|changes?\b|luck|errors?\b)[\w`/-]+(?: [\w`/-]+){0,3}(?:\s*[,;–—-]\s*(?:please |just |always )?(?:use|do|put|keep|write|only|prefer|go)\b| (?:in|for|on|inside|within) (?:the |our |this |any |my )?[\w`/-]+).*)",
        r"(?P<said>\bmake sure (?:you |we |that you |that we |to )(?:always|never)\b.+)",
        r"(?P<said>\byou (?:(?:must|should|may) (?:never|always|not|only)|(?:must|should)n't)\b(?! (?:be(?! (?:edit|modify|chang|touch|mov|renam|delet|creat|writ|put+|commit+|push)ing\b)|have|need|see|get|worry)\b).+)",
        r"(?P<said>\b(?:please )?(?:stop|quit|avoid) (?:using|adding|writing|making|putting|committing|creating|mocking|asking|summari[sz]ing|guessing|explaining)\b (?!(?:the|this|that|it)\b).+)",
        r"(?P<said>\b(?:eu )?n[ãa]o (?:quero|queremos|gosto|gostamos)\b.+)",
        r"(?P<said>\b(?:eu )?(?:prefiro|preferimos|preferia|detesto|odeio)\b.+)",
        r"<thenpt>(?P<said>(?:por favor,? )?(?:nunca|sempre) (?!mais\b|foi\b|que (?:tento|corro|abro)\b|falha\b|funcion|vi\b)[a-zà-ú]+.*)",
        r"<startpt>(?P<said>(?:por favor,? )?n[ãa]o (?:uses|use|adiciones|adicione|metas|coloques|coloque|escrevas|escreva|faças commit|faça commit|mexas|mexa|alteres|altere|cries|crie|apagues|apague|instales|instale|assumas|assuma|inventes|invente)\b.+)",
        r"(?P<said>\bsempre que (?:tu|nós|eu|você|vocês|for|fizer|fizeres|mudar|mudares|alterar|alterares|criar|criares|adicionar|adicionares|houver)\b.+)",
    ),
    "convention": (
        r"(?P<said>(?<!how )(?<!what )(?<!where )(?<!so )\bwe (?:currently |deliberately |intentionally |explicitly )?(?:always|never|usually|generally|normally|typically|only ever|only|must(?! have\b)|explicitly|deliberately|intentionally|don't use|do not use|don't allow|do not allow|don't do|don't (?!want|need|know|have|care|see|like|get|really|understand)\w+ (?:the|any|our|in|to)\b|avoid|prefer|stick to|standardi[sz]ed? on)\b.+)",
        r"<starten>(?P<said>(?:the |our |all )?(?:code|comments|docs|documentation|tests|commits|commit messages|error messages|pull requests|prs|names|migrations) (?:should|must)(?:n't)? (?!work\b|pass\b|now\b|(?:also |be )*(?:fixed|updated|added|moved|there|in\b)).+)",
        r"(?P<said>.*\b(?:no|don't|do not|without|never)\b[^.?!]{0,40}\bbackwards?[- ]compat\w*.*)",
        r"(?P<said>\b(?:our|the|my|a) (?:\w+ ){0,2}(?:convention|rule|policy|standard|practice|naming scheme|house style|guideline) (?:here )?(?:is|says|for)\b.+)",
        r"(?P<said>\b(?:by convention|as a rule|in (?:this|our) (?:repo|repository|project|codebase|team|company|org)),? (?:we(?! have)|all|every|the|you|it|no|each)\b.+)",
        r"(?:^\(?|[,;:] |\b(?:and|but|because|since|so|that|as) )(?P<said>we (?:\w+ly )?use [^?!]+ (?:for|as|to|not|instead|rather|everywhere|because|since)\b.+)",
        r"(?P<said>\b(?:all|every|each|any|new) (?:(?!that\b|which\b|who\b|think\b|we\b|you\b|i\b)[\w/-]+ ){1,4}(?:needs? an? |(?:must|should|has to|have to|needs? to|go(?:es)?|belongs?|lives?|gets?) (?:always |never |not )?(?:be |have |go |live |start |end |use |in |into |under |its ))(?!fixed\b|done\b).+)",
        r"(?P<said>\b[\w`./-]+ (?:must (?:never|not|only|always)|may (?:never|only)|can (?:never|only))\b.+)",
        r"(?P<said>\b(?:nós |nos |a gente )?(?:costumamos|usamos sempre|nunca usamos|não usamos|nao usamos|evitamos|fazemos sempre|nunca fazemos|a gente sempre|a gente nunca|nós sempre|nós nunca)\b.+)",
        r"(?P<said>\busamos [^?!]+ (?:para|como|e não|e nao|em vez|em todo|em todos)\b.+)",
        r"(?P<said>\b(?:a|nossa|a nossa|por|como) (?:\w+ )?(?:convenção|convencao|regra|política|politica|norma)\b.+)",
        r"(?P<said>\b(?:neste|nesse|no nosso) (?:projeto|projecto|repositório|repositorio|repo|código|codigo),? (?:usamos|todos|todas|nunca|sempre|não|nao|os|as|o|a|cada)\b.+)",
    ),
    "routine": (
        rf"(?:^|[,;\s])(?P<said>(?:(?!fix|run|check|for|in|of|to|and|with|the)\w+ (?:the |its )?(?:docs?|documentation|demos?|tests?|changelog|readme|snapshots?|examples?|types|fixtures)\b[^,.;?!]{{0,40}},? )(?:(?:and|then|finally|afterwards|after that|at the end),? )+(?:please |also )?(?:run|execute) {_COMMAND}.*)",
    ),
    "decision": (
        r"<starten>(?P<said>(?:let'?s|let us) (?:just |please )?(?:go with|go for|use|stick with|stick to|keep(?! going| it\b| at it| on\b)|drop|switch to|move to|do option|adopt|stay with|settle on|target|not (?!worry|forget|yet)\w+)\b.+)",
        r"(?P<said>(?<!what )(?<!which )(?<!why )(?<!how )\b(?:we|i)(?:'ve| have|'re| are|'m| am)? (?:now )?(?:decided|chose|chosen|opted|agreed|settled on|going with|going to go with|standardi[sz]ing on|switching to|went with)\b.+)",
        r"(?P<said>\b(?:we|i)(?:'ll| will) (?:go with|use|stick with|stay with|keep(?! \w+ing\b)|adopt|drop)\b.+)",
        r"<starten>(?P<said>(?:(?:go|going|proceed|continue) (?:with|for) |pick |i(?:'ll)? (?:choose|pick|take|like|vote for|prefer) )(?:the )?(?:option|approach|variant|number|proposal|solution|version|choice|alternative|plan|first|second|third|last)\b.*)",
        r"<starten>(?P<said>(?:option|approach|variant|proposal|solution) [\da-e]\b(?:[,.!]|$| (?:please|then|sounds|looks|seems|it is|is (?:fine|good|best|better|what)|for|with|but|and)\b).*)",
        r"<starten>(?:the )?decision(?: is|:)\s*(?P<said>.+)",
        r"(?P<said>\b(?:is|are|was|were|left|kept|done)(?: [\w-]+){0,3} (?:on purpose|by design|deliberately?|intentional(?:ly)?)\b.*)",
        r"(?P<said>\bwe (?:should|must)(?:n't| not| never) (?!have\b|be\b|need\b|worry\b|forget\b)\w+.{6,})",
        r"(?P<said>\bwe should(?:n't| not)? .{6,} (?:because|since|instead of|rather than|so that|, but)\b.+)",
        r"<startpt>(?P<said>vamos (?:usar|com a?|com o|ficar com|manter|adotar|adoptar|optar|mudar para|seguir com|pela|pelo|largar|abandonar)\b.+)",
        r"(?P<said>\b(?:decidimos|decidi|ficou decidido|escolhemos|escolhi|optamos|optei|adotamos|adoptámos|adotei|acordámos|combinámos|ficou combinado)\b.+)",
        r"<startpt>(?:a )?decisão(?: é|:| foi)\s*(?P<said>.+)",
        r"<startpt>(?P<said>(?:(?:escolho|prefiro|fico com|segue com|avança com) (?:a |o )?)?(?:opção|opcao|alternativa|proposta|primeira|segunda|terceira|última)(?: [\da-e]\b)?(?:[,.!]|$| (?:por favor|então|parece|é|com|mas|e)\b).*)",
    ),
    "want": (
        r"<starten>(?P<said>i do (?:also |still |really )?want\b(?!.*:$).+)",
        r"(?P<said>\b(?!(?:you|u|i|we|what|which|how|why|when|where|that|who|think|thinks)\b)[\w`.)\"'/-]+(?: (?:command|page|file|field|flag|test|user|box|button|output))? (?:should|shouldn't|must|mustn't|ought to)(?: (?:also|not|only|always|never|still|instead|just))* (?!work\b|be (?:fine|ok(?:ay)?|good|enough|done|possible|easy|straight|simple|safe|quick|there)\b|pass\b|now\b|already\b|have\b|do(?:ne)?\b[.!]?$|i\b|we\b|you\b)\w+.*)",
        r"<starten>(?P<said>(?:keep|make) .*\bas [\w-]+ as possible\b.*)",
        r"(?P<said>.*\b(?:was|were) (?:supposed|meant) to\b.*)",
        r"(?P<said>\b(?:make sure|ensure)(?: that)? (?:the|every|each|all|any|no|we|users?) (?!tests?\b|build\b|lint).{3,}\b(?:never|always|only|not|can't|doesn't|don't|isn't)\b.*)",
        r"(?P<said>\b(?:o|a|os|as|este|esta|cada) [^?!,]{1,60}\b(?:deve|devem|tem de|têm de|tem que) (?:sempre|nunca|só|apenas)\b.+)",
    ),
    "lesson": (
        r"(?P<said>\b(?:it )?turn(?:s|ed) out\b.+)",
        r"(?P<said>\b(?:the )?(?:root cause|real (?:problem|issue|cause|reason)|actual (?:problem|issue|cause|reason)) (?:is|was|here)\b.+)",
        r"(?P<said>\bthe (?:problem|issue|cause|culprit|bug|reason|trick|catch|gotcha) was\b.+)",
        r"(?P<said>\b(?:we|i) (?:learn(?:ed|t)|found out|discovered|realized|realised)\b.+)",
        r"(?P<said>.*\b(?:failed|failing|broke|crashed|hung|was down|got stuck)\b[^?!]* (?:because|since|due to)\b.+)",
        r"(?P<said>\b(?:afinal|acontece que|no fim de contas),? .+)",
        r"(?P<said>\b(?:o problema|a causa|a causa raiz|o erro|a razão|o motivo) (?:real |verdadeir[oa] )?(?:era|foi|estava|vinha)\b.+)",
        r"(?P<said>\b(?:descobri|descobrimos|aprendi|aprendemos|percebi|percebemos) que\b.+)",
    ),
    "task": (
        r"<starten>(?P<said>(?:in (?:the )?future|later on|eventually|at some point),? (?:i|we)(?:'d| would)? (?:like|want|plan|hope) to\b.+)",
        r"<starten>(?:todo|to do|to-do|follow[- ]?up|next (?:time|session)|later|tomorrow|for later|still open|still to do|left to do)\s*[:,–—-]\s*(?P<said>.+)",
        r"(?P<said>\b(?:we|i|you)(?:'ll| will)? (?:still|later) (?:need to|have to|must|should)\b.+)",
        r"(?P<said>\b(?:(?:we|i)(?:'ll| will| should| can|'d better)|let's) (?:do|handle|fix|tackle|address|look at|come back to|revisit|finish|leave) [^?!]{2,120}\b(?:later|tomorrow|next time|another time|in (?:a|another) (?:follow[- ]?up|separate pr|later pr)|next week)\b.*)",
        r"<startpt>(?:por fazer|a fazer|pendente|falta|fica (?:por fazer|para depois)|mais tarde|amanhã|amanha|depois|próximo passo|proximo passo)\s*[:,–—-]\s*(?P<said>.+)",
        r"(?P<said>\bainda (?:falta|faltam|é preciso|é necessário|temos de|tenho de|precisamos)\b.+)",
    ),
}

_BY_AGENT_WORDS = {
    "lesson": (
        r"\broot cause\b(?! (?:fix|documented|analysis|found|identified|(?:is|was) (?:well|clear|known|unknown|unclear|understood)))[^?!]{0,80}?(?:\bwas\b|\bis\b|:)",
        r"\bthe (?:actual |real |underlying |core )?(?:problem|issue|bug|culprit|cause|reason|mistake|gotcha|catch)\b[^?!]{0,60}\b(?:was|were|came from|turned out)\b",
        r"\b(?:it |this )?turn(?:s|ed) out\b",
        r"\b(?:failed|failing|broke|crashed|hung|hangs|fails|breaks|happened|happens|disappeared|vanished|blocked|rejected|skipped)(?: [\w`./()-]+){0,6} because\b",
        r"\b(?:was|were|is|are) (?:being )?(?:caused by|due to)\b",
        r"\bcausa[- ]raiz\b|\b(?:o problema|o erro|a causa|a falha|o motivo|a razão)\b[^?!]{0,60}\b(?:era|foi|estava|vinha|ocorria|acontecia)\b",
        r"\b(?:acontece que|afinal|(?:falhava|falhou|quebrava|bloqueava|desaparecia|acontecia) porque|causad[oa] por|devido a)\b",
    ),
    "task": (
        r"^(?:remaining|todo|to do|still (?:open|to do|missing)|left to do|pendente|por fazer|falta|ainda em aberto)\s*[:–—-]\s*(?P<said>.+)",
        r"^(?:next steps?|follow[- ]?ups?|pending|próximos? passos?)\s*[:–—-]\s*.+|^not (?:yet )?(?:run|done|tested|verified|covered|implemented|handled)\s*[:–—-]\s*.+",
        r"(?P<said>\bi (?:have not|haven't|did not|didn't|could not|couldn't|can't|cannot|was not able to|wasn't able to|was unable to)(?: yet)? (?:run|test|verif|push|deploy|migrat|implement|add|update|cover|handle|remov|check|confirm|reproduc|validat|exercis|build|execut)\w*\b.+)",
        r"(?P<said>.*\b(?:still|yet) (?:needs?|has|have|need|remains?) to (?:be )?\w+.*)",
        r"(?P<said>.+\b(?:is|are|was|were|remains?)(?: still)? (?:not yet|still to be|left for|unimplemented|untested|unverified|a follow[- ]?up|(?:not|only) (?:been )?(?:run|tested|verified|compiled|cross-compiled|checked|confirmed)(?! (?:after|when|if|once)\b)|left (?:as[- ]is|unchanged|open|for))\b.*)",
        r"(?P<said>\bainda (?:falta|faltam|é preciso|é necessário)\b.+)",
        r"(?P<said>\bnão (?:corri|testei|verifiquei|atualizei|implementei|migrei)\b.+)",
    ),
}

_VOID_WORDS = {
    "remember": (
        r"\b(?:forget|esque[çc]as?|esque[çc]e) (?:to|de)\b(?!.*\b(?:always|every|(?:before|after) \w+ing|when|sempre|next time)\b)",
        r"\b(?:in mind|note|forget)[:,]? let'?s\b",
        r"\b(?:in mind|remember|aware(?: of)?|forget|note)[:,]? (?:the|my|our|these|those)\b[^,;.]*? (?:defined|described|listed|mentioned|specified|outlined|documented|discussed) (?:in|at|above|below|under|by)\b",
        r"\b(?:note|track) of (?:this|that|it)\b|\bnote so\b|\b(?:do|like|about|with|for|of|to) (?:this|that|it)\b(?: again)?(?:[.!]*$| going forward| from now on)",
    ),
    "correction": (
        r"^(?:no|nope|stop|wait)?[,.! ]*(?:i'll|i will|i'm|i am|let me)\b",
        r"\b(?:work|help|fix|solve|change)(?:s|ed)?[.!]?$|^(?:(?:no|actually|and|but|so|ok)[,.]?\s+)*instead of [^,;]*$",
        r"\bthe fix is\b",
    ),
    "preference": (
        r"\b(?:any ?more|in (?:there|here))\b|\b(?:want|need|like) (?:to \w+ )?(?:it|this|that|them|these|those)\b[.!]?$",
        r"\b(?:i (?:don't|do not) (?:want|need) to|we (?:don't|do not) (?:want|need) to (?:see|know|hear|go|do|waste))\b",
        r"\b(?:don't|do not) (?:want|need) (?:(?:an?|the|any|your|my) (?:[\w-]+[ .!]*){1,2}$|(?:an? |the )?@?[\w./-]*/?[\w-]+\.\w{1,5}\b)",
    ),
    "convention": (
        r"\b(?:i|we) can (?:only|never)\b|\bi must\b|^still\b",
        r"\b(?:problem|issue|question)\b.*\bis that\b|\btoo \w+[.!]?$|\b(?:confusing|weird|ugly|annoying|backwards)\b",
    ),
    "decision": (r"\b(?:use|keep|go with|take|drop|adopt|do) (?:this|that|those|these|it|both)\b|\blike this\b",),
    "want": (
        r"^@|^(?:(?:also|and|so|but|or|then)[, ]+)*(?:should|there)\b|\bwhether\b|\bright[.!]?$|\bthe following\b",
        r"^(?!(?:\w+ )?keep it\b)(?:[^\s,]+ ){0,5}(?:it|them|those|these)\b",
        r"\b(?:output of this|(?:the|this) (?:pr|branch))\b",
        r"\bshould be (?:a (?:bit|little) )?(?:more|less|fewer|smaller|larger|bigger|taller|wider|narrower|higher|lower|shorter|longer|closer|lighter|darker|brighter|thicker|thinner|faster|slower|simpler|cleaner|clearer|better|nicer|bolder)\b(?! than)",
        r"\bshould (?:be )?(?:move|go(?! (?:through|in|into|to|on|under|behind|at|via)\b)|moved|renamed|removed|deleted|added|put|split|extracted|documented)\b",
        r"\btests? (?:cases? )?should\b|\bmust be (?:off|wrong|missing|because|something|an? (?:bug|error|issue)|due)\b",
        r"\bshould (?:it|i|we|this|that|there|the)\b",
    ),
    "task": (
        r"^(?:next steps?: )?\w+ed\b|\b(?:marked as|completed)\b|\bbecause (?:this|the|it) (?:change|was|is|only)\b|\b(?:may|might|could) still\b",
        r"\b(?:merged?|push(?:ed|ing)?|commit(?:ted)?|reviewed)\b",
    ),
    "lesson": (
        r"\bthe (?:read|edit|write|bash|grep|glob|task|search) tool\b|\b(?:my|the agent's)(?: [\w-]+){0,2} (?:fix|change|edit|attempt|test|try|assumption|draft)\b",
        r"\b(?:issue|bug|ticket|report) (?:was|is) (?:filed|opened|reported|closed)\b|\bthe same\b.*\bas\b|\bis clear\b",
        r"^(?:(?:i|we) )?now\b|\blet'?s\b|\b(?:(?:will|is|are) now|now [a-z]+s)\b|\bafter all\b|\bremains? `?\w+`?(?: because|$)|^\w+(?:\([\w-]+\))?!?: \w+ ",
        r"^(?:critical|high|medium|low|minor|major|nit|p[0-3])\b[)\]]?\s?[:–—-]|^or\b|^\(\d|\bin this environment\b|\bstep \d",
    ),
}
"""With such wording it is not what the cue says."""

_SECTION_WORDS = {
    "convention": (
        r"(?:\w+ )?(?:expected|desired|required|intended)(?: (?:behaviou?r|result|outcome|state))?s?$",
        r"(?:\w+ )?(?:requirements?|constraints?|rules?|guidelines|conventions?|must[- ]haves?|non-?goals|invariants|principles)$",
        r"(?:do not|don'ts?|never)$",
        r"(?:comportamento esperado|requisitos|restrições|regras|critérios de aceitação|convenções)$",
    ),
    "decision": (r"(?:\w+ )?(?:decisions?|decided|agreed|what we (?:decided|agreed)(?: on)?|decisões|decidido)$",),
    "lesson": (
        r"(?:\w+ )?(?:findings?|root causes?|causes?|lessons?(?: learn(?:ed|t))?|learnings|gotchas|known issues|what went wrong)$",
        r"(?:causas?|causa[- ]raiz|conclusões|o que aprendemos|problemas conhecidos)$",
    ),
}
"""Headings, by the sort of the items under them."""


class Signal(Enum):
    """What a cue shows without making a note by itself."""

    ANNOUNCES = (  # the finding comes in what follows, or in the same sentence: `Found it!`, `The issue is …`
        r"^(?:aha|found (?:it|the (?:\w+ )?(?:bug|issue|problem|culprit|cause|root cause))|there it is|there we go|there's the (?:bug|issue|problem)|that's (?:it|the (?:bug|issue|problem|cause|culprit))|bingo|got it)\s*[.!:–—-]",
        r"^(?:here's|here is|this is|so here's) (?:what (?:happened|went wrong|was wrong)|the (?:root cause|problem|explanation|summary of the (?:problem|bug)))\b[^.!?]{0,40}[.!:]?$",
        r"^(?:i )?(?:found|see)(?: and fixed)? the (?:root cause|bug|problem|issue|cause)(?: now| of [^.!?]{0,60})?\s*(?:[.!:–—-]|$)",
        r"^the (?:actual |real |underlying )?(?:issue|problem|bug|cause|root cause|culprit) (?:is|was)(?: that)?\s+",
        r"^(?:encontrei|achei|descobri)(?: (?:o|a) (?:problema|erro|bug|causa|falha))?\s*[.!:–—-]|^(?:o que (?:aconteceu|se passou)|eis o que aconteceu)[^.!?]{0,40}[.!:]?$",
    )
    REMEDY = (  # how it was mended
        r"^(?:the )?(?:fix|solution|remedy)\b(?! (?:addresses|needs|should|would|could|worked|is complete))",
        r"^(?:i )?(?:fixed|solved|resolved|changed|added(?! (?:\w+ ){0,3}(?:tests?|comments?|docs?)\b)|replaced|removed|switched|updated|moved|reduced|increased|restored|made|set)\b",
        r"^(?:so )?(?:now,? )?(?:the |it |both |all )?`?[\w.()-]{2,60}`? (?:\w+ ){0,2}now \w(?!.*\bshould\b)",
        r"^now,? (?:the )?[`\w](?!.*\bshould\b)",
        r"^(?:a )?(?:correção|correcção|solução)\b|^(?:corrigi|resolvi)\b.+\b(?:com|ao|para)\b|^.{1,60}\bagora\b",
    )
    HEDGE = (  # a guess, or a thing to be tried
        r"\b(?:my (?:bet|guess)|i'd bet|might|maybe|perhaps|probably|speculat\w+|most often|likely|possibly|presumably|seems?|seemingly|appears? to|could be|may be|may have|i think|i believe|i guess|i suspect|i assume|not sure|suspicious|looks like|should be fine|hopefully|in theory|let me try)\b",
        r"\b(?:talvez|provavelmente|possivelmente|parece(?:m)?|pode ser|poderia|acho que|julgo que|penso que|creio que|deve ser|suspeito)\b",
    )
    NARRATION = (  # the agent tells what it does next
        r"^(?:if you|good (?:instinct|call|question)|whenever you|want me|happy to|say the word|you can|feel free)\b|\blet me know\b|\bif you(?:'d| would)? (?:like|want|prefer|rather)\b",
        r"^(?:(?:now|next|first|then|so|ok(?:ay)?|good|great|perfect|excellent|alright|right|hm+|wait|interesting|still|also)[,.!:]?\s+)*(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to|i should|i want to|i can see|i see\b|i notice|i understand|i'm (?:now )?(?:looking|checking|running|reading|adding|updating|fixing|mapping|doing)|looking at|checking|running|reading|updating|now i|now let|here's|here is|we need to|good (?:idea|question))\b",
        r"^(?:(?:agora|primeiro|depois|então|ok|bom|ótimo|perfeito|certo)[,.!:]?\s+)*(?:vou|vamos (?:ver|verificar|correr|olhar)|deixa-me|deixe-me|preciso de|a verificar|a correr|estou a)\b",
    )
    MOMENTARY = (  # a state that holds now and says nothing later: tests pass
        r"\blines? \d+|^(?:before|after) (?:the|this) (?:fix|change)\b|\bshould now\b|^the (?:rebase|merge)\b|\bconflicted in\b|\bsuccessfully\b",
        r"\b(?:tests?|suite|lint(?:er|ing)?|build|type ?check\w*|checks?|ci|pipeline|everything|all) (?:\w+ ){0,3}(?:now |all )*(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|successful(?:ly)?|compiles?|works? (?:now|again|fine|as expected))\b",
        r"\b(?:\d+ (?:tests? )?passed|0 (?:issues|errors|warnings|failures)|no (?:errors|warnings|issues|regressions|failures))\b",
        r"^(?:committed|pushed|merged|deployed|branch is|working tree)\b|\b(?:fix|it|this|that|everything|change|timeout settings?) (?:is|are) (?:now )?working\b",
        r"\b(?:all|everything) (?:is |are )?(?:done|set|complete[d]?|good|ready)\b|^(?:critical|high|medium|low|minor|major|nit|p[0-3])\b[)\]]?\s?[:–—-]",
        r"\b(?:testes?|lint|build|compilação|tudo) (?:\w+ ){0,3}(?:passa(?:m|ram|ndo)?|verde|ok|funciona(?:m|ndo)?|compila)\b",
    )
    FOLLOWS = (  # what the agent did is how it is done in this code
        r"\b(?:to match|matching|following|keeping(?: to)?) (?:the |this |our )?(?!standard|official|common)(?:[\w-]+ ){0,2}conventions?\b",
        r"\b(?:seguindo|mantendo|conforme) (?:a |as )?convenç(?:ão|ões)\b",
    )
    HEEDED = (  # what has to be done or left from now on, and what happens otherwise
        r"\b(?:must|has to|only works?|won't work)\b[^?!]{0,160}\bbecause\b",
        r"\b(?:must|have to|has to|needs? to|requires?|only works?)\b[^?!]{0,160}(?:\b(?:otherwise|or else|unless)\b| [–—-] [^?!]*\b(?:risk|fail|break|lose|corrupt)\w*)",
        r"\bwill (?:\w+ )?(?:fail|break|hang|crash|be lost|be dropped|be ignored)\b[^?!]*\b(?:if|when|unless|because|without)\b",
    )
    OBJECTION = (  # the person rejects what the agent just said or did
        r"^(?:no|nope|nah|wrong|incorrect|not quite|hm+,? no|that's (?:wrong|not|incorrect)|that is (?:wrong|not)|you're wrong|stop)\b",
        r"\b(?:still (?:fail|not|broken|doesn't|does not|the same|happen|get|see|slow|some)|(?:doesn't|does not|didn't|did not|isn't|not) (?:work|help|fix|solve)\w*|same (?:error|problem|issue|result))\b",
        r"^(?:n[ãa]o[,.!]|errado|isso (?:está|esta) (?:errado|mal)|nada disso)",
        r"\b(?:continua a (?:falhar|dar)|continua (?:igual|lento|errado)|ainda (?:falha|não funciona|nao funciona)|(?:não|nao) (?:funciona|funcionou|resolveu|ajudou)|o mesmo (?:erro|problema))\b",
    )
    WITHDRAWN = (  # the person takes back what they said, or has what was done undone
        r"^(?:scratch that|forget (?:that|it|what i (?:just )?said)|ignore (?:that|my last|what i (?:just )?said)|never ?mind|nvm|disregard)\b",
        r"^(?:(?:ok|no|please|actually|hm+|wait|sorry|can you|could you|let's)[,.]?\s+)*(?:undo|revert|roll ?back|put (?:it|that|this|everything) back|go back to|back out|restore (?:the|it|what)|take (?:it|that) back|remove (?:it|that|this) again)\b",
        r"^(?:esquece|esqueça|ignora|ignore|deixa estar|deixa lá|desfaz|desfaça|reverte|volta atrás)\b",
    )
    WRAPS_UP = (  # the person has what was done committed or thanks for it: what was open stays so
        r"^(?:(?:ok|okay|great|perfect|nice|cool|thanks|thank you|good|awesome|lgtm|now|please|can you|could you|and|let's|yes)[,.!]?\s*)*(?:(?:create|make|open|use|switch to|on|into|in) (?:a |an |the )?(?:new |separate |draft )*(?:branch|pr|pull request)|commit|push|merge|pr\b|ship it|thanks|thank you|$)",
        r"^(?:(?:ok|ótimo|boa|obrigad[oa]|perfeito|agora|por favor)[,.!]?\s*)*(?:faz (?:o )?commit|commit|push|obrigad[oa]|$)",
    )
    REPORTED = (  # what follows are the words of somebody else, or of a machine
        r"\b(?:address|evaluate|consider|review|tell me about|thoughts on|look at|incorporate)(?: (?:this|these|those|the following|this one|number|#?\d+)\b[^:]{0,40})?:",
        r"\b(?:errors?|warnings?|exceptions?|logs?|output|console|terminal)\b[^:.]{0,40}: \S",
        r"\b(?:feedback|review|comments?|errors?|output|logs?|messages?|trace|says|said|wrote|writes|reported|reports|following|used to be|e-?mail|issue|ticket|docs?|documentation|spec|article|quote|prompt|result|readme|getting|got|stack trace|warning)\b[^:]{0,40}:$",
        r"\b(?:erro|comentário|comentários|revisão|saída|log|logs|mensagem|diz|disse|escreveu|seguinte|documentação|e-?mail|resultado|aviso)\b[^:]{0,40}:$",
    )
    ABOUT_TEXT = (  # what follows is to be read, judged or reworded: it is not what the person wants
        r"\b(?:summari[sz]e|translate|proofread|rewrite|reword|paraphrase|evaluate|what do you (?:think|make) of|is (?:this|it|that) (?:true|right|correct|any good)|explain|read this|the following (?:text|page|article|document|post)|(?:this|the) (?:article|page|handbook|blog|post|document|guide|readme|e-?mail|thread|comment)s?)\b",
    )
    CONCEDES = (  # the agent says that the person is right
        r"^(?:(?:ah|oh|yes|yeah|hm+)[,.!]?\s+)?(?:you're|you are) (?:absolutely |completely |totally |quite |both )?(?:right|correct)\b",
        r"^(?:exactly|agreed|correct|indeed|right|yes|fair enough|that's (?:right|correct|true)|sim|exat?amente|exact?o|certo|concordo|tens razão|tem razão)\b",
    )
    CHANGELOG = (  # the agent lists what it changed
        r"^(?:i |we |i've |we've |the agent )?(?:also )?(?:added|updated|created|implemented|refactored|renamed|reviewed|wired|notified|extended|introduced|removed|fixed|rewrote|wrote|moved|extracted|simplified|verified|checked|dug|committed|ran|tested|confirmed|tried|summary of)\b",
    )
    UNSURE = (  # the person guesses, wonders or asks to be told
        r"\b(?:possibly|unclear|i (?:guess|think|bet|suppose|assume|wonder|believe)|i (?:\w+ )?feel|feels? like|in regards to|theoretically|seems?|looks like|probably|maybe|perhaps|not sure|curious|wondering|might|or it's|you know what i mean|does that make sense|i(?: don't|dk) know|idk)\b",
        r"^(?:(?:no|ok|just|please|and|so|now)[,.!]?\s+)*(?:tell me|explain|describe|show me|walk me|remind me|what about|how about|see)\b|\blines? \d+",
        r"\b(?:acho que|talvez|parece|se calhar|não sei|pergunto-me)\b",
    )
    REVERTS = (  # what was there before is there again, or what was added is gone
        r"\b(?:revert(?:ed|ing)?|undid|undone|rolled back|removed|took out|backed out|restored|put back|no longer|cleaned up|deleted|switched back|changed back|replace[ds]?|the old)\b",
        r"\b(?:revert\w+|desfi[zs]\w*|removi|tirei|apaguei|repus|restaurei|já não)\b",
    )
    REQUEST = (  # the person names work to be done in this session
        rf"^(?:(?:and|but|so|ok(?:ay)?|great|nice|good|perfect|fantastic|awesome|cool|thanks|also|moreover|furthermore|additionally|finally|lastly|well|yes|no|instead|now|then|next|just|please|pls|can you|could you|let'?s|i (?:really |just |only |also )*(?:want|need) to|i want you to|i need you to|i(?:'d| would) like to|(?:you|we) (?:should|can|need to)|in @?[\w./`-]+\.\w+)[,:!.]?\s+)*{_WORK}\b(?!.*{_STANDING})",
        rf"\b(?:(?:please|pls|can you|could you) {_WORK}|i (?:want|need|would like) you to|i'd like you to|(?:but|and|so) make sure to)\b(?!.*{_STANDING})",
        rf"\band (?:please |then )?{_WORK} (?:the|an?|it|them|this|that|rid)\b(?!.*{_STANDING})",
    )
    PASSING = (  # it holds for now, or for this once
        r"\b(?:for now|right now|this time|yet|just this once|for the moment|at the moment|in this (?:moment|case)|as of (?:now|today)|temporar(?:y|ily)|today|tonight|por agora|por enquanto|desta vez|ainda não|por hoje)\b",
        r"\b(?:each|every) (?:slice|phase|step|subtask|milestone)\b",
        r"\b(?:in|for|on|of|building|implementing) (?:this|that) (?:pr|task|change|commit|branch|session|step|one|time|message|file|feature|ticket|issue|phase|story|demo)\b|\b(?:neste|nesta) (?:pr|tarefa|commit|sessão|passo|mensagem)\b",
    )
    SESSION = (  # it tells what one of the two did in this session
        r"\byou (?:just |have |already |only |really )*(?:\w+ed|made|did|forgot|wrote|put|ran|got|went|gave|left|took|broke|missed|said|were|are (?:\w+ )?\w+ing)\b(?<!\bneed)",
        r"\bi (?:just |already |only |have )*(?:(?!need|prefer)\w+ed|had(?! to)|made|did|see|saw|know|ran|went|got|paid|sent|left|didn'?t)\b|\bgo back\b|\bi(?:'m| am) (?:just |only |now |still )*\w+ing\b|\bwe(?:'re| are)(?: not)? (?:ready|done|on|at)\b",
    )
    POINTS = (  # at what stands in another message, or before the eyes
        r"\b(?:use|do|take|want) (?-i:[A-E])\b(?= instead|[.!,]|$)",
        r"\b(?:bullet|item|point|step|question|finding|comment|issue|improvement|phase|chunk|task|suggestion|for|bug|slice)s? #?\d+\b|(?:^|\s)#\d\b|^[A-Z]\d{1,3}\b|\b(?:recommendation|reccomendation)\b|\blin(?:es?|) \d|\[\^\d",
        r"\b(?:the|this|that|whatever is) (?:latter|former|other one|above|below)\b|^(?:there|here|correct)\b|\bthe (?:[\w-]+ )?one (?:instead|there|here)\b|\bthe (?:first|second|third|last|other) (?:one\b|\w+ instead\b)|\b(?:like|as|about|do|does|did|doing|is|was|with|for|of|than) (?:this|that)(?=[.,;:!?)]|$| again| going forward| from now on)",
        rf",\s*(?:so |and |please |just )*{_WORK} (?:it|them|this|that|these|those)\b",
        r"\b(?:these|those) [a-z]+s\b",
        r"\b(?:this|that|these|those) (?:one|change|changes|info|error|output|message|rules?|dir|part|things?|way|again|format|normal|new|same|should|shouldn't|must)\b",
        r"^(?:(?:and|but|so|also)[, ]+)*(?:for (?:example|instance)|e\.g\.|similarly|likewise|in other words|that said)(?![\w-])|\bshould then\b",
        r"^(?:(?:ok|so|and|for starters|issue here|lastly|another \w+ one)[\s,.…-]+){2,}|\b(?:start|begin) with\b|^each one\b|\bit's there\b|\bwhat you think\b|\bif not\b|\btheir fork\b|\b(?:between|of) the (?:2|two|3|three)\b(?! \w)|^not (?:this|that|these|those)\b|\w\.\.|…$",
        r"^(?:because|since|if|when|as) (?:it|they|this|that|these|those)\b|^for the [\w ]{2,20},|^like [\w-]+(?: [\w-]+)?,|^what (?:i|we) (?:want|need|mean)\b|\b(?:it|this|that) happens\b",
        r"^[^,;:.`]{0,50}\b(?:it|them|this|that|these|those)(?=[,.;:!?]| \(| (?:by|with|in|for|from|at|on|to|and|but)\b)",
    )


@frozen
class Hit:
    """A cue found in a sentence, and what the sentence says without it."""

    shows: Sort
    said: str


Patterns = tuple[re.Pattern[str], ...]
_LEAD = re.compile(r"(?<!\?P)<([a-z]+)>")


def _compiled(patterns: Iterable[str]) -> Patterns:
    with_leads = (_LEAD.sub(lambda lead: _LEADS[lead[1]], each).replace("n't", "n'?t") for each in patterns)
    return tuple(re.compile(each, re.IGNORECASE) for each in with_leads)


_BY_USER, _BY_AGENT, _VOID, _SECTIONS = (
    {Sort(name): _compiled(patterns) for name, patterns in table.items()}
    for table in (_BY_USER_WORDS, _BY_AGENT_WORDS, _VOID_WORDS, _SECTION_WORDS)
)
_SIGNALS = {signal: _compiled(signal.value) for signal in Signal}


def user_hits(sentence: str) -> tuple[Hit, ...]:
    """What a sentence of the person's may be, the strongest first."""
    return _hits(_BY_USER, sentence)


def agent_hits(sentence: str) -> tuple[Hit, ...]:
    """The same of the agent's."""
    return _hits(_BY_AGENT, sentence)


def shows(signal: Signal, sentence: str) -> bool:
    """Whether the signal is in the sentence."""
    return any(pattern.search(sentence) for pattern in _SIGNALS[signal])


def is_quiet(sentence: str) -> bool:
    """Whether a sentence of the agent's is a guess, a question, or about this very moment."""
    return sentence.endswith(("?", ":")) or any(
        shows(signal, sentence) for signal in (Signal.HEDGE, Signal.NARRATION, Signal.MOMENTARY)
    )


def is_void(sort: Sort, sentence: str) -> bool:
    """Whether a sentence is nothing of the sort, whatever cue or label it has."""
    return any(pattern.search(sentence) for pattern in _VOID.get(sort, ()))


def sort_of_section(heading: str) -> Sort | None:
    """What the items under a heading of the person's are (`Requirements`, `Findings`), if the heading says it."""
    return next((sort for sort, patterns in _SECTIONS.items() if any(p.match(heading) for p in patterns)), None)


def _hits(cues: Mapping[Sort, Patterns], sentence: str) -> tuple[Hit, ...]:
    return tuple(hit for sort in Sort if (hit := _hit(sort, cues.get(sort, ()), sentence)))


def _hit(sort: Sort, patterns: Patterns, sentence: str) -> Hit | None:
    found = next((found for pattern in patterns if (found := pattern.search(sentence))), None)
    if found is None or is_void(sort, sentence):
        return None
    return Hit(sort, (found.groupdict().get("said") or sentence).strip())
