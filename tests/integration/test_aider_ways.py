"""aider's history read while it is written, cut and edited by hand, by the real capture into a real ledger."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import FIXTURES
from writer import REDACTOR, Reading

from afterword.app.fingerprint import lines
from afterword.capture.database import Reach
from afterword.capture.parts import Limits
from afterword.capture.sweep import Capture
from afterword.domain.events import Where

SAMPLE = FIXTURES / "harness/aider/srv/orchard-api/.aider.chat.history.md"
FIRST, SECOND, THIRD = (f"orchard-api/2026-03-0{day}#1" for day in ("4 11:00:00", "5 09:30:00", "6 08:00:00"))


class Scanning(Reading):
    """A reading that scans its folder for histories."""

    def restart(self) -> None:
        super().restart()
        where = Where({"AFTERWORD_AIDER_ROOT": str(self.root / "srv")}, self.root, "linux")
        limits = Limits(256 << 20, Reach(1 << 30, self.root / "state"))
        self.capture = Capture(self.ledger, REDACTOR, lambda: self.now_us, where, quiet_us=0, limits=limits)


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Scanning]:
    made = Scanning(tmp_path)
    yield made
    made.close()


def history(reading: Reading, folder: str = "orchard-api") -> Path:
    path = reading.root / "srv" / folder / ".aider.chat.history.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def one_pass(folder: Path) -> list[str]:
    calm = Scanning(folder)
    history(calm).write_bytes(SAMPLE.read_bytes())
    calm.sweep()
    found = [line.replace(str(folder), "") for line in lines(calm.ledger)]
    calm.close()
    assert any(line.startswith("item") for line in found)
    return found


def abandoned(reading: Reading, native: str) -> list[str]:
    return [text for _, text, state in reading.speech(native) if state == "abandoned"]


@pytest.mark.parametrize("how", ["lines", "7 bytes", "random"])
@pytest.mark.parametrize("restarts", [False, True])
def test_written_in_pieces(how: str, restarts: bool, tmp_path: Path) -> None:
    calm = one_pass(tmp_path / "calm")
    reading = Scanning(tmp_path / "fed")
    rng = random.Random(3)
    data = SAMPLE.read_bytes()
    pieces = data.splitlines(keepends=True) if how == "lines" else []
    at = 0
    while how != "lines" and at < len(data):
        size = 7 if how == "7 bytes" else rng.randrange(1, 200)
        pieces.append(data[at : at + size])
        at += size
    with history(reading).open("ab", buffering=0) as out:
        for n, piece in enumerate(pieces):
            out.write(piece)
            assert reading.sweep().problems == 0
            if restarts and n % 5 == 0:
                reading.restart()
    assert [line.replace(str(tmp_path / "fed"), "") for line in lines(reading.ledger)] == calm
    reading.close()


def test_every_cut_of_a_history_grows_into_the_whole(tmp_path: Path) -> None:
    """Cut anywhere, also inside a character, and then whole: no prompt is half one, nothing is there twice."""
    head = "\n# aider chat started at 2026-03-04 11:00:00\n\n> Aider v0.86.2  \n"
    text = head + "\n#### Größe?  \n#### Und żółw?  \n\nJa, größer 🚀.\n\n> x  \n> y  \n\n#### /git log  \n> a\nb  \n"
    data = text.encode()
    for cut in range(1, len(data)):
        reading = Scanning(tmp_path / str(cut))
        path = history(reading)
        path.write_bytes(data[:cut])
        reading.sweep()
        path.write_bytes(data)
        reading.sweep()
        assert reading.speech(FIRST) == [
            ("prompt", "Größe?\nUnd żółw?", "live"),
            ("reply", "Ja, größer 🚀.", "live"),
            ("output", "x", "live"),
            ("output", "y", "live"),
            ("command", "git log", "live"),
            ("output", "a\nb", "live"),
        ], cut
        reading.close()


def test_a_prompt_of_several_lines_cut_between_them_grows(reading: Scanning) -> None:
    path = history(reading)
    start = "\n# aider chat started at 2026-03-04 11:00:00\n\n\n#### One  \n"
    path.write_text(start)
    reading.sweep()
    assert reading.live(FIRST) == ["One"]
    path.write_text(start + "#### and more  \n\nYes.\n\n")
    reading.sweep()
    assert reading.live(FIRST) == ["One\nand more", "Yes."]
    assert abandoned(reading, FIRST) == []


def test_the_first_session_taken_out_by_hand_leaves_the_others_as_they_were(reading: Scanning) -> None:
    path = history(reading)
    shutil.copy(SAMPLE, path)
    reading.sweep()
    before = lines(reading.ledger)
    data = path.read_bytes()
    path.write_bytes(data[data.index(b"# aider chat started at 2026-03-05") :])
    assert reading.sweep().new_items == 0
    assert lines(reading.ledger) == before


def test_a_history_cut_off_and_begun_anew(reading: Scanning) -> None:
    path = history(reading)
    shutil.copy(SAMPLE, path)
    reading.sweep()
    before = {native: reading.live(native) for native in (FIRST, SECOND, THIRD)}
    path.write_bytes(b"")
    reading.sweep()
    path.write_text("\n# aider chat started at 2026-03-09 08:00:00\n\n\n#### Anew?  \n\nYes.\n\n")
    reading.sweep()
    assert {native: reading.live(native) for native in before} == before
    assert reading.live("orchard-api/2026-03-09 08:00:00#1") == ["Anew?", "Yes."]


def test_edits_by_hand_in_the_middle(reading: Scanning) -> None:
    path = history(reading)
    shutil.copy(SAMPLE, path)
    reading.sweep()
    others = {native: reading.speech(native) for native in (FIRST, THIRD)}
    text = path.read_text()
    path.write_text(text.replace("Explain the fence bug.", "Explain the bug of fences."))
    reading.sweep()
    assert reading.live(SECOND)[0] == "Explain the bug of fences."
    assert abandoned(reading, SECOND) == ["Explain the fence bug."]
    path.write_text(text)
    reading.restart()
    reading.sweep()
    assert reading.live(SECOND)[0] == "Explain the fence bug."
    assert abandoned(reading, SECOND) == ["Explain the bug of fences."]
    assert {native: reading.speech(native) for native in others} == others


def test_a_copy_in_another_folder_adds_only_what_was_added_to_it(reading: Scanning) -> None:
    shutil.copy(SAMPLE, history(reading))
    reading.sweep()
    before = lines(reading.ledger)
    copy = history(reading, "copied")
    shutil.copy(SAMPLE, copy)
    assert reading.sweep().new_items == 0
    assert lines(reading.ledger) == before
    with copy.open("a") as out:
        out.write("\n#### Only in the copy?  \n")
    assert reading.sweep().new_items == 1
    assert reading.live(THIRD) == ["Say hi.", "Hi.", "Only in the copy?"]


def test_two_histories_with_one_time_are_two_sessions(reading: Scanning) -> None:
    start = "\n# aider chat started at 2026-03-04 11:00:00\n\n\n"
    history(reading).write_text(start + "#### Here?  \n")
    history(reading, "other").write_text(start + "#### There?  \n")
    reading.sweep()
    assert reading.live(FIRST) == ["Here?"]
    assert reading.live("other/2026-03-04 11:00:00#1") == ["There?"]
    history(reading, "elsewhere/orchard-api").write_text("#### Of the same name, without a header?  \n" + start)
    history(reading, "again/orchard-api").write_text("#### Another one?  \n")
    reading.sweep()
    assert reading.live("orchard-api-2/no header#1") == ["Another one?"]
    assert reading.live("orchard-api-3/no header#1") == ["Of the same name, without a header?"]


def test_a_folder_that_is_renamed_is_the_same_history(reading: Scanning) -> None:
    path = history(reading)
    shutil.copy(SAMPLE, path)
    reading.sweep()
    before = lines(reading.ledger)
    path.parent.rename(path.parent.with_name("renamed"))
    assert reading.sweep().new_items == 0
    assert lines(reading.ledger) == before
    reading.restart()
    with history(reading, "renamed").open("a") as out:
        out.write("\n#### Still the same?  \n")
    reading.sweep()
    assert reading.live(THIRD) == ["Say hi.", "Hi.", "Still the same?"]


def test_a_history_of_many_sessions_and_versions(reading: Scanning) -> None:
    """Times that go back, other banners, headings of the model's own, an unclosed fence in each fifth session."""
    rng = random.Random(5)
    path = history(reading)
    wanted: dict[str, list[str]] = {}
    text = ""
    for n in range(120):
        at = f"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 28):02d} 10:{n % 60:02d}:00"
        count = sum(key.startswith(f"orchard-api/{at}#") for key in wanted) + 1
        said = [f"Question {n} żółw?", f"#### Heading {n}\n\nAnswer {n}."]
        text += f"\n# aider chat started at {at}\n\n> Aider v0.{n}.0  \n\n#### {said[0]}  \n\n{said[1]}\n\n"
        if n % 5 == 0:
            said[1] += "\n\n```\nopen"
            text += "```\nopen\n\n"
        wanted[f"orchard-api/{at}#{count}"] = said
    path.write_text(text)
    reading.sweep()
    assert {native: reading.live(native) for native in wanted} == wanted
    assert reading.sweep().new_items == 0
