"""One wrong fact on two machines: retracted on one, gone on both, taken back on the other, forgotten for good."""

from pathlib import Path

from homelab import CLAIM, INSTEAD, REASON, current, homelab, notes
from homes import Home
from knowledge import NOW, later
from peers import home


def meet(one: Home, other: Home, batches: Path) -> int:
    """By a folder, both ways; how many records were new."""
    new = 0
    for here, there in ((one, other), (other, one)):
        here.json("sync", "export", str(batches), **NOW)
        peers = there.json("sync", "import", str(batches), **NOW)["peers"]
        new += sum(origin["new"] for peer in peers for origin in peer["origins"])
    return new


def test_a_wrong_fact_and_a_lesson_on_two_machines(tmp_path: Path) -> None:
    laptop = homelab(tmp_path / "laptop")
    mini, batches = home(tmp_path / "mini", "mini"), tmp_path / "batches"
    later(mini, "Is the roof dry?", "Decision: the quagga counter stays on the roof.", day="2026-06-10T08:00:00",
          name="m1", project="roof")  # fmt: skip
    mini.run("up", "--once", "--settle", "0", **NOW)
    mini.run("learn", "The quetzalcoatl switch is behind the rack", "--topic", "rack", "--everywhere", **NOW)
    mini.run("up", "--once", "--settle", "0", **NOW)
    meet(laptop, mini, batches)
    before = current(laptop)
    assert {name for name in before if "knowledge/" in name} <= set(current(mini))
    assert "quetzalcoatl" in "".join(notes(laptop, "lessons/topics").values())

    # Retracted on the one that does not compile.
    assert mini.json("sync", "status", **NOW)["compiles_on"] != "mini"
    done = mini.json("retract", CLAIM, "--reason", REASON, "--replacement", INSTEAD, "--yes", **NOW)
    meet(laptop, mini, batches)
    for each in (laptop, mini):
        assert current(each) == {}, each.path.name
    laptop.run("up", "--once", "--settle", "0", **NOW)  # it makes a fact of what holds instead
    meet(laptop, mini, batches)
    for each in (laptop, mini):
        assert current(each) == {}, each.path.name
        assert INSTEAD in "".join(notes(each, "lessons/agents").values())
        assert REASON in "".join(notes(each, "lessons/topics").values())
        for row in each.json("search", "drops the mount when the disks spin down", **NOW)["results"]:
            assert row["retracted"]["why"].startswith(f"retracted on 2026-06-11: {REASON}"), row

    # Taken back on the other one; an entry is forgotten meanwhile.
    laptop.run("undo", done["id"], **NOW)
    mini.run("forget", "--match", "quetzalcoatl", "--yes", **NOW)
    while meet(laptop, mini, batches):
        pass
    for each in (laptop, mini):
        after = current(each)
        assert {name for name in before if "knowledge/" in name or "topics/" in name} <= set(after) | {
            "knowledge/index.md"
        }, each.path.name
        assert each.json("undo", **NOW)["retracted"] == []
        assert INSTEAD not in "".join(notes(each, "lessons/agents").values())
        for path in (*each.state.rglob("*"), *each.vault.rglob("*"), *batches.iterdir()):
            assert not path.is_file() or b"quetzalcoatl" not in path.read_bytes(), path
    assert laptop.json("doctor", "--fingerprint") == mini.json("doctor", "--fingerprint")
