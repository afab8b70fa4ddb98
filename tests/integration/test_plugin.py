"""The plugin as it is shipped, in a headless Chromium with a stand-in for the app, against a real daemon."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, Page, Window, browser
from homelab import homelab
from homes import Home
from knowledge import NOW, later

ROOT = Path(__file__).parent.parent.parent
SHIPPED = ROOT / "vault_template/.obsidian/plugins/afterword"
PICTURES = os.environ.get("AFTERWORD_PICTURES", "")
"""A folder that gets pictures of what is shown."""
EVIL = "<img src=x onerror=window.pwned=1><script>window.pwned=2</script>"
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; `.ci/run` brings one")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = homelab(tmp_path_factory.mktemp("plugin") / "home")
    said = (
        f"Decision: the gauge page of the harbour shows {EVIL} as text, and nothing of it is run in a browser at all."
    )
    later(made, f"What does the gauge page show for {EVIL}?", said, day="2026-06-10T10:00:00", name="evil")
    made.run("up", "--once", "--settle", "0", **NOW)
    return made


@pytest.fixture(scope="module")
def window(home: Home) -> Iterator[Window]:
    made = Window(home.vault)
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module")
def page(window: Window) -> Iterator[Page]:
    with browser(window.url) as made:
        made.js("begin()")
        yield made
        assert made.errors == []


def pair(home: Home, page: Page) -> None:
    said = home.json("pair")
    page.js(f"plugin.protocol.afterword({json.dumps({'port': str(said['port']), 'code': said['code']})})")
    # An address alone pairs nothing: a person has to agree.
    assert "asks to pair" in page.js("document.querySelector('.modal').innerText")
    page.js("document.querySelector('.modal .mod-cta').click()")
    page.until("notices.includes('Paired with Afterword.')")
    page.until("!/not paired|off/.test(document.getElementById('bar').textContent)")


def search(page: Page, words: str) -> None:
    page.js("plugin.reveal('search')")
    page.js("(() => { const i = document.querySelector('input[type=search]'); i.focus(); i.select(); })()")
    page.text(words)
    label = json.dumps(f"Results for {words}")
    page.until(f"document.querySelector('.afterword-list').getAttribute('aria-label') === {label}")


def shot(page: Page, name: str) -> None:
    if PICTURES:
        page.shot(Path(PICTURES) / f"{name}.png")


def results(page: Page) -> list[str]:
    found: list[str] = page.js("[...document.querySelectorAll('.afterword-result')].map((el) => el.textContent)")
    return found


@needs_chromium
def test_a_day_with_the_plugin(home: Home, window: Window, page: Page) -> None:
    page.until("document.getElementById('bar').textContent.includes('not paired')")
    page.js("plugin.reveal('search')")
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", AFTERWORD_INDEX_EMBEDDER="local", **NOW):
        pair(home, page)
        found(home, page)
        nothing_is_run(page)
        wrong_and_right(home, page)
        narrow_and_dark(page)
        slow(window, page)
        stands_in_another_vault(home, page)
    gone_and_back(home, page)


def found(home: Home, page: Page) -> None:
    """Searched, chosen with keys, opened at its block, dragged as a link."""
    search(page, "Synology")
    assert len(results(page)) > 1
    assert page.js("document.querySelectorAll('.afterword-result mark').length") > 0
    shot(page, "plugin-search")
    page.key("ArrowDown")
    page.key("ArrowDown")
    page.key("ArrowUp")
    chosen = page.js("document.querySelector('[aria-selected=true].afterword-result').id")
    assert page.js("document.activeElement.getAttribute('aria-activedescendant')") == chosen == "afterword-result-0"
    page.key("Enter")
    link, leaf = page.until("opened.at(-1)")
    note, _, block = link.partition("#^")
    text = (home.vault / note).read_text()
    assert not block or f"^{block}" in text
    assert leaf is False
    page.key("Enter", modifiers=2)
    assert page.until("opened.length > 1 && opened.at(-1)") == [link, "tab"]
    dragged = page.js(
        "(() => { const d = new DataTransfer(); const el = [...document.querySelectorAll('.afterword-result')]"
        ".find((each) => each.dispatchEvent(new DragEvent('dragstart', {dataTransfer: d})) && d.getData('text/plain'));"
        " return el ? d.getData('text/plain') : '' })()"
    )
    assert dragged.startswith("[[")
    assert dragged.endswith("]]")
    assert (home.vault / (dragged[2:].partition("#")[0].partition("|")[0].rstrip("]") + ".md")).is_file()
    # What is not in the vault is not made.
    before = page.js("opened.length")
    page.js("plugin.open('knowledge/none.md', null, false)")
    page.js("plugin.open('../../etc/passwd', null, false)")
    assert page.js("opened.length") == before


def nothing_is_run(page: Page) -> None:
    """HTML in titles and snippets is text."""
    search(page, "gauge page harbour")
    assert any("<img src=x" in text or "onerror" in text for text in results(page))
    assert page.js("document.querySelectorAll('#side img, #side script').length") == 0
    assert page.js("typeof window.pwned") == "undefined"


def wrong_and_right(home: Home, page: Page) -> None:
    """An article is marked as wrong: its note says so, and search does not tell it any more; then it is restored."""
    note = next(
        path for path in sorted((home.vault / "knowledge/concepts").glob("*.md")) if "Synology" in path.read_text()
    )
    path = str(note.relative_to(home.vault))
    page.js(f"window.active = {json.dumps(path)}")
    page.js("plugin.reveal('related')")
    page.until("document.querySelectorAll('.afterword-result').length > 0")
    shot(page, "plugin-related")
    page.js(
        "[...document.querySelectorAll('.afterword-buttons button')].find((b) => b.textContent === 'Useful').click()"
    )
    page.until("notices.includes('Counted as useful.')")
    assert page.js("plugin.commands.restore.checkCallback(true)") is False
    told(page, path, there=True)
    page.js("plugin.commands['mark-wrong'].checkCallback(false)")
    page.js("document.querySelector('.modal .mod-cta').click()")
    assert "Say why" in page.js("document.querySelector('.modal').innerText")
    page.js(
        "(() => { const a = document.querySelector('.modal textarea'); a.value = 'it is \"fnos\"';"
        " a.dispatchEvent(new Event('input')); })()"
    )
    page.js("document.querySelector('.modal .mod-cta').click()")
    page.until("notices.includes('Marked as wrong.')")
    assert "status: retracted" in note.read_text()
    told(page, path, there=False)
    page.js("plugin.commands.restore.checkCallback(false)")
    page.until("notices.includes('It holds again.')")
    told(page, path, there=True)


def told(page: Page, path: str, *, there: bool) -> None:
    """Wait until search tells an article, or does not."""
    asked = json.dumps({"query": "Synology", "kind": "article", "limit": 50})
    rows = f"plugin.api.post('/v1/search', {asked})"
    wanted = f"said.results.some((row) => row.path === {json.dumps(path)}) === {json.dumps(there)}"
    page.until(f"{rows}.then((said) => {wanted})")


def narrow_and_dark(page: Page) -> None:
    """Nothing sticks out of a narrow pane; a review queue is drawn; all has a name."""
    page.js("plugin.reveal('review')")
    page.until("/decide|Nothing/.test(document.querySelector('.afterword-said').textContent)")
    shot(page, "plugin-review")
    page.size(240, 700)
    search(page, "Synology")
    assert page.js("document.querySelector('#side').scrollWidth <= document.querySelector('#side').clientWidth")
    page.js("document.body.classList.add('dark')")
    shot(page, "plugin-narrow-dark")
    page.js("document.body.classList.remove('dark')")
    page.size(420, 800)
    nameless: list[Any] = page.js(
        "[...document.querySelectorAll('#side input, #side select, #side button')]"
        ".filter((el) => !(el.getAttribute('aria-label') || el.textContent.trim())).map((el) => el.outerHTML)"
    )
    assert nameless == []
    page.js("document.querySelector('[role=tab][aria-selected=true]').focus()")
    page.key("ArrowRight")
    assert page.js("document.activeElement.textContent") == "Related"


def slow(window: Window, page: Page) -> None:
    """A slow answer is said to be awaited, and an older one does not overwrite a newer."""
    search(page, "Synology")
    window.delay_s = 1.5
    page.js("(() => { const i = document.querySelector('input[type=search]'); i.value = 'zzznone';"
            " i.dispatchEvent(new Event('input')); })()")  # fmt: skip
    page.until("document.querySelector('.afterword-said').textContent.includes('Waiting')")
    window.delay_s = 0.0
    search(page, "Synology")
    assert results(page)
    page.js("new Promise((done) => setTimeout(done, 2000))")
    assert results(page)


def stands_in_another_vault(home: Home, page: Page) -> None:
    page.js("plugin.vaultId = 'another'")
    page.js("plugin.beat()")
    assert "wrong vault" in page.js("document.getElementById('bar').textContent")
    own = json.loads((home.vault / ".afterword/vault.json").read_text())["id"]
    page.js(f"plugin.vaultId = {json.dumps(own)}")
    page.js("plugin.beat()")
    assert "wrong vault" not in page.js("document.getElementById('bar').textContent")


def gone_and_back(home: Home, page: Page) -> None:
    """Killed and back; with the token revoked; and whoever else listens at the port gets no token."""
    page.js("plugin.beat()")
    assert page.js("document.getElementById('bar').textContent") == "Afterword: off"
    # What is wrong can be said all the same: it stands in the note.
    path = page.js("window.active")
    page.js("plugin.askWrong(app.vault.getAbstractFileByPath(window.active))")
    page.js(
        "(() => { const a = document.querySelector('.modal textarea'); a.value = 'said while it was off';"
        " a.dispatchEvent(new Event('input')); document.querySelector('.modal .mod-cta').click(); })()"
    )
    page.until("notices.filter((each) => each === 'Marked as wrong.').length === 2")
    assert 'retract_reason: "said while it was off"' in (home.vault / path).read_text()
    home.run("compile", **NOW)
    assert path in {row["path"] for row in home.json("undo", **NOW)["retracted"]}
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW) as process:
        page.js("plugin.beat()")
        assert "off" not in page.js("document.getElementById('bar').textContent")
        search(page, "Synology")
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        page.js("plugin.beat()")
        assert page.js("document.getElementById('bar').textContent") == "Afterword: off"
    (row,) = [each for each in home.json("pair", "list")["paired"] if each["name"] == "Obsidian"]
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW):
        page.js("plugin.beat()")
        assert "off" not in page.js("document.getElementById('bar').textContent")
        home.run("pair", "revoke", row["id"])
        page.js("plugin.beat()")
        assert page.js("document.getElementById('bar').textContent") == "Afterword: not paired"
        assert "afterword pair" in page.js("document.getElementById('bar').getAttribute('aria-label')")


@pytest.mark.skipif(not (ROOT / "plugin/node_modules").is_dir(), reason="`npm ci` was not run in plugin/")
def test_the_bundle_is_what_its_source_makes(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    subprocess.run([node, "build.mjs", str(tmp_path)], cwd=ROOT / "plugin", check=True, timeout=120)
    for path in SHIPPED.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), "run `npm run build` in plugin/"


def test_the_plugin_is_as_obsidian_wants_it() -> None:
    manifest = json.loads((SHIPPED / "manifest.json").read_text())
    assert manifest["id"] == SHIPPED.name == "afterword"
    assert len(manifest["description"]) <= 250
    assert manifest["description"].endswith(".")
    code = (SHIPPED / "main.js").read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "MarkdownRenderer", "fetch("):
        assert word not in code, word
    lock = (ROOT / "plugin/package-lock.json").read_text()
    assert '"resolved"' not in lock
