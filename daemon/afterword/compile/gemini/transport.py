"""The way to Gemini and back: one question, one answer, within a deadline of our own.

The client library's time-outs are of single reads, so a server that drips never meets them, and it does not heed the
delay a server asks for. Both are done here. Calls block, so they are made by threads of their own, never by the loop.
"""

import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from afterword.compile.gemini import faults
from afterword.compile.gemini.faults import ModelFault

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse

_T = TypeVar("_T")

_TRIES: Final = 4
_REPLY_MAX: Final = 4_000_000
_SPARE_S: Final = 5.0
"""The library gives up a read later than we give up the call, so that a thread left behind ends too."""


class Request(msgspec.Struct, frozen=True):
    """A question. `system` and `schema` are ours; `text` holds data and is redacted."""

    model: str
    system: str
    text: str
    schema: dict[str, Any]
    max_output: int

    @property
    def size_bytes(self) -> int:
        """Of all that is sent, but for the envelope."""
        return len(self.system.encode()) + len(self.text.encode()) + len(msgspec.json.encode(self.schema))

    @property
    def estimate(self) -> tuple[int, int]:
        """The most tokens it can cost, in and out: a token is hardly ever less than two bytes."""
        return self.size_bytes // 2 + 64, self.max_output


class Reply(msgspec.Struct, frozen=True):
    """An answer that ended as it should. `tokens` (in, out), None where the server did not count."""

    text: str
    tokens: tuple[int, int] | None
    model: str


class Way(msgspec.Struct, frozen=True):
    """How Gemini is reached: with a key, or through Google Cloud."""

    key: str = ""
    base_url: str = ""
    project: str = ""
    location: str = ""

    @property
    def vertex(self) -> bool:
        return bool(self.project)

    def __repr__(self) -> str:
        return f"Way(vertex={self.vertex})"


class Transport:
    """Asks; may be used from several threads at once. `sleep` waits between tries."""

    def __init__(self, way: Way, deadline_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._way = way
        self._deadline_s = deadline_s
        self._sleep = sleep
        self._lock = threading.Lock()
        self._client: Client | None = None

    def ask(self, request: Request) -> Reply:
        """The answer to a question; tries again where the server is only busy, after the delay it asks for.

        Raises:
            ModelFault: there is none, or none that is whole.
        """
        return self.tried(lambda client: self._once(client, request), request.model)

    def tried(self, once: "Callable[[Client], _T]", model: str, tries_max: int = _TRIES) -> _T:
        """What a call of the client gives; tried again as in `ask`, each try within the deadline.

        Raises:
            ModelFault: it gives nothing.
        """
        for tries in range(1, tries_max + 1):
            try:
                return self._within_deadline(once, model)
            except ModelFault as fault:
                delay_s = faults.delay_s(fault, tries) if tries < tries_max else None
                if delay_s is None:
                    raise
                self._sleep(delay_s)
        raise AssertionError("the last try returns or raises")

    def _within_deadline(self, once: "Callable[[Client], _T]", model: str) -> _T:
        answered: queue.SimpleQueue[tuple[_T] | BaseException] = queue.SimpleQueue()

        def call() -> None:
            try:
                answered.put((self._called(once, model),))
            except BaseException as err:  # noqa: BLE001  # it is raised where the answer is waited for
                answered.put(err)

        threading.Thread(target=call, name="gemini", daemon=True).start()
        try:
            found = answered.get(timeout=self._deadline_s)
        except queue.Empty:
            with self._lock:
                self._client = None  # its connection is of no use any more
            raise ModelFault(f"Gemini did not answer within {self._deadline_s:g} s", why="timeout") from None
        if isinstance(found, tuple):
            return found[0]
        if isinstance(found, ModelFault):
            raise found
        raise _unforeseen(found) from found

    def _called(self, once: "Callable[[Client], _T]", model: str) -> _T:
        from google.genai import errors  # noqa: PLC0415  # over a second, and only where a model is asked

        try:
            return once(self._connected())
        except errors.APIError as err:
            headers = dict(getattr(err.response, "headers", None) or {})
            raise faults.of_status(err.code or 0, err.details, headers, model) from err

    @property
    def timeout_ms(self) -> int:
        """When the library is to give up a read."""
        return int((self._deadline_s + _SPARE_S) * 1000)

    def _once(self, client: "Client", request: Request) -> Reply:
        from google.genai import types  # noqa: PLC0415  # the same

        answer = client.models.generate_content(
            model=request.model,
            contents=request.text,
            config=types.GenerateContentConfig(
                system_instruction=request.system,
                response_mime_type="application/json",
                response_json_schema=request.schema,
                max_output_tokens=request.max_output,
                temperature=0.2,
                candidate_count=1,
                http_options=types.HttpOptions(timeout=self.timeout_ms),
            ),
        )
        return _whole(answer)

    def _connected(self) -> "Client":
        with self._lock:
            if self._client is None:
                from google.genai import Client, types  # noqa: PLC0415  # the same

                options = types.HttpOptions(base_url=self._way.base_url or None)
                if self._way.vertex:
                    self._client = Client(
                        vertexai=True,
                        project=self._way.project,
                        location=self._way.location,
                        http_options=options,
                    )
                else:
                    self._client = Client(vertexai=False, api_key=self._way.key, http_options=options)
                # Its connections are kept for the next question; nobody asks one any more when this is gone.
                weakref.finalize(self, self._client.close)
            return self._client


def _whole(answer: "GenerateContentResponse") -> Reply:
    """The text of an answer without the model's thoughts, if it is one that ended as it should."""
    counted = answer.usage_metadata
    tokens = None
    if counted is not None and counted.prompt_token_count is not None:
        out = (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)
        tokens = (counted.prompt_token_count, out)
    if not answer.candidates:
        feedback = answer.prompt_feedback
        if feedback is not None and feedback.block_reason:
            raise faults.of_block(str(feedback.block_reason.value), tokens=tokens)
        raise ModelFault("the model gave no answer", why="empty", tokens=tokens)
    first = answer.candidates[0]
    parts = (first.content.parts or []) if first.content else []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    reason = str(first.finish_reason.value) if first.finish_reason else ""
    if reason != "STOP":
        raise faults.of_finish(reason, tokens=tokens, reply=text[:_REPLY_MAX])
    if not text.strip():
        raise ModelFault("the model's answer is empty", why="empty", tokens=tokens)
    if len(text) > _REPLY_MAX:
        raise ModelFault("the model's answer is of no sensible length", why="odd", tokens=tokens)
    return Reply(text, tokens, answer.model_version or "")


def _unforeseen(err: BaseException) -> ModelFault:
    """What is neither an answer nor an error of the API's: a broken connection, or an answer that is none."""
    names = {each.__name__ for each in type(err).__mro__}
    if names & {"TimeoutException", "TimeoutError"}:
        return ModelFault("Gemini did not answer in time", why="timeout")
    if names & {"TransportError", "OSError"}:
        return ModelFault(f"Gemini cannot be reached ({type(err).__name__})", "check the network", why="unreachable")
    if names & {"GoogleAuthError"}:
        return ModelFault(
            f"Google Cloud gave no access ({type(err).__name__})",
            "run `gcloud auth application-default login`",
            why="key",
        )
    return ModelFault(f"Gemini's answer cannot be read ({type(err).__name__})", why="odd")
