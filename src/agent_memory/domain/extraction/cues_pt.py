"""Portuguese cues, of Portugal and Brazil, with and without accents. Each pattern is matched against one sentence."""

from __future__ import annotations

LEADS = {
    "startpt": r"^(?:(?:e|mas|então|entao|ok|olha|sim|ah|já agora|a propósito|por favor|bom|bem|desculpa|espera|afinal|correção|enganei-me)[,:!.]?\s+)*",
    "thenpt": r"(?:^|[,;:–—-]\s+(?:e\s+|mas\s+)?(?:por favor,?\s+)?|\be\s+|\bmas\s+|\bpor favor,?\s+)",
}

BY_USER = {
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

BY_AGENT = {
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

SIGNALS = {
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

VOID: dict[str, tuple[str, ...]] = {
    "preference": (r"\b(?:neste|nesta) (?:pr|tarefa|commit|sessão|passo|mensagem)\b",),
    "want": (r"\b(?:acho|talvez)\b",),
}

SECTIONS = {
    "convention": (
        r"(?:comportamento esperado|requisitos|restrições|regras|critérios de aceitação|fora de âmbito|convenções)$",
    ),
    "decision": (r"(?:decisões|decidido)$",),
    "lesson": (r"(?:causas?|causa[- ]raiz|conclusões|o que aprendemos|problemas conhecidos)$",),
}
