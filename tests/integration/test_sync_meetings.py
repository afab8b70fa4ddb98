"""Real ledgers that meet in an order nobody planned: held back by a folder, forgotten meanwhile, set back."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from machines import Machine, settle, talk

from afterword.app import retract, sync_holds, sync_steps
from afterword.domain.clock import parse_rfc3339
from afterword.domain.ids import SegmentKey, SessionId, digest_lesson_uid
from afterword.domain.registers import Rank
from afterword.domain.settings import Peer
from afterword.store.ledger import arrivals, article_files, articles, entries, lessons, registers, segments
from afterword.store.ledger.forgetting import Wanted
from afterword.store.ledger.ledger import RecordKind
from afterword.store.vault_card import read_card


@pytest.fixture
def three(tmp_path: Path) -> Iterator[list[Machine]]:
    made = [Machine(tmp_path / name, name, seed) for seed, name in enumerate(("mini", "laptop", "phone"), 1)]
    yield made
    for machine in made:
        machine.close()


@pytest.fixture
def mini(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "mini", "mini", 1)
    yield made
    made.close()


def hold(owner: Machine, other: Machine, *, back: bool = True) -> None:
    owner.withheld[other.ledger.origin[0]] = ("orchard-api",) if back else ()
    owner.set_holds(other.ledger.origin[0])


def words(machine: Machine) -> int:
    return sum(bool(text) for text in machine.texts())


def bodies(machine: Machine, origin: str) -> list[str]:
    row = {its_id: row for row, (its_id, _) in machine.ledger.origins().items()}[origin]
    return [entry.key for entry in entries.read(machine.ledger, row, 1, machine.ledger.head(row)) if entry.body]


def test_what_a_folder_for_anybody_leaves_out_comes_when_they_meet(three: list[Machine], tmp_path: Path) -> None:
    mini, laptop, phone = three
    mini.talk()
    hold(mini, phone)
    mini.export(tmp_path / "batches")
    laptop.take(tmp_path / "batches")
    phone.take(tmp_path / "batches")
    assert laptop.knows()[mini.ledger.origin[0]] == mini.knows()[mini.ledger.origin[0]]
    assert words(laptop) == words(phone) == 0
    assert talk(laptop, mini) > 0
    assert laptop.lines() == mini.lines()
    # What filled the stubs is told to others under the same numbers.
    assert bodies(laptop, mini.ledger.origin[0]) == bodies(mini, mini.ledger.origin[0])
    settle(three)
    assert talk(laptop, mini) == talk(mini, phone) == talk(phone, laptop) == 0
    assert words(phone) == 0
    assert sync_holds.lacking(mini.ledger) == sync_holds.lacking(laptop.ledger) == 0
    hold(mini, phone, back=False)
    settle(three)
    assert phone.lines() == laptop.lines() == mini.lines()


def test_one_who_has_nothing_new_is_not_asked_again(three: list[Machine]) -> None:
    mini, laptop, _ = three
    mini.talk()
    hold(mini, laptop)
    talk(laptop, mini)
    ledger, its_id, vector = laptop.ledger, mini.ledger.origin[0], mini.knows()
    peers = {"mini": Peer(host="mini")}
    assert sum(len(ranges) for ranges in sync_holds.to_ask(ledger, peers, its_id, vector).values()) > 0
    met = sync_holds.Met(its_id, 1, vector, 1, lacking=sync_holds.lacking(ledger))
    with ledger.transaction():
        sync_holds.remember(ledger, laptop.program.redactor, "mini", met)
    assert sync_holds.to_ask(ledger, peers, its_id, vector) == {}
    assert sync_holds.to_ask(ledger, peers, its_id, vector | {its_id: vector[its_id] + 1})


def test_what_is_let_go_after_a_ledger_was_set_back_passes_through_a_relay(three: list[Machine]) -> None:
    mini, laptop, phone = three
    mini.talk()
    hold(mini, laptop)
    talk(mini, laptop)
    # An older ledger in the place of this one: its machine numbers anew, and what it lets go was numbered by another.
    older = json.dumps({"origin": mini.ledger.origin[0], "n": 100_000})
    mini.close()
    (mini.path / "state/numbered.json").write_text(older)
    mini.open()
    hold(mini, laptop, back=False)
    talk(mini, laptop)
    assert words(laptop) == words(mini) > 0
    talk(laptop, phone)
    assert phone.lines() == laptop.lines() == mini.lines()


@pytest.mark.parametrize("first", [0, 1])
def test_a_fact_that_was_made_of_a_forgotten_lesson_goes(three: list[Machine], first: int) -> None:
    """One machine forgets an entry; another, which does not know yet, makes a fact of it."""
    mini, laptop, phone = three
    mini.learn_only("Never trust the quetzalcoatl flag of the tide page.")
    settle(three)
    (entry,) = lessons.lessons(mini.ledger)
    mini.forget(Wanted(lessons=(entry.uid,)))
    laptop.program.lessons.fold()
    assert lessons.facts(laptop.ledger)
    talk(laptop, phone)
    assert lessons.facts(phone.ledger)
    for one, other in ((mini, laptop), (mini, phone))[:: 1 - 2 * first]:
        talk(one, other)
        assert not lessons.facts(mini.ledger)
    settle(three)
    for machine in three:
        rows = machine.ledger.db.execute(
            "SELECT value FROM register WHERE kind IN (?, ?)", (RecordKind.LESSON, RecordKind.FACT)
        )
        assert all(value == "{}" for (value,) in rows), machine.name
        for file in machine.path.rglob("*"):
            assert not file.is_file() or b"quetzalcoatl" not in file.read_bytes(), file


HEX = "ab" * 16
SECTION = {
    "session": HEX, "day": "2026-06-01", "time": "10:00", "start_us": 1, "harness": "codex", "project": "p",
    "origin": "x", "digest": {"context": {"text": "", "items": [], "quote": ""}},
}  # fmt: skip
ITEM = {
    "kind": 1, "said_by": 1, "time_us": 1, "time_flag": 0, "text": "x", "rank": 3,
    "home": {"id": HEX, "harness": "codex", "native": "n"},
}  # fmt: skip


def said(value: object, **more: object) -> dict[str, object]:
    return {"value": value, "rank": 1} | more


@pytest.mark.parametrize(
    ("kind", "key", "body"),
    [
        ("hold", f"{HEX}/{HEX}/{HEX}", said([])),
        ("hold", f"{HEX}/{HEX}", said({"a": 1})),
        ("setting", "compile.on", said(7)),
        ("setting", "vault.zone", said([["", "Mars/Utopia"]])),
        ("setting", "use/compile/a-0123456789ab", said("often")),
        ("setting", "my AKIAQ3EGRIJKLMNOPQ2Z", said(1)),
        ("section", "s-0123456789ab", said(SECTION | {"day": "../../../2026-06-01"})),
        ("section", "s-0123456789ab", said(SECTION | {"day": "20260601"})),
        ("section", "s-0123456789ab %%", said(SECTION)),
        ("section", "s-0123456789ab", said({"session": HEX})),
        ("digest", "s-0123456789ab", said({}, of={"item": ["zz"]})),
        ("build", "2026-13-41", said({})),
        ("article", "a-0123456789ab", said({"kind": "concept", "title": "x", "slug": "../../x"})),
        ("lesson", "l-0123456789ab/edits", said([])),
        ("fact", "f-0123456789ab", said({})),
        ("tombstone", "session:../x", said({}, rank=4)),
        ("item", HEX, ITEM | {"time_us": 2**70}),
        ("item", HEX, ITEM | {"exit": "password: hunter2hunter2"}),
        ("item", HEX, ITEM | {"home": {"id": "../x", "harness": "codex", "native": "n"}}),
        ("membership", f"{HEX}/{HEX}", {"pos": 1, "sub": 0, "said": 0, "authority": 0, "rank": 99}),
    ],
)
def test_a_record_that_its_kind_does_not_allow_is_refused(
    mini: Machine, kind: str, key: str, body: dict[str, object]
) -> None:
    mini.talk()
    before = mini.ledger.db.execute("SELECT count(*) FROM register").fetchone(), mini.knows()
    entry = entries.Entry(1, kind, key, 1, msgspec.json.encode(body, order="sorted"))
    with pytest.raises(arrivals.Unfit) as told:
        arrivals.take(mini.ledger, mini.program.redactor, "c" * 32, [entry])
    assert str(key) not in str(told.value)
    assert (mini.ledger.db.execute("SELECT count(*) FROM register").fetchone(), mini.knows()) == before
    # What reads them goes on as before.
    mini.talk()
    mini.compile()


def test_keys_that_are_none_and_revisions_that_leave_no_room_are_refused(mini: Machine) -> None:
    ledger, redactor = mini.ledger, mini.program.redactor
    stub = entries.Entry(1, "setting", "my AKIAQ3EGRIJKLMNOPQ2Z", 1, None, "superseded")
    last = entries.Entry(1, "setting", "x.y", 2**63 - 1, b'{"rank":1,"value":1}')
    for entry in (stub, last):
        with pytest.raises(arrivals.Unfit):
            arrivals.take(ledger, redactor, "c" * 32, [entry])


def test_an_article_that_was_forgotten_elsewhere_leaves_a_persons_file(three: list[Machine]) -> None:
    """Its record comes with the tombstones: by then nothing in the ledger tells what the file said."""
    mini, laptop, _ = three
    mini.talk()
    mini.compile()
    talk(mini, laptop)
    note = min((laptop.vault / "knowledge/concepts").glob("*.md"))
    note.write_text(f"{note.read_text()}\n## My notes\n\nMy own words.\n")
    laptop.program.compiling.look()
    uid = next(file.uid for file in article_files.every(laptop.ledger).values() if laptop.vault / file.path == note)
    quotes = [claim.quote for claim in articles.stored(laptop.ledger)[uid].points]
    assert quotes
    ids = [its_id for (its_id,) in mini.ledger.db.execute("SELECT id FROM session")]
    mini.forget(Wanted(sessions=tuple(SessionId(its_id) for its_id in ids)))
    talk(mini, laptop)
    said = "".join(path.read_text() for path in laptop.vault.rglob("*.md"))
    assert "My own words" in said
    assert [quote for quote in quotes if quote in said] == []


def test_an_old_ledger_that_is_put_back_twice_numbers_nothing_again(mini: Machine) -> None:
    mini.talk()
    mini.close()
    file = mini.path / "state/ledger.db"
    old = file.read_bytes()
    origins = set()
    for _ in range(3):
        mini.open()
        mini.talk()
        assert mini.ledger.origin[0] not in origins
        origins.add(mini.ledger.origin[0])
        mini.close()
        file.write_bytes(old)  # in its place, as a tool does that changes a file's blocks
    mini.open()


def test_days_end_where_they_do_on_the_other_machine_at_once(three: list[Machine]) -> None:
    mini, laptop, _ = three
    late = parse_rfc3339("2026-06-01T20:30:00Z") or 0
    assert laptop.program.zones.day(late) == "2026-06-01"
    with mini.ledger.transaction():
        value = mini.program.redactor.document([["", "Asia/Tokyo"]], plain=("",))
        registers.put(mini.ledger, RecordKind.SETTING, "vault.zone", value, Rank.PERSON)
    talk(mini, laptop)
    sync_steps.follow(laptop.program, lambda *_: None)
    assert laptop.program.zones.day(late) == "2026-06-02"
    card = read_card(laptop.vault)
    assert card is not None
    assert card.zone == [("", "Asia/Tokyo")]


def test_a_replacement_that_is_forgotten_is_said_by_no_retraction(three: list[Machine]) -> None:
    mini, laptop, _ = three
    mini.learn_only("The NAS of the harbour office is a Synology.")
    mini.program.lessons.fold()
    settle(three)
    (fact,) = lessons.facts(mini.ledger)
    given = retract.Retract((str(fact.id),), "it was sold", "It is a quetzalcoatl box.")
    retract.retract(mini.program, given, lambda *_: None, lambda: False)
    settle(three)
    (entry,) = [each for each in lessons.lessons(laptop.ledger) if "quetzalcoatl" in each.lesson.text]
    laptop.forget(Wanted(lessons=(entry.uid,)))
    settle(three)
    for machine in three:
        assert [each.edits.status for each in lessons.facts(machine.ledger)] == ["retracted"]
        for file in machine.path.rglob("*"):
            assert not file.is_file() or b"quetzalcoatl" not in file.read_bytes(), file


def test_an_entry_that_was_drawn_elsewhere_from_what_is_forgotten_here_does_not_come(three: list[Machine]) -> None:
    """So does no fact that was made of it: this machine never had the entry, and has no tombstone for it."""
    mini = three[0]
    mini.talk()
    key, quote = next(
        (register.key, point.quote)
        for register, record in segments.sections(mini.ledger)
        for point in record.digest.lessons
    )
    uid = f"l{digest_lesson_uid(SegmentKey(key), quote + ' quetzalcoatl')[1:]}"
    ids = [its_id for (its_id,) in mini.ledger.db.execute("SELECT id FROM session")]
    mini.forget(Wanted(sessions=tuple(SessionId(its_id) for its_id in ids)))
    entry = {"text": "Of quetzalcoatl", "kind": "lesson", "at_us": 1, "day": "2026-06-01", "source": "digest"}
    fact = {"text": "Of quetzalcoatl", "kind": "lesson", "topic": "x", "lessons": [uid], "created": "2026-06-01",
            "updated": "2026-06-01", "at_us": 1}  # fmt: skip
    records = [
        entries.Entry(n, kind, name, 1, msgspec.json.encode({"rank": 1, "value": value}, order="sorted"))
        for n, (kind, name, value) in enumerate(
            (("lesson", uid, entry | {"evidence": key}), ("fact", f"f{uid[1:]}", fact)), 1
        )
    ]
    arrivals.take(mini.ledger, mini.program.redactor, "c" * 32, records)
    assert not lessons.facts(mini.ledger)
    assert uid not in {each.uid for each in lessons.lessons(mini.ledger)}
    assert mini.knows()["c" * 32] == 2
    for file in mini.path.rglob("*"):
        assert not file.is_file() or b"quetzalcoatl" not in file.read_bytes(), file


def test_a_ledger_that_was_set_back_leaves_no_section_of_what_is_forgotten(three: list[Machine]) -> None:
    mini, laptop, _ = three
    old = laptop.path / "old.db"
    laptop.close()
    old.write_bytes((laptop.path / "state/ledger.db").read_bytes())
    laptop.open()
    mini.talk()
    talk(mini, laptop)
    note = next((laptop.vault / "daily").glob("*.md"))
    said = note.read_text()
    assert "**Lessons Learned:**" in said
    laptop.close()
    old.replace(laptop.path / "state/ledger.db")
    ids = [its_id for (its_id,) in mini.ledger.db.execute("SELECT id FROM session")]
    mini.forget(Wanted(sessions=tuple(SessionId(its_id) for its_id in ids)))
    laptop.open()
    talk(mini, laptop)
    assert "**Lessons Learned:**" not in note.read_text()
