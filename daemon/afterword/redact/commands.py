"""Rules for secrets that are an argument of a command: the command stands before the option, on the same line."""

from __future__ import annotations

from typing import Final

from afterword.redact.rule import LEFT, OPEN, Rule

_ARGUMENT: Final = r"(?:[ \t=]{1,4}|\\{0,15}[\"'],[ \t]{0,4})"
"""Between an option and its value, in a shell or in a list of arguments."""
_HEAD: Final = r"[^\x00-\x20\"'`$<>|;&(){\\-][^\x00-\x20\"'`\\]{2}"
_READS_STDIN: Final = (
    r"(?:(?:sudo|doas)[^\x00-\x1f|]{0,80} -[A-Za-z]{0,6}S|sudo[^\x00-\x1f|]{0,80} --stdin|chpasswd|smbpasswd"
    r"|passwd[^\x00-\x1f|]{0,40} --stdin|[a-z][^\x00-\x1f|]{0,120} --(?:password-stdin|with-token|passphrase-fd))"
)


def _option(option: str, starts: tuple[str, ...], near: str, *, glued: bool = False) -> Rule:
    """`command … -x value`; `glued`: without a space between the two."""
    between = "" if glued else _ARGUMENT
    return Rule(
        "password",
        rf"[ \t\"']{option}{between}({OPEN})?({_HEAD})",
        starts,
        2,
        "given",
        "value",
        1,
        near=rf"{LEFT}(?:{near})",
    )


COMMANDS: Final[tuple[Rule, ...]] = (
    Rule(
        "basic-auth",
        r"[ \t\"'](?:-u|-U|--user|--proxy-user)(?:[ \t=]{0,4}|\\{0,15}[\"'],[ \t]{0,4})(?:\\{0,15}[\"'])?"
        r"[^\x00-\x20:\"'$\\]{1,64}:([^\x00-\x20\"'$<{\\][^\x00-\x20\"'`\\]{0,127})",
        ("-u", "--user", "--proxy-user"),
        1,
        "userinfo",
        near=rf"{LEFT}(?:curl|wget|https?|xh)\b",
    ),
    _option(
        "-p",
        ("-p",),
        r"sshpass|mongo[a-z]{0,8}\b|(?:docker|podman|nerdctl|buildah|skopeo|helm|az|oc)\b.{0,80}\blogin\b",
    ),
    _option("-p", ("-p",), r"sshpass|mysql[a-z]{0,8}\b|mariadb[a-z-]{0,8}\b|7z[ar]?\b", glued=True),
    _option("-a", ("-a",), r"redis-cli\b"),
    _option("(?:-b|--body)", ("-b", "--body"), r"gh[ \t]{1,4}secret[ \t]{1,4}set\b"),
    _option("-[kK]", ("-k",), r"openssl\b"),
    _option("-[NP]", ("-n", "-p"), r"ssh-keygen\b"),
    _option("-P", ("-p",), r"(?:un)?zip\b|sqlcmd\b|bcp\b"),
    _option("-w", ("-w",), r"ldap[a-z]{2,8}\b"),
    _option("-(?:src|dest)?(?:store|key)pass", ("-src", "-dest", "-store", "-key"), r"(?:keytool|jarsigner)\b"),
    Rule(
        "password",
        rf"pass:({_HEAD}[^\x00-\x20\"'`\\<>]{{0,125}})",
        ("pass:",),
        1,
        "given",
        near=rf"{LEFT}openssl\b|-pass(?:in|out)?\b",
    ),
    # A value that a command reads from its input
    Rule(
        "password",
        r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?(?:[\"']?%s(?:\\{1,15}n)?[\"']?[ \t]{1,4})?"
        r"(?:\\{0,15}[\"'])?"
        r"([^\x00-\x20\"'`$|<>\\-](?:[^\x00-\x1f\"'`$|<>\\]{0,126}[^\x00-\x20\"'`$|<>\\])?)(?:\\{1,15}n)?(?:\\{0,15}[\"'])?"
        rf"[ \t]{{0,4}}\|[ \t]{{0,4}}{_READS_STDIN}",
        ("echo", "printf"),
        1,
        "given",
    ),
    Rule("password", rf"<<<[ \t]{{0,4}}({OPEN})?({_HEAD})", ("<<<",), 2, "given", "value", 1, near=_READS_STDIN),
    # Windows
    Rule(
        "password",
        rf"(?i:/user:)[^\x00-\x20\"']{{1,64}}[ \t]{{1,4}}({OPEN})?([^/*]{_HEAD})",
        ("/user:",),
        2,
        "given",
        "value",
        1,
        near=rf"(?i:{LEFT}net(?:\.exe)?[ \t]{{1,4}}use\b)",
    ),
    Rule(
        "password",
        rf"(?i:net(?:\.exe)?[ \t]{{1,4}}use)[ \t]{{1,4}}(?:[A-Za-z*]:?[ \t]{{1,4}})?\\{{2,8}}[^\x00-\x20]{{1,128}}"
        rf"[ \t]{{1,4}}({OPEN})?([^\x00-\x20/*\"'`$<\\-]{_HEAD})",
        ("net",),
        2,
        "given",
        "value",
        1,
    ),
    Rule(
        "password",
        r"(?i:net(?:\.exe)?[ \t]{1,4}user)[ \t]{1,4}[^\x00-\x20/]{1,64}[ \t]{1,4}"
        r"([^\x00-\x20/*\"'`$<\\][^\x00-\x20\"'`\\]{2,127})[ \t]{1,4}/(?i:add|domain|y)",
        ("net",),
        1,
        "given",
    ),
)
