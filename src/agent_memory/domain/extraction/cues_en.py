"""English cues: patterns by what they show, each matched against one sentence of prose. `VOID`: with such wording it is not."""

from __future__ import annotations

_ACT = (
    r"(?:use|add|put|write|commit|push|touch|edit|change|mock|create|delete|install|upgrade|rename|format|rebase|squash|amend"
    r"|import|introduce|skip|assume|invent|guess|explain|apologi[sz]e|summari[sz]e|ask|mention|include|hard-?code|swallow|catch|log|print|leave)"
)
_ONE = r"(?:the|this|that|these|those|it|them|my|your|our|his|her|their|a|an|anything|yet)\b"
"""Before the name of one thing: an order about it is a request and no rule."""
_COMMAND = r"(?:the )?`?(?:npm|pnpm|yarn|bun|npx|make|just|cargo|go|uv|uvx|poetry|pytest|tox|nox|mise|gradle|\./\w+|mvn|ruff|docker|bazel|task|rake|bundle|composer|dotnet|mix|deno|nix)\b`?"

LEADS = {
    "starten": r"^(?:(?:and|but|so|ok(?:ay)?|also|well|yes|yeah|hm+|hey|oh|btw|by the way|one more thing|please|right|sorry|wait|actually|correction|i was wrong|my mistake|just|fyi)[,:!.]?\s+)*",
    "thenen": r"(?:^|[,;:–—-]\s+(?:and\s+|but\s+|so\s+)?(?:please\s+)?|\band\s+|\bbut\s+|\bplease\s+)",
}

BY_USER = {
    "remember": (
        r"<starten>(?:please |always |do )?remember(?:,|:|\s+this[:,]?|\s+that\b|\s+to\b(?=.*\b(?:always|every|before|after|when|next time)\b))\s*(?P<said>.+)",
        r"\b(?:please|should|must|to|can you|could you|you) remember (?:that|this[:,]?|for next time[:,]?|:)\s*(?P<said>.+)",
        r"^(?:just )?so (?:that )?you (?:remember|know|don't forget)(?: (?:it|this|next time|for next time|for later))?[,:–—-]?\s+(?:that )?(?P<said>.+)",
        r"^(?P<said>.{15,}?)[,;:–—-]*\s+(?:(?:just )?so (?:that )?you (?:remember|know|don't forget)|(?:please )?(?:remember|memori[sz]e) (?:this|that|it)|(?:please )?keep (?:this|that|it) in mind)\b[^.]{0,20}[.!]?$",
        r"<starten>(?:for (?:the )?future(?: reference)?|for next time|for the record|note to self|note for later|fyi|for your information|heads[- ]up|good to know)\s*[,:–—-]\s*(?P<said>.+)",
        r"<starten>(?:(?:please )?(?:make a note|take note|note down|note(?= that)|keep (?:it )?in mind|bear in mind|be aware|don't (?:ever )?forget|do not forget|never forget|memori[sz]e))(?:\s+that|\s+this|\s+of the fact that|\s+(?:so|that) (?:we|you|i) (?:don't forget|remember)(?: that)?)?[:,]?\s+(?P<said>.+)",
        r"<starten>(?:please )?(?:save|add|put|store|write|commit) (?:this|that|it)?\s*(?:in|to|into) (?:your |the |our )?memory[:,]?\s*(?:that )?(?P<said>.+)",
        r"<thenen>(?P<said>(?:from now on|going forward|in (?:the )?future|from here on(?: out)?|henceforth)\b.+)",
    ),
    "correction": (
        r"^(?:no|nope|nah|wrong|not quite|incorrect|stop)[,.!:;–—-]+\s*(?P<said>(?!.*\bwondering\b)(?!(?:thanks|thank|worries|problem|need|idea|wonder|way|not yet)\b).+)",
        r"(?:^|[,;–—-] |\b(?:but|and|no|hm+) )(?:that's|that is|this is|it's|it is|you're|you are|you have it) (?:wrong|incorrect|not (?:right|correct|true|what)|mistaken|backwards|the wrong way)\b(?: there| here)?(?:[,.:;–—-]+| because| since)?\s*(?P<said>.*)",
        r"<starten>(?:actually|in fact),?\s+(?P<said>(?!can you|could you|let me|i'd like|i wonder|do |does |is |are |how |what |why ).*\b(?:not|never|n't|instead|rather|should|only|wrong)\b.*)",
        r"<starten>(?P<said>i (?:said|told you|asked for|meant|did(?:n't| not) (?:say|ask|mean|want))\b.*\b(?:not|instead|rather|only|n't)\b.*)",
        r"<thenen>(?P<said>(?:use|do|call|put|keep|write|make|name|return|store|run|pick|take|choose|go with)\b[^?!]*(?:\binstead(?: of\b|[.!]?$)|\brather than\b|, (?:and )?not [`\"'\w]).*)",
        r"(?P<said>\binstead of\b[^?!]*,\s*(?:use|do|call|put|keep|write|make|return|store|run|pick|we|it)\b.*)",
        r"(?P<said>\b(?:don't|do not|stop|never) (?:use|using|do|doing|call|calling|put|putting|add|adding|write|writing)\b[^?!]*[,;]\s*(?:use|do|call|put|keep|write|just|rather|instead)\b.*)",
        r"<starten>(?P<said>not (?!sure|now|yet|really|bad|only|if|working|necessar)[^?!,;]{3,80}[,;]?\s*but\s+\w.*)",
        r"(?P<said>\b(?:it|that|this|they|the [\w -]{2,30}|`[^`]+`)(?:'s|'re| is| are| goes?| lives?| belongs?| comes?) [^?!,;]{3,60}, not [`\"'\w][^?!,;]{1,60}.*)",
        r"(?P<said>^[^?!]{0,60}\bnot [`\"'\w][^?!,;]{2,60}, but (?:the|a|an|in|on|at|with|by|for|from|only|rather|to|`)[^?!]{2,}.*)",
    ),
    "preference": (
        r"(?P<said>\b(?:i|we) (?:really |just |still |also |definitely |strongly )*(?:don't|do not|never) (?:want|like|need|care for)\b(?!\s+(?:to (?:bother|be rude|interrupt|sound)|(?:the|this|that(?! (?:we|you))|it|you)\b)).+)",
        r"(?P<said>\bi(?:'d| would)? (?:really |much |strongly |always |generally |usually )*(?:prefer|hate|dislike|rather (?:have|not|keep|use|see|you)|love it when|like it when)\b.+)",
        r"<thenen>(?P<said>(?:please )?(?:never|always) (?!\w*[^s\W]s\b)(?!\w+ed\b|read\b|mind\b|again\b|seen\b|been\b|had\b|was\b|is\b|on\b|gets?\b|fail|works?\b|return(?:s|ed|ing)\b)[a-z]+.*)",
        r"<thenen>(?P<said>(?:don't|do not) ever [a-z]+.*)",
        rf"<starten>(?P<said>(?:please )?(?:don't|do not) {_ACT}\b (?!{_ONE}|for now)(?:any |in )?[\w`\"'-]+.*)",
        r"<starten>(?P<said>no (?!i\b|we\b|you\b|it\b|this\b|that\b|the\b|need|problem|worries|idea|thanks|way|longer|matter|one\b|doubt|changes?\b|luck|errors?\b)[\w`/-]+(?: [\w`/-]+){0,3}(?:\s*[,;–—-]\s*(?:please |just |always )?(?:use|do|put|keep|write|only|prefer|go)\b| (?:in|for|on|inside|within) (?:the |our |this |any |my )?[\w`/-]+).*)",
        r"(?P<said>\b(?:every time|whenever) (?:you|we|i) .+)",
        r"(?P<said>\bmake sure (?:you |we |that you |that we |to )(?:always|never)\b.+)",
        r"(?P<said>\byou (?:must|should|may) (?:never|always|not|only)\b.+)",
        r"(?P<said>\b(?:please )?(?:stop|quit|avoid) (?:using|adding|writing|making|putting|committing|creating|mocking|asking|summari[sz]ing|guessing|explaining)\b (?!(?:the|this|that|it)\b).+)",
    ),
    "convention": (
        r"(?P<said>(?<!how )(?<!what )(?<!where )(?<!so )\bwe (?:always|never|usually|generally|normally|typically|only ever|only|explicitly|deliberately|intentionally|don't use|do not use|don't allow|do not allow|don't do|don't (?!want|need|know|have|care|see|like|get|really|understand)\w+ (?:the|any|our|in|to)\b|avoid|prefer|stick to|standardi[sz]ed? on)\b.+)",
        r"(?P<said>\b(?:our|the|my|a|this) (?:\w+ ){0,2}(?:convention|rule|policy|standard|practice|naming scheme|house style|guideline) (?:here )?(?:is|says|for)\b.+)",
        r"(?P<said>\b(?:by convention|as a rule|in (?:this|our) (?:repo|repository|project|codebase|team|company|org)),? (?:we|all|every|the|you|it|no|each)\b.+)",
        r"(?:^\(?|[,;:] |\b(?:and|but|because|since|so|that|as) )(?P<said>we (?:\w+ly )?use [^?!]+ (?:for|as|to|not|instead|rather|everywhere|because|since)\b.+)",
        r"(?P<said>\b(?:all|every|each|any|new) (?:(?!that\b|which\b|who\b|think\b|we\b|you\b|i\b)[\w/-]+ ){1,4}(?:must|should|has to|have to|needs? to|go(?:es)?|belongs?|lives?|gets?) (?:always |never |not )?(?:be |have |go |live |start |end |use |in |into |under |its )(?!fixed\b|done\b).+)",
        r"(?P<said>\b[\w`./-]+ (?:must|may|can) (?:never|not|only|always)\b.+)",
        r"(?P<said>\b(?:is|are) (?:not |never )?(?:supposed|meant|allowed|intended) to\b.+)",
        r"(?P<said>\bthat(?:'s| is) (?:why|how) we\b.+)",
        r"(?P<said>\b(?:never|not|always|only) (?:commit|push|merge|deploy|release|publish)(?:ted|ed|d)? (?:to|on|from|in|before|after|without)\b.+)",
    ),
    "routine": (
        rf"(?:^|[,;\s])(?P<said>(?:(?:update|extend|adapt|regenerate|refresh|add|write) (?:the |its )?(?:docs?|documentation|demos?|tests?|changelog|readme|snapshots?|examples?|types|fixtures)\b[^,.;?!]{{0,40}},? )(?:(?:and|then|finally|afterwards|after that|at the end),? )+(?:please |also )?(?:run|execute) {_COMMAND}.*)",
    ),
    "decision": (
        r"<starten>(?P<said>(?:let's|lets|let us) (?:just |please )?(?:go with|go for|use|stick with|stick to|keep(?! going| it\b| at it| on\b)|drop|switch to|move to|do option|adopt|stay with|settle on|target)\b.+)",
        r"(?P<said>(?<!what )(?<!which )(?<!why )(?<!how )\b(?:we|i)(?:'ve| have|'re| are|'m| am)? (?:now )?(?:decided|chose|chosen|opted|agreed|settled on|going with|going to go with|standardi[sz]ing on|switching to|went with)\b.+)",
        r"(?P<said>\b(?:we|i)(?:'ll| will) (?:go with|use|stick with|stay with|keep(?! \w+ing\b)|adopt|drop)\b.+)",
        r"<starten>(?P<said>(?:(?:go|going|proceed|continue) (?:with|for) |pick |i(?:'ll)? (?:choose|pick|take|like|vote for|prefer) )(?:the )?(?:option|approach|variant|number|proposal|solution|version|choice|alternative|plan|first|second|third|last)\b.*)",
        r"<starten>(?P<said>(?:option|approach|variant|proposal|solution) [\da-e]\b(?:[,.!]|$| (?:please|then|sounds|looks|seems|it is|is (?:fine|good|best|better|what)|for|with|but|and)\b).*)",
        r"<starten>(?:the )?decision(?: is|:)\s*(?P<said>.+)",
        r"(?P<said>\b(?:is|are|was|were|left|kept|done|did (?:it|this|that))(?: [\w-]+){0,3} (?:on purpose|by design|deliberately?|intentional(?:ly)?)\b.*)",
        r"(?P<said>\b(?:is|are) out of scope\b.*)",
        r"<starten>(?P<said>(?:let's|lets|let us) not \w.+)",
        r"(?P<said>\bwe should(?:n't| not)? .{6,} (?:because|since|instead of|rather than|so that)\b.+)",
        r"(?P<said>\b(?:we|you) (?:shouldn't|should not) (?!worry|need|have)\w+ .{8,})",
        r"(?P<said>\b(?:no need (?:for|to)|(?:we )?(?:don't|do not) (?:need|have) to|(?:don't|do not) worry about|we can (?:drop|break|ignore)) .*\b(?:compat\w*|legacy|migrat\w*|support(?:ing)?|old)\b.*)",
    ),
    "want": (
        r"(?P<said>\bi (?:(?:just|only|really|do|also|still) )+(?:want|need)\b(?! you to\b)(?! to (?:know|ask|see|check|make sure|understand|test|try|confirm|verify)\b).+)",
        r"(?P<said>\bwhat i (?:really |actually )?(?:want|need) is\b.+)",
        r"(?P<said>\bi(?:'d like| would like| want| need| expect) (?:the|this|that|these|those|our|each|every|all|any|users?|it) [^?!]{0,80}?\bto\b.+)",
        r"(?P<said>\b(?!(?:you|u|i|we|what|which|how|why|when|where|that|who|think|thinks)\b)[\w`.)\"'/-]+(?: (?:command|page|file|field|flag|test|user|box|button|output))? (?:should|shouldn't|must|mustn't|ought to)(?: (?:also|not|only|always|never|still|instead|just))* (?!work\b|be (?:fine|ok(?:ay)?|good|enough|done|possible|easy|straight|simple|safe|quick|there)\b|pass\b|now\b|already\b|have\b|do(?:ne)?\b[.!]?$|i\b|we\b|you\b)\w+.*)",
        r"(?P<said>\b(?:the|this|that|these|those|our|each|every|users?) [^?!,]{0,60}\b(?:should|must|has to|needs to) (?:always|never|only)\b.+)",
        r"<starten>(?P<said>(?:keep|make) .*\bas [\w-]+ as possible\b.*)",
        r"(?P<said>.*\b(?:was|were) (?:supposed|meant) to\b.*)",
        r"(?P<said>\b(?:make sure|ensure)(?: that)? (?:the|every|each|all|any|no|we|users?) (?!tests?\b|build\b|lint).{3,}\b(?:is|are|does|do|can|can't|never|always|only|not|doesn't|don't|isn't|stays?|goes|gets?)\b.*)",
        r"(?P<said>\b(?:we|they|users?|the \w+) (?:need|have to|want|must)s? .{8,} (?:because|since|so that)\b.+)",
        r"(?P<said>\b(?:the goal|the point|the idea|the intention|the whole point) (?:is|was|here is) (?:to|that|not)\b.+)",
    ),
    "lesson": (
        r"(?P<said>\b(?:it )?turn(?:s|ed) out\b.+)",
        r"(?P<said>\b(?:the )?(?:root cause|real (?:problem|issue|cause|reason)|actual (?:problem|issue|cause|reason)) (?:is|was|here)\b.+)",
        r"(?P<said>\bthe (?:problem|issue|cause|culprit|bug|reason|trick|catch|gotcha) was\b.+)",
        r"(?P<said>\b(?:we|i) (?:learn(?:ed|t)|found out|discovered|realized|realised)\b.+)",
        r"(?P<said>\blesson(?:s)? (?:learn(?:ed|t)|here)\b.+)",
        r"(?P<said>.*\b(?:failed|failing|broke|crashed|hung|was down|got stuck)\b[^?!]* (?:because|since|due to)\b.+)",
    ),
    "finding": (
        r"(?P<said>^(?!if\b|when\b|is\b|are\b|does\b).{3,}\b(?:is|are) (?:all )?(?:deprecated|legacy|generated|read-only|immutable|no longer (?:used|supported|maintained)|not (?:supported|available|allowed) (?:in|on|by|with)|shared (?:with|by|between)|only (?:used|available|needed|run|called) (?:in|on|by|for|when))\b.*)",
        r"(?P<said>^(?!if\b|when\b|can\b)(?:in |on )?(?:the |our )?(?:prod(?:uction)?|staging|ci|the server|our (?:users|customers|clients|team|ops|company)|the (?:client|customer|vendor|upstream api|finance team))\b (?:is|are|runs?|uses?|has|have|can't|cannot|only|never|always|expects?|requires?|needs?)\b .{6,})",
        r"(?P<said>^(?!if\b|when\b|where\b|is\b).{4,60}\b(?:lives?|(?:is|are) (?:stored|defined|configured|hosted|deployed|documented|generated)) (?:in|on|at|by|from|under) \S.+)",
    ),
    "task": (
        r"<starten>(?:todo|to do|to-do|follow[- ]?up|next (?:up|time|session)|later|tomorrow|for later|still open|still to do|left to do)\s*[:,–—-]\s*(?P<said>.+)",
        r"(?P<said>\b(?:we|i|you)(?:'ll| will)? (?:still|later) (?:need to|have to|must|should)\b.+)",
        r"(?P<said>\b(?:we|i|let's)(?:'ll| will| should| can|'d better)? (?:do|handle|fix|tackle|address|look at|come back to|revisit|finish|leave) [^?!]{2,120}\b(?:later|tomorrow|next time|another time|in (?:a|another) (?:follow[- ]?up|separate pr|later pr)|for now|next week)\b.*)",
    ),
}

BY_AGENT = {
    "lesson": (
        r"\broot cause\b(?! (?:fix|documented|analysis|found|identified|(?:is|was) (?:well|clear|known|unknown|unclear|understood)))[^?!]{0,80}?(?:\bwas\b|\bis\b|:)",
        r"\bthe (?:actual |real |underlying |core )?(?:problem|issue|bug|culprit|cause|reason|failure|mistake|gotcha|catch)\b[^?!]{0,60}\b(?:was|were|came from|turned out)\b",
        r"\b(?:it |this )?turn(?:s|ed) out\b",
        r"\b(?:failed|failing|broke|crashed|hung|hangs|fails|breaks|happened|happens|disappeared|vanished|blocked|rejected|skipped)(?: [\w`./()-]+){0,6} because\b",
        r"\b(?:was|were|is|are) (?:being )?(?:caused by|due to)\b",
        r"\blesson(?:s)? learn(?:ed|t)\b",
        r"\b(?:must|has to|only works?|won't work)\b[^?!]{0,160}\bbecause\b",
        r"\b(?:must|have to|has to|needs? to|requires?|only works?|won't work|does(?:n't| not) work|can(?:not|'t))\b[^?!]{0,160}(?:\b(?:otherwise|or else|unless)\b| [–—-] [^?!]*\b(?:risk|fail|break|lose|corrupt)\w*)",
        r"\b(?:will|would) (?:\w+ )?(?:fail|break|hang|crash|be lost|be dropped|be ignored)\b[^?!]*\b(?:if|when|unless|because|without)\b",
    ),
    "reasoned": (
        r"(?:^|; |(?<=; )|(?<=: )|\b(?:i|we)(?:'ve| have)? )(?P<said>(?:also )?(?:deliberately |intentionally |purposely )?(?:kept|chose|picked|used|went with|opted|decided|avoided|pinned|limited|capped|tuned|switched|replaced|did(?:n't| not)|converted|disabled|enabled|preserved)\b(?! (?:it|them|this|that|these|those)\b)[^?!]*(?:\b(?:because|since|otherwise|to (?:avoid|prevent|match|preserve))\b|, keeping\b).*)",
        r"\bon purpose(?:: | because| since)",
        r"\b(?:is|are|was|were|does(?:n't| not)|do(?:n't| not)) (?:\w+ )?(?:deliberately|intentionally|on purpose|by design)\b[^?!]*\b(?:because|since|otherwise|to (?:avoid|prevent|match|preserve))\b",
    ),
    "finding": (
        r"\b(?:pass(?:es|ed)?|succeed(?:s|ed)|compiles?|builds?|green)\b[^;?!]*,? (?:but|although|even though|except|however)\b.*\b(?:not|\w+n't|fail\w*|cannot|missing|only|never|skip\w*)\b",
        r"`[^`]+` (?:does(?:n't| not)|never|only) (?:actually )?(?:run|cover|check|include|apply|repair|fix|detect|catch|touch|update|rebuild|lint|format)s?\b[^?!]{8,}",
        r"^(?:the )?`[^`]+`[^?!]{0,60}\b(?:is|are) flaky\b",
        r"^(?:one |an? |the )?(?:other )?(?:important )?(?:caveats?|limitations?|gotchas?|known issues?|thing to (?:note|know)|heads[- ]up|worth noting|be aware)\b[^?!:]{0,20}:\s+(?P<said>\w.+)",
    ),
    "task": (
        r"^(?:remaining|todo|to do|still (?:open|to do|missing)|next steps?|follow[- ]?ups?|left to do|pending|open)\s*[:–—-]\s*(?P<said>.+)",
        r"^not (?:yet )?(?:run|done|tested|verified|covered|implemented|handled)\s*[:–—-]\s*.+",
        r"(?P<said>\b(?:i|we) (?:have not|haven't|did not|didn't|could not|couldn't|can't|cannot|was not able to|wasn't able to|was unable to)(?: yet)? (?:run|test|verif|push|deploy|migrat|implement|add|update|cover|handle|remov|check|confirm|reproduc|validat|exercis|build|execut)\w*\b.+)",
        r"(?P<said>.*\b(?:still|yet) (?:needs?|has|have|need|remains?) to (?:be )?\w+.*)",
        r"(?P<said>.+\b(?:is|are|was|were|remains?)(?: still)? (?:not yet|still to be|left for|unimplemented|untested|unverified|a follow[- ]?up|pending|(?:not|only) (?:been )?(?:run|tested|verified|compiled|cross-compiled|checked|confirmed)(?! (?:after|when|if|once)\b)|left (?:as[- ]is|unchanged|open|for))\b.*)",
        r"(?P<said>.*\b(?:still fails?|still failing|is not fixed|remains? (?:broken|unfixed|open|unresolved))\b.*)",
        r"(?P<said>\byou(?:'ll| will)? (?:still )?(?:need to|have to|must) (?:manually |also |still )(?:run|set|add|update|migrat|deploy|configur|rotate|restart|create|enable)\w*\b.+)",
    ),
}

_OPTION = r"(?-i:[A-E])\b(?= instead|[.!,]|$)"
"""An option by its letter."""
_WORK = (
    r"(?:add(?:ed)?|implement|create|build|write|fix|change|update|refactor|rename|move|remove|delete|check|look|investigate|review|run"
    r"|test|try|find|search|explore|analy[sz]e|improve|reduce|simplify|clean|replace|convert|extract|split|merge|rebase|commit|push|open"
    r"|close|show|list|explain|mention|document|spawn|migrate|generate|install|set up|finish|continue|go|get|give|help|take|see|ensure|make sure|tell|new|reduce|deduplicate|adjust|align|tweak|polish|bump|rewrite|drop|put|do (?:an?|the|this|some))"
)
_PROCESS = r"(?:\b(?:push\w*|rebas\w+|worktrees?|pull requests?|PRs?|reviewers?)\b|--force)"
"""How this session was carried out, which says nothing of the project."""
_REQUEST = (
    rf"^(?:(?:and|but|so|ok(?:ay)?|also|well|yes|now|then|next|just|please|pls|can you|could you|let's|i want you to|i need you to|you (?:should|can))[,:!.]?\s+)*{_WORK}\b"
    r"(?!.*\b(?:always|never|every time|whenever|from now on)\b)"
)
"""A request: it names work for this session, and whether it is wanted another time nobody said."""

VOID = {
    "correction": (r"\b(?:work|help|fix|solve|change)(?:s|ed)?[.!]?$", rf"\b(?:use|do|take|want) {_OPTION}"),
    "preference": (
        r"\b(?:any ?more|in (?:there|here))\b|\b(?:want|need|like) (?:to \w+ )?(?:it|this|that|them|these|those)\b[.!]?$",
        r"\b(?:i|we) (?:don't|do not) (?:want|need) to (?:see|know|hear|go|do)\b",
        r"\b(?:don't|do not) (?:want|need) (?:(?:an?|the|any|your|my) (?:[\w-]+[ .!]*){1,2}$|(?:an? |the )?@?[\w./-]*/?[\w-]+\.\w{1,5}\b)",
        r"\b(?:in|for|on) this (?:pr|task|change|commit|branch|session|step|one|time|message|file)\b|\bwithout (?:using )?(?:the )?(?:gh|git)\b",
    ),
    "convention": (
        r"\btoo \w+[.!]?$|\b(?:confusing|weird|ugly|annoying|backwards)\b",
        r"\b(?:we|i) (?:never|only) (?:got|had|saw|did|tried|managed|just)\b|^if (?:it|that|this)\b",
    ),
    "decision": (
        r"\b(?:use|keep|go with|take|drop|adopt|do) (?:this|that|those|these|it|both)\b|\blike this\b",
        r"\b(?:haven't|have not|not yet|never) (?:decided|chosen|agreed)\b",
    ),
    "want": (
        r"^@|^(?:(?:also|and|so|but|or|then)[, ]+)*(?:should|there)\b|\bwhether\b|\bright[.!]?$|\bthe following\b",
        r"^(?!(?:\w+ )?keep it\b)(?:[^\s,]+ ){0,5}(?:it|them|those|these)\b",
        r"^(?:(?:also|and|so|but|ok(?:ay)?|basically)[, ]+)*(?:it|this|that|these|those|they|something|anything|everything)\b(?! \w+ (?:should|must|to)\b)",
        rf"\b(?:use|do|take|want) {_OPTION}|\b(?:output of this|(?:the|this) (?:pr|branch))\b",
        r"\bshould (?:\w+ )?(?:be|look|feel|sound|say|read) (?:\w+ )?(?:more|less|better|good|nice|bigger|smaller|like an?|almost)\b",
        r"\btests? (?:cases? )?should\b|\bmust be (?:off|wrong|missing|because|something|an? (?:bug|error|issue)|due)\b",
        r"\b(?:i|we) (?:think|guess|believe|assume|suppose) (?:it|that|this)\b|\b(?:maybe|perhaps|probably|not sure)\b",
        r"\bshould (?:it|i|we|this|that|there|the)\b",
    ),
    "task": (
        r"^(?:next steps?: )?\w+ed\b|\b(?:marked as|completed)\b|\bbecause (?:this|the|it) (?:change|was|is|only)\b|\b(?:may|might|could) still\b",
        r"\b(?:merged?|push(?:ed|ing)?|commit(?:ted)?|reviewed)\b",
    ),
    "lesson": (
        r"\bthe (?:read|edit|write|bash|grep|glob|task|search) tool\b|\bmy (?:earlier|previous|first|own|last)\b|\bthe agent(?:'s)? (?:earlier|previous|first|own|last)\b",
        r"\b(?:issue|bug|ticket|report) (?:was|is) (?:filed|opened|reported|closed)\b",
        r"^now\b|\b(?:will now|now [a-z]+s)\b|\bremains? `?\w+`?(?: because|$)",
        r"^(?:critical|high|medium|low|minor|major|nit|p[0-3])\b[)\]]?\s?[:–—-]|^or\b",
        r"^i (?:now |still )?have the (?:same )?(?:issue|problem|error)\b|^(?:i |we )?(?:also )?(?:kept|left|chose|used|switched|made)\b",
        r"\b(?:could not|couldn't|can't|cannot|unable to|have not|haven't|did not|didn't|was not|wasn't) (?:be )?(?:run|test|verif|validat|confirm|check|exercis|execut|build|built)\w*\b",
        r"^(?:i|we) (?:realized|realised|found out) (?:i|that i|we|it)'?(?:m|re|ve)?\b.*\b(?:forgot|was wrong)\b",
    ),
    "reasoned": (
        rf"^if\b|\btemporar|\bplaceholder\b|{_PROCESS}",
        r"\b(?:docs?|comments?|notes?|docstrings?)\b.{0,40}\b(?:states?|says?|explains?|records?|notes)\b",
        r"\bbecause (?:it|they|that|this)(?: is|'s| are)? (?:\w+ )?(?:unrelated|out of scope)\b|\bleft (?:it|them|this|that|these)\b",
        r"\b(?:added|wrote|created) (?:a |the |new )?(?:unit |integration |regression )?tests?\b",
    ),
    "finding": (
        r"\bnow that\b|\bit (?:lives|is stored)\b",
        rf"{_PROCESS}|^the agent\b|\bI (?:added|ran|created|removed|left)\b",
        r"^(?:also )?\w+(?:ed|t) (?:into|to|from|in|by|with|as|for)\b",
        r"\b(?:pass|passes|passing|working|broken|failing) (?:now|again)\b|\bfor now\b|\b(?:suggestion|diagnostic|nit|hint)s?\b|\b(?:fixed|please)\b",
        r"^(?:let me|now|this (?:test|change|fix))\b|\bdemonstrates?\b|\bas you can see\b|\bhere(?:'s| is)\b",
    ),
}

SECTIONS = {
    "convention": (
        r"(?:\w+ )?(?:expected|desired|required|intended)(?: (?:behaviou?r|result|outcome|state))?s?$",
        r"(?:\w+ )?(?:requirements?|constraints?|rules?|guidelines|conventions?|must[- ]haves?|non-?goals|invariants|principles)$",
        r"(?:out of scope|do not|don'ts?|never)$",
    ),
    "decision": (r"(?:\w+ )?(?:decisions?|decided|agreed|what we (?:decided|agreed)(?: on)?)$",),
    "lesson": (
        r"(?:\w+ )?(?:findings?|root causes?|causes?|lessons?(?: learn(?:ed|t))?|learnings|gotchas|known issues|what went wrong)$",
    ),
}
"""By the sort of their items."""

SIGNALS = {
    "announces": (
        r"^(?:aha|found (?:it|the (?:\w+ )?(?:bug|issue|problem|culprit|cause|root cause))|there it is|there we go|there's the (?:bug|issue|problem)|that's (?:it|the (?:bug|issue|problem|cause|culprit))|bingo|got it)\s*[.!:–—-]",
        r"^(?:here's|here is|this is|so here's) (?:what (?:happened|went wrong|was wrong)|the (?:root cause|problem|explanation|summary of the (?:problem|bug)))\b[^.!?]{0,40}[.!:]?$",
        r"^(?:i )?(?:found|see)(?: and fixed)? the (?:root cause|bug|problem|issue|cause)(?: now| of [^.!?]{0,60})?\s*(?:[.!:–—-]|$)",
        r"^the (?:actual |real |underlying )?(?:issue|problem|bug|cause|root cause|culprit) (?:is|was)(?: that)?\s+",
    ),
    "remedy": (
        r"^(?:the )?(?:fix|solution|remedy)\b",
        r"^(?:i )?(?:fixed|solved|resolved|changed|added|replaced|removed|switched|updated|moved|reduced|restored|made)\b",
        r"^(?:so )?(?:now,? )?(?:the |it )?`?[\w.()-]{2,60}`? (?:\w+ ){0,2}now \w",
        r"^now,? (?:the )?[`\w]",
    ),
    "hedge": (
        r"\b(?:might|maybe|perhaps|probably|speculat\w+|most often|likely|possibly|presumably|seems?|seemingly|appears? to|could be|may be|may have|i think|i believe|i guess|i suspect|i assume|not sure|suspicious|looks like|should be fine|hopefully|in theory|let me try)\b",
    ),
    "narration": (
        r"^(?:if you|good (?:instinct|call|question)|whenever you|want me|happy to|say the word|you can|feel free)\b|\blet me know\b|\bif you(?:'d| would)? (?:like|want|prefer|rather)\b",
        r"^(?:(?:now|next|first|then|so|ok(?:ay)?|good|great|perfect|excellent|alright|right|hm+|wait|interesting|still|also)[,.!:]?\s+)*(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to|i should|i want to|i can see|i see\b|i notice|i understand|i'm (?:now )?(?:looking|checking|running|reading|adding|updating|fixing|mapping|doing)|looking at|checking|running|reading|updating|now i|now let|here's|here is|we need to|good (?:idea|question))\b",
        r"\blet me (?:check|fix|look|see|try|verify|update|run|add|also)\b",
    ),
    "momentary": (
        r"\blines? \d+",
        r"^(?:before|after) (?:the|this) (?:fix|change)\b",
        r"\bshould now\b|^the (?:rebase|merge)\b|\bconflicted in\b",
        r"\bsuccessfully\b",
        r"\b(?:tests?|suite|lint(?:er|ing)?|build|type ?check\w*|checks?|ci|pipeline|everything|all) (?:\w+ ){0,3}(?:now |all )*(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|successful(?:ly)?|compiles?|works? (?:now|again|fine|as expected))\b",
        r"\b(?:\d+ (?:tests? )?passed|0 (?:issues|errors|warnings|failures)|no (?:errors|warnings|issues|regressions|failures))\b",
        r"^(?:committed|pushed|merged|deployed|branch is|working tree)\b",
        r"\b(?:fix|it|this|that|everything|change|timeout settings?) (?:is|are) (?:now )?working\b",
        r"\b(?:all|everything) (?:is |are )?(?:done|set|complete[d]?|good|ready)\b",
        r"^(?:critical|high|medium|low|minor|major|nit|p[0-3])\b[)\]]?\s?[:–—-]",
    ),
    "objection": (
        r"^(?:no|nope|nah|wrong|incorrect|not quite|hm+,? no|that's (?:wrong|not|incorrect)|that is (?:wrong|not)|you're wrong|stop)\b",
        r"\b(?:still (?:fail|not|broken|doesn't|does not|the same|happen|get|see|slow)|(?:doesn't|does not|didn't|did not|isn't|not) (?:work|help|fix|solve)\w*|same (?:error|problem|issue|result))\b",
    ),
    "withdrawn": (
        r"^(?:scratch that|forget (?:that|it|what i (?:just )?said)|ignore (?:that|my last|what i (?:just )?said)|never ?mind|nvm|disregard)\b",
        r"^(?:(?:ok|no|please|actually|hm+|wait|sorry|can you|could you|let's)[,.]?\s+)*(?:undo|revert|roll ?back|put (?:it|that|this|everything) back|go back to|back out|restore (?:the|it|what)|take (?:it|that) back|remove (?:it|that|this) again)\b",
    ),
    "wraps-up": (
        r"^(?:(?:ok|okay|great|perfect|nice|cool|thanks|thank you|good|awesome|lgtm|now|please|can you|could you|and|let's|yes)[,.!]?\s*)*(?:(?:create|make|open|use|switch to|on|into|in) (?:a |an |the )?(?:new |separate |draft )*(?:branch|pr|pull request)|commit|push|merge|pr\b|ship it|thanks|thank you|$)",
    ),
    "reported": (
        r"\b(?:address|evaluate|consider|review|tell me about|thoughts on|look at|incorporate)(?: (?:this|these|those|the following|this one|number|#?\d+)\b[^:]{0,40})?:",
        r"\b(?:errors?|warnings?|exceptions?|logs?|output|console|terminal)\b[^:.]{0,40}: \S",
        r"\b(?:feedback|review|comments?|errors?|output|logs?|messages?|trace|says|said|wrote|writes|reported|reports|following|used to be|e-?mail|issue|ticket|docs?|documentation|spec|article|quote|prompt|result|readme|getting|got|stack trace|warning)\b[^:]{0,40}:$",
    ),
    "about-text": (
        r"\b(?:summari[sz]e|translate|proofread|rewrite|reword|paraphrase|evaluate|what do you (?:think|make) of|is (?:this|it|that) (?:true|right|correct|any good)|explain|read this|the following (?:text|page|article|document|post)|(?:this|the) (?:article|page|handbook|blog|post|document|guide|readme|e-?mail|thread|comment)s?)\b",
    ),
    "concedes": (
        r"(?:(?:ah|oh|yes|yeah|hm+)[,.!]?\s+)?(?:you're|you are) (?:absolutely |completely |totally |quite |both )?(?:right|correct)(?: (?:on|about|in|that)\b[^.,:;!–—-]{0,60}| to \w+[^.,:;!–—-]{0,60})?(?=[\s.,:;!–—-]|$)",
        r"(?:(?:that's|that is|that's a|that is a|very|a) )?(?:good|great|fair|valid|excellent) (?:catch|point|call|question about|feedback|observation)s?\b",
        r"(?:exactly|agreed|correct|indeed|right|fair enough|that's (?:right|correct|true))(?=[.,!:;–—-])",
        r"(?:my (?:mistake|apologies|bad)|i apologi[sz]e|apologies|sorry)\b[^.,:;!–—-]{0,40}",
    ),
    "changelog": (
        r"^(?:i |we |i've |we've |the agent )?(?:also )?(?:added|updated|created|implemented|refactored|renamed|reviewed|wired|notified|extended|introduced|removed|fixed|rewrote|wrote|moved|extracted|simplified|verified|checked|dug|committed|ran|tested|confirmed|tried|summary of)\b",
        r"^[\w ,]{3,30} got an?\b",
    ),
    "unsure": (
        r"\b(?:possibly|unclear|i (?:guess|think|bet|suppose|assume|wonder|believe)|i (?:\w+ )?feel|feels? like|in regards to|theoretically|seems?|looks like|probably|maybe|perhaps|not sure|curious|wondering|might)\b",
        r"^(?:(?:no|ok|just|please|and|so|now)[,.!]?\s+)*(?:tell me|explain|describe|show me|walk me|remind me|what about|how about|see)\b|\blines? \d+",
    ),
    "reverts": (
        r"\b(?:revert(?:ed|ing)?|undid|undone|rolled back|removed|took out|backed out|restored|put back|no longer|cleaned up|deleted|switched back|changed back)\b",
    ),
    "request": (_REQUEST,),
    "passing": (
        r"\b(?:for now|right now|this time|yet|just this once|for the moment|at the moment|as of (?:now|today)|temporar(?:y|ily)|for today)\b",
    ),
}
