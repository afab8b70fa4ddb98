"""`afterword-hook`: tells the daemon what an agent just did. Quick, silent, and 0 whatever is broken.

An agent waits for it at the start and end of every session, so it imports no more than it must and nothing of ours.
It drops one small file into the spool folder; at a session's start it also prints the context that the daemon keeps
ready for the project. Everything else is the daemon's work.
"""

import os
import sys
import time

try:
    from _json import make_scanner  # the scanner alone: `json` would import `re` and cost as much as all the rest
except ImportError:
    make_scanner = None  # type: ignore[assignment,misc]  # a Python without it: then it is `json` after all

EVENTS = ("session-start", "session-end", "pre-compact")
FIELDS = (
    ("session", ("session_id", "sessionId")),
    ("transcript", ("transcript_path", "transcriptPath")),
    ("cwd", ("cwd",)),
)
INPUT_MAX_BYTES = 1 << 20
CONTEXT_MAX_BYTES = 256 << 10
FIELD_MAX_CHARS = 4096
SPOOLED_MAX = 1000
LOOKED_BYTES = 512 << 10
"""So much of the end of a transcript is looked at when a session stops."""
WORKED = (b'"name":"Edit"', b'"name":"MultiEdit"', b'"name":"Write"', b'"name":"NotebookEdit"', b'"name":"Bash"')
KEPT = (b"afterword__remember", b"afterword learn")
ASK = (
    b'{"decision":"block","reason":"Before you stop: if this session found something that later sessions should know'
    b" (a cause, a way that works, a dead end, a fact about this machine), keep it now with afterword's tool `remember`"
    b', one sentence each. If there is nothing of the kind, stop."}\n'
)
ASKED_MAX = 1000
PATIENCE_S = 0.2
"""How long an agent may take to say what happened; it says it at once, or not at all."""


def main() -> None:
    """Do what can be done, then leave with 0."""
    try:  # noqa: SIM105  # no contextlib here
        run(sys.argv[1:], dict(os.environ), 0, 1)
    except BaseException:  # noqa: BLE001, S110  # never in an agent's way
        pass
    # Without the interpreter's farewell: flushing a closed stdout there would leave with 120 and a complaint.
    os._exit(0)


def run(words: list[str], env: dict[str, str], stdin: int, stdout: int) -> None:
    """Handle one event: spool it, and for a session's start print the ready context."""
    event = words[0] if words else ""
    if event == "stop":
        text = asking(state_folder(env), read(stdin))
        while text:
            text = text[os.write(stdout, text) :]
    if event not in EVENTS:
        return
    said = fields(read(stdin))
    state = state_folder(env)
    try:  # noqa: SIM105  # no contextlib here
        spool(state, event, said)
    except OSError:  # the sweep finds what the spool could not say
        pass
    if event == "session-start":
        text = context(state, said["cwd"] or os.getcwd(), agent(words))
        while text:
            text = text[os.write(stdout, text) :]


def agent(words: list[str]) -> str:
    """The agent named by `--agent NAME` or `--agent=NAME`; "" when the name could be no file's."""
    name = "claude"
    for at, word in enumerate(words):
        if word == "--agent" and at + 1 < len(words):
            name = words[at + 1]
        elif word.startswith("--agent="):
            name = word[8:]
    return name if name and name.isascii() and name.replace("-", "").replace("_", "").isalnum() else ""


def read(stdin: int) -> bytes:
    """What the agent says on `stdin`, up to a bound in size and time; b"" when that is nothing."""
    from select import select

    end = time.monotonic() + PATIENCE_S
    kept = b""
    try:
        while (left := end - time.monotonic()) > 0:
            if not select([stdin], [], [], left)[0]:
                break
            piece = os.read(stdin, 1 << 16)
            if not piece:
                break
            if len(kept) < INPUT_MAX_BYTES:  # the rest is taken and dropped: the agent must not meet a closed pipe
                kept += piece
    except (OSError, ValueError):
        pass
    return kept


class _Plain:
    """What the scanner wants to know: plain values, nothing special."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012  # the scanner's own


def fields(data: bytes) -> dict[str, str]:
    """The three fields of the agent's JSON, "" where one is missing or is no text."""
    found = parsed(data)
    said = {}
    for name, keys in FIELDS:
        values = [found.get(key) for key in keys]
        said[name] = next((v for v in values if isinstance(v, str) and len(v) <= FIELD_MAX_CHARS), "")
    return said


def parsed(data: bytes) -> dict[str, object]:
    """The agent's JSON object; empty where it is none."""
    text = data.decode("utf-8", "replace").strip()
    try:
        if make_scanner is None:
            import json

            found = json.loads(text)
        else:
            found = make_scanner(_Plain)(text, 0)[0]  # type: ignore[arg-type]  # all it wants is the attributes
    except (ValueError, RecursionError, StopIteration):
        found = None
    return found if isinstance(found, dict) else {}


def asking(state: str, data: bytes) -> bytes:
    """What an agent that is about to stop is asked: once in a session, and only where work was done and nothing of it
    was kept. b"" otherwise."""
    said = fields(data)
    if not said["session"] or parsed(data).get("stop_hook_active"):
        return b""
    fd = os.open(said["transcript"], os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.lseek(fd, max(0, os.fstat(fd).st_size - LOOKED_BYTES), os.SEEK_SET)
        text = os.read(fd, LOOKED_BYTES).replace(b'": "', b'":"')
    finally:
        os.close(fd)
    if not any(word in text for word in WORKED) or any(word in text for word in KEPT):
        return b""
    folder = private(os.path.join(state, "asked"))
    known = os.listdir(folder)
    if len(known) >= ASKED_MAX:
        for name in known:
            os.unlink(os.path.join(folder, name))
    # A name of the agent's own becomes no path: hex of its beginning and end.
    name = (said["session"][:40] + said["session"][-40:]).encode("utf-8", "replace").hex()
    try:
        os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return b""
    return ASK


def state_folder(env: dict[str, str]) -> str:
    """The same folder that platformdirs names; a test holds the two together."""
    named = env.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):
        return os.path.join(named, "afterword")
    home = env.get("HOME", "")
    if not os.path.isabs(home):
        import pwd

        home = pwd.getpwuid(os.getuid()).pw_dir
    below = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    return os.path.join(home, below, "afterword")


def spool(state: str, event: str, said: dict[str, str]) -> None:
    """Drop one file for the daemon. A full spool takes no more: a sweep knows all of it anyway."""
    folder = private(os.path.join(state, "spool"))
    if len(os.listdir(folder)) >= SPOOLED_MAX:
        return
    name = f"{time.time_ns():020d}-{os.getpid()}.json"
    line = "{" + ",".join(f'"{key}":{quoted(value)}' for key, value in {"event": event, **said}.items()) + "}\n"
    hidden = os.path.join(folder, f".{name}.tmp")
    fd = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.write(fd, line.encode("ascii"))
        finally:
            os.close(fd)
        os.rename(hidden, os.path.join(folder, name))
    except OSError:
        os.unlink(hidden)
        raise


def private(folder: str) -> str:
    """The folder, made where it is missing, with its parents: for its owner alone."""
    missing = []
    at = folder
    while not os.path.isdir(at):
        missing.append(at)
        at = os.path.dirname(at)
    for made in reversed(missing):
        os.mkdir(made, 0o700)
    return folder


def quoted(text: str) -> str:
    """`text` as a JSON string in ASCII."""
    out = ""
    for char in text:
        code = ord(char)
        if char in '"\\':
            out += "\\" + char
        elif 32 <= code < 127:
            out += char
        elif code < 0x10000:
            out += f"\\u{code:04x}"
        else:
            code -= 0x10000
            out += f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return '"' + out + '"'


def checkout(folder: str) -> str:
    """The main checkout that `folder` lies in, or `folder` itself, as a real path.

    `.git` is a folder in a main checkout. In a linked worktree it is a file that names
    `<main>/.git/worktrees/<name>`; in a submodule it names a git dir elsewhere, and the folder is its own checkout.
    """
    start = at = os.path.realpath(folder)
    while True:
        git = os.path.join(at, ".git")
        if os.path.isdir(git):
            return at
        if os.path.isfile(git):
            return _main_of(at, git)
        above = os.path.dirname(at)
        if above == at:
            return start
        at = above


def _main_of(folder: str, git: str) -> str:
    with open(git, "rb") as file:
        said = file.read(FIELD_MAX_CHARS).decode("utf-8", "replace").strip()
    if not said.startswith("gitdir:"):
        return folder
    named = os.path.realpath(os.path.join(folder, said[7:].strip()))
    above = os.path.dirname(named)
    if os.path.basename(above) != "worktrees":
        return folder
    main = os.path.dirname(above)
    return os.path.dirname(main) if os.path.basename(main) == ".git" else main


def context(state: str, folder: str, agent_name: str) -> bytes:
    """The context kept ready for a session in `folder`; b"" when there is none."""
    if not agent_name:
        return b""
    try:
        from _sha2 import sha256  # Python 3.12 and newer; `hashlib` would load OpenSSL
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256
    name = sha256(os.fsencode(checkout(folder))).hexdigest()[:32]
    try:
        fd = os.open(os.path.join(state, "context", f"{name}-{agent_name}.txt"), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return os.read(fd, CONTEXT_MAX_BYTES)
    finally:
        os.close(fd)


if __name__ == "__main__":
    main()
