"""The errors people see and the exit codes scripts may rely on."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command; fixed, scripts rely on them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOTHING = 3
    NOT_SET_UP = 4
    BUSY = 75


class AfterwordError(Exception):
    """Base of what we raise on purpose. `kind` names it in JSON, `code` is the exit code."""

    kind = "error"
    code = Exit.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(AfterwordError):
    """Something the person can put right: printed without a traceback."""

    kind = "user"


class UsageError(UserError):
    """The call's words are off."""

    kind = "usage"
    code = Exit.USAGE


class NotSetUp(UserError):
    """There is no vault or no state yet."""

    kind = "not-set-up"
    code = Exit.NOT_SET_UP


class Busy(UserError):
    """Another process holds the writer's lock."""

    kind = "busy"
    code = Exit.BUSY


class NothingFound(UserError):
    """The question was fine, the answer is empty."""

    kind = "nothing-found"
    code = Exit.NOTHING


class TransientError(AfterwordError):
    """Trying again later may help."""

    kind = "transient"


class DataError(AfterwordError):
    """Stored or read data is not what it must be; `message` says where."""

    kind = "data"
