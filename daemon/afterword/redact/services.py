"""More rules for what providers hand out: registries, builds, models, payments, webhooks, wallets."""

from __future__ import annotations

from typing import Final

from afterword.redact.rule import END, GLUED, LEFT, OPEN, Rule

UUID: Final = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_SLASH: Final = r"\\{0,2}/"
_QUOTE: Final = r"\\{0,15}[\"']"

SERVICES: Final[tuple[Rule, ...]] = (
    # Clouds
    Rule("google-key", rf"{GLUED}(AQ\.Ab[A-Za-z0-9_-]{{30,}})", ("aq.ab",), 1, "prefixed"),
    Rule("bedrock-key", rf"{GLUED}(ABSK[A-Za-z0-9+/]{{100,}}={{0,2}})", ("absk",), 1, "prefixed"),
    Rule("bedrock-key", r"bedrock-api-key-[A-Za-z0-9+/=_-]{40,}", ("bedrock-api-key-",), 0, "prefixed"),
    Rule("tencent-key", rf"{GLUED}(AKID[A-Za-z0-9]{{32}}){END}", ("akid",), 1, "opaque"),
    Rule("volcengine-key", rf"{GLUED}(AKLT[A-Za-z0-9_-]{{36,}})", ("aklt",), 1, "opaque"),
    Rule("yandex-key", rf"{GLUED}(AQVN[A-Za-z0-9_-]{{35,38}})", ("aqvn",), 1, "opaque"),
    Rule("yandex-key", rf"{GLUED}(y0_[A-Za-z0-9_-]{{40,}})", ("y0_",), 1, "opaque"),
    Rule("yandex-key", rf"{LEFT}(t1\.[A-Za-z0-9_-]{{20,}}={{0,2}}\.[A-Za-z0-9_-]{{86}}={{0,2}})", ("t1.",), 1),
    Rule("vk-token", r"vk1\.a\.[A-Za-z0-9_-]{60,}", ("vk1.a.",), 0, "prefixed"),
    Rule("render-key", rf"{GLUED}(rnd_[A-Za-z0-9]{{32}}){END}", ("rnd_",), 1, "opaque"),
    Rule("deno-token", rf"{GLUED}(dd[pow]_[A-Za-z0-9]{{36}}){END}", ("ddp_", "ddo_", "ddw_"), 1, "opaque"),
    Rule("openshift-token", r"sha256~[A-Za-z0-9_-]{43}", ("sha256~",), 0, "prefixed"),
    Rule(
        "kubeadm-token",
        r"(?:--token(?:=|[ \t]{1,4})|token create[ \t]{1,4})([a-z0-9]{6}\.[a-z0-9]{16})",
        ("--token", "token create"),
        1,
        near=rf"{LEFT}kubeadm\b",
    ),
    Rule("ngrok-token", r"authtoken[ \t]{1,4}([A-Za-z0-9]{20,}_[A-Za-z0-9]{20,})", ("authtoken",), 1, "opaque"),
    # Registries, builds, quality
    Rule("gitlab-token", r"GR1348941[A-Za-z0-9_-]{20,}", ("gr1348941",), 0, "prefixed"),
    Rule("jfrog-token", rf"{GLUED}(cmVmdGtuOj[A-Za-z0-9+/]{{50,}}={{0,2}})", ("cmvmdgtuoj",), 1),
    Rule("nuget-key", rf"{LEFT}(oy2[a-z0-9]{{43}})\b", ("oy2",), 1, "opaque"),
    Rule("clojars-token", r"CLOJARS_[a-z0-9]{60}", ("clojars_",)),
    Rule("sonar-token", rf"{GLUED}(sq[pua]_[a-f0-9]{{40}}){END}", ("sqp_", "squ_", "sqa_"), 1),
    Rule("sourcegraph-token", rf"{GLUED}(sgp_(?:(?:[a-f0-9]{{16}}|local)_)?[a-f0-9]{{40}}){END}", ("sgp_",), 1),
    Rule("octopus-key", rf"{LEFT}(API-[A-Z0-9]{{26}})\b", ("api-",), 1, "opaque"),
    Rule(
        "harness-token",
        rf"{LEFT}([ps]at\.[A-Za-z0-9_-]{{22}}\.[0-9a-f]{{24}}\.[A-Za-z0-9]{{20}})\b",
        ("pat.", "sat."),
        1,
    ),
    Rule("infracost-key", rf"{LEFT}(ico-[A-Za-z0-9]{{32}})\b", ("ico-",), 1, "opaque"),
    Rule("prefect-key", rf"{GLUED}(pn[ub]_[A-Za-z0-9]{{36}}){END}", ("pnu_", "pnb_"), 1, "opaque"),
    Rule("launchdarkly-key", rf"{LEFT}((?:sdk|api|rel)-{UUID})\b", ("sdk-", "api-", "rel-"), 1),
    Rule("vault-token", rf"{LEFT}(s\.[A-Za-z0-9]{{24}})\b", ("s.",), 1, "opaque"),
    # Models
    Rule("nvidia-key", r"nvapi-[A-Za-z0-9_-]{48,}", ("nvapi-",), 0, "prefixed"),
    Rule("cerebras-key", rf"{LEFT}(csk-[a-z0-9]{{40,}})\b", ("csk-",), 1, "opaque"),
    Rule("elevenlabs-key", rf"{GLUED}(sk_[a-f0-9]{{48}}){END}", ("sk_",), 1),
    Rule("pinecone-key", r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}", ("pcsk_",), 0, "prefixed"),
    Rule("firecrawl-key", rf"{LEFT}(fc-[a-f0-9]{{32}})\b", ("fc-",), 1),
    Rule("e2b-key", rf"{GLUED}(e2b_[a-f0-9]{{40}}){END}", ("e2b_",), 1),
    Rule("voyage-key", rf"{LEFT}(pa-[A-Za-z0-9_-]{{43}})", ("pa-",), 1, "opaque"),
    # Messages, webhooks, customers
    Rule("hubspot-token", rf"{LEFT}(pat-[a-z]{{2}}[0-9]-{UUID})\b", ("pat-",), 1),
    Rule("fcm-key", rf"{LEFT}(AAAA[A-Za-z0-9_-]{{7}}:APA91b[A-Za-z0-9_-]{{100,}})", ("aaaa",), 1),
    Rule(
        "teams-webhook",
        rf"office\.com{_SLASH}webhook(?:b2)?{_SLASH}({UUID}@{UUID}{_SLASH}IncomingWebhook{_SLASH}[A-Za-z0-9/\\-]{{20,}})",
        ("office.com",),
        1,
    ),
    Rule(
        "zapier-webhook",
        rf"hooks\.zapier\.com{_SLASH}hooks{_SLASH}catch{_SLASH}([0-9]{{4,}}{_SLASH}[A-Za-z0-9]{{5,}})",
        ("hooks.zapier.com",),
        1,
    ),
    Rule(
        "feishu-webhook",
        rf"(?:feishu\.cn|larksuite\.com){_SLASH}open-apis{_SLASH}bot{_SLASH}v2{_SLASH}hook{_SLASH}({UUID})",
        ("feishu.cn", "larksuite.com"),
        1,
    ),
    # Money
    Rule("razorpay-key", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}", ("rzp_",), 0, "prefixed"),
    Rule("plaid-token", rf"{LEFT}(access-(?:sandbox|development|production)-{UUID})\b", ("access-",), 1),
    Rule("flutterwave-key", r"FLWSECK(?:_TEST)?-[a-zA-Z0-9]{12,}(?:-X)?", ("flwseck",), 0, "prefixed"),
    Rule("shippo-token", r"shippo_(?:live|test)_[a-f0-9]{40}", ("shippo_",)),
    Rule("duffel-token", r"duffel_(?:live|test)_[A-Za-z0-9_-]{43}", ("duffel_",), 0, "prefixed"),
    Rule("wallet-key", rf"{LEFT}([xyz]prv[1-9A-HJ-NP-Za-km-z]{{100,}})", ("xprv", "yprv", "zprv"), 1),
    Rule("nostr-key", rf"{LEFT}(nsec1[a-z0-9]{{58}})\b", ("nsec1",), 1),
    Rule(
        "seed-phrase",
        rf"(?i:mnemonic|(?:seed|recovery|backup)[ _-]?phrase)(?:{_QUOTE})?"
        rf"[ \t]{{0,4}}(?:is|was|[:=])?:?[ \t]{{0,4}}(?:{OPEN})?"
        r"((?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){3}){0,4}[a-z]{3,8})",
        ("mnemonic", "seed", "recovery", "backup"),
        1,
        "phrase",
    ),
    # Data, observability, work
    Rule("grafana-token", r"eyJrIjoi[A-Za-z0-9+/]{60,}={0,2}", ("eyjrijoi",)),
    Rule("axiom-token", rf"{LEFT}(xa[ap]t-{UUID})\b", ("xaat-", "xapt-"), 1),
    Rule("honeybadger-token", rf"{GLUED}(hbp_[A-Za-z0-9]{{36}}){END}", ("hbp_",), 1, "opaque"),
    Rule("readme-key", rf"{GLUED}(rdme_[a-z0-9]{{70}}){END}", ("rdme_",), 1),
    Rule("typeform-token", rf"{GLUED}(tfp_[A-Za-z0-9._=-]{{40,}})", ("tfp_",), 1, "opaque"),
    Rule("clickup-token", rf"{GLUED}(pk_[0-9]{{5,10}}_[A-Z0-9]{{32}}){END}", ("pk_",), 1),
    Rule("mapbox-token", rf"{LEFT}([st]k\.eyJ[A-Za-z0-9_-]{{20,}}\.[A-Za-z0-9_-]{{20,}})", ("sk.eyj", "tk.eyj"), 1),
    Rule("maxmind-key", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", (), 0, "opaque", needs="_mmk"),
    Rule("dropbox-token", rf"{LEFT}(sl\.(?:u\.)?[A-Za-z0-9_-]{{120,}})", ("sl.",), 1, "opaque"),
    Rule("adafruit-key", rf"{GLUED}(aio_[A-Za-z0-9]{{28}}){END}", ("aio_",), 1, "opaque"),
    Rule("adobe-secret", rf"{LEFT}(p8e-[A-Za-z0-9_-]{{32}})", ("p8e-",), 1, "opaque"),
    # By their place
    Rule(
        "jwk-key",
        rf"{_QUOTE}d{_QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}{_QUOTE}([A-Za-z0-9_-]{{40,}})",
        ('"d"', "'d'", '"d\\', "'d\\"),
        1,
        near=rf"{_QUOTE}(?:kty|crv|kid|alg|use|[enxy]){_QUOTE}[ \t]{{0,4}}:",
    ),
    Rule("otp-secret", r"[?&;6]secret=([A-Za-z2-7]{16,})", ("secret=",), 1, near="otpauth://"),
)
