"""Work of the API in threads of its own, which never keep the process from ending."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What `work` returns or raises, done by a thread that is made for it: a daemon thread, unlike those of a pool,
    which the interpreter waits for when it ends."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # without an error it is a T

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = work()
        except StopIteration as err:
            error = RuntimeError(f"StopIteration: {err}")  # a future cannot hold one
        except BaseException as err:  # noqa: BLE001  # the caller gets it
            error = err
        with contextlib.suppress(RuntimeError):  # the loop ended: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="door-answer", daemon=True).start()
    return await done
