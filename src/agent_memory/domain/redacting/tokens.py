"""Secrets that say by their own shape what they are. Sources: the issuers' documentation, and the ideas of gitleaks
(MIT) about which beginnings are safe to rely on."""

from __future__ import annotations

import base64
import re

from agent_memory.domain.redacting.rule import (
    Rule,
    digits_in,
    entropy_bits,
    is_placeholder,
    marked as _token,
    marked_word as _word,
    tokenlike,
    varied,
)


def _with_digits(secret: str) -> bool:
    return varied(secret) and digits_in(secret) >= 4


def _aws_key_id(secret: str) -> bool:
    return varied(secret) and not secret.endswith("EXAMPLE")


def _mixed_case(secret: str) -> bool:
    drawn = secret.removeprefix("s.")
    return varied(drawn) and digits_in(drawn) > 0 and not drawn.isupper() and not drawn.islower()


def _holds_private_key(secret: str) -> bool:
    """True when the base64 of a PEM block is that of a private key, not of a certificate."""
    return b"PRIVATE KEY" in base64.b64decode(secret[:64])


TOKENS: tuple[Rule, ...] = (
    # code hosts
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _token("github-token", "github_pat_", r"github_pat_\w{30,255}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glft- glrt- glptt- glimt- glsoat- gloas- glagent- glffct- glcbt- glwt-",
        r"gl(?:pat|dt|ft|rt|ptt|imt|soat|oas|agent|ffct|cbt|wt)-[\w-]{20,320}(?:\.[0-9a-z]{2,12}){0,3}",
    ),
    _token("gitlab-token", "gr1348941", r"GR1348941[\w-]{20,50}"),
    _token("gitlab-session", "_gitlab_session=", r"_gitlab_session=(?P<secret>[0-9a-z]{32,64})"),
    _word("bitbucket-token", "atbb atctt3", r"(?:ATBB[A-Za-z0-9]{24,36}|ATCTT3[\w=-]{60,250})"),
    _token("atlassian-token", "atatt3", r"ATATT3[\w=-]{60,300}"),
    _token(
        "sourcegraph-token", "sgp_ sgd_ sgph_", r"(?:sgp_|sgph_|sgd_)(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}"
    ),
    # models
    _token("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{24,250}"),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-none-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,250}"),
    _token("openai-key", "t3blbkfj", r"(?<=[\w-]{16})T3BlbkFJ[\w-]{16,100}"),
    _token("openrouter-key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{40,80}"),
    Rule("api-key", ("sk-",), r"sk-[A-Za-z0-9_-]{24,250}", tokenlike, word=True),
    _word("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,80}"),
    _word("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    _word("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,50}"),
    Rule(
        "huggingface-token",
        ("hf_", "api_org_"),
        r"(?:hf|api_org)_[A-Za-z0-9]{34,40}(?!\w)",
        varied,
        word=True,
    ),
    _word("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    _word("nvidia-key", "nvapi-", r"nvapi-[\w-]{50,90}"),
    _word("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{22,32}(?!\w)"),
    _word("together-key", "tgp_v1_", r"tgp_v1_[\w-]{40,60}"),
    _word("langsmith-key", "lsv2_pt_ lsv2_sk_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}"),
    _word("pinecone-key", "pcsk_", r"pcsk_[\w]{50,90}"),
    _word("e2b-key", "e2b_", r"e2b_[0-9a-f]{40}"),
    _word("cursor-key", "key_", r"key_[0-9a-f]{64}"),
    _word("amp-token", "sgamp_user_", r"sgamp_user_\w{30,120}"),
    _word("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,48}"),
    _word("firecrawl-key", "fc-", r"fc-[0-9a-f]{32}(?!\w)"),
    # clouds
    Rule(
        "aws-access-key",
        ("akia", "asia", "abia", "acca", "a3t"),
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
        _aws_key_id,
        word=True,
    ),
    _token("aws-bedrock-key", "absk", r"ABSK[A-Za-z0-9+/]{60,280}={0,2}"),
    _token("aws-bedrock-key", "bedrock-api-key-", r"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[\w+/=-]{0,3000}"),
    _token("gcp-api-key", "aiza", r"AIza[\w-]{35}"),
    _token("google-oauth-token", "ya29.", r"ya29\.[\w-]{20,1200}"),
    _token("google-client-secret", "gocspx-", r"GOCSPX-[\w-]{24,40}"),
    Rule("google-refresh-token", ("1//0",), r"1//0[\w-]{38,140}", tokenlike, word=True),
    Rule(
        "azure-client-secret",
        ("q~",),
        r"[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~])",
        _with_digits,
        word=True,
        before=4,
    ),
    _token("azure-storage-key", "accountkey=", r"(?i)AccountKey=(?P<secret>[A-Za-z0-9+/]{60,100}={0,2})"),
    _token("azure-sas-signature", "sig=", r"(?i)\bsig=(?P<secret>[A-Za-z0-9%+/_-]{32,120}(?:={1,2}|%3d){0,2})"),
    _token("azure-devops-token", "azdo", r"(?<=\w{76})AZDO\w{4}"),
    _token("alibaba-key-id", "ltai", r"(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{16,26}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[a-fA-F0-9]{64}"),
    _token(
        "flyio-token",
        "fo1_ fm1a_ fm1r_ fm2_",
        r"(?<!\w)(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{100,}+={0,3}|fm2_[A-Za-z0-9+/]{100,}+={0,3})",
    ),
    _token("heroku-key", "hrku-", r"HRKU-[\w-]{36,70}"),
    _word("scalingo-token", "tk-us-", r"tk-us-[\w-]{48}"),
    _word("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,40}"),
    _word("vercel-token", "vcp_ vca_ vci_ vcr_ vck_", r"vc[paikr]_[A-Za-z0-9]{50,70}"),
    _word("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,46}"),
    _word("railway-token", "rw_fe26", r"rw_Fe26[\w.*-]{60,600}"),
    _word("cloudflare-ca-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _word("yandex-key", "aqvn", r"AQVN[\w-]{35,38}"),
    _word("yandex-token", "t1.", r"t1\.[\w-]{4,2000}={0,2}\.[\w-]{86}={0,2}"),
    _word("clickhouse-key", "4b1d", r"4b1d[A-Za-z0-9]{38}"),
    _word("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _word("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    _word("supabase-key", "sbp_ sb_secret_", r"(?:sbp_(?:oauth_)?[0-9a-f]{40}|sb_secret_[\w-]{22,60})"),
    _word("neon-key", "napi_", r"napi_[a-z0-9]{50,70}"),
    _word("tailscale-key", "tskey-", r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20,50}"),
    _word("pulumi-token", "pul-", r"pul-[a-f0-9]{40}(?!\w)"),
    Rule("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}", varied, before=14),
    _token("vault-token", "hvs. hvb. hvr.", r"(?<![A-Za-z0-9])hv[sbr]\.[\w-]{24,320}"),
    Rule("vault-token", ("s.",), r"s\.[A-Za-z0-9]{24}(?![\w.(-])", _mixed_case, word=True),
    _word(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _word("infisical-token", "st.", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    _word("1password-key", "a3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _word("1password-token", "ops_ey", r"ops_ey[\w+/-]{200,}+={0,3}"),
    _token("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _word("openshift-token", "sha256~", r"sha256~[\w-]{43}"),
    _token("dynatrace-token", "dt0c01. dt0s01. dt0s02.", r"dt0[a-z]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}"),
    # packages
    _word("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,50}"),
    _token("pypi-token", "pypi-ageichlwas5vcmc pypi-agendgvzdc5wexbp", r"pypi-Ag[\w-]{50,1000}"),
    _word("rubygems-token", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _word("clojars-token", "clojars_", r"(?i)CLOJARS_[a-z0-9]{60}"),
    _word("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?!\w)"),
    _word("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?!\w)"),
    _word("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{24,40}"),
    _word("artifactory-key", "akcp", r"AKCp[A-Za-z0-9]{60,80}"),
    _word("artifactory-token", "cmvmd", r"cmVmd[A-Za-z0-9]{59}"),
    # talking and mailing
    Rule(
        "slack-token",
        ("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe", "xoxo-", "xoxp-", "xoxr-", "xoxs-"),
        r"xox(?:e.xox[bp]|[a-e]|[opsr])-[A-Za-z0-9%/+-]{10,400}",
        _with_digits,
        word=True,
    ),
    _word("slack-token", "xapp-", r"(?i)xapp-\d-[A-Z0-9]{2,30}-\d{2,20}-[a-z0-9]{6,100}"),
    _token(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w+/-]{20,100})",
    ),
    _token("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{15,25}/(?P<secret>[\w-]{40,100})"),
    _token(
        "discord-token",
        "login( bot",
        r"""(?i:login\(\\{0,2}["'`]|bot[ "'=:]{1,4})(?P<secret>[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,45})""",
    ),
    _token("teams-webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{60,300})"),
    _token("telegram-token", ":aa", r"(?<=[0-9]{8}):(?P<secret>AA[\w-]{32,34})(?![\w-])"),
    _token("sendgrid-key", "sg.", r"(?<!\w)SG\.[\w=.-]{50,80}"),
    _word("sendinblue-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _word("mailgun-key", "key-", r"key-[a-f0-9]{32}(?!\w)"),
    Rule("mailchimp-key", ("-us",), r"[a-f0-9]{32}-us\d{1,2}(?!\w)", varied, word=True, before=32),
    Rule("twilio-key", ("sk",), r"SK[0-9a-fA-F]{32}(?![A-Za-z0-9])", varied, word=True),
    # paying and selling
    _word(
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}",
    ),
    _word("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,80}"),
    _word("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _word("square-token", "eaaa sq0atp- sq0csp-", r"(?<![+/])(?:EAAA[\w-]{56,62}|sq0(?:atp|csp)-[\w-]{22,60})"),
    _word("square-token", "eaaa", r"(?<![+/])EAAA[\w-]{22,60}(?![\w/+=])"),
    _word("flutterwave-key", "flwseck flwpubk", r"FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?"),
    _word("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    _word("easypost-key", "ezak eztk", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _word("duffel-token", "duffel_", r"duffel_(?:test|live)_[\w=-]{43}"),
    _word("paypal-token", "access_token$production$", r"access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}"),
    _word(
        "plaid-token",
        "access-sandbox- access-development- access-production-",
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    ),
    _word("facebook-token", "eaam eaac eaag eaab", r"EAA[MCGB][A-Za-z0-9]{90,500}"),
    _token(
        "facebook-token",
        "0| 1| 2| 3| 4| 5| 6| 7| 8| 9|",
        r"(?<=[0-9]{14})[0-9]\|(?P<secret>[A-Za-z0-9_-]{27,40})(?![\w-])",
    ),
    # building, watching, writing
    _word("grafana-key", "eyjrijoi", r"eyJrIjoi[A-Za-z0-9]{60,400}={0,3}"),
    _word("grafana-token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,3}"),
    _word("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    _word("newrelic-key", "nrak- nrii- nrjs- nral- nriq- nraa- nrbr-", r"(?i)NR(?:AK|II|JS|AL|IQ|AA|BR)-[\w-]{19,40}"),
    _word("sentry-token", "sntryu_", r"sntryu_[a-f0-9]{64}"),
    _word("sentry-token", "sntrys_ey", r"sntrys_ey[A-Za-z0-9+/=_-]{60,600}"),
    _word("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    _word("posthog-key", "phx_", r"phx_[A-Za-z0-9]{40,60}"),
    _word("postman-key", "pmak-", r"PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}"),
    _word("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _word("notion-token", "ntn_", r"ntn_[0-9]{11}[A-Za-z0-9]{35}(?!\w)"),
    Rule("notion-token", ("secret_",), r"secret_[A-Za-z0-9]{43}(?!\w)", tokenlike, word=True),
    _word("figma-token", "figd_ figu_ figp_", r"fig[dup]_[\w=-]{36,60}"),
    _word("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _word("asana-token", "2/1 1/1", r"[12]/\d{15,20}(?:/\d{15,20})?:[a-f0-9]{32}"),
    _word("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    _word("dependency-track-key", "odt_", r"odt_[A-Za-z0-9]{32,36}"),
    _word("jina-key", "jina_", r"jina_[0-9a-f]{32}[A-Za-z0-9_-]{20,32}"),
    _token("vault-unseal-key", "unseal ", r"(?i)unseal (?:key \d{1,2}: )?(?P<secret>[A-Za-z0-9+/]{43,44}=?)"),
    _word("salesforce-token", "00d", r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,160}"),
    _word("twitch-stream-key", "live_", r"live_\d{6,12}_[A-Za-z0-9]{30}"),
    _token("django-secret-key", "django-insecure-", r"""django-insecure-[^\s"'`]{40,60}"""),
    _word("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9]{32}"),
    _word(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,120}",
    ),
    _word("contentful-token", "cfpat-", r"CFPAT-[\w-]{43}"),
    _word("frameio-token", "fio-u-", r"fio-u-[\w=-]{64}"),
    _word("harness-key", "pat. sat.", r"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    _word("infracost-key", "ico-", r"ico-[A-Za-z0-9]{32}(?![\w.])"),
    _word("intra42-secret", "s-s4t2", r"s-s4t2(?:ud|af)-[a-fA-F0-9]{64}"),
    Rule("maxmind-key", ("_mmk",), r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", varied, word=True, before=36),
    Rule("octopus-key", ("api-",), r"API-[A-Z0-9]{26}(?![A-Za-z0-9])", _with_digits, word=True),
    _word("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _word("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
    _word("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    _word("buildkite-token", "bkua_", r"bkua_[a-z0-9]{40}"),
    _word("circleci-token", "ccipat_ ccprj_", r"(?i)cc(?:ipat|prj)_[a-z0-9]{10,40}_[a-f0-9]{40}"),
    _word("typeform-token", "tfp_", r"tfp_[\w.=-]{40,70}"),
    _word("mapbox-token", "sk.ey", r"sk\.ey[\w-]{40,200}\.[\w-]{20,40}"),
    _word(
        "azure-appconfig-secret",
        "endpoint=https://",
        r"(?i)Endpoint=https://[\w.-]{3,200};Id=[\w+/=:-]{4,80};Secret=(?P<secret>[A-Za-z0-9+/=]{30,120})",
    ),
    # carried by anyone
    _word(
        "jwt",
        "ey",
        r"(?P<secret>ey[A-Za-z0-9_-]{17,4000}+\.ey[\w/\\-]{17,8000}+(?:\.[\w/\\-]{0,8000}+={0,2})?)|ey[A-Za-z0-9_-]{17,4000}+",
    ),
    _word(
        "jwt",
        "eyj",
        r"(?P<secret>eyJ[A-Za-z0-9_-]{17,4000}+\.[\w-]{0,2000}+\.[\w-]{10,2000}+\.[\w-]{10,8000}+\.[\w-]{10,100})|eyJ[A-Za-z0-9_-]{17,4000}+(?:\.[\w-]{0,2000}+){0,3}",
    ),
    _word(
        "jwt",
        "ewogic ewoid",
        r"ewo(?:gIC|id)[A-Za-z0-9_-]{8,4000}+={0,2}\.ew[A-Za-z0-9_-]{8,8000}+={0,2}\.[\w-]{10,8000}+",
    ),
    _word("jwt", "zxlk", r"ZXlK[A-Za-z0-9/\\_+-]{60,12000}+={0,2}"),
    Rule(
        "private-key",
        ("ls0tls1crudjti",),
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{80,20000}+={0,2}",
        _holds_private_key,
    ),
    _token("kerberos-ticket", "$krb5", r"\$krb5(?:asrep|tgs|pa)\$\d{1,2}\$[^\s'\"]{40,8000}+"),
    _word("password-hash", "$2a$ $2b$ $2y$", r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"),
    _word(
        "password-hash",
        "$argon2 $6$ $apr1$ $5$ $8$ $1$ $y$",
        r"\$(?:argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{5,40}|[568](?:\$rounds=\d{1,9})?|1|apr1|y\$[./A-Za-z0-9]{1,10})\$[./A-Za-z0-9+]{8,40}\$[./A-Za-z0-9+]{22,100}",
    ),
)


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


_ASSIGNED = r"""[\w .\t-]{0,24}[\s'"`\\]{0,4}(?:=>|:{1,3}=|\?=|\|\||[=:>,(])[\s'"`=\\]{0,6}"""
_END = r"(?![\w=+/~-])"
_HEX_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"

_SHAPES: tuple[tuple[str, str, str], ...] = (
    # name, spellings, shape of the value
    ("adafruit-key", "adafruit", r"[a-z0-9_-]{32}"),
    ("adobe-key", "adobe", r"[a-f0-9]{32}"),
    ("airtable-key", "airtable", r"[a-z0-9]{17}"),
    ("algolia-key", "algolia", r"[a-z0-9]{32}"),
    ("alibaba-key", "alibaba aliyun", r"[a-z0-9]{30}"),
    ("anyscale-key", "anyscale", r"esecret_[a-z0-9]{24,40}"),
    ("asana-secret", "asana", r"[a-z0-9]{32}"),
    ("atlassian-token", "atlassian confluence jira", r"[a-z0-9]{20}[a-f0-9]{4}"),
    ("azure-key", "azure ocp-apim subscription", r"[a-f0-9]{32}|[a-z0-9]{84}|[a-z0-9+/]{86}=="),
    ("beamer-token", "beamer", r"b_[a-z0-9=_-]{44}"),
    ("bitbucket-key", "bitbucket", r"[a-z0-9]{32}|[a-z0-9=_-]{64}"),
    ("bittrex-key", "bittrex", r"[a-z0-9]{32}"),
    ("circleci-token", "circle circleci", r"[a-f0-9]{40}"),
    ("meraki-key", "meraki", r"[0-9a-f]{40}"),
    ("cloudflare-key", "cloudflare cf_api", r"[a-z0-9_-]{40}|[a-f0-9]{37}"),
    ("codecov-token", "codecov", r"[a-z0-9]{32}|" + _HEX_UUID),
    ("cohere-key", "cohere co_api_key", r"[a-z0-9]{40}"),
    ("coinbase-token", "coinbase", r"[a-z0-9_-]{64}"),
    ("confluent-key", "confluent", r"[a-z0-9]{16}|[a-z0-9+/]{64}"),
    ("contentful-token", "contentful", r"[a-z0-9=_-]{43}"),
    ("datadog-key", "datadog dd_api dd_app", r"[a-z0-9]{40}|[a-f0-9]{32}"),
    ("deepgram-key", "deepgram", r"[a-f0-9]{40}"),
    ("defined-networking-token", "dnkey", r"dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}"),
    ("discord-secret", "discord", r"[a-f0-9]{64}|[a-z0-9=_-]{32}"),
    ("droneci-token", "droneci drone", r"[a-z0-9]{32}"),
    ("dropbox-token", "dropbox", r"[a-z0-9]{15}|[a-z0-9]{11}AAAAAAAAAA[a-z0-9_=-]{43}|sl\.[a-z0-9_=-]{130,1500}"),
    ("elevenlabs-key", "elevenlabs eleven_ xi-api", r"(?:sk_)?[a-f0-9]{32,48}"),
    ("etsy-token", "etsy", r"[a-z0-9]{24}"),
    ("facebook-secret", "facebook", r"[a-f0-9]{32}"),
    ("fastly-token", "fastly", r"[a-z0-9=_-]{32}"),
    ("finicity-token", "finicity", r"[a-f0-9]{32}|[a-z0-9]{20}"),
    ("finnhub-token", "finnhub", r"[a-z0-9]{20}"),
    ("flickr-token", "flickr", r"[a-z0-9]{32}"),
    ("freshbooks-token", "freshbooks", r"[a-z0-9]{64}"),
    ("gitter-token", "gitter", r"[a-z0-9_-]{40}"),
    ("gocardless-token", "gocardless", r"live_[a-z0-9=_-]{40}"),
    ("heroku-key", "heroku", _HEX_UUID),
    ("hubspot-key", "hubspot", _HEX_UUID + r"|pat-[a-z]{2}\d-" + _HEX_UUID),
    ("intercom-key", "intercom", r"[a-z0-9=_-]{60}"),
    ("jfrog-token", "jfrog artifactory bintray xray", r"[a-z0-9]{73}|[a-z0-9]{64}"),
    ("kraken-token", "kraken", r"[a-z0-9/=_+-]{80,90}"),
    ("kucoin-key", "kucoin", r"[a-f0-9]{24}|" + _HEX_UUID),
    ("launchdarkly-token", "launchdarkly", r"[a-z0-9=_-]{40}|(?:sdk|api|mob)-" + _HEX_UUID),
    ("linear-secret", "linear", r"[a-f0-9]{32}"),
    ("linkedin-secret", "linkedin linked-in linked_in", r"[a-z0-9]{14}|[a-z0-9]{16}|WPL_AP1\.[a-z0-9.+/=]{16,40}"),
    ("lob-key", "lob", r"(?:live|test)_(?:pub_)?[a-f0-9]{31,35}"),
    ("looker-key", "looker", r"[a-z0-9]{20}|[a-z0-9]{24}"),
    ("mailgun-key", "mailgun", r"(?:pub)?key-[a-f0-9]{32}|[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}"),
    ("mapbox-token", "mapbox", r"pk\.[a-z0-9]{60}\.[a-z0-9]{22}"),
    ("mattermost-token", "mattermost", r"[a-z0-9]{26}"),
    ("messagebird-token", "messagebird message_bird message-bird", r"[a-z0-9]{25}|" + _HEX_UUID),
    ("mistral-key", "mistral", r"[a-z0-9]{32}"),
    ("netlify-token", "netlify", r"[a-z0-9=_-]{40,46}"),
    ("newrelic-key", "new-relic newrelic new_relic", r"[a-z0-9]{64}|[a-f0-9]{36}NRAL"),
    ("nytimes-token", "nytimes newyorktimes new-york-times", r"[a-z0-9=_-]{32}"),
    ("okta-token", "okta", r"00[\w=-]{40}"),
    ("plaid-secret", "plaid", r"[a-z0-9]{24}|[a-z0-9]{30}"),
    ("postmark-token", "postmark", _HEX_UUID),
    ("privateai-token", "privateai private-ai private_ai", r"[a-z0-9]{32}"),
    ("rapidapi-token", "rapidapi", r"[a-z0-9_-]{50}"),
    ("sendbird-token", "sendbird", r"[a-f0-9]{40}|" + _HEX_UUID),
    ("sentry-token", "sentry", r"[a-f0-9]{64}"),
    ("sidekiq-secret", "contribsys__com", r"[a-f0-9]{8}:[a-f0-9]{8}"),
    ("snyk-token", "snyk", _HEX_UUID),
    ("sonar-token", "sonar", r"[a-z0-9=_-]{40}"),
    ("sourcegraph-token", "sourcegraph", r"[a-f0-9]{40}"),
    ("squarespace-token", "squarespace", _HEX_UUID),
    ("sumologic-key", "sumo", r"su[a-z0-9]{12}|[a-z0-9]{64}"),
    ("telegram-token", "telegr", r"[0-9]{5,16}:A[a-z0-9_-]{34}"),
    ("travisci-token", "travis", r"[a-z0-9]{22}"),
    ("twilio-secret", "twilio", r"[a-f0-9]{32}"),
    ("twitch-token", "twitch", r"[a-z0-9]{30}"),
    (
        "twitter-secret",
        "twitter",
        r"[a-z0-9]{45}|[0-9]{15,25}-[a-z0-9]{20,40}|[a-z0-9]{25}|[a-z0-9]{50}|A{22}[a-z0-9%]{80,100}",
    ),
    ("vercel-token", "vercel", r"[a-z0-9]{24}"),
    ("wandb-key", "wandb", r"[a-f0-9]{40}"),
    ("yandex-key", "yandex", r"YC[a-z0-9_-]{38}"),
    ("zendesk-key", "zendesk", r"[a-z0-9]{40}"),
)


def _random(secret: str) -> bool:
    return varied(secret) and digits_in(secret) >= 2 and entropy_bits(secret) >= 2.5 and not is_placeholder(secret)


def _vendor(name: str, spellings: str, shape: str) -> Rule:
    words = tuple(spellings.split())
    named = "|".join(re.escape(word) for word in words)
    return Rule(name, words, rf"(?i)(?:{named}){_ASSIGNED}(?P<secret>{shape}){_END}", _random)


VENDORS: tuple[Rule, ...] = tuple(_vendor(*row) for row in _SHAPES)
