"""The wording of cues, by language and by what it shows. Each pattern is matched against one sentence of prose.

English and Portuguese (of Portugal and Brazil, with and without accents) in full; of other languages only what is asked to be remembered.
`VOID`: with such wording it is not what the cue says.
"""

from __future__ import annotations

_ACT = (
    r"(?:use|add|put|write|commit|push|touch|edit|change|mock|create|delete|install|upgrade|rename|format|rebase|squash|amend"
    r"|import|introduce|skip|assume|invent|guess|explain|apologi[sz]e|summari[sz]e|ask|mention|include|hard-?code|swallow|catch|log|print|leave)"
)
_ONE = r"(?:the|this|that|these|those|it|them|my|your|our|his|her|their|a|an|anything|yet)\b"
"""Before the name of one thing: an order about it is a request and no rule."""
_COMMAND = r"(?:the )?`?(?:npm|pnpm|yarn|bun|npx|make|just|cargo|go|uv|uvx|poetry|pytest|tox|nox|mise|gradle|\./\w+|mvn|ruff|docker|bazel|task|rake|bundle|composer|dotnet|mix|deno|nix)\b`?"

EN_LEADS = {
    "starten": r"^(?:(?:and|but|so|ok(?:ay)?|also|well|yes|yeah|hm+|hey|oh|btw|by the way|one more thing|please|right|sorry|wait|actually|correction|i was wrong|my mistake|just|fyi)[,:!.]?\s+)*",
    "thenen": r"(?:^|[,;:–—-]\s+(?:and\s+|but\s+|so\s+)?(?:please\s+)?|\band\s+|\bbut\s+|\bplease\s+)",
}

EN_BY_USER = {
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
        r"<starten>(?P<said>no (?!i\b|we\b|you\b|its?\b|it's\b|that's\b|not\b|they\b|this\b|that\b|the\b|need|problem|worries|idea|thanks|way|longer|matter|one\b|doubt|changes?\b|luck|errors?\b)[\w`/-]+(?: [\w`/-]+){0,3}(?:\s*[,;–—-]\s*(?:please |just |always )?(?:use|do|put|keep|write|only|prefer|go)\b| (?:in|for|on|inside|within) (?:the |our |this |any |my )?[\w`/-]+).*)",
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

EN_BY_AGENT = {
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

EN_VOID = {
    "remember": (r"\b(?:note|track) of (?:this|that|it)\b",),
    "correction": (
        r"^(?:no|nope|stop|wait)?[,.! ]*(?:i'll|i will|i'm|i am|let me)\b",
        r"\b(?:work|help|fix|solve|change)(?:s|ed)?[.!]?$",
        rf"\b(?:use|do|take|want) {_OPTION}",
    ),
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
        r"^now\b|\b(?:will now|now [a-z]+s)\b|^my\b|\bremains? `?\w+`?(?: because|$)",
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

EN_SECTIONS = {
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

EN_SIGNALS = {
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
        r"\b(?:my (?:bet|guess)|i'd bet|might|maybe|perhaps|probably|speculat\w+|most often|likely|possibly|presumably|seems?|seemingly|appears? to|could be|may be|may have|i think|i believe|i guess|i suspect|i assume|not sure|suspicious|looks like|should be fine|hopefully|in theory|let me try)\b",
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


PT_LEADS = {
    "startpt": r"^(?:(?:e|mas|então|entao|ok|olha|sim|ah|já agora|a propósito|por favor|bom|bem|desculpa|espera|afinal|correção|enganei-me)[,:!.]?\s+)*",
    "thenpt": r"(?:^|[,;:–—-]\s+(?:e\s+|mas\s+)?(?:por favor,?\s+)?|\be\s+|\bmas\s+|\bpor favor,?\s+)",
}

PT_BY_USER = {
    "remember": (
        r"<startpt>(?:lembra|lembre)(?:-te|-se|m-se)?(?:,|:|\s+(?:disto|disso|sempre)[:,]?|\s+(?:de\s+)?que\b|\s+de\b)\s*(?P<said>.+)",
        r"<startpt>(?:guarda|guarde|memoriza|memorize|anota|anote|regista|registe|registra|registre)(?:\s+(?:isto|isso|aí|na memória|na memoria))?(?:[:,]|\s+que\b)\s*(?P<said>.+)",
        r"<startpt>n[ãa]o (?:te |se )?(?:esqueças|esquecas|esqueça|esqueca|esquece)(?:-te|-se)?\s*(?:de\s+)?(?:que\s+)?(?P<said>.+)",
        r"<startpt>(?:tem|tenha|ter) em (?:mente|conta)(?:\s+que)?[:,]?\s*(?P<said>.+)",
        r"<startpt>(?:para (?:referência futura|referencia futura|o futuro|a próxima|a proxima|mais tarde))[,:]\s*(?P<said>.+)",
        r"<thenpt>(?P<said>(?:a partir de agora|de agora em diante|daqui em diante|daqui para a frente|doravante|no futuro)\b.+)",
    ),
    "correction": (
        r"^(?:n[ãa]o|errado|nada disso|para)[,.!:;–—-]+\s*(?P<said>(?!(?:obrigad|faz mal|há problema|precisa|te preocupes)).+)",
        r"<startpt>(?:isso|isto|assim) (?:está|esta|é|e|fica) (?:errado|mal|incorreto|incorrecto|ao contrário)[,.:;–—-]*\s*(?P<said>.*)",
        r"<startpt>(?:na verdade|na realidade|aliás|alias),?\s+(?P<said>.*\b(?:n[ãa]o|nunca|devia|deve|em vez|só|apenas)\b.*)",
        r"<startpt>eu (?:disse|pedi|quis dizer|queria dizer)\b(?P<said>.*)",
        r"<thenpt>(?P<said>(?:usa|use|usar|usem|põe|poe|coloca|coloque|mete|faz|faça|faca|chama|chame|guarda|escreve|escreva)\b[^?!]*\b(?:em vez d|ao invés d|ao inves d|e n[ãa]o\b).*)",
        r"(?P<said>\b(?:em vez d|ao invés d|ao inves d)[^?!]*,\s*(?:usa|use|põe|faz|faça|coloca|coloque)\b.*)",
    ),
    "preference": (
        r"(?P<said>\b(?:eu )?n[ãa]o (?:quero|queremos|gosto|gostamos)\b.+)",
        r"(?P<said>\b(?:eu )?(?:prefiro|preferimos|preferia|detesto|odeio)\b.+)",
        r"<thenpt>(?P<said>(?:por favor,? )?(?:nunca|sempre) (?!mais\b|foi\b|que (?:tento|corro|abro)\b|falha\b|funcion|vi\b)[a-zà-ú]+.*)",
        r"<startpt>(?P<said>(?:por favor,? )?n[ãa]o (?:uses|use|adiciones|adicione|metas|coloques|coloque|escrevas|escreva|faças commit|faça commit|mexas|mexa|alteres|altere|cries|crie|apagues|apague|instales|instale|assumas|assuma|inventes|invente)\b.+)",
        r"(?P<said>\bsempre que (?:tu|nós|eu|você|vocês|for|fizer|fizeres|mudar|mudares|alterar|alterares|criar|criares|adicionar|adicionares|houver)\b.+)",
    ),
    "convention": (
        r"(?P<said>\b(?:nós |nos |a gente )?(?:costumamos|usamos sempre|nunca usamos|não usamos|nao usamos|evitamos|fazemos sempre|nunca fazemos|a gente sempre|a gente nunca|nós sempre|nós nunca)\b.+)",
        r"(?P<said>\busamos [^?!]+ (?:para|como|e não|e nao|em vez|em todo|em todos)\b.+)",
        r"(?P<said>\b(?:a|nossa|a nossa|por|como) (?:\w+ )?(?:convenção|convencao|regra|política|politica|norma)\b.+)",
        r"(?P<said>\b(?:neste|nesse|no nosso) (?:projeto|projecto|repositório|repositorio|repo|código|codigo),? (?:usamos|todos|todas|nunca|sempre|não|nao|os|as|o|a|cada)\b.+)",
    ),
    "decision": (
        r"<startpt>(?P<said>vamos (?:usar|com a?|com o|ficar com|manter|adotar|adoptar|optar|mudar para|seguir com|pela|pelo|largar|abandonar)\b.+)",
        r"(?P<said>\b(?:decidimos|decidi|ficou decidido|escolhemos|escolhi|optamos|optei|adotamos|adoptámos|adotei|acordámos|combinámos|ficou combinado)\b.+)",
        r"<startpt>(?:a )?decisão(?: é|:| foi)\s*(?P<said>.+)",
        r"<startpt>(?P<said>(?:opção|opcao|alternativa|proposta) [\da-e]\b(?:[,.!]|$| (?:por favor|então|parece|é|com|mas|e)\b).*)",
        r"<startpt>(?P<said>(?:escolho|prefiro|fico com|segue com|avança com) (?:a |o )?(?:opção|opcao|alternativa|proposta|primeira|segunda|terceira|última)\b.*)",
    ),
    "lesson": (
        r"(?P<said>\b(?:afinal|acontece que|no fim de contas),? .+)",
        r"(?P<said>\b(?:o problema|a causa|a causa raiz|o erro|a razão|o motivo) (?:real |verdadeir[oa] )?(?:era|foi|estava|vinha)\b.+)",
        r"(?P<said>\b(?:descobri|descobrimos|aprendi|aprendemos|percebi|percebemos) que\b.+)",
        r"(?P<said>\b(?:a )?lição\b.+)",
    ),
    "want": (
        r"(?P<said>\b(?:eu )?(?:só|apenas) quero\b(?! (?:saber|ver|perguntar|confirmar|testar)\b).+)",
        r"(?P<said>\bo que (?:eu )?quero é\b.+)",
        r"(?P<said>\b(?:eu )?quero que (?:o|a|os|as|este|esta|isto|isso|cada|todos|todas)\b.+)",
        r"(?P<said>\b(?:o|a|os|as|este|esta|cada) [^?!,]{1,60}\b(?:deve|devem|tem de|têm de|tem que) (?:sempre|nunca|só|apenas)\b.+)",
    ),
    "task": (
        r"<startpt>(?:por fazer|a fazer|pendente|falta|fica (?:por fazer|para depois)|mais tarde|amanhã|amanha|depois|próximo passo|proximo passo)\s*[:,–—-]\s*(?P<said>.+)",
        r"(?P<said>\b(?:ainda )?(?:falta|faltam|temos de|tenho de|precisamos de) (?!\w+ (?:agora|já)\b).+\b(?:depois|mais tarde|amanhã|amanha|na próxima|ainda)\b.*)",
        r"(?P<said>\bainda (?:falta|faltam|é preciso|é necessário|temos de|tenho de|precisamos)\b.+)",
    ),
}

PT_BY_AGENT = {
    "lesson": (
        r"\bcausa[- ]raiz\b",
        r"\b(?:o problema|o erro|a causa|a falha|o motivo|a razão)\b[^?!]{0,60}\b(?:era|foi|estava|vinha|ocorria|acontecia)\b",
        r"\b(?:acontece que|afinal)\b",
        r"\b(?:falhava|falhou|quebrava|bloqueava|desaparecia|acontecia) porque\b",
        r"\b(?:causad[oa] por|devido a)\b",
        r"\b(?:aprendemos|descobrimos|a lição)\b",
    ),
    "reasoned": (
        r"^(?:também )?(?:mudei|alterei|troquei|substituí|substitui|mantive|usei|escolhi|optei|decidi|removi|tirei|defini|dividi|desativei|ativei|evitei|limitei|deixei)\b[^?!]*\b(?:porque|já que|uma vez que|para (?:evitar|não|impedir)|em vez d|senão|caso contrário)",
        r"\b(?:de propósito|intencionalmente|deliberadamente|propositadamente)\b",
    ),
    "finding": (r"\b(?:passa(?:m|ram)?|funciona(?:m)?|compila)\b[^;?!]*,? (?:mas|embora|exceto)\b",),
    "task": (
        r"^(?:pendente|por fazer|falta|próximos? passos?|ainda em aberto)\s*[:–—-]\s*(?P<said>.+)",
        r"(?P<said>\bainda (?:falta|faltam|é preciso|é necessário)\b.+)",
        r"(?P<said>\bnão (?:corri|testei|verifiquei|atualizei|implementei|migrei)\b.+)",
    ),
}

PT_SIGNALS = {
    "announces": (
        r"^(?:encontrei|achei|descobri)(?: (?:o|a) (?:problema|erro|bug|causa|falha))?\s*[.!:–—-]",
        r"^(?:o que (?:aconteceu|se passou)|eis o que aconteceu|aqui está o que aconteceu)[^.!?]{0,40}[.!:]?$",
    ),
    "remedy": (
        r"^(?:a )?(?:correção|correcção|solução)\b",
        r"^(?:corrigi|resolvi)\b.+\b(?:com|ao|para)\b",
        r"^.{1,60}\bagora\b",
    ),
    "hedge": (
        r"\b(?:talvez|provavelmente|possivelmente|parece(?:m)?|pode ser|poderia|acho que|julgo que|penso que|creio que|deve ser|suspeito)\b",
    ),
    "narration": (
        r"^(?:(?:agora|primeiro|depois|então|ok|bom|ótimo|perfeito|certo)[,.!:]?\s+)*(?:vou|vamos (?:ver|verificar|correr|olhar)|deixa-me|deixe-me|preciso de|a verificar|a correr|estou a)\b",
    ),
    "momentary": (
        r"\b(?:testes?|lint|build|compilação|tudo) (?:\w+ ){0,3}(?:passa(?:m|ram|ndo)?|verde|ok|funciona(?:m|ndo)?|compila)\b",
    ),
    "objection": (
        r"^(?:n[ãa]o[,.!]|errado|isso (?:está|esta) (?:errado|mal)|nada disso)",
        r"\b(?:continua a (?:falhar|dar)|continua (?:igual|lento|errado)|ainda (?:falha|não funciona|nao funciona)|(?:não|nao) (?:funciona|funcionou|resolveu|ajudou)|o mesmo (?:erro|problema))\b",
    ),
    "withdrawn": (r"^(?:esquece|esqueça|ignora|ignore|deixa estar|deixa lá|desfaz|desfaça|reverte|volta atrás)\b",),
    "reported": (
        r"\b(?:erro|comentário|comentários|revisão|saída|log|logs|mensagem|diz|disse|escreveu|seguinte|documentação|e-?mail|resultado|aviso)\b[^:]{0,40}:$",
    ),
    "concedes": (
        r"(?:(?:sim|ah)[,.!]?\s+)?(?:tens (?:toda a )?razão|tem (?:toda a )?razão|você (?:está certo|tem razão)|bem (?:visto|lembrado|observado)|boa observação|bom ponto|exat?amente|exact?o|certo|concordo|peço desculpa|desculpa)\b[^.,:;!–—-]{0,30}",
    ),
    "unsure": (r"\b(?:acho que|talvez|parece|se calhar|não sei|pergunto-me)\b",),
    "reverts": (r"\b(?:revert\w+|desfi[zs]\w*|removi|tirei|apaguei|repus|restaurei|já não)\b",),
    "passing": (r"\b(?:por agora|por enquanto|desta vez|ainda não|por hoje)\b",),
    "wraps-up": (
        r"^(?:(?:ok|ótimo|boa|obrigad[oa]|perfeito|agora|por favor)[,.!]?\s*)*(?:faz (?:o )?commit|commit|push|obrigad[oa]|$)",
    ),
}

PT_VOID: dict[str, tuple[str, ...]] = {
    "preference": (r"\b(?:neste|nesta) (?:pr|tarefa|commit|sessão|passo|mensagem)\b",),
    "want": (r"\b(?:acho|talvez)\b",),
}

PT_SECTIONS = {
    "convention": (
        r"(?:comportamento esperado|requisitos|restrições|regras|critérios de aceitação|fora de âmbito|convenções)$",
    ),
    "decision": (r"(?:decisões|decidido)$",),
    "lesson": (r"(?:causas?|causa[- ]raiz|conclusões|o que aprendemos|problemas conhecidos)$",),
}


_AFTER = r"[\s:,，：、]*(?P<said>.*)"

OTHER_BY_USER = {
    "remember": (
        # Spanish, French, German, Italian, Dutch
        r"^(?:por favor,?\s*)?(?:recuerda|recuerde|recordad|acuérdate|ten en cuenta|tenga en cuenta|no (?:te )?olvides?|no olvide|apunta|memoriza)(?:\s+(?:de\s+)?que\b|\s+esto\b|:)"
        + _AFTER,
        r"^(?:s'il (?:te|vous) plaît,?\s*)?(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|n'oublie(?:z)? pas|garde en tête|gardez en tête|note(?:z)? bien)(?:\s+(?:bien\s+)?(?:que\b|qu'|de\b|ceci\b)|:)"
        + _AFTER,
        r"^(?:bitte\s+)?(?:merke?\s+(?:dir|euch)|merken sie sich|denk(?:e)? (?:daran|dran)|denken sie daran|vergiss nicht|vergessen sie nicht|behalte im kopf|beachte|notiere? dir)(?:\s+bitte)?(?:,?\s+dass\b|:|,)"
        + _AFTER,
        r"^(?:per favore,?\s*)?(?:ricorda(?:ti)?|ricordati|tieni (?:presente|a mente)|non dimenticare|non scordare|annota)(?:\s+(?:di\s+)?che\b|:)"
        + _AFTER,
        r"^(?:alsjeblieft\s+)?(?:onthoud|vergeet niet|denk eraan|houd er rekening mee|noteer)(?:\s+dat\b|,?\s+dat\b|:)"
        + _AFTER,
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
}
