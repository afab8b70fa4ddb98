"""The whole product at work in one home, on stores full of canaries, with everything it says and writes kept."""

import asyncio
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from canaries import Canaries, Planted, sessions
from catalogue import CATALOGUE
from decoding import Hit, in_bytes, in_folders, ours
from gemini_server import GeminiServer
from homes import Home
from needles import Needles
from redact_corpus import negatives
from transcripts import ClaudeSession, CodexSession

from afterword.store import doorfile, lock
from afterword.store.ledger import articles
from afterword.store.ledger.ledger import open_reader

BUILDS = Path(__file__).parent / "builds"
_LASTING = ("ledger.db", "text-0.db", "index.db", "vectors.db", "chroma.sqlite3", "data_level0.bin")
"""Looked at when all is over: they keep what was put into them."""
_WATCHED_MOST_BYTES = 4 << 20
_ASKED_SSH = (shutil.which("ssh") or "ssh").encode() + b"\0"


class Watch:
    """What appears below folders and in the arguments of a home's processes, however briefly."""

    def __init__(self, home: Path, roots: list[Path]) -> None:
        self._home = f"HOME={home}".encode()
        self._roots = roots
        self._seen: dict[Path, tuple[int, int]] = {}
        self._stop = threading.Event()
        self.files: dict[tuple[str, bytes], bytes] = {}
        self.arguments: set[bytes] = set()
        self._threads = [
            threading.Thread(target=self._run, args=each) for each in ((self._look, 0.01), (self._ps, 0.1))
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_how: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, look: Callable[[], None], every_s: float) -> None:
        while not self._stop.wait(every_s):
            look()

    def _look(self) -> None:
        for root in [*self._roots, *Path("/dev/shm").glob("afterword-*")]:
            for folder, _, names in os.walk(root):
                for name in names:
                    path = Path(folder) / name
                    if not name.startswith(_LASTING):
                        self._take(path)

    def _take(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            stat = path.stat()
            if self._seen.get(path) == (stat.st_size, stat.st_mtime_ns) or stat.st_size > _WATCHED_MOST_BYTES:
                return
            self._seen[path] = (stat.st_size, stat.st_mtime_ns)
            data = path.read_bytes()
            self.files[path.name, hashlib.blake2b(data, digest_size=16).digest()] = data

    def _ps(self) -> None:
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self._home in (folder / "environ").read_bytes().split(b"\0"):
                    self.arguments.add((folder / "cmdline").read_bytes())


class Whole:
    """A home in which everything is done that the program can do. `build` is a test build (see `builds`)."""

    def __init__(self, path: Path, build: str = "") -> None:
        self.path = path
        self.canaries = Canaries()
        self.home = Home(path / "home", meaning=True)
        self.project = self.home.path / "src/harbour"
        self.said: list[tuple[str, bytes]] = []
        """(exit, bytes) of everything that was printed, sent or answered."""
        self.given: set[bytes] = set()
        """The words of commands that were typed, canaries included: a person's own."""
        self.build = build
        self.negatives = [case.text for case in negatives()]
        (path / "tmp").mkdir(parents=True)
        (path / "bin").mkdir()
        opener = path / "bin/xdg-open"
        opener.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {path}/opened\n')
        opener.chmod(0o755)
        self.notify = Path(tempfile.mkdtemp(prefix="notify-")) / "s"
        self.home.env |= {
            "TMPDIR": str(path / "tmp"),
            "PATH": f"{path / 'bin'}:{os.environ['PATH']}",
            "AFTERWORD_LOG_LEVEL": "debug",
            # Making vectors takes the longest of all this; articles and notes come first.
            "AFTERWORD_INDEX_MAX_CHUNKS": "100",
            "AFTERWORD_AIDER_ROOT": str(self.home.path / "srv"),
        }
        if build:
            self.home.env |= {"PYTHONPATH": str(BUILDS), "CANARY_BUILD": build}
        self.watch = Watch(self.home.path, [path / "tmp", self.home.state, self.home.path / "Afterword"])

    def say(self, *words: str, code: int | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command and keep what it prints."""
        self.given.add("\0".join([sys.executable, "-m", "afterword", *words, ""]).encode())
        if not {"--semantic", "index", "up"} & set(words):
            env = {"AFTERWORD_INDEX_EMBEDDER": "off"} | env  # the model takes two seconds to load
        done = self.home.run(*words, code=code, **env)
        exit_name = "crash" if "Traceback" in done.stderr else "json-output" if "--json" in words else "terminal"
        self.said.append((exit_name if exit_name != "crash" else "terminal", done.stdout.encode()))
        self.said.append((exit_name, done.stderr.encode()))
        return done

    def everything(self) -> None:
        self.lay_out()
        with self.watch:
            self.previewed()
            self.say("ingest", code=0)
            self.say("up", "--once", "--settle", "0", code=0)
            self.grow()
            self.say("ingest", "--json", code=0)
            self.taken()
            self.live()
            self.commands()
            self.question()
            self.hooks()
            self.model()
            self.crash()
            self.killed()

    def previewed(self) -> None:
        """A first reading by several processes, killed when it has looked through everything and read nothing."""
        ahead = {
            "AFTERWORD_CAPTURE_JOBS": "2",
            "AFTERWORD_CAPTURE_JOBS_FROM": "0",
            "AFTERWORD_CAPTURE_PREVIEW_FROM": "0",
        }
        done = self.say("ingest", AFTERWORD_FAULT="kill@preview.whole#1", **ahead)
        assert done.returncode == -signal.SIGKILL, done
        self.say("search", "redacted", "--json", code=0 if not self.build else None)
        out = self.path / "out"
        out.mkdir(exist_ok=True)
        for path in self.home.state.glob("preview.db*"):
            shutil.copy(path, out / path.name)

    # What is there to be read

    def lay_out(self) -> None:
        """Every agent's sample store with canaries in it, stories with every kind, and texts that are no secrets."""
        for entry in CATALOGUE:
            if entry.name != "opencode-v2":
                folder = self.path / "stores" / entry.name
                folder.mkdir(parents=True)
                entry.lay_out(folder)
                Planted(self.canaries, entry.name).store(folder)
                shutil.copytree(folder, self.home.path, dirs_exist_ok=True)
        (self.project / ".git").mkdir(parents=True)
        key = self.canaries.token("settings")
        (self.home.path / ".claude/settings.json").write_text(json.dumps({"env": {"ANTHROPIC_API_KEY": key}}))
        (self.home.path / ".codex/config.toml").write_text(
            f'[mcp_servers.x]\ncommand = "x"\nenv = {{ KEY = "{key}" }}\n'
        )
        rng = random.Random(3)
        first = datetime(2026, 3, 2, 9, tzinfo=UTC)

        def make(number: int) -> ClaudeSession | CodexSession:
            kind = ClaudeSession if number % 2 else CodexSession
            session = kind(rng, cwd=str(self.project))
            session.clock = first + timedelta(days=number % 6, minutes=number)
            return session

        self.stories = list(sessions(self.canaries, make))
        for session in self.stories:
            if isinstance(session, ClaudeSession):
                session.row("ai-title", aiTitle=f"Export {self.canaries.text('story: title')}"[:200])
        self.plain = ClaudeSession(rng, cwd=str(self.project))
        for text in self.negatives:
            self.plain.command("cat notes", text)
        self.all = [*self.stories, self.plain]
        self.write()

    def write(self) -> None:
        for session in self.all:
            path = session.path(self.home.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(session.lines))

    def grow(self) -> None:
        """Further lines in some sessions, and in others a line that is only half there."""
        for session in self.stories[:12]:
            session.prompt(f"And what of {self.canaries.text('grown: prompt')}")
            session.reply(f"Decision: it goes. {self.canaries.text('grown: reply')}")
        self.write()

    # What is done with it

    def live(self) -> None:
        """The daemon, with sessions that grow, hooks that fire, callers at its door and an agent at its side."""
        with notified(self.notify) as heard:
            process = self.home.start("run", "--settle", "0", NOTIFY_SOCKET=str(self.notify))
            try:
                self.wait(lambda: self.card()["pid"] == process.pid)
                new = ClaudeSession(random.Random(5), cwd=str(self.project))
                new.prompt(f"Look at the live one: {self.canaries.text('live: prompt')}")
                new.reply(f"Decision: the live one stays. {self.canaries.text('live: reply')}")
                self.all.append(new)
                self.write()
                self.hook("session-end", new)
                self.wait(lambda: self.door("GET", f"/v1/show/{new.session}")[0] == 200)
                self.asked(new)
                self.agent()
                self.wait(lambda: self.door("GET", "/v1/status")[1].find(b'"pending"') > 0)
            finally:
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=60)
                self.said += [("terminal", out.encode()), ("log", err.encode())]
                assert process.returncode == 0, err[-2000:]
        self.said.append(("service-manager", b"\n".join(heard)))

    def asked(self, new: ClaudeSession) -> None:
        """Everything the door answers, also to what it refuses."""
        token = self.canaries.token("asked: query")
        for method, path, body in (
            ("GET", "/v1/ping", None),
            ("GET", "/v1/status", None),
            ("GET", f"/v1/show/{new.session}", None),
            ("GET", f"/v1/show/{token}", None),
            ("GET", f"/v1/{token}", None),
            ("POST", "/v1/search", {"query": "live one", "limit": 50}),
            ("POST", "/v1/search", {"query": token}),
            ("POST", "/v1/search", {"query": "x", token: 1}),
            ("POST", "/v1/jobs", {"name": "ingest", "arguments": {"harness": token}}),
            ("POST", "/v1/jobs", {"name": token}),
            ("POST", "/v1/jobs", {"name": "compile", "arguments": {}}),
        ):
            status, said = self.door(method, path, body)
            if path == "/v1/jobs" and status == 200:
                said += self.door("GET", f"/v1/jobs/{json.loads(said)['job']}/events")[1]
            self.said.append(("api", said))
        self.paired(token)
        self.say("search", "live", "one")
        self.say("status")
        self.say("ingest", "--harness", token)

    def paired(self, token: str) -> None:
        """What an editor asks; it calls itself by something that looks like a secret."""
        code = json.loads(self.door("POST", "/v1/pair/codes", {})[1])["code"]
        made = json.loads(self.door("POST", "/v1/pair", {"code": code, "name": f"me {token}"})[1])
        made.pop("token")
        self.said.append(("api", json.dumps(made).encode()))
        for method, path, body in (
            ("GET", "/v1/pulse", None),
            ("GET", "/v1/review", None),
            ("POST", "/v1/related", {"path": f"{token}.md", "text": "the live one"}),
            ("POST", "/v1/open", {"result": token}),
            ("POST", "/v1/restore", {"what": token}),
            ("POST", "/v1/review/x", {"verdict": token}),
            ("POST", "/v1/pair", {"code": token}),
            ("POST", "/v1/hello", {"id": token, "nonce": token}),
            ("POST", "/v1/sync/now", {}),
        ):
            self.said.append(("api", self.door(method, path, body)[1]))
        self.say("pair", "list")
        self.say("pair", "list", "--json")
        self.say("pair", "revoke", token)

    def agent(self) -> None:
        """An agent over MCP, through the SDK's own client."""
        from mcp.client.session import ClientSession
        from mcp.client.stdio import StdioServerParameters, stdio_client

        token = self.canaries.token("mcp: query")
        answers: list[str] = []

        async def run() -> None:
            server = StdioServerParameters(
                command=sys.executable, args=["-m", "afterword", "mcp"], env=dict(self.home.env)
            )
            async with stdio_client(server, errlog=errors) as streams, ClientSession(*streams) as client:
                await client.initialize()
                for given in (
                    {"query": "root cause harbour export", "limit": 20}, {"query": "lesson learned", "limit": 20},
                    {"query": token}, {"query": "x", token: "y"}, {"query": "x", "since": token},
                ):  # fmt: skip
                    answer = await client.call_tool("search", given)
                    answers.extend(content.text for content in answer.content)
                for tool, given in (
                    ("show", {"id": self.stories[0].session}), ("show", {"id": token}), ("blame", {"path": token}),
                    ("recall", {"folder": str(self.project)}), ("blame", {"path": "README.md", "reads": True}),
                    ("again", {"error": "E   timeout"}), ("again", {"error": f"timeout at {token}"}),
                ):  # fmt: skip
                    answer = await client.call_tool(tool, given)
                    answers.extend(content.text for content in answer.content)
                answer = await client.call_tool(token, {})
                answers.extend(content.text for content in answer.content)

        with Path(self.path / "mcp.stderr").open("w") as errors:
            asyncio.run(asyncio.wait_for(run(), 120))
        self.said.append(("mcp", "\n".join(answers).encode()))
        self.said.append(("terminal", (self.path / "mcp.stderr").read_bytes()))

    def commands(self) -> None:
        """Every other command, in words and as JSON, where all is well and where it is not."""
        token = self.canaries.token("typed")
        full = self.path / f"full-{token}"
        full.mkdir()
        (full / "a").write_text("")
        shown = [row["id"] for row in self.home.json("search", "--exact", "fails", "every", "third")["results"]]
        natives = [session.session for session in self.stories]
        for words in (
            ("show", natives[0], "--all"), ("show", self.plain.session, "--json"),
            *(("show", native, "--json") for native in self.samples()),
            ("search", "root cause"), ("search", "--semantic", "why does the export fail", "--json"),
            ("search", "--exact", "lesson learned", "-n", "50", "--json"),
            ("search", token), ("search", f'"{token}"', "--json"),
            ("search", "--since", token, "x"), ("search", f"--{token}"),
            ("status",), ("status", "--json"), ("sources",), ("sources", "--json"), ("doctor",), ("doctor", "--json"),
            ("doctor", "--fingerprint", "--explain"), ("config", "show", "--json"),
            ("config", "set", f"vault.{token}", "x"), ("lint",),
            ("recall", str(self.project)), ("recall", str(self.project), "--json"), ("blame", "README.md", "--reads"),
            ("blame", "README.md", "--json"), ("blame", token),
            ("again", "E   timeout"), ("again", "timeout", "--json"),
            ("again", f"timeout at {token}"),
            ("agents", "install"), ("agents", "status", "--json"), ("agents", "uninstall"),
            ("learn", self.canaries.text("typed: lesson"), "--topic", token, "--evidence", token, "--json"),
            ("learn", f"The pump of {token} needs a file of its own", "--project", token),
            ("learn", "x", "--supersedes", token), ("distill",), ("lint", "--lessons", "--json"),
            ("search", "pump", "--kind", "lesson"), ("search", "--kind", "lesson", "file", "--json"),
            ("index",), ("compile", "--all", "--json"), ("compile", "--all", "--dry-run"), ("service", "print"),
            ("open", shown[0]), ("open", shown[0], "--print", "--json"), ("open", token), ("show", token), (token,),
            ("sources", "--explain", str(self.stories[1].path(self.home.path))),
            ("sources", "--explain", str(self.stories[0].path(self.home.path)), "--json"),
            ("sync", "export", str(self.path / "out/batches")), ("sync", "import", str(self.path / "out/batches")),
            ("sync", "import", token), ("sync", "status", "--json"), ("sync", f"{token}.invalid"),
            ("sync", "peers", "add", token, "--every", token),
            ("ingest", "--harness", token), ("init", str(full)),
            ("up", "--once", "--settle", token), ("ingest", "--config", str(self.path / token)),
        ):  # fmt: skip
            self.say(*words)
        self.say("status", AFTERWORD_NOW=token)
        self.say("status", AFTERWORD_VAULT_PATH=f"/srv/{token}/vault")
        bad = self.path / "bad.toml"
        bad.write_text(f'[vault]\n{token} = "{self.canaries.token("typed: config")}"\n')
        self.say("status", "--config", str(bad))
        self.say("agents", "install", "codex", "--memory", "--project", str(self.project))
        self.say("up", "--once", "--settle", "0")
        (self.path / "out").mkdir(exist_ok=True)
        if (self.project / "AGENTS.md").exists():
            shutil.copy(self.project / "AGENTS.md", self.path / "out/AGENTS.md")
        self.say("agents", "uninstall", "codex")
        for row in self.home.json("search", "file", "--kind", "lesson", code=None)["results"]:
            self.say("show", row["id"])
            self.say("show", row["id"], "--json")
        # Notes are opened by their paths, which are made from titles.
        for note in sorted((self.home.vault / "knowledge").rglob("*.md"))[:3]:
            self.say("open", str(note.relative_to(self.home.vault)))
        opened = self.path / "opened"
        self.said.append(("opener", opened.read_bytes() if opened.exists() else b""))

    def question(self) -> None:
        """What a command asks a daemon: here the daemon is this test."""
        bodies: list[bytes] = []

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.path.encode() + self.rfile.read(int(self.headers["Content-Length"])))
                self.send_error(404)

            def log_message(self, *_given: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with lock.writer_lock(self.home.state, "run"):
                card = doorfile.DoorCard(1, server.server_address[1], "x" * 40, os.getpid(), "0")
                doorfile.write(self.home.state, card)
                self.say("ingest", "--harness", self.canaries.token("asked of the daemon"))
                self.say("search", "--session", "x", f"what of {self.canaries.token('asked of the daemon')} then")
                self.say("compile", "--file", f"daily/{self.canaries.token('asked of the daemon')}.md")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
            doorfile.remove(self.home.state, os.getpid())
        self.said.append(("door-question", b"\n".join(bodies)))

    def hooks(self) -> None:
        """A session that begins in the project is told what is known there; what a hook left waits in the spool."""
        self.hook("session-start", self.stories[0])
        token = self.canaries.token("hook: path")
        session = ClaudeSession(random.Random(9), session=token, cwd=f"/srv/{self.canaries.token('hook: cwd')}")
        self.hook("session-end", session)
        for path in sorted((self.home.state / "spool").glob("*.json")):
            self.said.append(("spool", path.read_bytes()))
        self.say("up", "--once", "--settle", "0", code=0)

    def hook(self, event: str, session: ClaudeSession | CodexSession) -> None:
        said = {
            "session_id": session.session,
            "transcript_path": str(session.path(self.home.path)),
            "cwd": session.cwd,
            "prompt": self.canaries.text("hook: other fields"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "afterword.hook", event, "--agent", "claude"],
            env=self.home.env, input=json.dumps(said).encode(), capture_output=True, timeout=30, check=True,
        )  # fmt: skip
        self.said += [("hook-output", done.stdout), ("hook-output", done.stderr)]

    def taken(self) -> None:
        """What a person takes elsewhere: sessions to share, a backup; and the backup put back."""
        out = self.path / "out"
        out.mkdir(exist_ok=True)
        for number, session in enumerate(self.stories[:8]):
            self.say("share", session.session, *(("--html", str(out / f"{number}.html")) if number % 2 else ()), code=0)
        self.say("share", self.stories[8].session, "--md", str(out / "8.md"), code=0)
        self.say("report", "-o", str(out / "report.html"), code=0)
        self.say("report", "-o", str(out / "report.md"), code=0)
        self.say("backup", str(out / "ledger.db.zst"), code=0)
        self.say("restore", str(out / "ledger.db.zst"))
        self.say("restore", str(out / "ledger.db.zst"), "--yes", code=0)

    def model(self) -> None:
        """A paid model writes a session up; what it is sent is looked at, and what it answers is what it was sent."""
        session = ClaudeSession(random.Random(7), cwd=str(self.project))
        session.clock = datetime(2026, 6, 20, 9, tzinfo=UTC)
        session.prompt(f"The pump fails every third run, find out why. {self.canaries.text('model: prompt')}")
        session.reply(f"Decision: the pump gets a file of its own, not {self.canaries.text('model: reply')}")
        self.all.append(session)
        self.write()
        with GeminiServer() as server:
            # A model writes up what comes from the day on on which its key is there.
            now = {"AFTERWORD_NOW": "2026-06-20T22:00:00Z", "AFTERWORD_COMPILE_MIN_WORDS": "5"}
            self.say("up", "--once", "--settle", "0", code=0, **now, **server.env)
            # And a service makes the vectors, of what is kept and of what is asked.
            vectors = server.env | {"AFTERWORD_INDEX_EMBEDDER": "gemini", "AFTERWORD_COMPILE_ENGINE": "extractive"}
            self.say("index", code=0, **vectors)
            asked = f"why does it fail with {self.canaries.text('model: question')} every third time"
            self.say("search", asked, "--json", **vectors)
            self.said.append(("model-request", json.dumps([call.body for call in server.calls]).encode()))
            assert {call.verb for call in server.calls} >= {"generateContent", "batchEmbedContents"}
        with closing(open_reader(self.home.state)) as ledger:
            written = [each for each in articles.current(ledger) if each.article.engine == "gemini"]
        assert written
        explained = self.say("explain", written[0].uid, "--texts", code=0)
        self.said.append(("explain", explained.stdout.encode()))

    def crash(self) -> None:
        """A bug that quotes what it choked on: in a command, in a daemon's step, in a thread."""
        text = self.canaries.text("crash", "github-token")
        build = {"PYTHONPATH": str(BUILDS), "CANARY_BUILD": f"{self.build},broken", "CANARY_TEXT": text}
        done = self.say("show", self.stories[0].session, **build)
        assert "Traceback" in done.stderr
        self.say("show", self.stories[0].session, "--json", **build)
        session = self.stories[3]
        session.pause(90)
        session.prompt(f"One more: {self.canaries.text('crash: prompt')}")
        session.reply("Decision: it is one more.")
        self.write()
        done = self.say("up", "--once", "--settle", "0", **build)
        assert "Traceback" in done.stderr, done.stderr[-3000:]
        assert "thread" in done.stderr
        self.said.append(("log", done.stderr.encode()))

    def killed(self) -> None:
        """Killed while it reads, and while it appends to a note."""
        for number, fault in enumerate(("ledger.inside#40", "note.half#1")):
            session = self.stories[10 + number]
            session.pause(90)
            for _ in range(20):
                session.prompt(f"Then this: {self.canaries.text('killed: prompt')}")
                session.reply(f"Decision: it stays at {self.canaries.text('killed: reply')}")
            self.write()
            done = self.say("up", "--once", "--settle", "0", AFTERWORD_FAULT=f"kill@{fault}")
            assert done.returncode == -signal.SIGKILL, done
            if number:
                self.say("status")
        assert not [path for path in Path("/dev/shm").glob("afterword-copy-*") if not alive(path)]

    def samples(self) -> list[str]:
        """A session of each agent."""
        with contextlib.closing(sqlite3.connect(self.home.state / "ledger.db")) as db:
            return [native for (native,) in db.execute("SELECT max(native) FROM session GROUP BY harness")]

    # What came of it

    def hits(self, needles: Needles) -> set[Hit]:
        """Where the texts are, in all that was said, written or shown for a moment."""
        found: set[Hit] = set()
        for exit_name, data in self.said:
            found |= in_bytes(needles, data, f"said: {exit_name}")
        for (name, _), data in self.watch.files.items():
            found |= in_bytes(needles, data, f"seen: {name}", torn=True)
        for words in self.watch.arguments - self.given:
            if words.startswith(_ASKED_SSH):
                continue  # the host that was typed, which `ssh` itself is asked about
            found |= in_bytes(needles, words, "seen: arguments")
        return found | in_folders(needles, *self.folders())

    def folders(self) -> list[Path]:
        """All that is in the home and was not put there by this test, and the folder for temporary files."""
        stores = {path.name for path in (self.path / "stores").glob("*/*")}
        known = stores | {"src", ".claude", ".codex", ".local", ".config", "Afterword", ".cache"}
        others = [path for path in self.home.path.iterdir() if path.name not in known]
        return [*ours(self.home), *others, self.path / "tmp", *self.path.glob("out")]

    def door(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """A request at the door as any other program makes it."""
        card = self.card()
        connection = http.client.HTTPConnection("127.0.0.1", card["port"], timeout=30)
        headers = {"Authorization": f"Bearer {card['token']}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, headers if data else {"Authorization": headers["Authorization"]})
        response = connection.getresponse()
        said = response.read()
        connection.close()
        return response.status, said

    def card(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.home.state / "door.json").read_bytes())
        except (OSError, ValueError):
            return {"pid": 0}
        return found

    @staticmethod
    def wait(until: Callable[[], bool]) -> None:
        end = time.monotonic() + 120
        while not until():
            assert time.monotonic() < end, "it never came"
            time.sleep(0.05)


def alive(path: Path) -> bool:
    """Whether the process whose number is in a private copy's name lives."""
    return Path(f"/proc/{path.name.split('-')[2]}").exists()


@contextmanager
def notified(path: Path) -> Iterator[list[bytes]]:
    """What a service manager is told."""
    heard: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(0.2)
        stop = threading.Event()

        def run() -> None:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    heard.append(listener.recv(65536))

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield heard
        finally:
            stop.set()
            thread.join()
            shutil.rmtree(path.parent)
