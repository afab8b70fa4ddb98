"""Texts made to keep a redactor busy, in any size, and a count of the work it does on them."""

from collections.abc import Callable, Sequence

from afterword.redact import finding
from afterword.redact.engines import Engine, Match, Search
from afterword.redact.looks import Value
from afterword.redact.redactor import Redactor
from afterword.redact.rule import Rule

A = "q7Zk2Lm9Xw4Rt8Bv6Nc3Hd5J"


def _again(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def _behind(head: str, filler: str) -> Callable[[int], str]:
    return lambda size: head + (filler * (size // len(filler) + 1))[: size - len(head)]


SHAPES: dict[str, Callable[[int], str]] = {
    **{
        f"again {piece[:24]!r}": _again(piece)
        for piece in (
            "password=", "token:", 'password="', "eyJ", "eyJaaaaaaaaaa-", "-----BEGIN PRIVATE KEY-----", "://", "a://b:c",
            "sk-", "curl -u ", "login a password ", "\\", "password ", "secret value: ", "[redacted:", "\\\n",
            "curl -u a:Xk29sPqr1Q ", ("curl" + "\\\n" * 150 + " -u a:b1cd"), " -p abcd", "openssl -k abcd ",
            "echo abcd | ",
            "echo ", "echo a | sudo ", "pass:", "sk-proj-", "AKIA", "api_key='" + A + "' ", "?sv=1&sig=", "\\u043f",
            "<password>", "--token ", " ", "M", "\0", "\n", "password\0=", "пароль ", "密码", "[redacted:x]",
            "-----END PRIVATE KEY-----", "kubeadm --token ", "mnemonic: abc abc ", '"kty":"d":"', "otpauth://a?secret=",
            "Private-Lines: 1\nAAAAAAAAAAAAAAAA\n", "net use \\\\a ", "s.", "hooks.slack.com/services/",
            "net user a b /",
            "AKIA" + "Q" * 16 + " ", "AKIA" + "Q" * 16 + " a b c d e ", "login a / ", "user a b1 ", "user a/",
            "pw abcd12e ", "password - ", "password's ",
            "name=password>a</", "é", "\U0001f600",
        )
    },
    "a key block without end": _behind("-----BEGIN A PRIVATE KEY-----\n", "a"),
    "one long token": _behind("ghp_", "x"),
    "one long word": _behind("https://", "a"),
    "quote that never ends": _behind('password: "', "\\"),
    "value that never ends": _behind("password=", "a1"),
    "putty without end": _behind("Private-Lines: 9\n", "A"),
    "jwt without end": _behind("eyJ" + A + ".", "a"),
    "list of keys": _behind("keys: ['", A + "', '"),
    "phrase without end": _behind("mnemonic: ", "abcd "),
}  # fmt: skip
"""What it is → a text of so many characters."""


class Work:
    """What a redactor did: `searches` started, `bytes` they went over, bytes of values `followed` and `judged`.

    A search is charged for the bytes from where it started to the end of its match, or of the text.
    """

    def __init__(self, redactor: Redactor) -> None:
        self.searches = self.bytes = self.followed = self.judged = self.scans = 0
        self._engine: Engine = redactor._engine
        self._judge, self._extend = finding._judged, finding._extended
        redactor._scan = self._scan

    def _scan(self, data: bytes) -> Sequence[tuple[int, Search]]:
        self.scans += 1
        return [(number, self._counted(search)) for number, search in self._engine.scan(data)]

    def _counted(self, search: Search) -> Search:
        def counted(data: bytes, at: int) -> Match | None:
            found = search(data, at)
            self.searches += 1
            self.bytes += (found.span()[1] if found else len(data)) - at
            return found

        return counted

    def extending(self, rule: Rule, data: bytes, start: int, end: int, opener: bytes, bound: int) -> tuple[int, int]:
        """Stands in for what follows a value to its end."""
        found = self._extend(rule, data, start, end, opener, bound)
        self.followed += found[1] - found[0]
        return found

    def judging(self, check: Callable[[Value], bool], data: bytes, start: int, end: int, opener: bytes) -> bool:
        """Stands in for the redactor's own judgement."""
        self.judged += min(end - start, finding.LOOK)
        return self._judge(check, data, start, end, opener)


def work_on(redactor: Redactor, text: str) -> Work:
    """Redact `text` and count."""
    work = Work(redactor)
    finding._judged, finding._extended = work.judging, work.extending
    try:
        redactor.redact(text)
    finally:
        finding._judged, finding._extended = work._judge, work._extend
        redactor._scan = redactor._engine.scan
    return work
