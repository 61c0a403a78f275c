"""The rules that are tables: secrets known by their own shape, by the name of their issuer beside them, in addresses and files of
older network tools, in commands, in headers of HTTP.

Sources: the issuers' documentation, and the ideas of gitleaks (MIT) about which beginnings are safe to rely on.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping

from agent_memory.redaction.rule import (
    Rule,
    anything,
    digits_in,
    entropy_bits,
    is_drawn,
    is_password,
    is_placeholder,
    is_reference,
    is_unquoted_strong_password,
    tokenlike,
    varied,
    worded_share,
    words_of,
)

# -- what judges a secret ---------------------------------------------------------------------------------------------

_SENTENCE_WORDS = frozenset(["the", "and", "for", "are", "was", "has", "not", "but", "from", "which", "when", "then"])
"""None of them is in the list of words that wallets draw from (BIP-39)."""


def _mixed_case(secret: str) -> bool:
    drawn = secret.removeprefix("s.")
    return varied(drawn) and digits_in(drawn) > 0 and not drawn.isupper() and not drawn.islower()


def _seed_words(phrase: str) -> bool:
    """Returns whether these are twelve words or more as wallets draw them: hardly one twice, and none that holds a sentence together."""
    words = phrase.replace(",", " ").split()
    return len(set(words)) >= len(words) - 2 and _SENTENCE_WORDS.isdisjoint(words)


def _password(value: str) -> bool:
    return len(value) >= 3 and len(set(value)) >= 3 and not is_placeholder(value) and not is_reference(value)


def _database_password(value: str) -> bool:
    return _password(value) and not value.isdigit()


def _address_token(value: str) -> bool:
    return varied(value) and digits_in(value) >= 2 and worded_share(value) < 0.8 and not is_reference(value)


def _user_in_base64(value: str) -> bool:
    """Returns whether a value is base64 of `user:password`, as docker keeps it."""
    try:
        return b":" in base64.b64decode(value)
    except binascii.Error:
        return False


def _credential(value: str) -> bool:
    if is_placeholder(value) or is_reference(value):
        return False
    return entropy_bits(value) >= 2.75 and (digits_in(value) > 0 or worded_share(value) < 0.5)


def _credential_with_digits(value: str) -> bool:
    return _credential(value) and digits_in(value) >= 2


def _bearer(value: str) -> bool:
    """Returns whether a value has digits, or else letters in an order that no word has."""
    return _credential_with_digits(value) or (
        _credential(value) and len(value) >= 20 and worded_share(value) < 0.5 and not value.islower()
    )


def _cookies(value: str) -> bool:
    """Returns whether any of the cookies holds something drawn at random."""
    values = (cookie.partition("=")[2].strip() for cookie in value.split(";"))
    return any(
        len(each) >= 12 and tokenlike(each) and worded_share(each) < 0.5 and not is_reference(each) for each in values
    )


_ACCEPTS: Mapping[str, Callable[[str], bool]] = {
    "any": anything,
    "tokenlike": tokenlike,
    "drawn": lambda secret: varied(secret) and digits_in(secret) >= 3,
    "digits": lambda secret: varied(secret) and digits_in(secret) >= 4,
    "aws": lambda secret: varied(secret) and not secret.endswith("EXAMPLE"),
    "mixed": _mixed_case,
    # The base64 of a PEM block may be that of a certificate.
    "pem": lambda secret: b"PRIVATE KEY" in base64.b64decode(secret[:64]),
    "seed": _seed_words,
    "literal": is_password,
    "password": _password,
    "database": _database_password,
    "token": _address_token,
    "base64": _user_in_base64,
    "credential": _credential,
    "credential-with-digits": _credential_with_digits,
    "drawn-credential": lambda value: _credential_with_digits(value) and is_drawn(value),
    "bearer": _bearer,
    "cookies": _cookies,
}


def _table(text: str) -> tuple[Rule, ...]:
    """Returns the rules of a table: a line for each, with its name, how it is read, its keywords and its expression,
    set apart by two spaces or more.

    How it is read: `word` where it counts only where a word begins (else `inside`), then, after commas, what of `_ACCEPTS`
    judges the secret (masks are left where nothing is named), and how many characters ahead of the keyword it begins.
    """
    rules: list[Rule] = []
    for line in text.strip().split("\n"):
        if line.startswith("#"):
            continue
        name, how, keywords, expression = re.split(" {2,}", line, maxsplit=3)
        begins, *flags = how.split(",")
        accept = next((_ACCEPTS[flag] for flag in flags if flag in _ACCEPTS), varied)
        before = next((int(flag) for flag in flags if flag.isdigit()), 0)
        rules.append(Rule(name, words_of(keywords), expression, accept, word=begins == "word", before=before))
    return tuple(rules)


# -- by their own shape -----------------------------------------------------------------------------------------------

TOKENS: tuple[Rule, ...] = _table(r"""
# code hosts
github-token            inside  ghp_ gho_ ghu_ ghs_ ghr_  gh[pousr]_[A-Za-z0-9]{36,255}
github-token            inside  github_pat_  github_pat_\w{30,255}
gitlab-token            inside  glpat- gldt- glft- glrt- glptt- glimt- glsoat- gloas- glagent- glffct- glcbt- glwt-  gl(?:pat|dt|ft|rt|ptt|imt|soat|oas|agent|ffct|cbt|wt)-[\w-]{20,320}(?:\.[0-9a-z]{2,12}){0,3}
gitlab-token            inside  gr1348941  GR1348941[\w-]{20,50}
gitlab-session          inside  _gitlab_session=  _gitlab_session=(?P<secret>[0-9a-z]{32,64})
bitbucket-token         word    atbb atctt3  (?:ATBB[A-Za-z0-9]{24,36}|ATCTT3[\w=-]{60,250})
atlassian-token         inside  atatt3  ATATT3[\w=-]{60,300}
sourcegraph-token       inside  sgp_ sgd_ sgph_  (?:sgp_|sgph_|sgd_)(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}
# models
anthropic-key           inside  sk-ant-  sk-ant-[A-Za-z0-9_-]{24,250}
openai-key              inside  sk-proj- sk-svcacct- sk-admin- sk-none-  sk-(?:proj|svcacct|admin|None)-[\w-]{20,250}
openai-key              inside  t3blbkfj  (?<=[\w-]{16})T3BlbkFJ[\w-]{16,100}
openrouter-key          inside  sk-or-v1-  sk-or-v1-[0-9a-f]{40,80}
api-key                 word,tokenlike  sk-  sk-[A-Za-z0-9_-]{24,250}
groq-key                word    gsk_  gsk_[A-Za-z0-9]{40,80}
xai-key                 word    xai-  xai-[A-Za-z0-9]{60,100}
replicate-token         word    r8_  r8_[A-Za-z0-9]{30,50}
huggingface-token       word    hf_ api_org_  (?:hf|api_org)_[A-Za-z0-9]{34,40}(?!\w)
perplexity-key          word    pplx-  pplx-[A-Za-z0-9]{40,64}
nvidia-key              word    nvapi-  nvapi-[\w-]{50,90}
fireworks-key           word    fw_  fw_[A-Za-z0-9]{22,32}(?!\w)
together-key            word    tgp_v1_  tgp_v1_[\w-]{40,60}
langsmith-key           word    lsv2_pt_ lsv2_sk_  lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}
pinecone-key            word    pcsk_  pcsk_[\w]{50,90}
e2b-key                 word    e2b_  e2b_[0-9a-f]{40}
cursor-key              word    key_  key_[0-9a-f]{64}
amp-token               word    sgamp_user_  sgamp_user_\w{30,120}
tavily-key              word    tvly-  tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,48}
firecrawl-key           word    fc-  fc-[0-9a-f]{32}(?!\w)
# clouds
aws-access-key          word,aws  akia asia abia acca a3t  (?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])
aws-bedrock-key         inside  absk  ABSK[A-Za-z0-9+/]{60,280}={0,2}
aws-bedrock-key         inside  bedrock-api-key-  bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[\w+/=-]{0,3000}
gcp-api-key             inside  aiza  AIza[\w-]{35}
google-oauth-token      inside  ya29.  ya29\.[\w-]{20,1200}
google-client-secret    inside  gocspx-  GOCSPX-[\w-]{24,40}
google-refresh-token    word,tokenlike  1//0  1//0[\w-]{38,140}
azure-client-secret     word,digits,4  q~  [\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~])
azure-storage-key       inside  accountkey=  (?i)AccountKey=(?P<secret>[A-Za-z0-9+/]{60,100}={0,2})
azure-sas-signature     inside  sig=  (?i)\bsig=(?P<secret>[A-Za-z0-9%+/_-]{32,120}(?:={1,2}|%3d){0,2})
azure-devops-token      inside  azdo  (?<=\w{76})AZDO\w{4}
alibaba-key-id          inside  ltai  (?<![A-Za-z0-9])LTAI[A-Za-z0-9]{16,26}
digitalocean-token      inside  dop_v1_ doo_v1_ dor_v1_  do[por]_v1_[a-fA-F0-9]{64}
flyio-token             inside  fo1_ fm1a_ fm1r_ fm2_  (?<!\w)(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{100,}+={0,3}|fm2_[A-Za-z0-9+/]{100,}+={0,3})
heroku-key              inside  hrku-  HRKU-[\w-]{36,70}
scalingo-token          word    tk-us-  tk-us-[\w-]{48}
render-key              word    rnd_  rnd_[A-Za-z0-9]{28,40}
vercel-token            word    vcp_ vca_ vci_ vcr_ vck_  vc[paikr]_[A-Za-z0-9]{50,70}
netlify-token           word    nfp_  nfp_[A-Za-z0-9]{36,46}
railway-token           word    rw_fe26  rw_Fe26[\w.*-]{60,600}
cloudflare-ca-key       word    v1.0-  v1\.0-[a-f0-9]{24}-[a-f0-9]{146}
yandex-key              word    aqvn  AQVN[\w-]{35,38}
yandex-token            word    t1.  t1\.[\w-]{4,2000}={0,2}\.[\w-]{86}={0,2}
clickhouse-key          word    4b1d  4b1d[A-Za-z0-9]{38}
databricks-token        word    dapi  dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])
planetscale-token       word    pscale_tkn_ pscale_oauth_ pscale_pw_  pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}
supabase-key            word    sbp_ sb_secret_  (?:sbp_(?:oauth_)?[0-9a-f]{40}|sb_secret_[\w-]{22,60})
neon-key                word    napi_  napi_[a-z0-9]{50,70}
tailscale-key           word    tskey-  tskey-[a-z]{2,12}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20,50}
pulumi-token            word    pul-  pul-[a-f0-9]{40}(?!\w)
terraform-token         inside,14  .atlasv1.  [A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}
vault-token             inside  hvs. hvb. hvr.  (?<![A-Za-z0-9])hv[sbr]\.[\w-]{24,320}
vault-token             word,mixed  s.  s\.[A-Za-z0-9]{24}(?![\w.(-])
doppler-token           word    dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.  dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}
infisical-token         word    st.  st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}
1password-key           word    a3-  A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}
1password-token         word    ops_ey  ops_ey[\w+/-]{200,}+={0,3}
age-key                 inside  age-secret-key-1  AGE-SECRET-KEY-1[0-9A-Z]{58}
openshift-token         word    sha256~  sha256~[\w-]{43}
dynatrace-token         inside  dt0c01. dt0s01. dt0s02.  dt0[a-z]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}
# packages
npm-token               word    npm_  npm_[A-Za-z0-9]{36,50}
pypi-token              inside  pypi-ageichlwas5vcmc pypi-agendgvzdc5wexbp  pypi-Ag[\w-]{50,1000}
rubygems-token          word    rubygems_  rubygems_[a-f0-9]{48}
clojars-token           word    clojars_  (?i)CLOJARS_[a-z0-9]{60}
crates-token            word    cio  cio[A-Za-z0-9]{32}(?!\w)
nuget-key               word    oy2  oy2[a-z0-9]{43}(?!\w)
docker-token            word    dckr_pat_ dckr_oat_  dckr_[po]at_[\w-]{24,40}
artifactory-key         word    akcp  AKCp[A-Za-z0-9]{60,80}
artifactory-token       word    cmvmd  cmVmd[A-Za-z0-9]{59}
# talking and mailing
slack-token             word,digits  xoxa- xoxb- xoxc- xoxd- xoxe xoxo- xoxp- xoxr- xoxs-  xox(?:e.xox[bp]|[a-e]|[opsr])-[A-Za-z0-9%/+-]{10,400}
slack-token             word    xapp-  (?i)xapp-\d-[A-Z0-9]{2,30}-\d{2,20}-[a-z0-9]{6,100}
slack-webhook           inside  hooks.slack.com/  hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w+/-]{20,100})
discord-webhook         inside  /api/webhooks/  /api/webhooks/\d{15,25}/(?P<secret>[\w-]{40,100})
discord-token           inside  login( bot  (?i:login\(\\{0,2}["'`]|bot[ "'=:]{1,4})(?P<secret>[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,45})
teams-webhook           inside  .webhook.office.com/  \.webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{60,300})
telegram-token          inside  :aa  (?<=[0-9]{8}):(?P<secret>AA[\w-]{32,34})(?![\w-])
sendgrid-key            inside  sg.  (?<!\w)SG\.[\w=.-]{50,80}
sendinblue-key          word    xkeysib- xsmtpsib-  x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}
mailgun-key             word    key-  key-[a-f0-9]{32}(?!\w)
mailchimp-key           word,32  -us  [a-f0-9]{32}-us\d{1,2}(?!\w)
twilio-key              word    sk  SK[0-9a-fA-F]{32}(?![A-Za-z0-9])
# paying and selling
stripe-key              word    sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_  [sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}
stripe-webhook-secret   word    whsec_  whsec_[A-Za-z0-9+/=]{24,80}
shopify-token           word    shpat_ shpca_ shppa_ shpss_  shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
square-token            word    eaaa sq0atp- sq0csp-  (?<![+/])(?:EAAA[\w-]{56,62}|sq0(?:atp|csp)-[\w-]{22,60})
square-token            word    eaaa  (?<![+/])EAAA[\w-]{22,60}(?![\w/+=])
flutterwave-key         word    flwseck flwpubk  FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?
shippo-token            word    shippo_  shippo_(?:live|test)_[a-fA-F0-9]{40}
easypost-key            word    ezak eztk  EZ[AT]K[A-Za-z0-9]{54}
duffel-token            word    duffel_  duffel_(?:test|live)_[\w=-]{43}
paypal-token            word    access_token$production$  access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}
plaid-token             word    access-sandbox- access-development- access-production-  access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
facebook-token          word    eaam eaac eaag eaab  EAA[MCGB][A-Za-z0-9]{90,500}
facebook-token          inside  0| 1| 2| 3| 4| 5| 6| 7| 8| 9|  (?<=[0-9]{14})[0-9]\|(?P<secret>[A-Za-z0-9_-]{27,40})(?![\w-])
# building, watching, writing
grafana-key             word    eyjrijoi  eyJrIjoi[A-Za-z0-9]{60,400}={0,3}
grafana-token           word    glc_  glc_[A-Za-z0-9+/]{32,400}={0,3}
grafana-token           word    glsa_  glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}
newrelic-key            word    nrak- nrii- nrjs- nral- nriq- nraa- nrbr-  (?i)NR(?:AK|II|JS|AL|IQ|AA|BR)-[\w-]{19,40}
sentry-token            word    sntryu_  sntryu_[a-f0-9]{64}
sentry-token            word    sntrys_ey  sntrys_ey[A-Za-z0-9+/=_-]{60,600}
sonar-token             word    squ_ sqp_ sqa_  sq[upa]_[a-f0-9]{40}
posthog-key             word    phx_  phx_[A-Za-z0-9]{40,60}
postman-key             word    pmak-  PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}
linear-key              word    lin_api_ lin_oauth_  lin_(?:api|oauth)_[A-Za-z0-9]{32,64}
notion-token            word    ntn_  ntn_[0-9]{11}[A-Za-z0-9]{35}(?!\w)
notion-token            word,tokenlike  secret_  secret_[A-Za-z0-9]{43}(?!\w)
figma-token             word    figd_ figu_ figp_  fig[dup]_[\w=-]{36,60}
airtable-token          word    pat  pat[A-Za-z0-9]{14}\.[a-f0-9]{64}
asana-token             word    2/1 1/1  [12]/\d{15,20}(?:/\d{15,20})?:[a-f0-9]{32}
adafruit-key            word    aio_  aio_[A-Za-z0-9]{28}
dependency-track-key    word    odt_  odt_[A-Za-z0-9]{32,36}
jina-key                word    jina_  jina_[0-9a-f]{32}[A-Za-z0-9_-]{20,32}
vault-unseal-key        inside  unseal  (?i)unseal (?:key \d{1,2}: )?(?P<secret>[A-Za-z0-9+/]{43,44}=?)
salesforce-token        word    00d  00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,160}
twitch-stream-key       word    live_  live_\d{6,12}_[A-Za-z0-9]{30}
django-secret-key       inside  django-insecure-  django-insecure-[^\s"'`]{40,60}
adobe-secret            word    p8e-  p8e-[A-Za-z0-9]{32}
authress-key            word    sc_ ext_ scauth_ authress_  (?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,120}
contentful-token        word    cfpat-  CFPAT-[\w-]{43}
frameio-token           word    fio-u-  fio-u-[\w=-]{64}
harness-key             word    pat. sat.  (?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
infracost-key           word    ico-  ico-[A-Za-z0-9]{32}(?![\w.])
intra42-secret          word    s-s4t2  s-s4t2(?:ud|af)-[a-fA-F0-9]{64}
maxmind-key             word,36  _mmk  [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk
octopus-key             word,digits  api-  API-[A-Z0-9]{26}(?![A-Za-z0-9])
prefect-key             word    pnu_ pnb_  pn[ub]_[A-Za-z0-9]{36}
readme-key              word    rdme_  rdme_[a-z0-9]{70}
settlemint-token        word    sm_aat_ sm_pat_ sm_sat_  sm_[aps]at_[A-Za-z0-9]{16}
buildkite-token         word    bkua_  bkua_[a-z0-9]{40}
circleci-token          word    ccipat_ ccprj_  (?i)cc(?:ipat|prj)_[a-z0-9]{10,40}_[a-f0-9]{40}
typeform-token          word    tfp_  tfp_[\w.=-]{40,70}
mapbox-token            word    sk.ey  sk\.ey[\w-]{40,200}\.[\w-]{20,40}
azure-appconfig-secret  word    endpoint=https://  (?i)Endpoint=https://[\w.-]{3,200};Id=[\w+/=:-]{4,80};Secret=(?P<secret>[A-Za-z0-9+/=]{30,120})
# carried by anyone
jwt                     word    ey  (?P<secret>ey[A-Za-z0-9_-]{17,4000}+\.ey[\w/\\-]{17,8000}+(?:\.[\w/\\-]{0,8000}+={0,2})?)|ey[A-Za-z0-9_-]{17,4000}+
jwt                     word    eyj  (?P<secret>eyJ[A-Za-z0-9_-]{17,4000}+\.[\w-]{0,2000}+\.[\w-]{10,2000}+\.[\w-]{10,8000}+\.[\w-]{10,100})|eyJ[A-Za-z0-9_-]{17,4000}+(?:\.[\w-]{0,2000}+){0,3}
jwt                     word    ewogic ewoid  ewo(?:gIC|id)[A-Za-z0-9_-]{8,4000}+={0,2}\.ew[A-Za-z0-9_-]{8,8000}+={0,2}\.[\w-]{10,8000}+
jwt                     word    zxlk  ZXlK[A-Za-z0-9/\\_+-]{60,12000}+={0,2}
private-key             inside,pem  ls0tls1crudjti  LS0tLS1CRUdJTi[A-Za-z0-9+/]{80,20000}+={0,2}
kerberos-ticket         inside  $krb5  \$krb5(?:asrep|tgs|pa)\$\d{1,2}\$[^\s'\"]{40,8000}+
password-hash           word    $2a$ $2b$ $2y$  \$2[aby]\$\d\d\$[./A-Za-z0-9]{53}
password-hash           word    $argon2 $6$ $apr1$ $5$ $8$ $1$ $y$  \$(?:argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{5,40}|[568](?:\$rounds=\d{1,9})?|1|apr1|y\$[./A-Za-z0-9]{1,10})\$[./A-Za-z0-9+]{8,40}\$[./A-Za-z0-9+]{22,100}
# models and what serves them
gemini-key              word    aq.ab  AQ\.Ab[\w-]{40,80}
runpod-key              word    rpa_  rpa_[A-Z0-9]{38,50}\w{0,6}
cerebras-key            word    csk-  csk-[a-z0-9]{40,60}
voyage-key              word,tokenlike  pa-  pa-[\w-]{43}(?![\w-])
cursor-key              word    crsr_  crsr_[0-9a-f]{64}
context7-key            word    ctx7sk-  ctx7sk-[0-9a-f]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}
langfuse-key            word    sk-lf-  sk-lf-[0-9a-f]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}
helicone-key            word    sk-helicone-  sk-helicone-[\w-]{20,60}
brave-key               word,tokenlike  bsa  BSA[\w-]{28}(?![\w-])
wandb-key               word    wandb_v1_  wandb_v1_\w{40,90}
logfire-token           word    pylf_v  pylf_v\d_(?:[a-z]{2}_)?[A-Za-z0-9]{40,60}
modal-token             word,tokenlike  ak- as-  a[ks]-[A-Za-z0-9]{22}(?![\w-])
apify-token             word    apify_api_  apify_api_[A-Za-z0-9]{34,40}
photoroom-key           word    sk_pr_  sk_pr_\w{1,40}_[0-9a-f]{40}
llamacloud-key          word    llx-  llx-[A-Za-z0-9]{40,60}(?!\w)
bannerbear-key          word    bb_pr_ bb_ma_  bb_(?:pr|ma)_[a-f0-9]{30}
# hosting, data, building
azure-ai-key            word,drawn,52  jqqj9  [A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?![A-Za-z0-9])
neon-password           word    npg_  npg_[A-Za-z0-9]{12}(?!\w)
daytona-key             word    dtn_  dtn_[0-9a-f]{64}
socket-key              word    sktsec_  sktsec_[\w-]{20,80}
ory-token               word    ory_at_ ory_rt_ ory_ac_ ory_pat_  ory_(?:at|rt|ac|pat)_[\w.-]{24,120}
jetbrains-token         word    perm: perm-  perm[:-][A-Za-z0-9+/=]{4,80}\.[A-Za-z0-9+/=-]{2,80}\.[A-Za-z0-9]{30,50}(?!\w)
cloudflare-token        word    cfk_ cfat_ cfut_  cf(?:k|at|ut)_[A-Za-z0-9]{40,64}
deno-token              word    ddp_ ddo_  dd[po]_[A-Za-z0-9]{36,40}
valtown-token           word    vtwn_  vtwn_[A-Za-z0-9]{24,40}
trigger-key             word    tr_dev_ tr_prod_ tr_stg_  tr_(?:dev|prod|stg)_[A-Za-z0-9]{20,32}
inngest-key             word    signkey-  signkey-(?:prod|test|branch)-[0-9a-f]{32,64}
statsig-key             word    secret-  secret-[A-Za-z0-9]{40,46}(?![\w-])
salad-key               word    salad_cloud_  salad_cloud_[A-Za-z0-9]{1,16}_[A-Za-z0-9]{30,80}
databricks-token        word    dose  dose[0-9a-f]{32}(?![A-Za-z0-9])
dbt-token               word    dbtc_ dbts_ dbtu_  dbt[csu]_[\w-]{36,60}=?
mongodb-secret          word    mdb_sa_sk_  mdb_sa_sk_[\w-]{40}
elastic-key             word    essu_  essu_[A-Za-z0-9+/]{40,120}={0,2}
airtable-token          word    oaa  oaa[A-Za-z0-9]{14,16}\.v1\.ey[\w-]{40,2000}\.[\w-]{20,200}
azure-refresh-token     word    0.a 1.a  [01]\.A[\w-]{20,80}\.Ag[\w-]{200,4000}
aws-appsync-key         word    da2-  da2-[a-z0-9]{26}
aws-secret-key          inside,drawn  akia asia  A[KS]IA[A-Z2-7]{16}['"]?(?:[ \t]{0,8}[:,;|][ \t]{0,8}|[ \t]{1,8})['"]?(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])
kubernetes-bootstrap-token  word    --token  --token[= ](?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?!\w)
kubernetes-bootstrap-token  word    -token  -token (?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?!\w)
rancher-token           word    token-  token-[a-z0-9]{5}:[a-z0-9]{54}
vault-token             word    s.cae  s\.CAE[\w-]{60,200}
launchdarkly-token      word    sdk- api- mob-  (?:sdk|api|mob)-[0-9a-f]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}(?!\w)
spectral-key            word    spu-  spu-[0-9a-f]{32}
endor-key               word    endr+  endr\+[A-Za-z0-9]{16}
pganalyze-key           word    pgar_ pgaw_  pga[rw]_[A-Za-z0-9]{26,40}
rootly-token            word    rootly_  rootly_[0-9a-f]{64}
axiom-token             word    xaat- xapt-  xa[ap]t-[0-9a-f]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}
honeycomb-key           word    hcaik_ hcbik_  hc[a-z]ik_[a-z0-9]{50,64}
newrelic-key            inside,drawn,36  nral  [a-z0-9]{36}NRAL(?!\w)
jfrog-token             word    eyj2zxiioiiyiiwidhlwijoi  eyJ2ZXIiOiIyIiwidHlwIjoi[\w-]{40,2000}\.[\w-]{20,4000}\.[\w-]{40,600}
bitbucket-token         inside  bbdc-  BBDC-[A-Za-z0-9+/@_-]{40,60}
expo-token              word    expo_  expo_[A-Za-z0-9_-]{36,48}
snyk-token              word    snyk_  snyk_(?:uat|sat)\.[a-z0-9]{8}\.[\w.-]{30,300}
dub-key                 word    dub_  dub_[A-Za-z0-9]{24,32}(?!\w)
polar-token             word    polar_oat_ polar_pat_  polar_[op]at_[A-Za-z0-9]{40,60}
pubnub-key              word    sec-c-  sec-c-[A-Za-z0-9+/=-]{30,60}
alchemy-key             word    alcht_ alcp_  alc(?:ht|p)_[A-Za-z0-9]{30,40}
besttime-key            word    pri_  pri_[0-9a-f]{32}(?!\w)
# talking and mailing
resend-key              word    re_  re_[A-Za-z0-9]{8}_[A-Za-z0-9]{22,26}(?!\w)
mailersend-key          word    mlsn.  mlsn\.[0-9a-f]{64}
knock-key               word    knock_  knock_[a-z]{2,6}_[\w-]{30,60}
cal-key                 word    cal_live_  cal_live_[0-9a-f]{32}
firebase-key            inside  :apa91  (?<=\w{4}):APA91[\w-]{100,200}
teams-webhook           inside  outlook.office.com/webhook/  outlook\.office\.com/webhook/(?P<secret>[\w@%-]{60,120}/IncomingWebhook/[0-9a-f]{32}/[\w-]{36})
zapier-webhook          inside  hooks.zapier.com/  hooks\.zapier\.com/hooks/catch/(?P<secret>\d{4,12}/[A-Za-z0-9]{5,10})
line-token              inside  notify-api.line  notify-api\.line\.me\S{0,40}\s{1,4}\S{0,40}\s{0,4}Bearer (?P<secret>\w{43})
# business and money
paddle-key              word    pdl_  pdl_(?:live|sdbx|ntfset)_(?:apikey_)?[A-Za-z0-9]{20,30}_[A-Za-z0-9_+/=]{20,60}
mollie-key              word,tokenlike  live_ test_  (?:live|test)_[A-Za-z0-9]{30}(?!\w)
adyen-key               word    aqe  AQE[a-z]h[A-Za-z0-9+/]{60,400}={0,2}-[A-Za-z0-9+/=]{20,120}-[^\s'\"]{8,24}
razorpay-secret         word    rzp_live_ rzp_test_  rzp_(?:live|test)_\w{14}['\"]?[\s:,]{1,4}['\"]?(?P<secret>[A-Za-z0-9]{24})(?!\w)
mercury-token           word    secret-token:mercury_  secret-token:mercury_\w{20,120}
clickup-token           word    pk_  pk_\d{5,12}_[A-Z0-9]{32}
wise-token              word    wise_  wise_(?:live|test)_[\w-]{30,60}
hubspot-token           word    pat-na1- pat-na2- pat-eu1- pat-ap1-  pat-[a-z]{2}\d-[0-9a-f]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}
pagerduty-key           word    u+  u\+[\w-]{18}(?![\w-])
truenas-key             inside  auth.login_with_api_key  auth\.login_with_api_key[^\n\[]{0,40}(?:\n[^\n\[]{0,80})?\[\s{0,12}\\{0,2}["'](?P<secret>\d{1,4}-[A-Za-z0-9]{64})
# keys without their frame, and what stands for a wallet
private-key             inside  mii  MII(?:[A-Z][A-Za-z0-9]{1,3}IBAAK[BC]|[A-Z][A-Za-z0-9]{2}IBADANBgkqhkiG9w0BAQEFAASC|GHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg)(?:[A-Za-z0-9+/]|\\{1,3}[nr/]|\s(?=\s{0,24}[A-Za-z0-9+/]{16})){20,4000}+={0,2}
private-key             word    mc4caqawbqydk2v  MC4CAQAwBQYDK2V[A-Za-z0-9+/]{40,60}={0,2}
private-key             word    mhccaqeei  MHcCAQEEI[A-Za-z0-9+/\s]{100,200}={0,2}
private-key             inside  b3blbnnzac1rzxktdj  b3BlbnNzaC1rZXktdj(?:[A-Za-z0-9+/]|\\{1,3}[nr/]|\s(?=\s{0,24}[A-Za-z0-9+/]{16})){60,4000}+={0,2}
minisign-key            word    rwrty0  RWRTY0[A-Za-z0-9+/]{100,240}={0,2}
seed-phrase             inside,seed  mnemonic seed·phrase seed_phrase recovery·phrase recovery_phrase secret·recovery secret·phrase secret_phrase  (?i)(?:mnemonic|(?:seed|recovery|secret)[ _](?:recovery[ _])?phrase)\w{0,12}\\{0,2}["']?[ \t]{0,4}(?:is|=|:)?\s{0,8}\\{0,2}["'`]?(?P<secret>(?-i:[a-z]{3,8}[ ,]{1,2}){11,23}(?-i:[a-z]{3,8})(?![a-z]))
""")


# -- beside the name of an issuer: `algolia_key = "…"` ----------------------------------------------------------------

_ASSIGNED = r"""[\w .\t-]{0,24}[\s'"`\\]{0,4}(?:=>|:{1,3}=|\?=|\|\||[=:>,(])[\s'"`=\\]{0,6}"""
_END = r"(?![\w=+/~-])"
# The shapes are those that gitleaks (MIT) gives for the same issuers. Ids that a vendor publishes are left alone.
_VENDORS = r"""
adafruit-key              adafruit  [a-z0-9_-]{32}
adobe-key                 adobe  [a-f0-9]{32}
airtable-key              airtable  [a-z0-9]{17}
algolia-key               algolia  [a-z0-9]{32}
alibaba-key               alibaba aliyun  [a-z0-9]{30}
anyscale-key              anyscale  esecret_[a-z0-9]{24,40}
asana-secret              asana  [a-z0-9]{32}
atlassian-token           atlassian confluence jira  [a-z0-9]{20}[a-f0-9]{4}
azure-key                 azure ocp-apim subscription  [a-f0-9]{32}|[a-z0-9]{84}|[a-z0-9+/]{86}==
beamer-token              beamer  b_[a-z0-9=_-]{44}
bitbucket-key             bitbucket  [a-z0-9]{32}|[a-z0-9=_-]{64}
bittrex-key               bittrex  [a-z0-9]{32}
circleci-token            circle circleci  [a-f0-9]{40}
meraki-key                meraki  [0-9a-f]{40}
cloudflare-key            cloudflare cf_api  [a-z0-9_-]{40}|[a-f0-9]{37}
codecov-token             codecov  [a-z0-9]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
cohere-key                cohere co_api_key  [a-z0-9]{40}
coinbase-token            coinbase  [a-z0-9_-]{64}
confluent-key             confluent  [a-z0-9]{16}|[a-z0-9+/]{64}
contentful-token          contentful  [a-z0-9=_-]{43}
datadog-key               datadog dd_api dd_app  [a-z0-9]{40}|[a-f0-9]{32}
deepgram-key              deepgram  [a-f0-9]{40}
defined-networking-token  dnkey  dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}
discord-secret            discord  [a-f0-9]{64}|[a-z0-9=_-]{32}
droneci-token             droneci drone  [a-z0-9]{32}
dropbox-token             dropbox  [a-z0-9]{15}|[a-z0-9]{11}AAAAAAAAAA[a-z0-9_=-]{43}|sl\.[a-z0-9_=-]{130,1500}
elevenlabs-key            elevenlabs eleven_ xi-api  (?:sk_)?[a-f0-9]{32,48}
etsy-token                etsy  [a-z0-9]{24}
facebook-secret           facebook  [a-f0-9]{32}
fastly-token              fastly  [a-z0-9=_-]{32}
finicity-token            finicity  [a-f0-9]{32}|[a-z0-9]{20}
finnhub-token             finnhub  [a-z0-9]{20}
flickr-token              flickr  [a-z0-9]{32}
freshbooks-token          freshbooks  [a-z0-9]{64}
gitter-token              gitter  [a-z0-9_-]{40}
gocardless-token          gocardless  live_[a-z0-9=_-]{40}
heroku-key                heroku  [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
hubspot-key               hubspot  [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|pat-[a-z]{2}\d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
intercom-key              intercom  [a-z0-9=_-]{60}
jfrog-token               jfrog artifactory bintray xray  [a-z0-9]{73}|[a-z0-9]{64}
kraken-token              kraken  [a-z0-9/=_+-]{80,90}
kucoin-key                kucoin  [a-f0-9]{24}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
launchdarkly-token        launchdarkly  [a-z0-9=_-]{40}|(?:sdk|api|mob)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
linear-secret             linear  [a-f0-9]{32}
linkedin-secret           linkedin linked-in linked_in  [a-z0-9]{14}|[a-z0-9]{16}|WPL_AP1\.[a-z0-9.+/=]{16,40}
lob-key                   lob  (?:live|test)_(?:pub_)?[a-f0-9]{31,35}
looker-key                looker  [a-z0-9]{20}|[a-z0-9]{24}
mailgun-key               mailgun  (?:pub)?key-[a-f0-9]{32}|[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}
mapbox-token              mapbox  pk\.[a-z0-9]{60}\.[a-z0-9]{22}
mattermost-token          mattermost  [a-z0-9]{26}
messagebird-token         messagebird message_bird message-bird  [a-z0-9]{25}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
mistral-key               mistral  [a-z0-9]{32}
netlify-token             netlify  [a-z0-9=_-]{40,46}
newrelic-key              new-relic newrelic new_relic  [a-z0-9]{64}|[a-f0-9]{36}NRAL
nytimes-token             nytimes newyorktimes new-york-times  [a-z0-9=_-]{32}
okta-token                okta  00[\w=-]{40}
plaid-secret              plaid  [a-z0-9]{24}|[a-z0-9]{30}
postmark-token            postmark  [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
privateai-token           privateai private-ai private_ai  [a-z0-9]{32}
rapidapi-token            rapidapi  [a-z0-9_-]{50}
sendbird-token            sendbird  [a-f0-9]{40}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
sentry-token              sentry  [a-f0-9]{64}
sidekiq-secret            contribsys__com  [a-f0-9]{8}:[a-f0-9]{8}
snyk-token                snyk  [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
sonar-token               sonar  [a-z0-9=_-]{40}
sourcegraph-token         sourcegraph  [a-f0-9]{40}
squarespace-token         squarespace  [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
sumologic-key             sumo  su[a-z0-9]{12}|[a-z0-9]{64}
telegram-token            telegr  [0-9]{5,16}:A[a-z0-9_-]{34}
travisci-token            travis  [a-z0-9]{22}
twilio-secret             twilio  [a-f0-9]{32}
twitch-token              twitch  [a-z0-9]{30}
twitter-secret            twitter  [a-z0-9]{45}|[0-9]{15,25}-[a-z0-9]{20,40}|[a-z0-9]{25}|[a-z0-9]{50}|A{22}[a-z0-9%]{80,100}
vercel-token              vercel  [a-z0-9]{24}
wandb-key                 wandb  [a-f0-9]{40}
yandex-key                yandex  YC[a-z0-9_-]{38}
zendesk-key               zendesk  [a-z0-9]{40}
"""
"""Name, spellings, shape of the value."""


def _is_random(secret: str) -> bool:
    return varied(secret) and digits_in(secret) >= 2 and entropy_bits(secret) >= 2.5 and not is_placeholder(secret)


def _vendor(name: str, spellings: str, shape: str) -> Rule:
    named = "|".join(map(re.escape, spellings.split()))
    return Rule(name, tuple(spellings.split()), rf"(?i)(?:{named}){_ASSIGNED}(?P<secret>{shape}){_END}", _is_random)


VENDORS: tuple[Rule, ...] = tuple(_vendor(*re.split(" {2,}", line)) for line in _VENDORS.strip().split("\n"))


# -- in URLs, connection strings, commands and the files of older network tools ----------------------------------------

_LAST_WORD = re.compile(r"""(?<!\S)["'`*]{0,2}(?P<secret>[^\s"'`*]{8,60}+)["'`*]{0,2}\Z""")
_LAST_WORD_CHARS = 64
_SHORTEST_KEY_CHARS = 8
_COMMAND_CHARS = 600
_OTHER_COMMAND = re.compile(r"(?<![\\])\r?\n|[|;]")
_USER_AND_PASSWORD = (
    r"""[= \t]{0,5}(?P<secret>"[^"\n]{3,200}"|'[^'\n]{3,200}'"""
    r"""|(?:"[^"\n]{1,80}"|[\w.@-]{1,80}):(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s"'`;|&]{0,200}))"""
)
_ATTACHED = r"""['"]?(?P<secret>[^\s"'`-][^\s"'`;|]{3,200})"""
_APART = r"""[ :=]{1,3}['"]?(?P<secret>[^\s"'`-][^\s"'`;|]{3,500})"""


def _said_before(start: int, found: re.Match[str]) -> tuple[int, int] | None:
    """Returns the last word before `as the password` or `is my password`."""
    word = _LAST_WORD.search(found.string, max(0, start - _LAST_WORD_CHARS), start)
    return word.span("secret") if word and is_unquoted_strong_password(word["secret"]) else None


def _user_and_password(value: str) -> bool:
    user, colon, password = value.strip("\"'").partition(":")
    lone = (password or user).strip("\"'")
    if not colon or is_reference(value) or is_placeholder(lone):
        return False
    if not password:  # a key in the place of the user, as some services have it; else the name of one
        return len(lone) >= _SHORTEST_KEY_CHARS and not (lone.isalpha() or lone.isdigit())
    return user != password and len(lone) >= 3 and not lone.isdigit()


def _in_command(name: str, tools: str, options: str, value: str, accepts: Callable[[str], bool]) -> Rule:
    """Returns the rule for what an option of one of the tools is given. Options and value are read first, since they
    are rarer than the tools' names in a long text; then what stands before them in the same command is searched."""
    named = re.compile(rf"(?i)(?<!\w)(?:{tools})(?![\w-])")
    keywords = tuple(option.replace("_", space) for option in options.split() for space in (" ", "\n"))

    def judge(start: int, found: re.Match[str]) -> tuple[int, int] | None:
        if not accepts(found["secret"]):
            return None
        command = _OTHER_COMMAND.split(found.string[max(0, start - _COMMAND_CHARS) : start])[-1]
        return found.span("secret") if named.search(command) else None

    return Rule(name, keywords, value, judge=judge)


ADDRESSES: tuple[Rule, ...] = (
    *_table(r"""
url-password          inside,password  ://  ://(?:[^\s/:@"'`<>?#\\]{0,100}:(?P<secret>[^\s/"'`<>\\]{1,200}|(?!\d{1,5}/)[^\s@"'`<>\\]{1,200})@(?=[\w.\[$%{-])|[^\s"'`<>\\]{0,300}+)
password              inside,password  sqlplus· sqlldr· expdp· impdp· rman· jdbc:oracle:thin:  (?i)(?:[a-z]{4,7}[ ](?:-\w[ ]){0,2}|jdbc:oracle:thin:)[\w$#]{1,40}/(?P<secret>[^\s/"'`]{3,100})@
password              inside,literal  identified·by·  (?i)identified by[ ](?:values[ ])?["']?(?P<secret>[^\s"'`;]{4,200})
url-token             inside,token  ://  ://(?P<secret>[\w~.%-]{20,300}+)@(?=[A-Za-z0-9])
netrc-password        inside,password  machine  machine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(?P<secret>\S{3,300})
pgpass-password       inside,database  :5432: :5433: :3306:  :(?:543[23]|3306):[\w*-]{1,64}:[\w.-]{1,64}:(?P<secret>[^\s:]{4,200})
password              inside,password  -pass  -pass(?:in|out)?['",\s]{1,6}pass:(?P<secret>[^\s"'`]{4,200})
authtoken             inside,varied  authtoken·  authtoken (?P<secret>[A-Za-z0-9_]{20,100}+)(?!\w)
api-key               inside,varied  username" user"  user(?:name)?"\s{0,4}:\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,20}"key"\s{0,4}:\s{0,4}"(?P<secret>[^"\s]{16,200})\"
password              inside,password  directoryentry(  (?i)DirectoryEntry\(\s{0,8}@?"[^"\n]{1,200}"\s{0,4},\s{0,20}"[^"\n]{1,100}"\s{0,4},\s{0,20}"(?P<secret>[^"\n]{4,200})\"
password              inside,any  password·to·proceed·to·installation  password to proceed to installation:?(?:\\n|\s|\*){1,40}(?P<secret>[0-9a-f]{32})
password              inside,password  networkcredential(  (?i)NetworkCredential\(\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,4}"(?P<secret>[^"\n]{4,200})\"
connection-password   inside,database  password= pwd= password·= pwd·=  (?i)(?<=[;,&"'])(?:password|pwd)[ ]?=[ ]?(?P<secret>[^\s;"'`&]{4,200})(?=[;&"'])
basic-auth            word,base64  auth  auth\\{0,2}"\s{0,4}:\s{0,4}\\{0,2}"(?P<secret>[A-Za-z0-9+/]{12,600}={0,2})\\{0,2}\"
basic-auth            inside,varied  _auth  _auth[ ]?=[ ]?["']?(?P<secret>[A-Za-z0-9+/-]{12,600}={0,2})
"""),
    Rule(
        "password",
        tuple(f" {verb} {article} " for verb in ("as", "is") for article in ("the", "my", "your", "our", "its")),
        r"(?:\w{2,20}[ ])??pass(?:word|phrase|code)",
        judge=_said_before,
    ),
    _in_command("curl-user", "curl|wget|https?|httpie|xh", "_-u _--user _-a", _USER_AND_PASSWORD, _user_and_password),
    _in_command("mysql-password", "mysql|mysqldump|mysqladmin|mariadb", "_-p", _ATTACHED, _database_password),
    _in_command("password", "7za?|7zz|rar|unrar", "_-p", _ATTACHED, _database_password),
    _in_command("sshpass-password", "sshpass", "_-p", _ATTACHED, _password),
    _in_command("sshpass-password", "sshpass", "_-p", _APART, _password),
    _in_command("docker-password", "login", "_-p", _APART, _database_password),
    _in_command(
        "password",
        r"psexec(?:64)?|winexe|wmic|xfreerdp|rdesktop|ldap(?:search|add|modify|passwd|whoami)|redis-cli|smbclient|mongo\w{0,7}|cqlsh|sqlcmd"
        "|unzip|zip|useradd|net use|influx",
        "_-p _-w _-a _/p _/pass _/password _-pass _--pass _-password",
        _APART,
        _database_password,
    ),
)


# -- headers of HTTP, on the wire, in curl, in code -------------------------------------------------------------------

_SEPARATOR = r"""\\{0,3}["'`]?\]?\s{0,3}(?:=>|[:=,])\s{0,3}(?:[bfru]{1,2}(?=["'`]))?\\{0,3}["'`]?"""
_VALUE = r"[\w=~@.+/:%!$*-]"

HEADERS: tuple[Rule, ...] = _table(
    r"""
authorization  word,credential  authorization  (?i)authorization«separator»(?:(?:basic|bearer|token|api-?token|api-?key|digest|negotiate|bot|ssws|key|geniekey|splunk|flyv1)[ \t]{1,3})?(?P<secret>«value»{8,8000}+)
authorization  word,bearer  bearer basic  (?:[Bb]earer|BEARER|Basic)[ \t]{1,3}(?P<secret>«value»{16,8000}+)
api-key        word,credential-with-digits  x- private-token jenkins-crumb  (?i)(?:x-(?:[a-z]{1,20}-){0,3}(?:api-?key|key|token|secret)|private-token|jenkins-crumb)«separator»(?P<secret>«value»{8,4000}+)
api-key        word,drawn-credential  apikey: api-key: api-token: token: key:  (?i)[a-z-]{3,9}:[ \t]{0,4}(?P<secret>«value»{8,4000}+)(?=\\{0,3}[\"'])
cookie         inside,cookies  cookie  (?i)cookie\\{0,3}["'`]?:\s{0,3}\\{0,3}["'`]?(?P<secret>[\w.%-]{1,80}=(?:(?!ookie:)[^\r\n"'`\\]){8,8000}+)
""".replace("«separator»", _SEPARATOR).replace("«value»", _VALUE)
)
