"""The rule table: one row per shape of secret, in the subset of regular expressions that all engines share.

Patterns are matched against UTF-8 bytes: classes are ASCII, non-ASCII words stand as literal sequences, and there
is no look-around. A pattern begins with one of the row's `starts` (compared without case), preceded by at most two
more characters, so an engine without automata can find the places to try.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from afterword.redact.words import (
    ENV_WORDS,
    KEY_WORDS,
    KEY_WORDS_ABROAD,
    PASSWORD_WORDS,
    PASSWORD_WORDS_ABROAD,
    SHORT_PASSWORD_WORDS,
    WEAK_WORDS,
    WEAK_WORDS_ABROAD,
    variants,
)

RULES_VERSION: Final = 1
"""Counts up with every change of what is redacted; the ledger re-scrubs rows of an older version."""

Until: TypeAlias = Literal["", "value", "line", "userinfo", "pem", "pem-tail"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`group` is the secret; `opener` the group of the quote before it (0: none); `until` says how a value is
    followed to its end ("": the group is all of it); `check` names the judgement in `judge.CHECKS`."""

    kind: str
    pattern: str
    starts: tuple[str, ...]
    group: int = 0
    check: str = ""
    until: Until = ""
    opener: int = 0
    needs: str = ""
    """Without `starts`: a literal that is somewhere in every match."""


def _any(words: tuple[str, ...]) -> str:
    ascii_words = "|".join(re.escape(word) for word in words if word.isascii())
    others = [re.escape(form) for word in words if not word.isascii() for form in variants(word)]
    return "(?:" + "|".join([*([f"(?i:{ascii_words})"] if ascii_words else []), *others]) + ")"


def _starts(words: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest set of literals that every word begins with."""
    chosen: list[str] = []
    for form in sorted(
        {form for word in words for form in (variants(word) if not word.isascii() else (word.lower(),))}
    ):
        if not (chosen and form.startswith(chosen[-1])):
            chosen.append(form)
    return tuple(chosen)


_LEFT = r"(?:\b|\\[nrt])"
# What may stand between a key word and its value.
_SUFFIX = r"(?:[_-]?[0-9]{1,2}|[_-](?i:production|prod|development|dev|staging|test|live|old|new|main|backup|base64|b64|value|plain|raw|ro|rw))?"
_CLOSE = r"(?:\\{0,15}[\"'`]|%22)?[)\]]{0,2}[*_]{0,2}[?!]?"
_ASSIGN = r"(?::=|=>|={1,3}|:|->|：|＝|%3[AaDd])"
_TYPE = r"(?::? ?[&*A-Za-z][A-Za-z0-9_.\[\]|]{0,24} )?"
_OPEN = r"\\{0,15}[\"'`]|“|‘|«|「|%22"
_CTOR = r"(?:SecretStr\(|Secret\(|String::from\(|new String\(|[bruBRU@&]{1,2})?"
_IS = r"(?: (?:is|was|ist|es|est|to|это)|:| \|)[*_]{0,2}[ \t]{1,4}"
_IS_QUOTED = r"(?: (?:is|was|ist|es|est|to|это)|:| =|,|\(| \|)?[*_]{0,2}[ \t]{0,4}"
_GAP = r"[ \t]{0,24}"
_BETWEEN = _SUFFIX + _CLOSE + _GAP + _TYPE + _ASSIGN + r"[*_]{0,2}" + _GAP
# The head of a value: enough of it to be worth a judgement.
_QUOTED_HEAD = r"[^\x00-\x1f\"'`\\<>]{3}[^\x00-\x1f\"'`<>]"
_BARE_HEAD = r"[A-Za-z_.\-/:+\x80-\xff]{0,64}[0-9!@#%^&*+?~$]"

_PASSWORD = _any(PASSWORD_WORDS)
# Rows of their own: together with the ASCII words hyperscan's automaton becomes three times slower.
_PASSWORD_ABROAD, _KEY_ABROAD, _WEAK_ABROAD = (
    _any(PASSWORD_WORDS_ABROAD),
    _any(KEY_WORDS_ABROAD),
    _any(WEAK_WORDS_ABROAD),
)
_SHORT = r"(?:\b|_|\\[nrt])(?i:" + "|".join(SHORT_PASSWORD_WORDS) + ")"
_CAMEL = r"[a-z](?:Pass|Pwd|Pw)"
_KEY = _any(KEY_WORDS)
_WEAK = _any(WEAK_WORDS)
_S_PASSWORD, _S_KEY, _S_WEAK = _starts(PASSWORD_WORDS), _starts(KEY_WORDS), _starts(WEAK_WORDS)
_S_ANY = tuple(sorted({*_S_PASSWORD, *_S_KEY, *_S_WEAK}))


def _assigned(kind: str, words: str, starts: tuple[str, ...], check: str) -> tuple[Rule, Rule]:
    """`key = value` in every syntax: once for a quoted, once for a bare value."""
    quoted = rf"{words}{_BETWEEN}{_CTOR}({_OPEN})({_QUOTED_HEAD})"
    bare = rf"{words}{_BETWEEN}({_BARE_HEAD})"
    return (
        Rule(kind, quoted, starts, 2, check, "value", 1),
        Rule(kind, bare, starts, 1, check, "value"),
    )


def _mentioned(words: str, starts: tuple[str, ...]) -> tuple[Rule, Rule]:
    """`the password is value`: prose, so the value has to look like one by itself."""
    return (
        Rule(
            "password",
            rf"{words}{_CLOSE}{_IS_QUOTED}({_OPEN})([^\x00-\x20\"'`\\<>]{{6}})",
            starts,
            2,
            "strict",
            "value",
            1,
        ),
        Rule("password", rf"{words}{_CLOSE}{_IS}({_BARE_HEAD})", starts, 1, "strict", "value"),
    )


RULES: Final[tuple[Rule, ...]] = (
    # Whole blocks
    Rule(
        "private-key",
        r"-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----",
        ("-----begin",),
        check="pem",
        until="pem",
    ),
    Rule(
        "private-key",
        r"-----END[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----",
        ("-----end",),
        check="pem",
        until="pem-tail",
    ),
    Rule("private-key", r"-----BEGIN PRIVATE KEY-----", ("-----begin",), check="pem", until="pem"),
    Rule("private-key", r"-----END PRIVATE KEY-----", ("-----end",), check="pem", until="pem-tail"),
    Rule(
        "putty-key", r"Private-Lines: [0-9]{1,3}(?:\r?\n|\\n)((?:[A-Za-z0-9+/=]|\r?\n|\\n){20,})", ("private-lines",), 1
    ),
    Rule("age-key", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}", ("age-secret-key",)),
    # Clouds
    Rule("aws-access-key", rf"{_LEFT}((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}})\b", ("akia", "asia", "abia", "acca"), 1),
    Rule("aws-secret-key", r"(?:AKIA|ASIA)[A-Z0-9]{16}[\"',;: \t|]{1,6}([A-Za-z0-9/+]{40})", ("akia", "asia"), 1),
    *_assigned(
        "aws-secret-key", r"(?i:secret[_-]?access[_-]?key|aws[_-]?secret(?:[_-]?key)?)", ("secret", "aws"), "key"
    ),
    Rule("google-key", rf"{_LEFT}(AIza[A-Za-z0-9_-]{{35}})", ("aiza",), 1, "prefixed"),
    Rule("google-oauth", r"ya29\.[A-Za-z0-9_-]{20,}", ("ya29.",), 0, "prefixed"),
    Rule("google-client-secret", r"GOCSPX-[A-Za-z0-9_-]{20,}", ("gocspx-",), 0, "prefixed"),
    Rule("google-refresh-token", rf"{_LEFT}(1//0[A-Za-z0-9_-]{{30,}})", ("1//0",), 1, "prefixed"),
    Rule(
        "azure-key",
        r"(?i:AccountKey|SharedAccessKey|SharedSecret)(?:=|%3[dD])([A-Za-z0-9+/%]{30,}={0,2})",
        ("accountkey", "shareda", "shareds"),
        1,
    ),
    Rule(
        "azure-sas",
        r"[?&;](?:amp;)?sig=([A-Za-z0-9%+/_-]{40,}={0,2})",
        ("sig=", "amp;sig=", "?sig", "&sig", ";sig", "&amp;sig"),
        1,
    ),
    Rule(
        "azure-client-secret",
        rf"{_LEFT}([A-Za-z0-9_~.-]{{3}}[78]Q~[A-Za-z0-9_~.-]{{31,34}})",
        (),
        1,
        "prefixed",
        needs="q~",
    ),
    Rule("digitalocean-token", r"do[opr]_v1_[a-f0-9]{64}", ("doo_v1_", "dop_v1_", "dor_v1_")),
    Rule("alibaba-key", rf"{_LEFT}(LTAI[A-Za-z0-9]{{16,24}})\b", ("ltai",), 1, "opaque"),
    Rule("heroku-key", r"HRKU-[A-Za-z0-9_-]{30,}", ("hrku-",)),
    Rule(
        "heroku-key",
        r"(?i:heroku)[A-Za-z0-9_. -]{0,20}(?i:key|token|secret)[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})",
        ("heroku",),
        1,
    ),
    Rule(
        "cloudflare-token",
        r"(?i:cloudflare|cf)[A-Za-z0-9_. -]{0,20}(?i:key|token|secret)[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?([A-Za-z0-9_-]{37,45})",
        ("cloudflare", "cf"),
        1,
        "opaque",
    ),
    Rule("cloudflare-token", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", ("v1.0-",)),
    Rule("cloudflare-token", r"cf(?:ut|at|k)_[A-Za-z0-9]{40,}", ("cfut_", "cfat_", "cfk_"), 0, "prefixed"),
    Rule("fly-token", r"(?:FlyV1 )?fm[12][ar]?_[A-Za-z0-9+/=_-]{40,}", ("flyv1 ", "fm1", "fm2"), 0, "prefixed"),
    # Code hosts, registries, builds
    Rule("github-token", r"gh[opusr]_[A-Za-z0-9]{30,}", ("gho_", "ghp_", "ghu_", "ghs_", "ghr_"), 0, "prefixed"),
    Rule("github-token", r"github_pat_[A-Za-z0-9_]{30,}", ("github_pat_",), 0, "prefixed"),
    Rule(
        "gitlab-token",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_=.-]{20,}",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "gloas-", "glffct-"),
        0,
        "prefixed",
    ),
    Rule("bitbucket-token", r"ATBB[A-Za-z0-9_=-]{28,}", ("atbb",), 0, "opaque"),
    Rule("atlassian-token", r"AT(?:ATT|CTT)3x[A-Za-z0-9_=-]{40,}", ("atatt3x", "atctt3x"), 0, "prefixed"),
    Rule("npm-token", r"npm_[A-Za-z0-9]{36,}", ("npm_",), 0, "prefixed"),
    Rule("pypi-token", r"pypi-[A-Za-z0-9_-]{32,}", ("pypi-",), 0, "opaque"),
    Rule("rubygems-token", r"rubygems_[a-f0-9]{48}", ("rubygems_",)),
    Rule("crates-token", rf"{_LEFT}(cio[A-Za-z0-9]{{32}})\b", ("cio",), 1, "opaque"),
    Rule("docker-token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", ("dckr_",), 0, "prefixed"),
    Rule("jfrog-token", rf"{_LEFT}(AKCp[A-Za-z0-9]{{60,}})", ("akcp",), 1, "prefixed"),
    Rule("pulumi-token", r"pul-[a-f0-9]{40}", ("pul-",)),
    Rule("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}", (), 0, "prefixed", needs=".atlasv1."),
    Rule("circleci-token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,}", ("ccipat_", "cciprj_"), 0, "prefixed"),
    Rule("buildkite-token", r"bk(?:ua|at)_[a-f0-9]{40}", ("bkua_", "bkat_")),
    Rule(
        "vercel-token",
        r"vc[apikr]_[A-Za-z0-9]{24,}|vercel_blob_rw_[A-Za-z0-9_]{30,}",
        ("vca_", "vcp_", "vci_", "vck_", "vcr_", "vercel_blob"),
        0,
        "opaque",
    ),
    Rule("netlify-token", r"nf[pcou]_[A-Za-z0-9]{36,}", ("nfp_", "nfc_", "nfo_", "nfu_"), 0, "prefixed"),
    Rule("figma-token", r"fig[dour]{1,2}_[A-Za-z0-9_-]{30,}", ("fig",), 0, "opaque"),
    # Models
    Rule("anthropic-key", r"sk-ant-[A-Za-z0-9._-]{16,}", ("sk-ant-",), 0, "prefixed"),
    Rule("openai-key", rf"{_LEFT}(sk-(?:proj|svcacct|admin|or|None)-[A-Za-z0-9._-]{{16,}})", ("sk-",), 1, "prefixed"),
    Rule("openai-key", rf"{_LEFT}(sk-[A-Za-z0-9][A-Za-z0-9._-]{{15,}})", ("sk-",), 1, "opaque"),
    Rule("huggingface-token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", ("hf_", "api_org_"), 0, "prefixed"),
    Rule("replicate-token", rf"{_LEFT}(r8_[A-Za-z0-9]{{30,}})", ("r8_",), 1, "prefixed"),
    Rule("groq-key", r"gsk_[A-Za-z0-9]{40,}", ("gsk_",), 0, "prefixed"),
    Rule("xai-key", rf"{_LEFT}(xai-[A-Za-z0-9]{{40,}})", ("xai-",), 1, "prefixed"),
    Rule("perplexity-key", r"pplx-[A-Za-z0-9]{40,}", ("pplx-",), 0, "prefixed"),
    Rule("fireworks-key", rf"{_LEFT}(fw_[A-Za-z0-9]{{20,}})\b", ("fw_",), 1, "opaque"),
    Rule("tavily-key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}", ("tvly-",), 0, "opaque"),
    Rule("langsmith-key", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", ("lsv2_",)),
    # Messages, mail, phone
    Rule(
        "slack-token",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,}|xoxe\.xox[bp]-[A-Za-z0-9-]{20,}",
        ("xox", "xapp-"),
        0,
        "prefixed",
    ),
    Rule(
        "slack-webhook",
        r"hooks\.slack\.com\\{0,2}/(?:services|workflows|triggers)\\{0,2}/([A-Za-z0-9/\\_-]{20,})",
        ("hooks.slack.com",),
        1,
        "prefixed",
    ),
    Rule(
        "discord-webhook",
        r"discord(?:app)?\.com\\{0,2}/api\\{0,2}/webhooks\\{0,2}/([0-9]{15,22}\\{0,2}/[A-Za-z0-9_-]{30,})",
        ("discord.com", "discordapp.com"),
        1,
        "prefixed",
    ),
    Rule(
        "discord-token",
        rf"{_LEFT}([MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}})",
        (),
        1,
        "opaque",
        needs=".",
    ),
    Rule("telegram-token", rf"(?:{_LEFT}|bot)([0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}})", (), 1, "prefixed", needs=":aa"),
    Rule("twilio-key", rf"{_LEFT}(SK[0-9a-f]{{32}})\b", ("sk",), 1),
    Rule(
        "twilio-token",
        r"(?i:twilio)[A-Za-z0-9_. -]{0,20}(?i:token|secret|key)[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?([0-9a-f]{32})",
        ("twilio",),
        1,
    ),
    Rule("sendgrid-key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", ("sg.",), 0, "prefixed"),
    Rule("mailgun-key", rf"{_LEFT}(key-[0-9a-f]{{32}})\b", ("key-",), 1),
    Rule("mailchimp-key", rf"{_LEFT}([0-9a-f]{{32}}-us[0-9]{{1,2}})\b", (), 1, needs="-us"),
    Rule("brevo-key", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", ("xkeysib-",)),
    Rule("resend-key", rf"{_LEFT}(re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}})\b", ("re_",), 1, "opaque"),
    Rule("postman-key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", ("pmak-",)),
    # Money and shops
    Rule(
        "stripe-key",
        r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}",
        ("sk_live", "sk_test", "rk_live", "rk_test", "pk_live", "pk_test"),
        0,
        "prefixed",
    ),
    Rule("stripe-webhook-secret", r"whsec_[A-Za-z0-9+/=]{24,}", ("whsec_",), 0, "prefixed"),
    Rule(
        "square-token",
        rf"{_LEFT}EAAA[A-Za-z0-9_-]{{56,64}}\b|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{{22,}}",
        ("eaaa", "sq0"),
        0,
        "opaque",
    ),
    Rule("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", ("shpat_", "shpca_", "shppa_", "shpss_")),
    Rule("facebook-token", rf"{_LEFT}(EAA[A-Za-z0-9]{{80,}})", ("eaa",), 1, "opaque"),
    Rule("paypal-token", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}", ("access_token$",)),
    # Data, observability, work
    Rule("databricks-token", rf"{_LEFT}(dapi[a-f0-9]{{32}}(?:-[0-9])?)\b", ("dapi",), 1),
    Rule("supabase-key", r"sb(?:p|_secret)_[A-Za-z0-9_]{20,}", ("sbp_", "sb_secret_"), 0, "opaque"),
    Rule("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}", ("pscale_",), 0, "prefixed"),
    Rule("neon-key", r"napi_[a-z0-9]{40,}", ("napi_",), 0, "opaque"),
    Rule("vault-token", r"hv[sbr]\.[A-Za-z0-9_-]{20,}", ("hvs.", "hvb.", "hvr."), 0, "prefixed"),
    Rule(
        "doppler-token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
        ("dp.",),
        0,
        "prefixed",
    ),
    Rule("1password-token", r"ops_eyJ[A-Za-z0-9_-]{40,}={0,2}", ("ops_eyj",)),
    Rule("grafana-token", r"gl(?:sa|c)_[A-Za-z0-9+/=_-]{32,}", ("glsa_", "glc_"), 0, "prefixed"),
    Rule(
        "newrelic-key",
        r"NRAK-[A-Z0-9]{27}|NRJS-[a-f0-9]{19}|NRI[IQ]-[A-Za-z0-9_-]{32}",
        ("nrak-", "nrjs-", "nrii-", "nriq-"),
    ),
    Rule("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", ("sntrys_", "sntryu_"), 0, "prefixed"),
    Rule("dynatrace-token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", ("dt0",)),
    Rule("posthog-key", r"ph[xs]_[A-Za-z0-9]{40,}", ("phx_", "phs_"), 0, "prefixed"),
    Rule("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", ("lin_api_", "lin_oauth_"), 0, "prefixed"),
    Rule(
        "notion-token", rf"{_LEFT}(secret_[A-Za-z0-9]{{43}}|ntn_[A-Za-z0-9]{{40,}})", ("secret_", "ntn_"), 1, "opaque"
    ),
    Rule("airtable-token", rf"{_LEFT}(pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}})", ("pat",), 1),
    Rule("asana-token", rf"{_LEFT}([12]/[0-9]{{12,20}}(?:/[0-9]{{12,20}})?:[a-f0-9]{{32}})", ("1/", "2/"), 1),
    Rule("tailscale-key", r"tskey-(?:[a-z]+-)?[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}", ("tskey-",), 0, "prefixed"),
    Rule("easypost-key", r"EZ[AT]K[A-Za-z0-9]{54}", ("ezak", "eztk"), 0, "prefixed"),
    Rule("contentful-token", r"CFPAT-[A-Za-z0-9_-]{40,}", ("cfpat-",), 0, "prefixed"),
    # Protocols
    Rule(
        "jwt", rf"{_LEFT}(eyJ[A-Za-z0-9_-]{{8,1000}}\.[A-Za-z0-9_-]{{8,}}(?:\.[A-Za-z0-9_-]{{1,}}){{0,3}})", ("eyj",), 1
    ),
    Rule(
        "authorization",
        rf"(?i:authorization){_CLOSE}{_GAP}[:=,]{_GAP}(?:{_OPEN})?(?i:bearer|token|basic|apikey|api-key|digest|negotiate|splunk|key|bot)(?: |%20|\+|=)([A-Za-z0-9._~+/:=-]{{6,}})",
        ("authorization",),
        1,
        "header",
    ),
    Rule(
        "bearer", rf"{_LEFT}(?i:bearer)(?: |%20|\+){{1,2}}[\"'`]?([A-Za-z0-9._~+/=-]{{16,}})", ("bearer",), 1, "bearer"
    ),
    Rule("basic-auth", rf"{_LEFT}(?i:basic)(?: |%20|\+)([A-Za-z0-9+/]{{8,}}={{0,2}})", ("basic",), 1, "basic"),
    Rule(
        "url-password",
        r"[A-Za-z0-9]:\\{0,7}/\\{0,7}/[^\x00-\x20/:@\"'`<>\\]{0,128}:([^\x00-\x20/@\"'`<>\\]{1,256})@",
        ("://", ":\\/", ":\\\\/"),
        1,
        "userinfo",
        "userinfo",
    ),
    Rule("url-token", r"https?:\\{0,7}/\\{0,7}/([A-Za-z0-9_~.-]{20,256})@", ("http",), 1, "opaque"),
    Rule(
        "cookie",
        rf"{_LEFT}(?:(?i:connect\.sid|phpsessid|jsessionid|asp\.net_sessionid|session(?:_?id|_?token)?|sid|sess|auth_session|remember(?:_user|_me)?_token|csrftoken|xsrf-token)|__(?:Host|Secure)-[A-Za-z0-9_.-]{{1,40}})=((?:s%3A|s:)?[A-Za-z0-9._%+/=-]{{16,}})",
        (
            "connect.sid",
            "phpsessid",
            "jsessionid",
            "asp.net",
            "sess",
            "sid",
            "auth_session",
            "remember",
            "csrftoken",
            "xsrf-token",
            "__host",
            "__secure",
        ),
        1,
        "opaque",
    ),
    Rule(
        "netrc",
        r"(?i:login)[ \t\r\n]{1,8}[^\x00-\x20]{1,128}[ \t\r\n]{1,8}(?i:password)[ \t]{1,8}([^\x00-\x20]{1,128})",
        ("login",),
        1,
        "header",
    ),
    Rule(
        "basic-auth",
        r"(?:curl|wget)[^\x00-\x1f]{0,200} (?:-u|--user|--proxy-user)[ =][\"']?[^\x00-\x20:\"'$]{1,64}:([^\x00-\x20\"'$<{][^\x00-\x20\"'`]{0,127})",
        ("curl", "wget"),
        1,
        "userinfo",
    ),
    Rule(
        "password",
        r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?([^\x00-\x20\"'$<{][^\x00-\x20\"'`]{2,127})",
        ("sshpass",),
        1,
        "userinfo",
    ),
    Rule(
        "password",
        r"(?:mysql|mysqldump|mysqladmin|mariadb)[^\x00-\x1f]{0,200} -p([^\x00-\x20\"'$<{-][^\x00-\x20\"'`]{3,127})",
        ("mysql", "mariadb"),
        1,
        "password",
    ),
    # Assignments
    *_assigned("password", _PASSWORD, _S_PASSWORD, "password"),
    *_assigned("password", rf"(?:{_SHORT}|{_CAMEL})", SHORT_PASSWORD_WORDS, "password"),
    *_assigned("api-key", _KEY, _S_KEY, "key"),
    *_assigned("secret", _WEAK, _S_WEAK, "weak"),
    *_assigned("password", _PASSWORD_ABROAD, _starts(PASSWORD_WORDS_ABROAD), "password"),
    *_assigned("api-key", _KEY_ABROAD, _starts(KEY_WORDS_ABROAD), "key"),
    *_assigned("secret", _WEAK_ABROAD, _starts(WEAK_WORDS_ABROAD), "weak"),
    Rule(
        "password",
        rf"(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD){_SUFFIX}=({_OPEN})?([A-Za-z0-9!@#%^&*+?~.,_-][^\x00-\x20\"'`]{{3}})",
        ("password", "passwd", "passphrase", "_pass", "_pwd"),
        2,
        "env",
        "line",
        1,
    ),
    Rule(
        "secret",
        rf"(?:{'|'.join(ENV_WORDS)}){_SUFFIX}=({_OPEN})?([A-Za-z0-9+/_.-]{{8}})",
        tuple(word.lower() for word in ENV_WORDS),
        2,
        "weak",
        "value",
        1,
    ),
    Rule(
        "secret",
        rf"--[a-z0-9-]{{0,24}}(?:passw(?:or)?d|passphrase|pass)(?:=|[ \t]{{1,4}})({_OPEN})?([^\x00-\x20\"'`$<\\-][^\x00-\x20\"'`\\]{{3}})",
        ("--",),
        2,
        "option",
        "value",
        1,
    ),
    Rule(
        "secret",
        rf"--[a-z0-9-]{{0,24}}(?:token|secret|key|credential)(?:=|[ \t]{{1,4}})({_OPEN})?([^\x00-\x20\"'`$<\\-][^\x00-\x20\"'`\\]{{7}})",
        ("--",),
        2,
        "weak",
        "value",
        1,
    ),
    # Name and value side by side
    Rule(
        "secret",
        rf"(?:{_PASSWORD}|{_KEY}|{_WEAK}){_SUFFIX}\\{{0,15}}[\"']?,?(?:[ \t\r\n]|\\n){{0,24}}(?:\\{{0,15}}[\"'])?(?i:value)(?:\\{{0,15}}[\"'])?{_GAP}[:=]{_GAP}({_OPEN})?([^\x00-\x20\"'`\\<>$]{{4}})",
        _S_ANY,
        2,
        "pair",
        "value",
        1,
    ),
    Rule(
        "secret",
        rf"<[A-Za-z0-9:_.-]{{0,40}}(?:{_PASSWORD}|(?i:secret|token|api_?key|access_?key))>([^\x00-\x20<>]{{4,256}})</",
        ("<",),
        1,
        "pair",
    ),
    # Mentions
    *_mentioned(_PASSWORD, _S_PASSWORD),
    *_mentioned(_PASSWORD_ABROAD, _starts(PASSWORD_WORDS_ABROAD)),
    Rule(
        "api-key",
        rf"(?:{_KEY}|{_WEAK}){_CLOSE}{_IS_QUOTED}({_OPEN})([A-Za-z0-9_+/.=-]{{16}})",
        tuple(sorted({*_S_KEY, *_S_WEAK})),
        2,
        "mention",
        "value",
        1,
    ),
    Rule(
        "api-key",
        rf"(?:{_KEY}|{_WEAK}){_CLOSE}{_IS}([A-Za-z0-9_+/.=-]{{20}})",
        tuple(sorted({*_S_KEY, *_S_WEAK})),
        1,
        "mention",
        "value",
    ),
)
"""In order of preference: where two rows claim the same characters, the earlier one names the kind."""

KINDS: Final[tuple[str, ...]] = (*dict.fromkeys(rule.kind for rule in RULES), "extra")
