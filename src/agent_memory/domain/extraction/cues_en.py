"""English cues. Each pattern is matched against one sentence of prose."""

from __future__ import annotations

from agent_memory.domain.extraction.cue import Signal, Sort, cue

_START = r"^(?:(?:and|but|so|ok(?:ay)?|also|well|yes|yeah|hm+|hey|oh|btw|by the way|one more thing|please|right|sorry|wait|actually|correction|i was wrong|my mistake)[,:!.]?\s+)*"
_THEN = r"(?:^|[,;:–—-]\s+(?:and\s+|but\s+|so\s+)?(?:please\s+)?|\band\s+|\bbut\s+|\bplease\s+)"
_SHAPE = (
    r"\b(?:code|logic|functions?|methods?|classes|implementations?|tests?|messages?|errors?|strings?|branch(?:es)?|blocks?"
    r"|components?|styles?|markup|definitions?|constants?|queries|types?|config\w*|comments?|conditions?|templates?)\b"
)

BY_USER = (
    *cue(
        Sort.REMEMBER,
        _START
        + r"(?:please |always |do )?remember(?:,|:|\s+this[:,]?|\s+that\b|\s+to\b(?=.*\b(?:always|every|before|after|when|next time)\b))\s*(?P<said>.+)",
        r"\b(?:please|should|must|to|can you|could you) remember (?:that|this[:,]?|for next time[:,]?)\s*(?P<said>.+)",
        _START
        + r"(?:for (?:the )?future(?: reference)?|for next time|for the record|note to self|note for later|fyi for (?:the )?future)[,:]\s*(?P<said>.+)",
        _START
        + r"(?:(?:please )?(?:make a note|take note|note down|keep (?:it )?in mind|bear in mind|don't (?:ever )?forget|do not forget|never forget))(?:\s+that|\s+this)?[:,]?\s+(?P<said>.+)",
        _START
        + r"(?:please )?(?:save|add|put|store|write) (?:this|that|it)?\s*(?:in|to|into) (?:your |the )?memory[:,]?\s*(?:that )?(?P<said>.+)",
        _THEN + r"(?P<said>(?:from now on|going forward|in (?:the )?future|from here on(?: out)?|henceforth)\b.+)",
    ),
    *cue(
        Sort.CORRECTION,
        r"^(?:no|nope|nah|wrong|not quite|incorrect|stop)[,.!:;–—-]+\s*(?P<said>(?!.*\bwondering\b)(?!(?:thanks|thank|worries|problem|need|idea|wonder|way|not yet)\b).+)",
        _START
        + r"(?:that's|that is|this is|it's|you're|you are|you have it) (?:wrong|incorrect|not (?:right|correct|true|what)|mistaken|backwards)[,.:;–—-]*\s*(?P<said>.*)",
        _START
        + r"(?:actually|in fact),?\s+(?P<said>(?!can you|could you|let me|i'd like|i wonder|do |does |is |are |how |what |why ).*\b(?:not|never|n't|instead|rather|should|only|wrong)\b.*)",
        _START + r"(?P<said>i (?:said|told you|asked for|meant|did(?:n't| not) (?:say|ask|mean|want))\b.*)",
        _THEN
        + r"(?P<said>(?:use|do|call|put|keep|write|make|name|return|store|run|pick|take|choose|go with)\b[^.?!]*(?:\binstead(?: of\b|[.!]?$)|\brather than\b|, (?:and )?not [`\"'\w]).*)",
        r"(?P<said>\binstead of\b[^.?!]*,\s*(?:use|do|call|put|keep|write|make|return|store|run|pick|we|it)\b.*)",
        r"(?P<said>\b(?:don't|do not|stop|never) (?:use|using|do|doing|call|calling|put|putting|add|adding|write|writing)\b[^.?!]*[,;]\s*(?:use|do|call|put|keep|write|just|rather|instead)\b.*)",
    ),
    *cue(
        Sort.PREFERENCE,
        r"(?P<said>\b(?:i|we) (?:really |just |still |also |definitely |strongly )*(?:don't|do not|never) (?:want|like|need|care for)\b(?!\s+to (?:bother|be rude|interrupt|sound)).+)",
        r"(?P<said>\bi(?:'d| would)? (?:really |much |strongly |always |generally |usually )*(?:prefer|rather (?:have|not|keep|use|see|you)|hate|dislike|love it when|like it when)\b.+)",
        _THEN
        + r"(?P<said>(?:please )?(?:never|always) (?!\w*[^s\W]s\b)(?!mind\b|again\b|seen\b|been\b|had\b|was\b|is\b|on\b|gets?\b|fail|works?\b|return(?:s|ed|ing)\b)[a-z]+.*)",
        _START
        + r"(?P<said>(?:please )?(?:don't|do not) (?:ever )?(?:use|add|put|write|commit|push|touch|edit|change|mock|create|delete|install|upgrade|rename|format|rebase|squash|amend|import|introduce|skip|assume|invent|guess|explain|apologi[sz]e|summari[sz]e|ask|mention|include)\b(?!\s+(?:it|that|this|anything|yet|for now)\s*(?:$|[.,!]|yet|for now)).+)",
        r"(?P<said>\b(?:every time|whenever) (?:you|we|i) .+)",
        r"(?P<said>\bmake sure (?:you |we |that you |that we |to )(?:always|never)\b.+)",
    ),
    *cue(
        Sort.CONVENTION,
        r"(?P<said>\bwe (?:always|never|usually|generally|normally|typically|only ever|don't use|do not use|don't allow|do not allow|don't do|avoid|prefer|stick to|standardi[sz]ed? on)\b.+)",
        r"(?P<said>\b(?:our|the|my|a|this) (?:\w+ ){0,2}(?:convention|rule|policy|standard|practice|naming scheme|house style|guideline) (?:here )?(?:is|says|for)\b.+)",
        r"(?P<said>\b(?:by convention|as a rule|in (?:this|our) (?:repo|repository|project|codebase|team|company|org)),? (?:we|all|every|the|you|it|no|each)\b.+)",
        r"(?P<said>\bwe use [^.?!]+ (?:for|as|to|not|instead|rather|everywhere)\b.+)",
        r"(?P<said>\b(?:all|every|each|any|new) [\w -]{2,40} (?:must|should always|should never|has to|have to|needs? to|goes?|belongs?|lives?|gets?) (?:be |have |go |live |start |end |use |in |into |under |its )(?!fixed\b|done\b).+)",
    ),
    *cue(
        Sort.DECISION,
        _START
        + r"(?P<said>(?:let's|lets|let us) (?:just |please )?(?:go with|go for|use|stick with|stick to|keep(?! going| it\b| at it| on\b)|drop|switch to|move to|do option|take|adopt|stay with|settle on|target)\b.+)",
        r"(?P<said>(?<!what )(?<!which )(?<!why )(?<!how )\b(?:we|i)(?:'ve| have|'re| are|'m| am)? (?:now )?(?:decided|chose|chosen|opted|agreed|settled on|going with|going to go with|standardi[sz]ing on|switching to|went with)\b.+)",
        r"(?P<said>\b(?:we|i)(?:'ll| will) (?:go with|use|stick with|stay with|keep|adopt|drop)\b.+)",
        _START
        + r"(?P<said>(?:(?:go|going|proceed|continue) (?:with|for) |pick |i(?:'ll)? (?:choose|pick|take|like|vote for|prefer) )(?:the )?(?:option|approach|variant|number|proposal|solution|version|choice|alternative|plan|first|second|third|last)\b.*)",
        _START
        + r"(?P<said>(?:option|approach|variant|proposal|solution) [\da-e]\b(?:[,.!]|$| (?:please|then|sounds|looks|seems|it is|is (?:fine|good|best|better|what)|for|with|but|and)\b).*)",
        _START + r"(?:the )?decision(?: is|:)\s*(?P<said>.+)",
    ),
    *cue(
        Sort.LESSON,
        r"(?P<said>\b(?:it )?turn(?:s|ed) out\b.+)",
        r"(?P<said>\b(?:the )?(?:root cause|real (?:problem|issue|cause|reason)|actual (?:problem|issue|cause|reason)) (?:is|was|here)\b.+)",
        r"(?P<said>\bthe (?:problem|issue|cause|culprit|bug|reason|trick|catch|gotcha) was\b.+)",
        r"(?P<said>\b(?:we|i) (?:learn(?:ed|t)|found out|discovered|realized|realised)\b.+)",
        r"(?P<said>\blesson(?:s)? (?:learn(?:ed|t)|here)\b.+)",
    ),
    *cue(
        Sort.WANT,
        r"(?P<said>\bi (?:just|only|really|do) (?:just |only |really )?want\b(?! (?:you )?to (?:know|ask|see|check|make sure|understand|test|try|confirm|verify)\b).+)",
        r"(?P<said>\bwhat i (?:really |actually )?(?:want|need) is\b.+)",
        r"(?P<said>\bi (?:want|need|expect) (?:the|this|that|these|those|our|each|every|all|any|users?|it) [^.?!]{0,80}?\bto\b.+)",
        r"(?P<said>\b(?:the|this|that|these|those|our|each|every|users?) [^.?!,]{0,60}\b(?:should|must|has to|needs to) (?:always|never|only)\b.+)",
    ),
    *cue(
        Sort.COMPLAINT,
        r"\b(?:duplicat\w*|repeat(?:ed|ing)?|repetiti\w*|redundan\w*|copy[- ]?past\w*)\b.*" + _SHAPE,
        _SHAPE + r".*\b(?:duplicat\w*|repeat(?:ed|ing)?|repetiti\w*|redundan\w*|copy[- ]?past\w*)\b",
        r"\b(?:almost|nearly|basically|pretty much) the same\b",
        r"\btoo (?:verbose|complicated|complex|clever|long|noisy|wordy|defensive|many (?:comments|abstractions|layers|files|options|parameters))\b",
        r"\b(?:over-?engineer\w*|overkill|unreadable|hard to read)\b",
    ),
    *cue(
        Sort.TASK,
        _START
        + r"(?:todo|to do|to-do|follow[- ]?up|next (?:up|time|session)|later|tomorrow|for later|still open|still to do|left to do)\s*[:,–—-]\s*(?P<said>.+)",
        r"(?P<said>\b(?:we|i|you)(?:'ll| will)? (?:still|later) (?:need to|have to|must|should)\b.+)",
        r"(?P<said>\b(?:we|i|let's)(?:'ll| will| should| can|'d better)? (?:do|handle|fix|tackle|address|look at|come back to|revisit|finish|leave) [^.?!]{2,120}\b(?:later|tomorrow|next time|another time|in (?:a|another) (?:follow[- ]?up|separate pr|later pr)|for now|next week)\b.*)",
    ),
)

BY_AGENT = (
    *cue(
        Sort.LESSON,
        r"\broot cause\b(?! (?:fix|documented|analysis|found|identified|(?:is|was) (?:well|clear|known|unknown|unclear|understood)))[^.?!]{0,80}?(?:\bwas\b|\bis\b|:)",
        r"\bthe (?:actual |real |underlying |core )?(?:problem|issue|bug|culprit|cause|reason|failure|mistake|gotcha|catch)\b[^.?!]{0,60}\b(?:was|were|came from|turned out)\b",
        r"\b(?:it |this )?turn(?:s|ed) out\b",
        r"\b(?:failed|failing|broke|crashed|hung|hangs|fails|breaks|happened|happens|disappeared|blocked)(?: [\w-]+){0,3} because\b",
        r"\b(?:was|were|is|are) (?:caused by|due to)\b",
        r"\blesson(?:s)? learn(?:ed|t)\b",
        r"\b(?:must|have to|has to|needs? to|requires?|only works?|won't work|does(?:n't| not) work|can(?:not|'t))\b[^.?!]{0,160}\b(?:otherwise|or else|unless|because)\b",
    ),
    *cue(
        Sort.REASONED,
        r"^(?:i |we |i've |we've )?(?:also )?(?:added|changed|switched|replaced|moved|kept|used|chose|chosen|dropped|removed|made|set|split|introduced|fixed|picked|went with|opted|decided|settled|pinned|disabled|enabled|skipped|left|avoided|reverted|limited|capped|wrapped|cached|extracted|merged|tuned|restored|preserved|deferred)\b",
        r"^now,? (?:the |all |every )?[`\w]",
        r"^`?[\w.()-]+`? (?:\w+ ){0,2}now \w+",
        r"\b(?:i|we) (?:chose|decided|opted|went with|settled on|picked|kept)\b",
        r"\b(?:intentionally|deliberately|on purpose|by design)\b",
    ),
    *cue(
        Sort.TASK,
        r"^(?:remaining|todo|to do|still (?:open|to do|missing)|next steps?|follow[- ]?ups?|left to do|not (?:yet )?(?:done|covered|implemented|handled))\s*[:–—-]\s*(?P<said>.+)",
        r"(?P<said>\b(?:i|we) (?:have not|haven't|did not|didn't)(?: yet)? (?:run|test|verif|push|deploy|migrat|implement|add|update|cover|handle|remov|commit|check)\w*\b.+)",
        r"(?P<said>\b(?:still|yet) (?:needs?|has|have|need|remains?) to (?:be )?\w+.*)",
        r"(?P<said>.+\b(?:is|are|remains?) (?:still )?(?:not yet|still to be|left for|out of scope|unimplemented|untested|a follow[- ]?up)\b.*)",
        r"(?P<said>\byou(?:'ll| will)? (?:still )?(?:need to|have to|must) (?:manually |also |still )?(?:run|set|add|update|migrat|deploy|configur|rotate|restart|create|enable)\w*\b.+)",
    ),
)

SIGNALS = (
    *cue(
        Signal.ANNOUNCES,
        r"^(?:aha|found (?:it|the (?:\w+ )?(?:bug|issue|problem|culprit|cause|root cause))|there it is|there we go|there's the (?:bug|issue|problem)|that's (?:it|the (?:bug|issue|problem|cause|culprit))|bingo|got it)\s*[.!:–—-]",
        r"^(?:here's|here is|this is|so here's) (?:what (?:happened|went wrong|was wrong)|the (?:root cause|problem|explanation|summary of the (?:problem|bug)))\b[^.!?]{0,40}[.!:]?$",
        r"^(?:i )?found (?:and fixed )?the (?:root cause|bug|problem|issue)(?: of [^.!?]{0,60})?[.!:]?$",
    ),
    *cue(
        Signal.REMEDY,
        r"^(?:the )?(?:fix|solution|remedy)\b",
        r"^(?:i )?(?:fixed|solved|resolved|changed|added|replaced|removed|switched|updated|moved)\b",
        r"^(?:so )?(?:now,? )?(?:the |it )?`?[\w.()-]{2,60}`? (?:\w+ ){0,2}now \w",
        r"^now,? (?:the )?[`\w]",
    ),
    *cue(
        Signal.HEDGE,
        r"\b(?:might|maybe|perhaps|probably|likely|possibly|presumably|seems?|seemingly|appears? to|could be|may be|may have|i think|i believe|i guess|i suspect|i assume|not sure|suspicious|looks like|should be fine|hopefully|in theory)\b",
    ),
    *cue(
        Signal.NARRATION,
        r"^(?:(?:now|next|first|then|so|ok(?:ay)?|good|great|perfect|excellent|alright|right|hm+|wait|interesting|still)[,.!:]?\s+)*(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to|i should|i want to|i can see|i see\b|i notice|i'm (?:now )?(?:looking|checking|running|reading)|looking at|checking|running|reading|now i|now let)\b",
    ),
    *cue(
        Signal.MOMENTARY,
        r"\blines? \d+",
        r"^(?:before|after) (?:the|this) (?:fix|change)\b",
        r"\bshould now\b",
        r"\bsuccessfully\b",
        r"\b(?:tests?|suite|lint(?:er|ing)?|build|type ?check\w*|checks?|ci|pipeline|everything|all) (?:\w+ ){0,3}(?:now |all )*(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|successful(?:ly)?|compiles?|works? (?:now|again|fine|as expected))\b",
        r"\b(?:\d+ (?:tests? )?passed|0 (?:issues|errors|warnings|failures)|no (?:errors|warnings|issues|regressions|failures))\b",
        r"^(?:committed|pushed|merged|deployed|branch is|working tree)\b",
        r"\b(?:fix|it|this|that|everything|change|timeout settings?) (?:is|are) (?:now )?working\b",
        r"\b(?:all|everything) (?:is |are )?(?:done|set|complete[d]?|good|ready)\b",
    ),
    *cue(
        Signal.OBJECTION,
        r"^(?:no|nope|nah|wrong|incorrect|not quite|hm+,? no|that's (?:wrong|not|incorrect)|that is (?:wrong|not)|you're wrong|stop)\b",
        r"\b(?:still (?:fail|not|broken|doesn't|does not|the same|happen|get|see|slow)|(?:doesn't|does not|didn't|did not|isn't|not) (?:work|help|fix|solve)\w*|same (?:error|problem|issue|result))\b",
    ),
    *cue(
        Signal.WITHDRAWN,
        r"^(?:scratch that|forget (?:that|it|what i (?:just )?said)|ignore (?:that|my last|what i (?:just )?said)|never ?mind|nvm|disregard)\b",
    ),
    *cue(
        Signal.REPORTED,
        r"\b(?:feedback|review|comments?|errors?|output|logs?|messages?|trace|says|said|wrote|writes|reported|reports|following|used to be|e-?mail|issue|ticket|docs?|documentation|spec|article|quote|prompt|result|readme|getting|got|stack trace|warning)\b[^:]{0,40}:$",
    ),
    *cue(
        Signal.REASON,
        r"\b(?:because|since|so that|in order to|to (?:avoid|prevent|ensure|keep|make sure|match|reduce|guarantee)|otherwise|due to|as (?:it|they)\b|that way|which (?:means|avoids|prevents|lets|keeps)|this (?:avoids|prevents|ensures|keeps|lets|means)|preventing|avoiding|ensuring|risk(?:s|ing)?|must|intentionally|deliberately|on purpose|by design)\b",
        r",\s*so\b",
        r"\b(?:matching|following|consistent with|keeping) (?:the|our|this|its|existing)\b[^.?!]{0,60}\b(?:pattern|convention|style|structure)s?\b",
        r"\bfor (?:future|later|backwards?|compatib|security|performance|safety)\b",
    ),
)
