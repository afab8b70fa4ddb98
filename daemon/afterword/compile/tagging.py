"""Tags from a fixed list: what a text is about, by its words in several languages."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from afterword.compile.likeness import tokens

TAGS: Final = {
    "ci": "ci workflow workflows runner runners pipeline",
    "testing": (
        "test tests testing pytest vitest snapshot fixture fixtures test* тест* тесты בדיקה בדיקות テスト 测试"
    ),
    "concurrency": (
        "race lock locks deadlock parallel thread threads concurrent worker workers mutex wyścig гонка блокировк* 并发"
    ),
    "cache": "cache cached caching ttl max-age redis cache* pamięci кеш* кэш* מטמון キャッシュ 缓存",
    "database": (
        "database postgres postgresql sqlite mysql sql column rows index "
        "query transaction baza bazy база базы מסד データベース 数据库"
    ),
    "migration": "migration migrations backfill migrate migracj* миграц* 移行 迁移",
    "encoding": "utf encoding unicode cp1250 latin bom kodowan* кодировк* encodage 文字コード 编码",
    "time": "timezone midnight utc dst timestamp zone strefa czas* часов* 時刻 时区",
    "secrets": (
        "secret secrets token tokens password passwords credential credentials "
        "key keys hasło hasła пароль סיסמה パスワード 密码"
    ),
    "security": "security vulnerability csrf xss injection permission permissions oauth авторизац* uprawnie*",
    "deployment": ("deploy deployed deployment release rollback production staging wdroż* деплой релиз* デプロイ 部署"),
    "performance": "slow latency performance memory cpu fast seconds timeout wolno медленн* 遅い 慢",
    "networking": "http https dns tls ssl proxy request requests 429 503 timeout webhook",
    "docker": "docker container containers image kubernetes k8s pod pods",
    "git": "git commit branch rebase merge",
    "localization": "locale locales translation japanese i18n emoji width ロケール 文字幅",
    "cli": "cli flag flags stdout stderr exit terminal console",
    "configuration": "setting settings configuration config env environment variable ustawie* настройк* 設定 配置",
    "logging": "log logs logging logger журнал* ログ 日志",
    "documentation": "docs readme documentation dokumentacj* документац*",
    "dependencies": "dependency dependencies library upgrade version versions package",
    "frontend": "react css component render browser ui button",
    "api": "api endpoint endpoints rest graphql json response",
    "data": "csv json parquet export import etl",
}
"""Tag → words; a star stands for any ending."""
_MOST = 3


def tags_of(title: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Up to three tags, the most spoken of first; the title counts most."""
    counts: Counter[str] = Counter()
    for weight, text in ((3, title), *((1, text) for text in texts)):
        for word in tokens(text):
            for tag in _BY_WORD.get(word, ()):
                counts[tag] += weight
            for stem, tag in _STEMS:
                if word.startswith(stem):
                    counts[tag] += weight
    ranked = sorted(counts, key=lambda tag: (-counts[tag], tag))
    return tuple(tag for tag in ranked[:_MOST] if counts[tag] >= 2)


def _by_word() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tag, row in TAGS.items():
        for word in row.split():
            if not word.endswith("*"):
                for token in tokens(word):
                    found.setdefault(token, []).append(tag)
    return {word: list(dict.fromkeys(tags)) for word, tags in found.items()}


_BY_WORD: Final = _by_word()
_STEMS: Final = tuple((word[:-1][:5], tag) for tag, row in TAGS.items() for word in row.split() if word.endswith("*"))
