"""The code is held against the registry of exits: what writes, prints or sends is a module named there."""

import ast
import re
from pathlib import Path

import afterword
from afterword.redact.exits import EXITS

ROOT = Path(afterword.__file__).parent

# Calls that put bytes on a disk, a terminal or a wire, by the name they end in.
WRITES = {
    "write", "write_text", "write_bytes", "writelines", "pwrite", "print", "replace_file", "copyfile", "copytree",
    "copy2", "dump", "mkstemp", "NamedTemporaryFile", "send", "sendall", "sendto", "urlopen", "Popen",
    "generate_content", "embed_content",
}  # fmt: skip
SQL_WRITES = re.compile(r"\s*(INSERT (OR \w+ )?INTO|UPDATE \w+ SET|REPLACE INTO)\b")
# What leads out of the process: a module that imports one is a way out, or leads none of our texts there.
LINKS = {
    "socket", "http", "urllib", "ssl", "smtplib", "ftplib", "requests", "httpx", "websockets", "aiohttp", "google",
    "paramiko", "subprocess", "multiprocessing", "pty", "mcp", "chromadb", "webbrowser",
}  # fmt: skip
HARMLESS_LINKS = {
    "afterword.app.aging": "subprocess: git is asked when the files of a checkout changed",
    "afterword.app.program": "socket: asks for this machine's name",
    "afterword.serve.gate": "http: names of status codes",
    "afterword.capture.harness.aider_stores": "subprocess: git is asked about a folder, which it is started in",
}
# `write` of these is a bytes buffer or a click help formatter, not a way out.
HARMLESS = {"formatter.write_dl", "closed.print"}


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in ROOT.rglob("*.py"):
        name = ".".join(("afterword", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text())
    return found


def ways_out(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            last = name.rpartition(".")[2]
            if last in WRITES and name not in HARMLESS:
                found.add(name)
            modes = " ".join(ast.unparse(argument) for argument in node.args[1:2])
            if name in {"os.open", "open"} and any(mode in modes for mode in ("'w", "'a", "'x", "O_WR", "O_RDWR")):
                found.add(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_WRITES.match(node.value):
            found.add("SQL")
    return found


def registered(module: str) -> bool:
    return any(module == named or module.startswith(named + ".") for row in EXITS for named in row.modules)


def test_every_way_out_is_in_the_registry() -> None:
    unknown = {name: ways for name, tree in modules().items() if (ways := ways_out(tree)) and not registered(name)}
    # Logging writes through handlers that `redact.logs` covers; nothing else may write.
    assert unknown == {}


def test_every_row_of_the_registry_names_modules_that_are_there() -> None:
    known = modules()
    for row in EXITS:
        for named in row.modules:
            assert named in known, row.name


def test_the_check_sees_what_it_is_for() -> None:
    assert ways_out(ast.parse("path.write_text('x')")) == {"path.write_text"}
    assert ways_out(ast.parse("open(p, 'wb')")) == {"open"}
    assert ways_out(ast.parse("db.execute('INSERT INTO t VALUES (1)')")) == {"SQL"}
    assert ways_out(ast.parse("print(1)")) == {"print"}
    assert ways_out(ast.parse("x = text.strip()")) == set()


def test_only_the_store_takes_text_as_redacted_before() -> None:
    users = {
        name
        for name, tree in modules().items()
        if any(isinstance(node, ast.ImportFrom) and "stored" in {a.name for a in node.names} for node in ast.walk(tree))
    }
    assert all(name.startswith(("afterword.store.", "afterword.redact.")) for name in users), users


def links(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        names = (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom)
            else []
        )  # fmt: skip
        found |= {name for name in names if name.partition(".")[0] in LINKS and name != "urllib.parse"}
    return found


def test_what_leads_out_of_the_process_is_imported_by_exits_alone() -> None:
    unknown = {name: found for name, tree in modules().items() if (found := links(tree)) and not registered(name)}
    assert unknown.keys() == HARMLESS_LINKS.keys(), unknown


def made(tree: ast.Module) -> list[str]:
    """Where a module makes Redacted text by itself."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            words = ast.unparse(node)
            name = ast.unparse(node.func).rpartition(".")[2]
            if name == "Redacted" or (name in ("cast", "__new__") and "Redacted" in words):
                found.append(words)
    return found


def test_nobody_but_the_redactor_makes_redacted_text() -> None:
    guilty = {name: found for name, tree in modules().items() if (found := made(tree))}
    assert all(name.startswith("afterword.redact.") for name in guilty), guilty
    assert made(ast.parse("x = cast('Redacted', text)"))
    assert made(ast.parse("x = str.__new__(Redacted, text)"))
    assert made(ast.parse("x = text.Redacted('a')"))
    assert not made(ast.parse("x: Redacted = redactor.redact('a')"))
