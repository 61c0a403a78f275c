"""What is asked to be remembered, in languages of which no more is known. The cue stands before what it is about, or behind it."""

from __future__ import annotations

_AFTER = r"[\s:,，：、]*(?P<said>.*)"

BY_USER = {
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
