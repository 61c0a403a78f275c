"""Tokens of platforms for models, hosting, data, mail and money that bear a beginning of their own, as their issuers
document them; the companions of `tokens`."""

from __future__ import annotations

from agent_memory.domain.redacting.plausible import digits_in, tokenlike, varied
from agent_memory.domain.redacting.rule import Rule, marked as _token, marked_word as _word

_SENTENCE_WORDS = frozenset(["the", "and", "for", "are", "was", "has", "not", "but", "from", "which", "when", "then"])
"""None of them is in the list of words that wallets draw from (BIP-39)."""
_UUID = r"[0-9a-f]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}"


def _drawn(secret: str) -> bool:
    return varied(secret) and digits_in(secret) >= 3


def _seed_words(phrase: str) -> bool:
    """Twelve words or more as wallets draw them: hardly one twice, and none that holds a sentence together."""
    words = phrase.replace(",", " ").split()
    return len(set(words)) >= len(words) - 2 and _SENTENCE_WORDS.isdisjoint(words)


PLATFORMS: tuple[Rule, ...] = (
    # models and what serves them
    _word("gemini-key", "aq.ab", r"AQ\.Ab[\w-]{40,80}"),
    _word("runpod-key", "rpa_", r"rpa_[A-Z0-9]{38,50}\w{0,6}"),
    _word("cerebras-key", "csk-", r"csk-[a-z0-9]{40,60}"),
    Rule("voyage-key", ("pa-",), r"pa-[\w-]{43}(?![\w-])", tokenlike, word=True),
    _word("cursor-key", "crsr_", r"crsr_[0-9a-f]{64}"),
    _word("context7-key", "ctx7sk-", r"ctx7sk-" + _UUID),
    _word("langfuse-key", "sk-lf-", r"sk-lf-" + _UUID),
    _word("helicone-key", "sk-helicone-", r"sk-helicone-[\w-]{20,60}"),
    Rule("brave-key", ("bsa",), r"BSA[\w-]{28}(?![\w-])", tokenlike, word=True),
    _word("wandb-key", "wandb_v1_", r"wandb_v1_\w{40,90}"),
    _word("logfire-token", "pylf_v", r"pylf_v\d_(?:[a-z]{2}_)?[A-Za-z0-9]{40,60}"),
    Rule("modal-token", ("ak-", "as-"), r"a[ks]-[A-Za-z0-9]{22}(?![\w-])", tokenlike, word=True),
    _word("apify-token", "apify_api_", r"apify_api_[A-Za-z0-9]{34,40}"),
    _word("photoroom-key", "sk_pr_", r"sk_pr_\w{1,40}_[0-9a-f]{40}"),
    _word("llamacloud-key", "llx-", r"llx-[A-Za-z0-9]{40,60}(?!\w)"),
    _word("bannerbear-key", "bb_pr_ bb_ma_", r"bb_(?:pr|ma)_[a-f0-9]{30}"),
    # hosting, data, building
    Rule(
        "azure-ai-key",
        ("jqqj9",),
        r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?![A-Za-z0-9])",
        _drawn,
        word=True,
        before=52,
    ),
    _word("neon-password", "npg_", r"npg_[A-Za-z0-9]{12}(?!\w)"),
    _word("daytona-key", "dtn_", r"dtn_[0-9a-f]{64}"),
    _word("socket-key", "sktsec_", r"sktsec_[\w-]{20,80}"),
    _word("ory-token", "ory_at_ ory_rt_ ory_ac_ ory_pat_", r"ory_(?:at|rt|ac|pat)_[\w.-]{24,120}"),
    _word(
        "jetbrains-token",
        "perm: perm-",
        r"perm[:-][A-Za-z0-9+/=]{4,80}\.[A-Za-z0-9+/=-]{2,80}\.[A-Za-z0-9]{30,50}(?!\w)",
    ),
    _word("cloudflare-token", "cfk_ cfat_ cfut_", r"cf(?:k|at|ut)_[A-Za-z0-9]{40,64}"),
    _word("deno-token", "ddp_ ddo_", r"dd[po]_[A-Za-z0-9]{36,40}"),
    _word("valtown-token", "vtwn_", r"vtwn_[A-Za-z0-9]{24,40}"),
    _word("trigger-key", "tr_dev_ tr_prod_ tr_stg_", r"tr_(?:dev|prod|stg)_[A-Za-z0-9]{20,32}"),
    _word("inngest-key", "signkey-", r"signkey-(?:prod|test|branch)-[0-9a-f]{32,64}"),
    _word("statsig-key", "secret-", r"secret-[A-Za-z0-9]{40,46}(?![\w-])"),
    _word("salad-key", "salad_cloud_", r"salad_cloud_[A-Za-z0-9]{1,16}_[A-Za-z0-9]{30,80}"),
    _word("databricks-token", "dose", r"dose[0-9a-f]{32}(?![A-Za-z0-9])"),
    _word("dbt-token", "dbtc_ dbts_ dbtu_", r"dbt[csu]_[\w-]{36,60}=?"),
    _word("mongodb-secret", "mdb_sa_sk_", r"mdb_sa_sk_[\w-]{40}"),
    _word("elastic-key", "essu_", r"essu_[A-Za-z0-9+/]{40,120}={0,2}"),
    _word("airtable-token", "oaa", r"oaa[A-Za-z0-9]{14,16}\.v1\.ey[\w-]{40,2000}\.[\w-]{20,200}"),
    _word("azure-refresh-token", "0.a 1.a", r"[01]\.A[\w-]{20,80}\.Ag[\w-]{200,4000}"),
    _word("aws-appsync-key", "da2-", r"da2-[a-z0-9]{26}"),
    Rule(
        "aws-secret-key",
        ("akia", "asia"),
        r"""A[KS]IA[A-Z2-7]{16}['"]?(?:[ \t]{0,8}[:,;|][ \t]{0,8}|[ \t]{1,8})['"]?(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])""",
        _drawn,
    ),
    _word("kubernetes-bootstrap-token", "--token", r"--token[= ](?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?!\w)"),
    _word("kubernetes-bootstrap-token", "-token ", r"-token (?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?!\w)"),
    _word("rancher-token", "token-", r"token-[a-z0-9]{5}:[a-z0-9]{54}"),
    _word("vault-token", "s.cae", r"s\.CAE[\w-]{60,200}"),
    _word("launchdarkly-token", "sdk- api- mob-", r"(?:sdk|api|mob)-" + _UUID + r"(?!\w)"),
    _word("spectral-key", "spu-", r"spu-[0-9a-f]{32}"),
    _word("endor-key", "endr+", r"endr\+[A-Za-z0-9]{16}"),
    _word("pganalyze-key", "pgar_ pgaw_", r"pga[rw]_[A-Za-z0-9]{26,40}"),
    _word("rootly-token", "rootly_", r"rootly_[0-9a-f]{64}"),
    _word("axiom-token", "xaat- xapt-", r"xa[ap]t-" + _UUID),
    _word("honeycomb-key", "hcaik_ hcbik_", r"hc[a-z]ik_[a-z0-9]{50,64}"),
    Rule("newrelic-key", ("nral",), r"[a-z0-9]{36}NRAL(?!\w)", _drawn, before=36),
    _word(
        "jfrog-token",
        "eyj2zxiioiiyiiwidhlwijoi",
        r"eyJ2ZXIiOiIyIiwidHlwIjoi[\w-]{40,2000}\.[\w-]{20,4000}\.[\w-]{40,600}",
    ),
    _token("bitbucket-token", "bbdc-", r"BBDC-[A-Za-z0-9+/@_-]{40,60}"),
    _word("expo-token", "expo_", r"expo_[A-Za-z0-9_-]{36,48}"),
    _word("snyk-token", "snyk_", r"snyk_(?:uat|sat)\.[a-z0-9]{8}\.[\w.-]{30,300}"),
    _word("dub-key", "dub_", r"dub_[A-Za-z0-9]{24,32}(?!\w)"),
    _word("polar-token", "polar_oat_ polar_pat_", r"polar_[op]at_[A-Za-z0-9]{40,60}"),
    _word("pubnub-key", "sec-c-", r"sec-c-[A-Za-z0-9+/=-]{30,60}"),
    _word("alchemy-key", "alcht_ alcp_", r"alc(?:ht|p)_[A-Za-z0-9]{30,40}"),
    _word("besttime-key", "pri_", r"pri_[0-9a-f]{32}(?!\w)"),
    # talking and mailing
    Rule("resend-key", ("re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{22,26}(?!\w)", varied, word=True),
    _word("mailersend-key", "mlsn.", r"mlsn\.[0-9a-f]{64}"),
    _word("knock-key", "knock_", r"knock_[a-z]{2,6}_[\w-]{30,60}"),
    _word("cal-key", "cal_live_", r"cal_live_[0-9a-f]{32}"),
    _token("firebase-key", ":apa91", r"(?<=\w{4}):APA91[\w-]{100,200}"),
    _token(
        "teams-webhook",
        "outlook.office.com/webhook/",
        r"outlook\.office\.com/webhook/(?P<secret>[\w@%-]{60,120}/IncomingWebhook/[0-9a-f]{32}/[\w-]{36})",
    ),
    _token(
        "zapier-webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/(?P<secret>\d{4,12}/[A-Za-z0-9]{5,10})"
    ),
    _token(
        "line-token", "notify-api.line", r"notify-api\.line\.me\S{0,40}\s{1,4}\S{0,40}\s{0,4}Bearer (?P<secret>\w{43})"
    ),
    # business and money
    _word("paddle-key", "pdl_", r"pdl_(?:live|sdbx|ntfset)_(?:apikey_)?[A-Za-z0-9]{20,30}_[A-Za-z0-9_+/=]{20,60}"),
    Rule("mollie-key", ("live_", "test_"), r"(?:live|test)_[A-Za-z0-9]{30}(?!\w)", tokenlike, word=True),
    _word("adyen-key", "aqe", r"AQE[a-z]h[A-Za-z0-9+/]{60,400}={0,2}-[A-Za-z0-9+/=]{20,120}-[^\s'\"]{8,24}"),
    _word(
        "razorpay-secret",
        "rzp_live_ rzp_test_",
        r"rzp_(?:live|test)_\w{14}['\"]?[\s:,]{1,4}['\"]?(?P<secret>[A-Za-z0-9]{24})(?!\w)",
    ),
    _word("mercury-token", "secret-token:mercury_", r"secret-token:mercury_\w{20,120}"),
    _word("clickup-token", "pk_", r"pk_\d{5,12}_[A-Z0-9]{32}"),
    _word("wise-token", "wise_", r"wise_(?:live|test)_[\w-]{30,60}"),
    _word("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", r"pat-[a-z]{2}\d-" + _UUID),
    _word("pagerduty-key", "u+", r"u\+[\w-]{18}(?![\w-])"),
    _token(
        "truenas-key",
        "auth.login_with_api_key",
        r"""auth\.login_with_api_key[^\n\[]{0,40}(?:\n[^\n\[]{0,80})?\[\s{0,12}\\{0,2}["'](?P<secret>\d{1,4}-[A-Za-z0-9]{64})""",
    ),
    # keys without their frame, and what stands for a wallet
    _token(
        "private-key",
        "mii",
        r"MII(?:[A-Z][A-Za-z0-9]{1,3}IBAAK[BC]|[A-Z][A-Za-z0-9]{2}IBADANBgkqhkiG9w0BAQEFAASC|GHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg)(?:[A-Za-z0-9+/]|\\{1,3}[nr/]|\s(?=\s{0,24}[A-Za-z0-9+/]{16})){20,4000}+={0,2}",
    ),
    _word("private-key", "mc4caqawbqydk2v", r"MC4CAQAwBQYDK2V[A-Za-z0-9+/]{40,60}={0,2}"),
    _word("private-key", "mhccaqeei", r"MHcCAQEEI[A-Za-z0-9+/\s]{100,200}={0,2}"),
    _token(
        "private-key",
        "b3blbnnzac1rzxktdj",
        r"b3BlbnNzaC1rZXktdj(?:[A-Za-z0-9+/]|\\{1,3}[nr/]|\s(?=\s{0,24}[A-Za-z0-9+/]{16})){60,4000}+={0,2}",
    ),
    _word("minisign-key", "rwrty0", r"RWRTY0[A-Za-z0-9+/]{100,240}={0,2}"),
    Rule(
        "seed-phrase",
        (
            *("mnemonic", "seed phrase", "seed_phrase", "recovery phrase", "recovery_phrase"),
            *("secret recovery", "secret phrase", "secret_phrase"),
        ),
        r"""(?i)(?:mnemonic|(?:seed|recovery|secret)[ _](?:recovery[ _])?phrase)\w{0,12}\\{0,2}["']?[ \t]{0,4}(?:is|=|:)?\s{0,8}\\{0,2}["'`]?(?P<secret>(?-i:[a-z]{3,8}[ ,]{1,2}){11,23}(?-i:[a-z]{3,8})(?![a-z]))""",
        _seed_words,
    ),
)
