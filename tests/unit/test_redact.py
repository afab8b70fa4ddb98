"""The redactor around its rules: the type, trees and documents, user rules, exits, logs."""

import copy
import io
import json
import logging
import pickle
import re
import subprocess
import sys
import threading

import pytest

from afterword.domain.errors import AfterwordError, UserError
from afterword.redact import engines
from afterword.redact.exits import EXITS, Tally, UnknownExit, leave
from afterword.redact.judge import CHECKS
from afterword.redact.logs import RedactingFilter, RedactingFormatter, install
from afterword.redact.marking import mark
from afterword.redact.redactor import Redactor
from afterword.redact.rules import KINDS, RULES, RULES_VERSION
from afterword.redact.text import EMPTY, Redacted, stored

PASSWORD = "Tr0ub" + "4dor&3"
GITHUB = "gh" + "p_" + "q7Zk2Lm9Xw4Rt8Bv6Nc3Hd5Jf1Gs0PyuTr4X"


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor("python")


# The type


def test_redacted_cannot_be_made_by_hand() -> None:
    with pytest.raises(TypeError):
        Redacted("text")
    with pytest.raises(TypeError):
        Redacted()
    with pytest.raises(TypeError):
        mark("text", object())


def test_redacted_is_a_string_whose_methods_give_plain_strings(redactor: Redactor) -> None:
    text = redactor.redact("plain")
    assert type(text) is Redacted
    assert text == "plain"
    assert type(text + "x") is str
    assert type(text[1:]) is str
    assert type(" ".join([text, text])) is str  # noqa: FLY002 - the join is what is tested


def test_stored_and_empty_are_redacted() -> None:
    assert type(stored("from the ledger")) is Redacted
    assert type(EMPTY) is Redacted
    assert EMPTY == ""


def test_a_copy_in_another_process_is_plain_text(redactor: Redactor) -> None:
    text = redactor.redact("plain")
    assert type(pickle.loads(pickle.dumps(text))) is str
    assert type(copy.deepcopy(text)) is str


# Rules


def test_rules_are_well_formed() -> None:
    for rule in RULES:
        pattern = re.compile(rule.pattern.encode())
        assert re.fullmatch(r"[a-z0-9-]{2,24}", rule.kind)
        assert rule.check in CHECKS
        assert rule.group <= pattern.groups
        assert rule.opener <= pattern.groups
        assert bool(rule.starts) != bool(rule.needs), rule.kind
        assert all(start.encode() == start.encode().lower() for start in rule.starts), rule.kind
        assert "(?=" not in rule.pattern
        assert "(?!" not in rule.pattern
        assert "(?<" not in rule.pattern
    assert len(KINDS) == len(set(KINDS)) >= 40


# Engines


def test_auto_takes_the_fastest_and_says_so() -> None:
    auto = Redactor()
    assert auto.engine_name == "hyperscan"
    assert auto.fallback == ""
    assert auto.version == RULES_VERSION


def test_missing_engines_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    second = Redactor()
    assert second.engine_name == "re2"
    assert "hyperscan" in second.fallback
    monkeypatch.setitem(sys.modules, "re2", None)
    third = Redactor()
    assert third.engine_name == "python"
    assert "re2" in third.fallback
    assert third.redact(f"password: {PASSWORD}") == "password: [redacted:password]"


def test_hyperscan_without_re2_searches_with_re(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert Redactor("hyperscan").redact(f"a {GITHUB} b") == "a [redacted:github-token] b"


def test_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown redaction engine"):
        Redactor("grep")


def test_auto_goes_over_to_hyperscan_when_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.AutoEngine, "WARM_BYTES", 100)
    made: list[str] = []
    real = engines.HyperscanEngine
    monkeypatch.setattr(engines, "HyperscanEngine", lambda rules: made.append("made") or real(rules))
    auto = Redactor()
    auto.redact("short")
    assert made == []
    assert auto.redact("x" * 100 + f" {GITHUB}").endswith("[redacted:github-token]")
    auto.redact("x" * 100)
    assert made == ["made"]


def test_re2_runs_every_rule_when_its_set_gives_up() -> None:
    engine = engines.Re2Engine(RULES)
    engine._which = lambda _data: None
    data = f"a {GITHUB}".encode()
    assert any(search(data, 0) for _, search in engine.scan(data))
    assert len(engine.scan(data)) == len(RULES)


def test_gate_is_wider_than_the_pattern() -> None:
    assert engines.gate(r"a{0,4}b{1,9}c{16,20}d{3}[x]{2,}") == rb"a*b+c{16,}d{3}[x]{2,}"


def test_threads_share_a_redactor() -> None:
    shared = Redactor("hyperscan")
    wrong: list[str] = []

    def work(number: int) -> None:
        for turn in range(200):
            text = f"{number} {turn} password: {PASSWORD}" if turn % 2 else f"{number} {turn} clean"
            if PASSWORD in shared.redact(text) or (not turn % 2 and shared.redact(text) != text):
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert shared.counts["password"] == 8 * 100


# Text


def test_lone_surrogates_become_the_replacement_character(redactor: Redactor) -> None:
    assert redactor.redact("a\ud800b") == "a\ufffdb"
    assert redactor.redact("\ud83d\ude00") == "\U0001f600"
    assert PASSWORD not in redactor.redact(f"\udc00 password: {PASSWORD}")


def test_counts_name_kinds_only() -> None:
    subject = Redactor("python")
    subject.redact(f"password: {PASSWORD} and {GITHUB}")
    assert subject.counts == {"password": 1, "github-token": 1}


def test_a_marker_does_not_shield_what_stands_beside_it(redactor: Redactor) -> None:
    clean = redactor.redact(f'password: "[redacted:x]{PASSWORD}"')
    assert PASSWORD not in clean


# Trees


def test_tree_keeps_its_shape_and_redacts_leaves_and_keys(redactor: Redactor) -> None:
    tree = {"a": [1, 2.5, True, None, f"see {GITHUB}"], GITHUB: {"deep": (f"password: {PASSWORD}",)}}
    clean = redactor.tree(tree)
    assert clean == {
        "a": [1, 2.5, True, None, "see [redacted:github-token]"],
        "[redacted:github-token]": {"deep": ["password: [redacted:password]"]},
    }
    assert isinstance(clean, dict)
    assert all(type(key) is Redacted for key in clean)


@pytest.mark.parametrize(
    "tree",
    [
        {"password": "letmeinnow"},
        {"db": {"dbPassword": "hunter2x"}},
        {"name": "DB_PASSWORD", "value": "Tr0ub4dor3"},
        {"env": [{"key": "API_KEY", "value": "q7Zk2Lm9Xw4Rt8Bv"}]},
        {"client_secret": ["q7Zk2Lm9Xw4Rt8Bv"]},
        {"пароль": "letmeinnow"},
        {"password": "tr0ub\"4'dor"},
        {"password": "tr0ub\\4dor"},
    ],
)
def test_tree_judges_a_value_under_its_key(redactor: Redactor, tree: dict[str, object]) -> None:
    assert "[redacted:" in json.dumps(redactor.tree(tree))
    before, after = json.dumps(tree), json.dumps(redactor.tree(tree))
    assert before.count('"') <= after.count('"') + 4
    assert "tr0ub" not in after
    assert "letmein" not in after


@pytest.mark.parametrize(
    "tree",
    [
        {"password": "string"},
        {"type": "password", "name": "password"},
        {"token": "refresh-token"},
        {"key": "value"},
        {"password": ""},
        {"name": "password", "value": "${PASSWORD}"},
        {"tokens": 12, "max_tokens": "4096"},
    ],
)
def test_tree_leaves_ordinary_values_alone(redactor: Redactor, tree: dict[str, object]) -> None:
    assert redactor.tree(tree) == tree


def test_tree_keeps_keys_that_become_equal_apart(redactor: Redactor) -> None:
    other = GITHUB[:-1] + "9"
    clean = redactor.tree({GITHUB: 1, other: 2})
    assert isinstance(clean, dict)
    assert sorted(clean.values()) == [1, 2]  # type: ignore[type-var]


def test_document_is_canonical_json(redactor: Redactor) -> None:
    document = redactor.document({"b": 1, "a": f"password: {PASSWORD}\n", "ü": ["é"]})
    assert document == '{"a":"password: [redacted:password]\\n","b":1,"ü":["é"]}'
    assert type(document) is Redacted
    assert redactor.redact(document) == document


def test_document_stays_json_when_strings_meet(redactor: Redactor) -> None:
    tree = ["-----BEGIN PRIVATE KEY-----", "MIIEowIBAAKCAQEAq7Zk2Lm9Xw4Rt8Bv6Nc3Hd5J", "password:", PASSWORD]
    document = redactor.document(tree)
    assert isinstance(json.loads(document), list)
    assert redactor.redact(document) == document


def test_document_falls_back_to_its_form_alone(redactor: Redactor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redactor, "_apply", lambda *_args, **_named: '{"torn')
    assert json.loads(redactor.document({"a": 5})) == {"0": 5}


# Records of ours

RECORD = {
    "session": "claude-code:0f3c1ab2",
    "day": "2026-03-04",
    "time": "10:05",
    "start_us": 1772618700000000,
    "withdrawn_by": "2026-03-04-1005-0f3c1ab2",
    "digest": {"context": "On 2026-03-04 the session moved to UTC.", "exchanges": [{"item": "ab12", "quote": "at 10"}]},
}
OURS = ("session", "day", "time", "withdrawn_by", "item")
GREEDY = [r"\d{4}-\d{2}-\d{2}", r"\b\d+\b", "(?i)session", "UTC", "[a-z]+", r"\w", "."]


@pytest.mark.parametrize("pattern", GREEDY)
def test_a_pattern_of_the_user_leaves_the_form_of_a_record(pattern: str) -> None:
    subject = Redactor("python", extra=[pattern])
    found = json.loads(subject.document(RECORD, plain=OURS))
    assert {**found, "digest": None} == {**RECORD, "digest": None}
    assert found["digest"].keys() == RECORD["digest"].keys()  # type: ignore[attr-defined]
    assert found["digest"]["exchanges"][0]["item"] == "ab12"
    assert found["digest"]["context"] == subject.redact("On 2026-03-04 the session moved to UTC.")
    assert found["digest"]["exchanges"][0]["quote"] == subject.redact("at 10")


@pytest.mark.parametrize("pattern", GREEDY)
def test_a_list_of_ours_is_left_alone(pattern: str) -> None:
    zones = [["", "UTC"], ["2026-03-04", "America/Argentina/Buenos_Aires"], ["2026-04-01", "Etc/GMT+5"]]
    assert json.loads(Redactor("python", extra=[pattern]).document(zones, plain=("",))) == zones


def test_what_lies_below_a_plain_key_is_ours_too() -> None:
    subject = Redactor("python", extra=["session", "UTC"])
    state = {"memory": {"session": ["UTC", {"session 2": "UTC"}]}, "cwd": "/src/session"}
    assert json.loads(subject.document(state, plain=("memory",))) == {
        "memory": {"session": ["UTC", {"[redacted:extra] 2": "UTC"}]},
        "cwd": "/src/[redacted:extra]",
    }


def test_a_plain_value_that_looks_like_text_is_text() -> None:
    subject = Redactor("python", extra=["ACME"])
    for text in ("from ACME", "ACME" * 21, "ACMÉ ACME", "ACME\n"):
        assert "ACME" not in subject.document({"day": text, text: 1}, plain=("day",))
    assert json.loads(subject.document({"day": "ACME-1"}, plain=("day",))) == {"day": "ACME-1"}


def test_the_built_in_rules_hold_for_plain_values_too(redactor: Redactor) -> None:
    found = json.loads(redactor.document({"session": GITHUB, GITHUB: {"a": 1}, "b": [GITHUB]}, plain=("session", "b")))
    assert GITHUB not in str(found)
    assert found["session"] == "[redacted:github-token]"


def test_a_record_keeps_its_form_when_texts_meet(redactor: Redactor) -> None:
    texts = ["-----BEGIN PRIVATE KEY-----", "MIIEowIBAAKCAQEAq7Zk2Lm9Xw4Rt8Bv6Nc3Hd5J", "password:", PASSWORD]
    record = {"texts": texts, "digest": {"a": "the password is", "b": "x"}, "day": "2026-03-04", "n": 1}
    found = json.loads(redactor.document(record, plain=("day",)))
    assert found.keys() == record.keys()
    assert found["day"] == "2026-03-04"
    assert len(found["texts"]) == len(texts)


def test_a_tree_of_somebody_else_is_all_text() -> None:
    subject = Redactor("python", extra=["ACME"])
    assert subject.tree({"ACME": ["ACME"]}) == {"[redacted:extra]": ["[redacted:extra]"]}
    assert subject.tree({"ACME": ["ACME"]}, plain=()) == {"ACME": ["[redacted:extra]"]}
    assert subject.tree(["ACME"], plain=("",)) == ["ACME"]


def test_a_document_with_broken_texts_keeps_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Redactor("python")
    answers = iter(['{"torn', None])
    monkeypatch.setattr(subject, "_apply", lambda *_args, **_named: next(answers))
    found = json.loads(subject.document({"day": "2026-03-04", "items": [{"text": "a"}]}, plain=("day",)))
    assert found == {"day": "2026-03-04", "items": [{"text": "[redacted:document]"}]}


# The user's own rules


def test_extra_rules_add_a_kind() -> None:
    subject = Redactor("python", extra=[r"PROJ-\d{4}"])
    assert subject.redact("see PROJ-1234 ok") == "see [redacted:extra] ok"
    assert subject.redact("ключ PROJ-1234 ok") == "ключ [redacted:extra] ok"
    assert subject.counts == {"extra": 1 + 1}
    again = subject.redact("see PROJ-1234 ok")
    assert subject.redact(again) == again


def test_allow_leaves_its_matches_alone() -> None:
    subject = Redactor("python", allow=["hunter2", re.escape(GITHUB)])
    assert subject.redact("password: hunter2") == "password: hunter2"
    assert subject.redact(GITHUB) == GITHUB
    assert subject.redact("password: hunter22x") == "password: [redacted:password]"
    assert subject.tree({"password": "hunter2"}) == {"password": "hunter2"}


@pytest.mark.parametrize("setting", ["extra", "allow"])
@pytest.mark.parametrize("pattern", ["(", "[a-", "x*", ""])
def test_a_bad_rule_of_the_user_is_named(setting: str, pattern: str) -> None:
    with pytest.raises(UserError) as caught:
        Redactor("python", **{setting: [pattern]})
    assert setting in caught.value.message
    assert repr(pattern) in caught.value.message


# Exits


def test_exits_are_named_once_and_say_who_uses_them() -> None:
    names = [row.name for row in EXITS]
    assert len(names) == len(set(names))
    assert all(row.modules and row.what for row in EXITS)
    assert all(module.startswith("afterword.") for row in EXITS for module in row.modules)


def test_leave_redacts_once_more_and_counts() -> None:
    subject = Redactor("python")
    assert leave("terminal", f"password: {PASSWORD}", subject) == "password: [redacted:password]"
    assert type(leave("terminal", "clean", subject)) is Redacted
    assert subject.exits.left["terminal"] == 2
    assert subject.exits.caught["terminal"] == 1
    own = Tally()
    leave("log", "clean", subject, own)
    assert own.left["log"] == 1
    assert subject.exits.left["log"] == 0


def test_an_unregistered_exit_is_an_error(redactor: Redactor) -> None:
    with pytest.raises(UnknownExit, match="'chimney'") as caught:
        leave("chimney", "text", redactor)
    assert isinstance(caught.value, AfterwordError)


# Logs


@pytest.fixture
def logger() -> logging.Logger:
    made = logging.getLogger("redact-test")
    made.handlers.clear()
    made.propagate = False
    made.setLevel(logging.DEBUG)
    return made


def _logged(logger: logging.Logger, redactor: Redactor) -> io.StringIO:
    stream = io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    install(redactor, logger)
    install(redactor, logger)
    return stream


def test_log_message_arguments_and_extra_are_redacted(logger: logging.Logger, redactor: Redactor) -> None:
    stream = _logged(logger, redactor)
    logger.info("password: %s", PASSWORD, extra={"where": f"see {GITHUB}", "password": "letmeinnow", "count": 3})
    line = stream.getvalue()
    assert PASSWORD not in line
    assert GITHUB not in line
    assert "letmeinnow" not in line
    assert "count=3" in line
    assert "INFO redact-test: password: [redacted:password]" in line


def test_log_traceback_is_redacted(logger: logging.Logger, redactor: Redactor) -> None:
    stream = _logged(logger, redactor)
    try:
        raise ValueError(f"token {GITHUB}")  # noqa: TRY301 - a traceback is wanted
    except ValueError:
        logger.exception("failed", stack_info=True)
    assert GITHUB not in stream.getvalue()
    assert "ValueError" in stream.getvalue()


def test_log_with_arguments_that_do_not_fit_is_redacted(logger: logging.Logger, redactor: Redactor) -> None:
    stream = _logged(logger, redactor)
    logger.info("%d items", f"password: {PASSWORD}")
    assert PASSWORD not in stream.getvalue()
    assert "items" in stream.getvalue()


def test_filter_cleans_the_record_for_every_handler(redactor: Redactor) -> None:
    record = logging.LogRecord("n", logging.INFO, "p", 1, "password: %s", (PASSWORD,), None)
    record.thing = {"password": PASSWORD}
    assert RedactingFilter(redactor).filter(record)
    assert PASSWORD not in str(vars(record))


def test_formatter_redacts_by_itself(redactor: Redactor) -> None:
    record = logging.LogRecord("n", logging.INFO, "p", 1, "password: %s", (PASSWORD,), None)
    assert PASSWORD not in RedactingFormatter(redactor).format(record)


def test_install_keeps_one_filter(logger: logging.Logger, redactor: Redactor) -> None:
    _logged(logger, redactor)
    assert [type(each) for each in logger.handlers[0].filters] == [RedactingFilter]


def test_short_texts_are_scanned_as_long_ones_are() -> None:
    from afterword.redact import engines
    from afterword.redact.rules import RULES

    engine = engines.PythonEngine(RULES)
    for literal in sorted({start for rule in RULES for start in rule.starts}):
        for short in (f"{literal}", f"a {literal.upper()}=x", f"/srv/x{literal}"):
            data = short.encode()
            among_much = [number for number, _ in engine.scan(data + b" " * 1000)]
            assert [number for number, _ in engine.scan(data)] == among_much, literal


@pytest.mark.parametrize("slowly", [False, True])
def test_the_fast_engine_comes_at_once_or_from_another_thread(slowly: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    hyperscan = pytest.importorskip("hyperscan")
    from afterword.redact import engines
    from afterword.redact.rules import RULES

    assert hyperscan
    monkeypatch.setattr(engines.AutoEngine, "IMPORT_S", -1.0 if slowly else 60.0)
    engine = engines.AutoEngine(RULES)
    token = b"export API_TOKEN=" + b"x9" * 20 + b"\n"
    first = {number for number, _ in engine.scan(token)}
    for _ in range(engine.WARM_BYTES // 50_000 + 1):
        engine.scan(b"word " * 10_000)
    assert (engine._warming is not None) == slowly
    if engine._warming:
        assert engine.scan(token)
        engine._warming.join(60)
    assert isinstance(engine._engine, engines.HyperscanEngine)
    assert {number for number, _ in engine.scan(token)} <= first  # the plain one says where to look, no more


def test_joined_documents_are_one_document() -> None:
    redactor = Redactor()
    first = redactor.document({"ids": ["a1", "b2"], "said": "password = hunter2-made-up"}, plain=("ids",))
    second = redactor.document({"counted": 7})
    both = redactor.joined({"decoder": first, "memory": second}, plain=("ids",))
    assert type(both) is Redacted
    assert json.loads(both) == {"decoder": json.loads(first), "memory": {"counted": 7}}
    assert "hunter2" not in both
    assert (
        redactor.joined({"decoder": redactor.document({}), "memory": second}) == '{"decoder":{},"memory":{"counted":7}}'
    )


def test_what_is_logged_and_what_threads_die_of_goes_to_stderr_redacted() -> None:
    code = f"""
import logging, threading, warnings
from afterword.redact.logs import begin
from afterword.redact.redactor import Redactor
secret = {GITHUB!r}
begin(Redactor("python"), LEVEL)
log = logging.getLogger("afterword.x")
log.debug("read %s", secret)
log.warning("odd", extra={{"what": secret}})
warnings.warn(secret)
try:
    raise ValueError(secret)
except ValueError:
    log.exception("a step failed")
def fail():
    raise RuntimeError(secret)
thread = threading.Thread(target=fail)
thread.start()
thread.join()
"""
    for level, told in (("DEBUG", 5), ("WARNING", 4), ("ERROR", 2)):
        said = subprocess.run(
            [sys.executable, "-c", f"LEVEL = {level!r}\n{code}"], capture_output=True, text=True, check=True
        )
        assert said.stdout == ""
        assert GITHUB not in said.stderr
        assert GITHUB[:12] not in said.stderr
        assert said.stderr.count("Traceback") == 2
        assert "a thread failed unexpectedly" in said.stderr
        assert said.stderr.count("[redacted:github-token]") >= told
