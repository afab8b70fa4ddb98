"""What happened in the sample history: three days of two invented projects, as told to Claude Code and Codex.

harbor-api books berths in a marina (Python), tidepool prints tide tables (TypeScript). The same fault, jobs that
share one temp directory, is met on each of the three days. Every name, host and secret here is made up; the
secrets are put together from parts so that no scanner takes this file for a leak.
"""

from collections.abc import Iterator
from typing import Any

HARBOR = "/home/maya/src/harbor-api"
TIDE = "/home/maya/src/tidepool"

GITHUB_TOKEN = "gh" + "p_" + "DemoOnlyNotARealTokenDemoOnly0123456"
AWS_KEY_ID = "AK" + "IA" + "DEMO0NOTAREALKEY"
AWS_SECRET = "demoOnly/" + "NotARealSecretKey/" + "0123456789abc"
URL_PASSWORD = "not-a-real-" + "pass-7731"
STAGING_URL = "postgres://harbor:" + URL_PASSWORD + "@db.staging.harbor.test:5432/harbor"
SMTP_PASSWORD = "swordfish-" + "demo-4471"
POLISH_PASSWORD = "Bursztyn-" + "demo-2026!"
_JWT_PARTS = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    "eyJzdWIiOiJkZW1vIiwibmFtZSI6Im5vYm9keSJ9",
    "bm90LWEtcmVhbC1zaWduYXR1cmUtZGVtbw",
)
JWT = ".".join(_JWT_PARTS)

CANARIES = (GITHUB_TOKEN, AWS_KEY_ID, AWS_SECRET, URL_PASSWORD, SMTP_PASSWORD, POLISH_PASSWORD, JWT)


def tell(claude: type[Any], codex: type[Any]) -> Iterator[Any]:
    """Every session, in the order in which they began."""
    yield flaky_export(claude)
    yield tide_rows(codex)
    yield faktury(claude)
    yield release_race(codex)
    yield forecast_cache(claude)
    yield wide_characters(codex)
    yield backfill(claude)
    yield snapshot_race(codex)
    yield runbook(claude)


def _pytest(dots: int, failed: str = "", reason: str = "", seconds: float = 4.2) -> str:
    """What pytest -q prints for `dots` tests, one of them failed."""
    line = "." * (dots // 2) + ("F" if failed else ".") + "." * (dots - dots // 2 - 1)
    rows = [line[i : i + 72] for i in range(0, len(line), 72)]
    if not failed:
        return "\n".join(rows) + f"\n{dots} passed in {seconds}s"
    return "\n".join(rows) + (
        f"\n=================================== FAILURES ===================================\n{reason}\n"
        "=========================== short test summary info ============================\n"
        f"FAILED {failed}\n1 failed, {dots - 1} passed in {seconds}s"
    )


# ---------------------------------------------------------------- Monday, 8 June


def flaky_export(claude: type[Any]) -> Any:
    s = claude("flaky-export", "2026-06-08T11:04:00", HARBOR, "main")
    s.user(
        "CI on main is red again, third time since Friday. It's always test_export_writes_manifest and it passes when I "
        "press re-run. I don't want another retry decorator, I want to know why it happens."
    )
    s.think("Flaky test in CI only. Look at the test, then at how the jobs run, before changing anything.")
    s.say(
        "I'll read the test and the workflow first, then look at what the red runs have in common. A test that only fails "
        "in CI usually shares something there that it does not share on your machine."
    )
    s.read("tests/test_export.py", EXPORT_TEST)
    s.read(".github/workflows/ci.yml", CI_BEFORE)
    s.say(
        "Two things stand out. The test writes to a fixed folder, `/tmp/harbor-fixtures`, and the workflow starts three "
        "jobs (py311, py312, lint-and-docs) on the same self-hosted runner. I'll have the red runs compared while I try "
        "to reproduce it here."
    )
    scout = s.delegate(
        "f41c07",
        "Compare the red CI runs",
        "Read the last twelve CI logs under ci-logs/. For each red run say which job failed, which other jobs were running "
        "at that moment on the same runner, and whether the failing test names /tmp/harbor-fixtures. Report facts only.",
    )
    scout.run("ls ci-logs | tail -12", "\n".join(f"run-{n}.log" for n in range(4102, 4114)))
    scout.run(
        "grep -l 'ManifestMismatchError' ci-logs/*.log",
        "ci-logs/run-4104.log\nci-logs/run-4108.log\nci-logs/run-4113.log",
    )
    scout.run(
        "grep -hE 'job|runner|ManifestMismatch' ci-logs/run-4104.log ci-logs/run-4108.log ci-logs/run-4113.log", CI_LOG
    )
    s.report(
        scout,
        "Three of twelve runs are red: 4104, 4108 and 4113. In all three the failing job is py311 or py312 and the other "
        "one was running on the same runner (dock-2) at that moment. The nine green runs had the two jobs on different "
        "runners or one after the other. Every failure names /tmp/harbor-fixtures/export/manifest.json.",
    )
    s.run(
        "for i in 1 2 3; do (pytest -q tests/test_export.py & pytest -q tests/test_export.py; wait) | tail -1; done",
        "1 failed, 6 passed in 1.31s\n7 passed in 1.22s\n1 failed, 6 passed in 1.29s",
        code=1,
        why="Run two copies at once",
    )
    s.say(
        "Reproduced: two copies at once fail in two of three tries, one copy alone never does. The root cause is a race on "
        "a shared temp directory. Both jobs use /tmp/harbor-fixtures on the same runner; the first job's teardown deletes "
        "the folder while the second one is between writing rows.csv and reading manifest.json. The test is right and the "
        "export code is right, only the place is shared."
    )
    s.user("OK that makes sense. Options? I'd rather not pin jobs to different runners, we only have two.")
    s.say(
        "Three ways:\n\n"
        "1. A lock around the folder. Works, but the jobs wait for each other and CI gets slower.\n"
        "2. A retry on the test. Hides it; the next test that writes there will fail the same way.\n"
        "3. Give every job its own temp directory, and let the fixture use pytest's tmp_path instead of a fixed path.\n\n"
        "I recommend the third. Nothing is shared any more, so there is nothing to race on, and it costs no time."
    )
    s.user("Let's go with 3: a temp directory per job, and the fixture moves to tmp_path. No lock, no retry.")
    s.edit(
        "tests/conftest.py",
        'FIXTURES = Path("/tmp/harbor-fixtures")\n\n\n@pytest.fixture\ndef export_dir():\n    FIXTURES.mkdir(exist_ok=True)\n'
        "    yield FIXTURES\n    shutil.rmtree(FIXTURES)",
        "@pytest.fixture\ndef export_dir(tmp_path):\n    # Never a fixed path: two jobs on one runner would delete each other's files.\n"
        '    folder = tmp_path / "export"\n    folder.mkdir()\n    return folder',
    )
    s.edit(
        ".github/workflows/ci.yml",
        "      - run: pytest -q",
        "      - name: A temp directory of its own for each job\n"
        '        run: |\n          dir="$(mktemp -d "${RUNNER_TEMP}/harbor-${GITHUB_JOB}-XXXXXX")"\n'
        '          echo "TMPDIR=$dir" >> "$GITHUB_ENV"\n      - run: pytest -q',
    )
    s.run(
        "pytest -q",
        _pytest(
            218,
            "tests/test_cli.py::test_export_command_prints_folder",
            "    def test_export_command_prints_folder(runner):\n"
            '>       assert "/tmp/harbor-fixtures" in runner.invoke(cli, ["export"]).output\n'
            "E       AssertionError: assert '/tmp/harbor-fixtures' in 'wrote 3 files to /tmp/pytest-of-maya/pytest-81/export0\\n'",
            9.8,
        ),
        code=1,
    )
    s.say(
        "One test had the old path written into it: test_export_command_prints_folder expects `/tmp/harbor-fixtures` in the "
        "output. It should ask the fixture for the folder, as the others do."
    )
    s.edit(
        "tests/test_cli.py",
        '    assert "/tmp/harbor-fixtures" in runner.invoke(cli, ["export"]).output',
        '    assert str(export_dir) in runner.invoke(cli, ["export", "--to", str(export_dir)]).output',
    )
    s.run("pytest -q", _pytest(218, seconds=9.6))
    s.run(
        "for i in $(seq 40); do (pytest -q tests/test_export.py & pytest -q tests/test_export.py; wait) | tail -1; done | sort | uniq -c",
        "     40 7 passed in 1.2s",
        why="Forty doubled runs",
        seconds=110,
    )
    s.say(
        "All 218 tests pass, and forty doubled runs of the export tests are green. Moving every job to its own temp directory fixed it; "
        "before the change two of three doubled runs failed."
    )
    s.user(
        "Can you push the branch and check that TMPDIR really arrives in the job? Print the env in the workflow once if you have to."
    )
    s.run(
        "git switch -c ci-own-tempdir && git commit -qam 'Give each CI job its own temp directory' && git push -q origin HEAD",
        "",
    )
    s.run("gh run view 4115 --log | grep -E 'TMPDIR|TOKEN|RUNNER' | head", CI_ENV)
    s.say(
        "TMPDIR arrives: `/home/runner/_temp/harbor-py311-k3Xq9a` in one job, `harbor-py312-0bTzQe` in the other. One warning: "
        "printing the environment also printed GITHUB_TOKEN in the log. The runner masks its own secrets, but DEPLOY_TOKEN was "
        "set as a plain variable and stands there in clear. I took the debug step out again; that token must be rotated."
    )
    s.user("Ouch. Rotate it is, I'll do that now. Write down what we learned somewhere, I'll forget it by next week.")
    s.say(
        "Lesson learned: a test that writes to a fixed path under /tmp is a race as soon as two jobs share a runner; use tmp_path "
        "in tests and a temp directory per job in the workflow.\n\n"
        "Lesson learned: never print the whole environment in CI; print the one variable you want to see.\n\n"
        "TODO: rotate DEPLOY_TOKEN and store it as a masked secret.\n"
        "TODO: look for other fixed paths under /tmp; `scripts/seed.py` has one."
    )
    s.title("Flaky export test: jobs share one temp directory")
    return s


def tide_rows(codex: type[Any]) -> Any:
    s = codex("tide-rows", "2026-06-08T14:28:00", TIDE, "main", "Last tide of the day is missing")
    s.user(
        "Users say the tide table for Oct 25 lacks the last high water. Other days are fine. Find the bug, test first please."
    )
    s.think("October 25, 2026 is the end of daylight saving time in Europe. The day has 25 hours.")
    s.say(
        "October 25 is the day the clocks go back, so it has 25 hours. I suspect that the table cuts the day at start + 24 h. "
        "I'll look at how a day is selected and write a failing test for that date."
    )
    s.run(
        "rg -n 'dayOf|MS_PER_DAY|86400' src",
        "src/table.ts:14:const MS_PER_DAY = 86_400_000;\nsrc/table.ts:31:  const end = start + MS_PER_DAY;\nsrc/cli.ts:52:  const rows = tableFor(station, dayOf(date));",
    )
    s.run("sed -n 1,60p src/table.ts", TABLE_TS)
    s.patch(
        "test/table.test.ts",
        "describe('tableFor', () => {",
        "describe('tableFor', () => {\n  it('keeps the last tide of a 25 hour day', () => {\n"
        "    const rows = tableFor(gdansk, '2026-10-25');\n    expect(rows.map((r) => r.local)).toEqual(['04:12', '10:31', '16:40', '23:24']);\n  });\n",
    )
    s.run(
        "npm test -- table",
        " FAIL  test/table.test.ts > tableFor > keeps the last tide of a 25 hour day\nAssertionError: expected [ '04:12', '10:31', '16:40' ] to deeply equal [ '04:12', '10:31', '16:40', '23:24' ]\n\n Test Files  1 failed (1)\n      Tests  1 failed | 11 passed (12)",
        code=1,
    )
    s.say(
        "The test fails as reported: 23:24 is missing. The cause: `end = start + MS_PER_DAY` assumes every day has 24 hours. On "
        "October 25 local midnight is 25 hours after the one before, so everything after 23:00 falls out of the table."
    )
    s.user("Just add an hour to the end for that date?")
    s.patch(
        "src/table.ts",
        "  const end = start + MS_PER_DAY;",
        "  const end = start + MS_PER_DAY + (isDstEnd(date) ? 3_600_000 : 0);",
    )
    s.say(
        "That makes the test pass, but in March the day has 23 hours and the table would then show the first tide of the next day."
    )
    s.user("Right, that is a hack. Take it back.")
    s.rollback(2)
    s.user("Do it properly: compute both midnights in the station's zone. No special cases for single dates.")
    s.say(
        "I'll compute the start of this day and the start of the next day in the station's own zone with Temporal, and take "
        "everything in between. Then the length of the day is never assumed."
    )
    s.patch(
        "src/table.ts",
        "  const start = Date.parse(`${date}T00:00:00Z`) - station.offsetMs;\n  const end = start + MS_PER_DAY;",
        "  const day = Temporal.PlainDate.from(date);\n  const start = day.toZonedDateTime(station.zone).epochMilliseconds;\n"
        "  const end = day.add({ days: 1 }).toZonedDateTime(station.zone).epochMilliseconds;",
    )
    s.run(
        "npm test",
        " ✓ test/table.test.ts (12 tests) 41ms\n ✓ test/cli.test.ts (9 tests) 120ms\n ✓ test/format.test.ts (17 tests) 22ms\n\n Test Files  3 passed (3)\n      Tests  38 passed (38)",
    )
    s.say(
        "Fixed: both midnights come from the station's zone, and all 38 tests pass. I also ran the table for 2026-03-29, the 23 hour day, "
        "and it no longer shows a tide of the next day. The column station.offsetMs is not used any more and can go."
    )
    s.user("Good. Keep offsetMs until the next major release, the JSON output shows it. What about the docs?")
    s.patch(
        "docs/tables.md", "A table covers 24 hours.", "A table covers one local day of the station: 23, 24 or 25 hours."
    )
    s.say(
        "Decision: offsetMs stays in the JSON output until 3.0 and is marked deprecated.\n\n"
        "Lesson: a day is the time between two local midnights; adding 86,400,000 milliseconds is wrong twice a year.\n\n"
        "Next step: remove offsetMs in 3.0 and mention it in the migration notes."
    )
    return s


def faktury(claude: type[Any]) -> Any:
    s = claude("faktury", "2026-06-08T16:12:00", HARBOR, "import-faktur")
    s.user(
        "Import faktur z systemu księgowego psuje polskie znaki: zamiast „Żegluga Gdańska” mamy „¯egluga Gdañska”. Znajdź przyczynę "
        "i napraw, ale nie zgaduj kodowania po cichu, bo księgowość musi wiedzieć, co się stało."
    )
    s.think("Typowy objaw: plik w cp1250 czytany jako latin-1. Sprawdzić kod importu i przykładowy plik.")
    s.say(
        "Wygląda na plik w cp1250 odczytany jako latin-1. Najpierw obejrzę kod importu i bajty przykładowego pliku, potem zaproponuję poprawkę."
    )
    s.read("harbor/invoices/importer.py", IMPORTER)
    s.run("head -c 96 samples/faktury-2026-05.csv | xxd", FAKTURY_XXD)
    s.say(
        "Przyczyna jest jasna: bajt 0xAF to „Ż” w cp1250, a importer otwiera każdy plik jako latin-1, gdzie 0xAF to „¯”. Program księgowy do wersji 7 "
        "zapisywał cp1250, a od wersji 8 zapisuje UTF-8 z BOM. Dlatego część plików jest dobra, a część zepsuta."
    )
    s.user(
        "Tak, w maju aktualizowali program. Ustalmy: jeśli jest BOM, to UTF-8. Jeśli nie ma BOM, próbujemy UTF-8, a gdy się nie da, to cp1250 "
        "i wpis w raporcie importu. Nigdy latin-1."
    )
    s.say(
        "Decyzja zapisana: BOM oznacza UTF-8, bez BOM najpierw UTF-8, potem cp1250 z ostrzeżeniem w raporcie. Piszę najpierw test."
    )
    s.create("tests/test_invoice_encoding.py", INVOICE_TEST)
    s.run(
        "pytest -q tests/test_invoice_encoding.py",
        _pytest(
            4,
            "tests/test_invoice_encoding.py::test_cp1250_is_read_and_reported",
            "E       AssertionError: assert '¯egluga Gdañska' == 'Żegluga Gdańska'",
            0.4,
        ),
        code=1,
    )
    s.edit(
        "harbor/invoices/importer.py",
        '    with open(path, encoding="latin-1", newline="") as file:\n        rows = list(csv.DictReader(file, delimiter=";"))',
        '    text, encoding = decode(path.read_bytes())\n    if encoding == "cp1250":\n'
        '        report.warn(f"{path.name}: plik nie jest w UTF-8, odczytano jako cp1250")\n'
        '    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";"))',
    )
    s.run("pytest -q tests/test_invoice_encoding.py", _pytest(4, seconds=0.3))
    s.say("Testy kodowania przechodzą. Teraz cały zestaw i ponowny import pliku z maja na bazie testowej.")
    s.run("pytest -q", _pytest(222, seconds=10.1))
    s.run(
        "python -m harbor.invoices.importer samples/faktury-2026-05.csv --dry-run",
        "wczytano 148 faktur, ostrzeżenia: 1\nfaktury-2026-05.csv: plik nie jest w UTF-8, odczytano jako cp1250\nkontrahent: Żegluga Gdańska, Przystań Łódź, Mieczysław Święcicki",
    )
    s.user(
        f"Świetnie. Dla testu na serwerze księgowości: użytkownik import, hasło: {POLISH_PASSWORD} – sprawdź, czy logowanie działa, ale nic tam nie zapisuj."
    )
    s.run(
        "curl -s -o /dev/null -w '%{http_code}' -u import:\"$KSIEGOWOSC_PASS\" https://ksiegowosc.harbor.test/api/ping",
        "200",
    )
    s.say(
        "Logowanie działa, odpowiedź 200, niczego nie zapisałem. Hasło podałem przez zmienną środowiskową, żeby nie zostało w historii powłoki.\n\n"
        "Wniosek: plik CSV nie mówi, w jakim jest kodowaniu; trzeba to sprawdzić i powiedzieć użytkownikowi, co założono.\n\n"
        "Do zrobienia: poprawić 31 faktur z kwietnia, które już zaimportowano z błędnymi znakami.\n"
        "Do zrobienia: zapytać księgowość, czy mogą zawsze eksportować z BOM."
    )
    s.user("Kwietniowe faktury popraw jutro skryptem, dziś już nie ruszamy bazy. Dziękuję!")
    s.say(
        "Dobrze, bazy dziś nie ruszam. Skrypt poprawiający przygotuję tak, żeby najpierw pokazał zmiany, a zapisywał dopiero po potwierdzeniu."
    )
    s.title("Import faktur: kodowanie polskich znaków")
    return s


# ---------------------------------------------------------------- Tuesday, 9 June


def release_race(codex: type[Any]) -> Any:
    s = codex("release-race", "2026-06-09T12:10:00", HARBOR, "main", "Release build picks up the wrong manifest")
    s.user(
        "The nightly release failed with ManifestMismatchError: the wheel job found a manifest of the docs job. We fixed something like this "
        "in ci.yml yesterday. Why does it still happen?"
    )
    s.think("Yesterday's fix was in ci.yml only. release.yml has its own jobs.")
    s.say(
        "Yesterday's change set TMPDIR in ci.yml only. I'll check what release.yml does and which paths the failing job used."
    )
    s.run("rg -n 'tmp|TMPDIR|runs-on' .github/workflows", WORKFLOW_GREP)
    s.run("gh run view 877 --log-failed | tail -14", RELEASE_LOG)
    s.say(
        "It is the same fault in another file. release.yml runs `wheel` and `docs` at the same time on the self-hosted runner dock-1, and both call "
        "scripts/build_manifest.py, which writes to a fixed /tmp/harbor-build. Whoever comes second finds the other job's manifest. Because the two "
        "jobs share one temp directory, the error depends on which one is faster."
    )
    s.user(
        "So it's in the script too, not only in the workflow. Can we fix it in a way that I don't meet it a third time?"
    )
    s.say(
        "Yes, at two levels. The script should not know a fixed path at all: it takes --work-dir and otherwise makes a fresh one with "
        "tempfile.mkdtemp. And every workflow should get the per-job temp directory from one shared action, so that a new workflow cannot forget it."
    )
    s.user(
        "Agreed. One composite action for all workflows, and the script gets mkdtemp. Add a check that fails when someone writes a literal /tmp path."
    )
    s.patch(
        "scripts/build_manifest.py",
        'WORK = Path("/tmp/harbor-build")\nWORK.mkdir(exist_ok=True)',
        'work = args.work_dir or Path(tempfile.mkdtemp(prefix="harbor-build-"))',
    )
    s.patch(
        ".github/actions/own-tempdir/action.yml",
        "name: own-tempdir",
        "name: own-tempdir\ndescription: A temp directory for this job alone, so that parallel jobs on one runner cannot meet\nruns:\n  using: composite\n"
        '  steps:\n    - shell: bash\n      run: echo "TMPDIR=$(mktemp -d "$RUNNER_TEMP/$GITHUB_JOB-XXXXXX")" >> "$GITHUB_ENV"',
    )
    s.patch(
        ".github/workflows/release.yml",
        "      - uses: actions/checkout@v4",
        "      - uses: actions/checkout@v4\n      - uses: ./.github/actions/own-tempdir",
    )
    s.patch(
        "scripts/check_paths.sh",
        "#!/bin/sh",
        "#!/bin/sh\n# No literal /tmp paths: jobs on one runner share them.\n! git grep -nE '[\"'\"'\"'(=]/tmp/' -- '*.py' '*.yml' '*.sh'",
    )
    s.run(
        "sh scripts/check_paths.sh",
        'scripts/seed.py:22:CACHE = Path("/tmp/harbor-seed")\nscripts/bench.py:9:OUT = "/tmp/bench.json"',
        code=1,
    )
    s.say(
        "The new check already found two more: scripts/seed.py and scripts/bench.py. seed.py was on yesterday's list. Both get mkdtemp as well; "
        "then the check passes."
    )
    s.patch(
        "scripts/seed.py", 'CACHE = Path("/tmp/harbor-seed")', 'CACHE = Path(tempfile.mkdtemp(prefix="harbor-seed-"))'
    )
    s.patch(
        "scripts/bench.py",
        'OUT = "/tmp/bench.json"',
        'OUT = Path(tempfile.mkdtemp(prefix="harbor-bench-")) / "bench.json"',
    )
    s.run("sh scripts/check_paths.sh && pytest -q", _pytest(224, seconds=10.4))
    s.run(
        "gh workflow run release.yml --ref own-tempdir && gh run watch 881 --exit-status",
        "✓ wheel (dock-1) in 2m11s\n✓ docs (dock-1) in 1m58s\n✓ Run release (881) completed with 'success'",
        seconds=150,
    )
    s.say(
        "Release 881 is green with both jobs on dock-1 at the same time. What fixed it: no job writes to a shared temp directory any more, each has its own.\n\n"
        "Decision: all workflows use the own-tempdir action, and check_paths.sh runs in CI.\n\n"
        "Lesson learned: after fixing a race, search for the pattern in all workflows and scripts at once. We fixed one file and met the same race a day later.\n\n"
        "TODO: add own-tempdir to nightly.yml, which is disabled at the moment."
    )
    s.user(
        f"The docs job needs the staging database for the API examples. Use DATABASE_URL={STAGING_URL} and tell me if it connects."
    )
    s.run(f"psql '{STAGING_URL}' -Atc 'select count(*) from berth'", "412")
    s.say(
        "It connects, 412 berths. I passed it on the command line just this once; it should come from a secret named STAGING_DATABASE_URL, "
        "because process lists and shell histories keep command lines."
    )
    s.user("Make it a secret, I'll add it in the settings.")
    s.patch(
        ".github/workflows/release.yml",
        "      - run: make docs",
        "      - run: make docs\n        env:\n          DATABASE_URL: ${{ secrets.STAGING_DATABASE_URL }}",
    )
    s.say("Done. The docs job reads STAGING_DATABASE_URL; without it the API examples are skipped and the job says so.")
    return s


def forecast_cache(claude: type[Any]) -> Any:
    s = claude("forecast-cache", "2026-06-09T15:02:00", TIDE, "forecast-cache")
    s.user(
        "`tidepool forecast` asks the weather service on every call, and they throttle us (HTTP 429) after 60 calls an hour. We need a cache. What would you use?"
    )
    s.say("I'll look at how the calls are made and how often the data really changes before proposing a cache.")
    s.run(
        "rg -n 'fetchForecast' src test",
        "src/forecast.ts:18:export async function fetchForecast(station: Station): Promise<Forecast> {\nsrc/cli.ts:71:    const forecast = await fetchForecast(station);\nsrc/watch.ts:33:      const forecast = await fetchForecast(station);\ntest/forecast.test.ts:8:import { fetchForecast } from '../src/forecast';",
    )
    s.read("src/forecast.ts", FORECAST_TS)
    s.run(
        "cat .env",
        f"WEATHER_BUCKET=tidepool-cache\nAWS_ACCESS_KEY_ID={AWS_KEY_ID}\nAWS_SECRET_ACCESS_KEY={AWS_SECRET}\nLOG_LEVEL=info",
    )
    s.say(
        "The service sends `Cache-Control: max-age=1800`, so an answer is good for half an hour, and we throw it away each time. Note that .env holds "
        "real-looking AWS keys for a bucket that nothing in src uses any more; they should be removed and revoked."
    )
    fork = s.mark()
    s.user("Let's try Redis, we have one on the server anyway.")
    s.say("I'll add ioredis and keep each forecast under the station's id with the max-age as its time to live.")
    s.run("npm install ioredis", "added 9 packages, and audited 212 packages in 3s\n\nfound 0 vulnerabilities")
    s.edit(
        "src/forecast.ts",
        "  const response = await fetch(url);",
        "  const kept = await redis.get(`forecast:${station.id}`);\n  if (kept) return JSON.parse(kept);\n  const response = await fetch(url);",
    )
    s.run(
        "npm test -- forecast",
        " FAIL  test/forecast.test.ts > fetchForecast > reads a station\nError: connect ECONNREFUSED 127.0.0.1:6379\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)\n\n Test Files  1 failed (1)\n      Tests  6 failed (6)",
        code=1,
    )
    s.say(
        "Every forecast test now needs a running Redis, and so would every user of the command line tool. That is a dead end for a tool that people "
        "install on a laptop on a boat."
    )
    s.rewind(fork)
    s.user(
        "Forget Redis, a command line tool must not need a server. Use a file: SQLite in the cache folder, keyed by station, respect max-age."
    )
    s.think("node:sqlite is built in since 22.5. Check the engines field.")
    s.say(
        "A SQLite file in the user's cache folder then. Node 22 has node:sqlite built in, so it needs no new dependency. I'll check the engines field first."
    )
    s.run("node --version && node -p \"require('./package.json').engines\"", "v22.11.0\n{ node: '>=20' }")
    s.user("We can raise engines to 22, version 20 is out of support since April.")
    s.create("src/cache.ts", CACHE_TS)
    s.edit(
        "src/forecast.ts",
        "  const response = await fetch(url);\n  return parse(await response.json());",
        "  const kept = cache.get(station.id, now());\n  if (kept) return parse(JSON.parse(kept));\n  const response = await fetch(url);\n"
        "  const body = await response.text();\n  cache.put(station.id, body, now(), maxAge(response.headers));\n  return parse(JSON.parse(body));",
    )
    s.run(
        "npm test -- forecast",
        " FAIL  test/forecast.test.ts > cache > forgets after max-age\nAssertionError: expected 1 to be 2 // fetch calls\n\n Test Files  1 failed (1)\n      Tests  1 failed | 8 passed (9)",
        code=1,
    )
    s.say(
        "One failure, and it is a real bug in my code: the cache compared seconds with milliseconds, so nothing ever expired. max-age is in seconds, "
        "Date.now() in milliseconds. I'll keep the unit in the name."
    )
    s.edit("src/cache.ts", "row.stored + row.maxAge > now", "row.storedMs + row.maxAgeS * 1000 > nowMs")
    s.run(
        "npm test",
        " ✓ test/forecast.test.ts (9 tests) 88ms\n ✓ test/table.test.ts (12 tests) 40ms\n ✓ test/cli.test.ts (9 tests) 118ms\n ✓ test/format.test.ts (17 tests) 20ms\n\n Test Files  4 passed (4)\n      Tests  47 passed (47)",
    )
    s.say(
        "All 47 tests pass. Two calls in a row for the same station now make one request, and after 30 minutes the second one asks again."
    )
    s.compact(
        "The forecast cache is a SQLite file in the cache folder, keyed by station, honouring max-age. Redis was tried and dropped. engines is raised to node 22. "
        "All tests pass. Open: what happens offline, and the keys in .env."
    )
    s.user("Next: offline. On a boat there is often no network. What should `forecast` do then?")
    s.say(
        "I would show the stored forecast even when it is too old, and say how old it is: an old forecast with a date is better than an error, an old forecast "
        "without a date is dangerous. Exit code 0, the note on standard error."
    )
    s.user("Yes, do that. But never older than 12 hours, then it's an error.")
    s.edit(
        "src/forecast.ts",
        "  const response = await fetch(url);",
        "  const response = await fetch(url).catch((cause) => offline(station, cause));\n"
        "  // Up to 12 hours an old forecast is shown with its age; beyond that it would mislead.",
    )
    s.queued("And use exit code 3 for the too-old case, scripts want to tell it apart.")
    s.run(
        "npm test -- forecast",
        " ✓ test/forecast.test.ts (12 tests) 93ms\n\n Test Files  1 passed (1)\n      Tests  12 passed (12)",
    )
    s.say(
        "Done, with exit code 3 for a forecast older than 12 hours.\n\n"
        "Decision: cache in SQLite, not Redis, because a command line tool must work without a server.\n"
        "Decision: offline shows the stored forecast with its age, up to 12 hours; older is exit code 3.\n\n"
        "Lesson learned: write the unit into the name (maxAgeS, storedMs); the mixed units made the cache never expire and only the test with a moved clock showed it.\n\n"
        "TODO: revoke the AWS keys in .env and delete the file from the repository.\n"
        "TODO: document the cache folder in the README."
    )
    s.title("A forecast cache that works on a boat")
    return s


def wide_characters(codex: type[Any]) -> Any:
    s = codex("wide-characters", "2026-06-09T17:31:00", TIDE, "ja-locale", "日本語の潮汐表で列がずれる")
    s.user(
        "日本語ロケールで潮汐表を表示すると列がずれます。「満潮」と「干潮」の行だけ右に二文字分はみ出します。原因を調べて直してください。"
    )
    s.think("全角文字は端末で二桁の幅を取る。padEnd は文字数で数える。")
    s.say(
        "全角文字は端末では二桁分の幅になりますが、padEnd は文字数しか数えません。まず整形の関数と再現手順を確認します。"
    )
    s.run("rg -n 'padEnd' src", "src/format.ts:12:  return cells.map((c, i) => c.padEnd(widths[i])).join('  ');")
    s.run(
        "LANG=ja_JP.UTF-8 node dist/cli.js table yokohama 2026-06-09",
        "時刻   種類    潮位\n03:41  満潮    1.62 m\n09:58  干潮    0.41 m\n17:02  満潮    1.71 m\n22:47  干潮    0.93 m",
    )
    s.say(
        "再現できました。原因は format.ts の 12 行目です。幅を文字数で計算しているため、「満潮」は 2 と数えられますが、端末では 4 桁を占めます。"
    )
    s.user("ライブラリを追加するか自前で書くか、どちらが良いですか。依存は増やしたくないです。")
    s.say(
        "自前で十分だと思います。必要なのは East Asian Width が W または F の文字を 2 と数えることだけで、範囲の表は二十行ほどです。"
        "絵文字の合成列は Intl.Segmenter で一つにまとめられます。"
    )
    s.user("では自前で書くことにしましょう。テストも日本語と絵文字の両方でお願いします。")
    s.patch(
        "src/format.ts",
        "  return cells.map((c, i) => c.padEnd(widths[i])).join('  ');",
        "  // 端末の桁数で揃える。文字数では全角文字がはみ出す。\n  return cells.map((c, i) => c + ' '.repeat(widths[i] - columns(c))).join('  ');",
    )
    s.patch(
        "test/format.test.ts",
        "describe('row', () => {",
        "describe('row', () => {\n  it.each([['満潮', 4], ['tide', 4], ['🌊', 2], ['ｶﾅ', 2]])('%s は %i 桁', (text, n) => {\n    expect(columns(text)).toBe(n);\n  });\n",
    )
    s.run(
        "npm test -- format",
        " FAIL  test/format.test.ts > row > ｶﾅ は 2 桁\nAssertionError: expected 4 to be 2\n\n Test Files  1 failed (1)\n      Tests  1 failed | 20 passed (21)",
        code=1,
    )
    s.say(
        "半角カナを全角として数えていました。範囲の表に U+FF61 から U+FFDC までを含めてしまったのが原因です。この範囲は半角なので外します。"
    )
    s.patch("src/format.ts", "  [0xff01, 0xffe6],", "  [0xff01, 0xff60],\n  [0xffe0, 0xffe6],")
    s.run(
        "npm test",
        " ✓ test/format.test.ts (21 tests) 24ms\n ✓ test/table.test.ts (12 tests) 40ms\n ✓ test/cli.test.ts (9 tests) 119ms\n ✓ test/forecast.test.ts (12 tests) 90ms\n\n Test Files  4 passed (4)\n      Tests  54 passed (54)",
    )
    s.say(
        "全てのテストが通りました。列は日本語でも英語でも揃います。\n\n"
        "決定: 依存は増やさず、文字幅の計算は自前で行う。\n"
        "教訓: 端末の幅は文字数ではない。半角カナのように見た目と範囲が違う文字を必ずテストに入れる。\n"
        "TODO: 韓国語のロケールでも表示を確認する。"
    )
    return s


def backfill(claude: type[Any]) -> Any:
    s = claude("backfill", "2026-06-09T21:38:00", HARBOR, "berth-length")
    s.user(
        "I'm running the berth length backfill on staging tonight, 2.1 million bookings. The column berth_length_cm must be filled before the release tomorrow. Check the script with me before I start."
    )
    s.read("scripts/backfill_length.py", BACKFILL)
    s.say(
        "I would not start it like this. It is one UPDATE over the whole table in one transaction: it holds row locks until the end, the web workers will wait "
        "for them, and if it fails after an hour everything is rolled back and you begin again."
    )
    s.user("It took four minutes on my laptop though.")
    s.say(
        "With 40,000 rows and nobody else connected. On staging there are 2.1 million rows and the booking page writes to the same table. I propose batches by "
        "primary key, 5,000 rows each, a commit after each one, a pause when the lock wait gets long, and the last id stored so that it can go on after a stop."
    )
    s.user("OK, batches of 5,000 with the last id stored. Let's do that.")
    s.create("scripts/backfill_length.py", BACKFILL_NEW)
    s.run(
        "python scripts/backfill_length.py --limit 50000",
        "batch 1..10 done, 50000 rows, 31 s, last id 50212\nlongest lock wait 12 ms",
    )
    s.say(
        "The trial with 50,000 rows is fine: 31 seconds, no lock wait above 12 ms. At that rate the whole table takes about 22 minutes. You can start it."
    )
    s.wait(9)
    s.user("Started. … wait, it stopped: `canceling statement due to lock timeout`. At batch 61.")
    s.run(
        'psql "$STAGING" -Atc "select pid, state, wait_event_type, left(query, 60), now() - xact_start from pg_stat_activity where datname = \'harbor\' order by 5 desc limit 4"',
        "8812|idle in transaction|Client|SELECT * FROM booking WHERE berth_id = 77 FOR UPDATE|01:52:11.204\n9120|active|Lock|UPDATE booking SET berth_length_cm = b.length_cm FROM bert|00:00:04.871\n9007|idle|Client|COMMIT|\n9011|idle|Client|COMMIT|",
    )
    s.say(
        "Process 8812 has been idle in a transaction for almost two hours and holds a row lock on berth 77; our batch waits for it. That is not the backfill's fault: "
        "somebody opened a transaction with SELECT … FOR UPDATE and never ended it."
    )
    s.user("That's the admin console, Piotr left it open. He is asleep. Can I kill it?")
    s.say(
        "Yes: pg_terminate_backend(8812) ends only that session, and since it is idle it has nothing in flight; its transaction is rolled back. It only held a lock, it changed nothing. "
        "I'd also set idle_in_transaction_session_timeout for the admin role, so that it cannot happen again."
    )
    s.run("psql \"$STAGING\" -Atc 'select pg_terminate_backend(8812)'", "t")
    s.run(
        "python scripts/backfill_length.py --resume",
        "resuming after id 305118\nbatch 61..140 done, 400000 rows, 251 s, last id 706540\nlongest lock wait 18 ms",
        seconds=260,
    )
    s.say("It goes on from id 305118, nothing was done twice. 80 batches since then, the longest lock wait is 18 ms.")
    s.at("2026-06-09T22:26:00")
    s.user("Coffee. How far are we?")
    s.run("python scripts/backfill_length.py --status", "last id 1204377 of 2118940, 57 %, 11 min left")
    s.say("57 percent, about 11 minutes to go. Nobody waits for a lock.")
    s.at("2026-06-09T22:52:00")
    s.user("Done I think. Let's verify before I go to bed: are there rows without a length?")
    s.run("psql \"$STAGING\" -Atc 'select count(*) from booking where berth_length_cm is null'", "1312")
    s.say("1,312 rows are still empty. I'll look at what they have in common.")
    s.run(
        'psql "$STAGING" -Atc "select status, count(*), min(created), max(created) from booking where berth_length_cm is null group by 1"',
        "cancelled|1309|2019-03-02|2020-11-30\nactive|3|2026-06-09 22:41|2026-06-09 22:49",
    )
    s.say(
        "Two groups. 1,309 are old cancelled bookings whose berth no longer exists, so there is no length to copy. Three are new bookings made while the backfill ran: "
        "the web code on staging does not write the column yet, so every new booking will be empty until the release is out."
    )
    s.at("2026-06-09T23:14:00")
    s.user("So the order was wrong: deploy the code that writes the column first, then backfill. What now?")
    s.say(
        "Deploy the new code, then run the backfill once more; it only touches empty rows, so it takes seconds. The old cancelled ones stay empty and the column stays nullable for them. "
        "We must not set NOT NULL in the same release."
    )
    s.user("Agreed: column stays nullable, no NOT NULL tomorrow. Deploying to staging now.")
    s.at("2026-06-09T23:41:00")
    s.run(
        "make deploy ENV=staging",
        "harbor-api 2026.6.1 → staging\nmigrations: none\nworkers restarted: 4\nhealth: ok",
        seconds=90,
    )
    s.say(
        "Deployed, the health check is ok. I'll make a booking through the API to see that the new code fills the column."
    )
    s.run(
        f"curl -s -H 'Authorization: Bearer {JWT}' https://staging.harbor.test/api/bookings -d @samples/booking.json",
        '{"id": 2118987, "berth": 77, "berth_length_cm": 1150, "status": "active"}',
    )
    s.say("The new booking has berth_length_cm 1150. Now the second run of the backfill.")
    s.at("2026-06-10T00:06:00")
    s.run(
        "python scripts/backfill_length.py --resume --from-start",
        "batch 1..424 checked, 14 rows filled, 9 s\nlongest lock wait 3 ms",
        seconds=10,
    )
    s.user("14 rows. And the count?")
    s.run(
        'psql "$STAGING" -Atc "select status, count(*) from booking where berth_length_cm is null group by 1"',
        "cancelled|1309",
    )
    s.say(
        "Only the 1,309 old cancelled bookings are left, as expected. The backfill is complete.\n\n"
        "Decision: the order for production is: deploy the code that writes the column, then backfill in batches of 5,000, then check the count. The column stays nullable.\n\n"
        "Lesson learned: deploy the writer before the backfill, or new rows stay empty.\n"
        "Lesson learned: a long backfill needs batches with a stored position; the stop at batch 61 cost us two minutes and not the whole evening.\n\n"
        "TODO: set idle_in_transaction_session_timeout to 10 minutes for the admin role.\n"
        "TODO: tell Piotr that his session was ended during the night."
    )
    s.at("2026-06-10T00:22:00")
    s.user("Good night then. Thanks for not letting me run the one big UPDATE.")
    s.say("Good night. The production run needs about 25 minutes; any quiet hour tomorrow will do.")
    s.title("Backfill of berth lengths on staging")
    return s


# ---------------------------------------------------------------- Wednesday, 10 June


def snapshot_race(codex: type[Any]) -> Any:
    s = codex("snapshot-race", "2026-06-10T08:18:00", TIDE, "main", "Snapshot tests collide in CI")
    s.user(
        "tidepool's CI fails now and then: snapshot of yokohama differs, and the diff shows rows of gdansk. We had something with temp folders in harbor-api this week. "
        "Is it the same thing?"
    )
    s.think("Rows of another station in a snapshot: two workers write the same file.")
    s.say(
        "Rows of another station in the snapshot point to two writers of one file. I'll look at where the snapshot tests write."
    )
    s.run(
        'rg -n "tmp|TMPDIR" test vitest.config.ts .github',
        "test/snapshot.test.ts:6:const OUT = '/tmp/tidepool-snap/out.txt';\ntest/watch.test.ts:11:const STATE = '/tmp/tidepool-snap/state.json';\n.github/workflows/ci.yml:19:        run: npm test",
    )
    s.run(
        "npx vitest run --pool=forks --poolOptions.forks.maxForks=4 test/snapshot.test.ts test/watch.test.ts",
        " FAIL  test/snapshot.test.ts > yokohama\nError: Snapshot `yokohama 1` mismatched\n- 03:41  High  1.62 m\n+ 05:12  High  0.31 m\n\n Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 13 passed (14)",
        code=1,
    )
    s.say(
        "Yes, it is the same cause as in harbor-api: parallel workers share one temp directory. Every snapshot test writes /tmp/tidepool-snap/out.txt and reads it back; with four "
        "workers one test reads what another has just written. Alone each test is right."
    )
    s.user("Then the same cure: a temp directory for each job and each worker. Nothing with fixed names under /tmp.")
    s.patch(
        "test/snapshot.test.ts",
        "const OUT = '/tmp/tidepool-snap/out.txt';",
        "// A folder of its own: workers run in parallel.\nconst OUT = join(mkdtempSync(join(tmpdir(), 'tidepool-')), 'out.txt');",
    )
    s.patch(
        "test/watch.test.ts",
        "const STATE = '/tmp/tidepool-snap/state.json';",
        "const STATE = join(mkdtempSync(join(tmpdir(), 'tidepool-')), 'state.json');",
    )
    s.patch(
        ".github/workflows/ci.yml",
        "        run: npm test",
        '        run: |\n          export TMPDIR="$(mktemp -d "$RUNNER_TEMP/$GITHUB_JOB-XXXXXX")"\n          npm test',
    )
    s.run(
        "for i in $(seq 25); do npx vitest run --pool=forks test/snapshot.test.ts test/watch.test.ts >/dev/null && echo ok; done | sort | uniq -c",
        "     25 ok",
        seconds=95,
    )
    s.say(
        "Twenty-five parallel runs, all green; before, about every fourth failed. With its own temp directory each worker reads only what it wrote.\n\n"
        "Decision: no fixed paths under /tmp in tidepool either; tests use mkdtemp, jobs get their own TMPDIR.\n\n"
        "Lesson learned: this is the third time this week. The pattern to look for is a literal /tmp path in anything that can run twice at once."
    )
    s.user("Let's take over check_paths.sh from harbor-api so it can't come back. Adapt it to .ts files.")
    s.patch(
        "scripts/check_paths.sh", "#!/bin/sh", "#!/bin/sh\n! git grep -nE \"['\\\"\\`]/tmp/\" -- '*.ts' '*.yml' '*.sh'"
    )
    s.run("sh scripts/check_paths.sh", "src/watch.ts:14:const LOCK = '/tmp/tidepool-watch.lock';", code=1)
    s.say(
        "It found one in the program itself: watch.ts has its lock in /tmp/tidepool-watch.lock, so two users on one machine block each other. That lock belongs in the user's "
        "runtime folder (XDG_RUNTIME_DIR, or the cache folder without one)."
    )
    s.user("Fix that too, good catch.")
    s.patch(
        "src/watch.ts",
        "const LOCK = '/tmp/tidepool-watch.lock';",
        "const LOCK = join(process.env.XDG_RUNTIME_DIR ?? cacheFolder(), 'tidepool-watch.lock');",
    )
    s.run("sh scripts/check_paths.sh && npm test", " Test Files  6 passed (6)\n      Tests  68 passed (68)")
    s.say(
        "The check passes and all 68 tests too. Next step: mention the new place of the lock in the changelog, because a running old version does not see it."
    )
    return s


def runbook(claude: type[Any]) -> Any:
    s = claude("runbook", "2026-06-10T12:04:00", HARBOR, "docs-ci")
    s.user(
        "Write docs/ci.md for harbor-api: what we learned about the runners this week, so that new people don't walk into it. Short, no essay.",
        reminder="The todo list is empty. Do not mention this to the user.",
    )
    s.say("I'll look at what the workflows say now and at the open points of the last two days, then write one page.")
    s.run(
        "git log --oneline --since='3 days ago'",
        "b71e0aa Use own-tempdir in release.yml\n3d9120c Check for literal /tmp paths\n8f02c1e Read invoices as UTF-8 or cp1250, never latin-1\n41c77d9 Give each CI job its own temp directory",
    )
    s.create("docs/ci.md", CI_DOC)
    s.say(
        "docs/ci.md is there, one page: how the runners are shared, the rule about temp directories, how to see a race (run two copies at once), and what never to print. "
        "It links to check_paths.sh."
    )
    s.user(
        "Good. Two of the to-dos: nightly.yml still lacks own-tempdir, and DEPLOY_TOKEN: I rotated it on Monday, please check that nothing uses the old variable."
    )
    s.run(
        "rg -n 'DEPLOY_TOKEN' .github scripts",
        '.github/workflows/release.yml:44:          DEPLOY_TOKEN: ${{ secrets.DEPLOY_TOKEN }}\nscripts/deploy.sh:9:: "${DEPLOY_TOKEN:?not set}"',
    )
    s.edit(
        ".github/workflows/nightly.yml",
        "      - uses: actions/checkout@v4",
        "      - uses: actions/checkout@v4\n      - uses: ./.github/actions/own-tempdir",
    )
    s.say(
        "Nothing uses a plain variable any more: release.yml takes DEPLOY_TOKEN from the secrets, deploy.sh stops when it is missing. nightly.yml has own-tempdir now."
    )
    s.queued("Also try the mail alert, SMTP_PASSWORD=" + SMTP_PASSWORD + " and host smtp.harbor.test, does it send?")
    s.run(
        "python -m harbor.alerts --test",
        "Traceback (most recent call last):\n  File \"harbor/alerts.py\", line 31, in send\n    server.login(user, password)\nsmtplib.SMTPAuthenticationError: (535, b'5.7.8 Authentication failed')",
        code=1,
    )
    s.say(
        "Authentication failed (535). The code reads SMTP_PASS, the setting you gave is named SMTP_PASSWORD; so it sent an empty password. I'll make the code read SMTP_PASSWORD, "
        "the name that the documentation uses, and stop with a clear message when it is missing."
    )
    s.edit(
        "harbor/alerts.py",
        '    password = os.environ.get("SMTP_PASS", "")',
        '    password = os.environ["SMTP_PASSWORD"]',
    )
    s.run("python -m harbor.alerts --test", "sent a test message to ops@harbor.test in 0.8 s")
    s.user(
        "It arrived. Then let's run the production backfill at 15:00, in the order we agreed last night. Anything left before that?"
    )
    s.say(
        "Two things. The admin role still has no idle_in_transaction_session_timeout, and Piotr's console could block us again. And the release with the code that writes berth_length_cm must be out first.\n\n"
        "Decision: the production backfill runs at 15:00, after the release, in batches of 5,000.\n"
        "Decision: the alert code reads SMTP_PASSWORD only and fails when it is not set.\n\n"
        'Lesson learned: a default of "" for a password turns a missing setting into a failed login somewhere else; fail where it is read.\n\n'
        "TODO: set idle_in_transaction_session_timeout for the admin role before 15:00.\n"
        "TODO: repair the 31 invoices of April, the script is ready for a dry run."
    )
    s.user("I'll set the timeout now. Please do the dry run of the April invoices while I'm at it.")
    s.run("python scripts/repair_invoices.py --month 2026-04 --dry-run", APRIL)
    s.say(
        "The dry run would change 31 invoices, all of them only in the customer's name. Nothing else differs. Say the word and I'll write it."
    )
    s.user("Write it.")
    s.run(
        "python scripts/repair_invoices.py --month 2026-04 --write",
        "31 invoices repaired, 0 left, backup in invoices-2026-04.before.json",
    )
    s.say("31 invoices are repaired, none is left, and the old state is in invoices-2026-04.before.json.")
    s.title("CI page, alerts, April invoices")
    return s


# ---------------------------------------------------------------- files and outputs

EXPORT_TEST = """
import csv
import json

from harbor.export import export_bookings


def test_export_writes_rows(export_dir, bookings):
    export_bookings(bookings, to=export_dir)
    rows = list(csv.DictReader((export_dir / "rows.csv").open()))
    assert [row["id"] for row in rows] == [b.id for b in bookings]


def test_export_writes_manifest(export_dir, bookings):
    export_bookings(bookings, to=export_dir)
    manifest = json.loads((export_dir / "manifest.json").read_text())
    assert manifest["rows"] == len(bookings)
    assert manifest["files"] == ["rows.csv", "berths.csv"]
"""

CI_BEFORE = """
name: ci
on: [push, pull_request]
jobs:
  py311:
    runs-on: [self-hosted, dock]
    steps:
      - uses: actions/checkout@v4
      - run: make install
      - run: pytest -q
  py312:
    runs-on: [self-hosted, dock]
    steps:
      - uses: actions/checkout@v4
      - run: make install PYTHON=python3.12
      - run: pytest -q
  lint-and-docs:
    runs-on: [self-hosted, dock]
    steps:
      - uses: actions/checkout@v4
      - run: make lint docs
"""

CI_LOG = "\n".join(
    f"2026-06-{day:02}T{hour:02}:{minute:02}:{second:02}Z runner=dock-2 job={job} {what}"
    for day, hour, minute in ((5, 9, 14), (6, 17, 2), (8, 8, 47))
    for second, job, what in (
        (3, "py311", "started"),
        (5, "py312", "started"),
        (41, "py311", "teardown: removing /tmp/harbor-fixtures"),
        (
            41,
            "py312",
            "harbor.export.ManifestMismatchError: manifest.json names 2 files, found 0 in /tmp/harbor-fixtures/export",
        ),
        (58, "py312", "failed: tests/test_export.py::test_export_writes_manifest"),
    )
)

CI_ENV = f"""
py311  Print env  TMPDIR=/home/runner/_temp/harbor-py311-k3Xq9a
py311  Print env  RUNNER_NAME=dock-2
py311  Print env  GITHUB_TOKEN=***
py311  Print env  DEPLOY_TOKEN={GITHUB_TOKEN}
py312  Print env  TMPDIR=/home/runner/_temp/harbor-py312-0bTzQe
py312  Print env  RUNNER_NAME=dock-2
"""

TABLE_TS = """
import { Station, Tide } from './types';
import { tidesBetween } from './harmonics';

export interface Row {
  local: string;
  kind: 'High' | 'Low';
  metres: number;
}

/** A table covers one day of one station. */
const MS_PER_DAY = 86_400_000;

function toRow(tide: Tide, station: Station): Row {
  return {
    local: new Date(tide.at + station.offsetMs).toISOString().slice(11, 16),
    kind: tide.high ? 'High' : 'Low',
    metres: Math.round(tide.height * 100) / 100,
  };
}

export function tableFor(station: Station, date: string): Row[] {
  const start = Date.parse(`${date}T00:00:00Z`) - station.offsetMs;
  const end = start + MS_PER_DAY;
  return tidesBetween(station, start, end).map((tide) => toRow(tide, station));
}
"""

IMPORTER = '''
"""Wczytuje faktury z eksportu programu księgowego."""

import csv
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True)
class Invoice:
    number: str
    customer: str
    gross: Decimal


def read_invoices(path: Path, report) -> list[Invoice]:
    with open(path, encoding="latin-1", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    report.count(len(rows))
    return [Invoice(row["numer"], row["kontrahent"], Decimal(row["brutto"].replace(",", "."))) for row in rows]
'''

FAKTURY_XXD = """
00000000: 6e75 6d65 723b 6b6f 6e74 7261 6865 6e74  numer;kontrahent
00000010: 3b62 7275 7474 6f0d 0a46 562f 3035 2f31  ;brutto..FV/05/1
00000020: 3b af65 676c 7567 6120 4764 61f1 736b 61  ;.egluga Gda.ska
00000030: 3b31 3233 302c 3030 0d0a 4656 2f30 352f  ;1230,00..FV/05/
00000040: 323b 5072 7a79 7374 61f1 20a3 f364 bf3b  2;Przysta. ..d.;
"""

INVOICE_TEST = """
import pytest
from harbor.invoices.importer import read_invoices
from harbor.invoices.report import Report

ROW = "numer;kontrahent;brutto\\r\\nFV/05/1;Żegluga Gdańska;1230,00\\r\\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
def test_utf8_is_read_without_a_warning(tmp_path, encoding):
    path = tmp_path / "faktury.csv"
    path.write_bytes(ROW.encode(encoding))
    report = Report()
    assert read_invoices(path, report)[0].customer == "Żegluga Gdańska"
    assert report.warnings == []


def test_cp1250_is_read_and_reported(tmp_path):
    path = tmp_path / "faktury.csv"
    path.write_bytes(ROW.encode("cp1250"))
    report = Report()
    assert read_invoices(path, report)[0].customer == "Żegluga Gdańska"
    assert "cp1250" in report.warnings[0]


def test_other_bytes_are_an_error(tmp_path):
    path = tmp_path / "faktury.csv"
    path.write_bytes(b"numer;kontrahent;brutto\\r\\nFV/1;\\x81\\x83;1\\r\\n")
    with pytest.raises(ValueError, match="kodowanie"):
        read_invoices(path, Report())
"""

WORKFLOW_GREP = """
.github/workflows/ci.yml:5:    runs-on: [self-hosted, dock]
.github/workflows/ci.yml:9:      - name: A temp directory of its own for each job
.github/workflows/ci.yml:12:          echo "TMPDIR=$dir" >> "$GITHUB_ENV"
.github/workflows/release.yml:8:    runs-on: [self-hosted, dock]
.github/workflows/release.yml:15:      - run: python scripts/build_manifest.py   # writes /tmp/harbor-build
.github/workflows/release.yml:31:    runs-on: [self-hosted, dock]
.github/workflows/release.yml:38:      - run: python scripts/build_manifest.py --docs
"""

RELEASE_LOG = """
wheel  Build  scripts/build_manifest.py: writing /tmp/harbor-build/manifest.json
docs   Build  scripts/build_manifest.py: writing /tmp/harbor-build/manifest.json
wheel  Build  Traceback (most recent call last):
wheel  Build    File "scripts/build_manifest.py", line 58, in <module>
wheel  Build      check(manifest, expected=wheel_files)
wheel  Build    File "scripts/build_manifest.py", line 41, in check
wheel  Build      raise ManifestMismatchError(f"unexpected {extra}")
wheel  Build  ManifestMismatchError: unexpected ['site/index.html', 'site/search.json', 'site/objects.inv']
wheel  Build  Error: Process completed with exit code 1.
"""

FORECAST_TS = """
import { Station } from './types';

export interface Forecast {
  at: string;
  wind: number;
  gust: number;
  wave: number;
}

const BASE = 'https://api.weather.test/v2/marine';

function parse(body: unknown): Forecast {
  const hours = (body as { hours: Forecast[] }).hours;
  if (!hours?.length) throw new Error('the weather service sent no hours');
  return hours[0];
}

export async function fetchForecast(station: Station): Promise<Forecast> {
  const url = `${BASE}?lat=${station.lat}&lon=${station.lon}`;
  const response = await fetch(url);
  return parse(await response.json());
}
"""

CACHE_TS = """
import { DatabaseSync } from 'node:sqlite';

/** One forecast for each station, as text, until its max-age is over. */
export class Cache {
  private db: DatabaseSync;

  constructor(path: string) {
    this.db = new DatabaseSync(path);
    this.db.exec('CREATE TABLE IF NOT EXISTS kept (station TEXT PRIMARY KEY, body TEXT, stored INTEGER, maxAge INTEGER)');
  }

  get(station: string, now: number): string | undefined {
    const row = this.db.prepare('SELECT * FROM kept WHERE station = ?').get(station);
    return row && row.stored + row.maxAge > now ? row.body : undefined;
  }

  put(station: string, body: string, now: number, maxAge: number): void {
    this.db.prepare('INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)').run(station, body, now, maxAge);
  }
}
"""

BACKFILL = '''
"""Fills booking.berth_length_cm from the berth."""

import psycopg

SQL = """
UPDATE booking SET berth_length_cm = b.length_cm
FROM berth b WHERE b.id = booking.berth_id
"""

with psycopg.connect() as connection:
    connection.execute(SQL)
'''

BACKFILL_NEW = '''
"""Fills booking.berth_length_cm from the berth, in batches; can be stopped and resumed at any time."""

import argparse
import time

import psycopg

BATCH = 5_000
SQL = """
UPDATE booking SET berth_length_cm = b.length_cm
FROM berth b
WHERE b.id = booking.berth_id AND booking.berth_length_cm IS NULL AND booking.id > %s AND booking.id <= %s
"""


def run(connection, last: int, limit: int | None) -> int:
    """Fill from id `last` on; returns the last id that was done."""
    connection.execute("SET lock_timeout = '5s'")
    done = 0
    while upper := next_border(connection, last):
        started = time.monotonic()
        with connection.transaction():
            done += connection.execute(SQL, (last, upper)).rowcount
            remember(connection, upper)
        last = upper
        if limit and done >= limit:
            break
        time.sleep(min(1.0, time.monotonic() - started))
    return last
'''

CI_DOC = """
# CI: what to know about our runners

Two self-hosted runners, dock-1 and dock-2, take up to three jobs each **at the same time**. Jobs on one runner share
/tmp, ports and the docker socket.

## Rules

1. No literal /tmp path in tests, scripts or workflows. Tests use `tmp_path`, scripts `tempfile.mkdtemp`, jobs the
   `own-tempdir` action. `scripts/check_paths.sh` checks it.
2. A test that passes on re-run is a race until shown otherwise. No retry decorators.
3. Never print the whole environment. Print the one variable you want to see.

## How to see a race

Run two copies at once, several times:

    for i in 1 2 3; do (pytest -q FILE & pytest -q FILE; wait) | tail -1; done

## History

- 8 June: the export tests of two jobs shared /tmp/harbor-fixtures.
- 9 June: the release jobs shared /tmp/harbor-build; the same fault in another file.
"""

APRIL = "\n".join(
    [
        f"FV/04/{n}: '{bad}' -> '{good}'"
        for n, (bad, good) in enumerate(
            (
                ("¯egluga Gdañska", "Żegluga Gdańska"),
                ("Przystañ £ód¿", "Przystań Łódż"),
                ("Mieczys³aw Œwiêcicki", "Mieczysław Święcicki"),
                ("Stocznia Wis³a", "Stocznia Wisła"),
                ("Jacht Klub Pó³noc", "Jacht Klub Północ"),
            ),
            3,
        )
    ]
    + ["… 26 more", "31 would change, 117 stay, 0 unreadable"]
)
