"""The description of the loopback API, made from the table of routes and the types of what they are asked."""

import inspect
from typing import Any, Final

import msgspec

from afterword import __version__
from afterword.serve.routes import Route
from afterword.serve.routes_editor import ROUTES

_REF: Final = "#/components/schemas/{name}"
_ERROR: Final = {
    "type": "object",
    "required": ["version", "error"],
    "properties": {
        "version": {"type": "integer", "const": 1},
        "error": {
            "type": "object",
            "required": ["kind", "message", "hint", "code"],
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "code": {"type": "integer"},
            },
        },
    },
}
_ANSWER: Final = {
    "type": "object", "required": ["version"], "properties": {"version": {"type": "integer", "const": 1}},
}  # fmt: skip
_REFUSALS: Final = {
    "400": "What is asked cannot be: the sentence says why.",
    "401": "The token is missing or wrong.",
    "403": "The Host, the Origin, the token's scope or a pairing code does not fit.",
    "404": "Nothing answers to that.",
    "409": "There is no vault, or it is another one.",
    "429": "Too often; Retry-After says how long to wait.",
    "503": "Too many at once, or the daemon is at something else.",
}
_BODIES: Final = {
    "411": "The body has no Content-Length.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
}


def described() -> dict[str, Any]:
    """The description as OpenAPI 3.1."""
    _, schemas = msgspec.json.schema_components([route.asked for route in ROUTES], ref_template=_REF)
    schemas |= {"Error": _ERROR, "Answer": _ANSWER}
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Afterword, the loopback API",
            "version": __version__,
            "description": "Of the running daemon, for programs on this machine that were paired with it.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    name = route.asked.__name__
    refusals = _REFUSALS | (_BODIES if route.method == "POST" else {})
    answers = {code: _answer(said, "application/json", "Error") for code, said in refusals.items()}
    made: dict[str, Any] = {
        "operationId": route.method.lower() + route.path.replace("/v1/", "-").replace("/", "-").replace("{id}", "one"),
        "summary": _summary(route),
        "responses": {"200": _answer("Done.", route.lines or "application/json", "" if route.lines else "Answer")}
        | answers,
    }
    if route.scope:
        made["x-scope"] = route.scope
    else:
        made["security"] = []
    if route.method == "POST":
        made["requestBody"] = {
            "required": True, "content": {"application/json": {"schema": {"$ref": _REF.format(name=name)}}},
        }  # fmt: skip
    if "{id}" in route.path:
        made["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    return made


def _answer(said: str, kind: str, schema: str) -> dict[str, Any]:
    inner = {"schema": {"$ref": _REF.format(name=schema)}} if schema else {}
    return {"description": said, "content": {kind: inner}}


def _summary(route: Route) -> str:
    """The first sentence of whoever answers, or of what is asked."""
    said = inspect.getdoc(route.answer) or inspect.getdoc(route.asked) or ""
    return " ".join(said.split("\n\n")[0].split())
