"""Secrets without a shape of their own, known by the name of their issuer beside them: `algolia_key = "…"`.

The shapes are those that gitleaks (MIT) gives for the same issuers. Ids that a vendor publishes are left alone.
"""

from __future__ import annotations

import re

from agent_memory.domain.redacting.plausible import digits_in, entropy_bits, is_placeholder, varied
from agent_memory.domain.redacting.rule import Rule

_ASSIGNED = r"""[\w .\t-]{0,24}[\s'"`\\]{0,4}(?:=>|:{1,3}=|\?=|\|\||[=:>,(])[\s'"`=\\]{0,6}"""
_END = r"(?![\w=+/~-])"
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"

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
    ("codecov-token", "codecov", r"[a-z0-9]{32}|" + _UUID),
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
    ("heroku-key", "heroku", _UUID),
    ("hubspot-key", "hubspot", _UUID + r"|pat-[a-z]{2}\d-" + _UUID),
    ("intercom-key", "intercom", r"[a-z0-9=_-]{60}"),
    ("jfrog-token", "jfrog artifactory bintray xray", r"[a-z0-9]{73}|[a-z0-9]{64}"),
    ("kraken-token", "kraken", r"[a-z0-9/=_+-]{80,90}"),
    ("kucoin-key", "kucoin", r"[a-f0-9]{24}|" + _UUID),
    ("launchdarkly-token", "launchdarkly", r"[a-z0-9=_-]{40}|(?:sdk|api|mob)-" + _UUID),
    ("linear-secret", "linear", r"[a-f0-9]{32}"),
    ("linkedin-secret", "linkedin linked-in linked_in", r"[a-z0-9]{14}|[a-z0-9]{16}|WPL_AP1\.[a-z0-9.+/=]{16,40}"),
    ("lob-key", "lob", r"(?:live|test)_(?:pub_)?[a-f0-9]{31,35}"),
    ("looker-key", "looker", r"[a-z0-9]{20}|[a-z0-9]{24}"),
    ("mailgun-key", "mailgun", r"(?:pub)?key-[a-f0-9]{32}|[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}"),
    ("mapbox-token", "mapbox", r"pk\.[a-z0-9]{60}\.[a-z0-9]{22}"),
    ("mattermost-token", "mattermost", r"[a-z0-9]{26}"),
    ("messagebird-token", "messagebird message_bird message-bird", r"[a-z0-9]{25}|" + _UUID),
    ("mistral-key", "mistral", r"[a-z0-9]{32}"),
    ("netlify-token", "netlify", r"[a-z0-9=_-]{40,46}"),
    ("newrelic-key", "new-relic newrelic new_relic", r"[a-z0-9]{64}|[a-f0-9]{36}NRAL"),
    ("nytimes-token", "nytimes newyorktimes new-york-times", r"[a-z0-9=_-]{32}"),
    ("okta-token", "okta", r"00[\w=-]{40}"),
    ("plaid-secret", "plaid", r"[a-z0-9]{24}|[a-z0-9]{30}"),
    ("postmark-token", "postmark", _UUID),
    ("privateai-token", "privateai private-ai private_ai", r"[a-z0-9]{32}"),
    ("rapidapi-token", "rapidapi", r"[a-z0-9_-]{50}"),
    ("sendbird-token", "sendbird", r"[a-f0-9]{40}|" + _UUID),
    ("sentry-token", "sentry", r"[a-f0-9]{64}"),
    ("sidekiq-secret", "contribsys__com", r"[a-f0-9]{8}:[a-f0-9]{8}"),
    ("snyk-token", "snyk", _UUID),
    ("sonar-token", "sonar", r"[a-z0-9=_-]{40}"),
    ("sourcegraph-token", "sourcegraph", r"[a-f0-9]{40}"),
    ("squarespace-token", "squarespace", _UUID),
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
