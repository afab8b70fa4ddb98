"""Logging that cannot leak: every record is redacted as it is formatted, traceback and extra values included."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING, Final

from afterword.redact.exits import leave

if TYPE_CHECKING:
    from afterword.redact.redactor import Redactor

_log = logging.getLogger(__name__)

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class RedactingFilter(logging.Filter):
    """Redacts a record in place, so that every handler, also somebody else's, sees clean text.

    The message is formed here: a secret can come about only when the arguments meet the sentence.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = leave("log", _message(record), self._redactor)
        record.args = None
        if record.exc_info:
            record.exc_text = record.exc_text or _FORMATTER.formatException(record.exc_info)
            record.exc_info = None
        if record.exc_text:
            record.exc_text = leave("log", record.exc_text, self._redactor)
        if record.stack_info:
            record.stack_info = leave("log", record.stack_info, self._redactor)
        for name, value in vars(record).items():
            if name not in _STANDARD:
                setattr(record, name, _clean(name, value, self._redactor))
        return True


class RedactingFormatter(logging.Formatter):
    """Formats a record with its extra values as `key=value` behind the sentence, and redacts the whole."""

    def __init__(self, redactor: Redactor, fmt: str = FORMAT) -> None:
        super().__init__(fmt)
        self._redactor = redactor

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        line = super().formatMessage(record)
        extra = " ".join(f"{name}={value}" for name, value in vars(record).items() if name not in _STANDARD)
        return f"{line} [{extra}]" if extra else line

    def format(self, record: logging.LogRecord) -> str:
        return leave("log", super().format(record), self._redactor)


_FORMATTER: Final = logging.Formatter()


def begin(redactor: Redactor, level: str = "WARNING") -> None:
    """Log to stderr, redacted, from `level` on; what threads die of and warnings go the same way.

    Without a handler of ours Python would print warnings and whole tracebacks by itself, as they are.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler(sys.stderr))
    root.setLevel(level)
    logging.captureWarnings(capture=True)
    threading.excepthook = _thread_failed
    install(redactor)


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_type is not SystemExit and failed.exc_value is not None:
        _log.error("a thread failed unexpectedly", exc_info=failed.exc_value)


def install(redactor: Redactor, logger: logging.Logger | None = None) -> None:
    """Make every handler of `logger` (the root logger by default) redact what it writes.

    Call it after the handlers are set up. Calling it again replaces the redactor.
    """
    target = logger or logging.getLogger()
    for handler in target.handlers:
        for old in [each for each in handler.filters if isinstance(each, RedactingFilter)]:
            handler.removeFilter(old)
        handler.addFilter(RedactingFilter(redactor))
        handler.setFormatter(RedactingFormatter(redactor))


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # A sentence and arguments that don't fit: logging would print both to stderr, unredacted.
        return f"{record.msg} {record.args}"


def _clean(name: str, value: object, redactor: Redactor) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    return redactor.valued(name, value if isinstance(value, str) else repr(value))
