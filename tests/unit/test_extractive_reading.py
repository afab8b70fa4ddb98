"""What a newcomer reads in a digest: nothing that settles nothing, nothing torn, nothing said twice."""

import pytest

from afterword.compile.extractive import Extractive
from afterword.compile.sentences import normal
from afterword.domain.digest import Digest, DigestInput, Passage, Point
from afterword.domain.ids import SegmentKey
from afterword.domain.items import ExitStatus, Kind, SaidBy

PERSON, AGENT, MACHINE = SaidBy.PERSON, SaidBy.AGENT, SaidBy.MACHINE


def digest(*talk: str, title: str = "") -> Digest:
    """The digest of lines "u: …" (a person), "a: …" (the agent), "c0: …" and "c1: …" (commands), "o: …", "e: path"."""
    kinds = {"u": (Kind.PROMPT, PERSON), "a": (Kind.REPLY, AGENT), "o": (Kind.OUTPUT, MACHINE)}
    passages: list[Passage] = []
    for n, line in enumerate(talk):
        who, text = line.split(": ", 1)
        path: str | None = None
        status: ExitStatus = None
        if who in kinds:
            kind, by = kinds[who]
        elif who == "e":
            kind, by, path, text = Kind.EDIT, AGENT, text, "…"
        else:
            kind, by, status = Kind.COMMAND, AGENT, int(who[1:])
        passages.append(Passage(f"{n:032x}", kind, text, by, path, status))
    segment = DigestInput(SegmentKey("s-000000000000"), "codex", "api", title, tuple(passages))
    made = Extractive().digest(segment)
    for point in (*made.exchanges, *made.decisions, *made.lessons, *made.actions):
        assert any(point.quote in normal(p.text) for p in passages if p.item in point.items)
    return made


def texts(points: tuple[Point, ...]) -> list[str]:
    return [point.text for point in points]


# ---------------------------------------------------------------- decisions

SESSION = {
    "en": ("The export loses the last row of every file.", "The writer closes before the flush."),
    "pl": ("Eksport gubi ostatni wiersz każdego pliku.", "Pisarz zamyka plik przed opróżnieniem bufora."),
    "ru": ("Экспорт теряет последнюю строку каждого файла.", "Запись закрывается раньше сброса буфера."),
    "he": ("הייצוא מאבד את השורה האחרונה בכל קובץ.", "הכותב נסגר לפני ריקון החוצץ."),
    "de": ("Der Export verliert die letzte Zeile jeder Datei.", "Der Schreiber schließt vor dem Leeren."),
    "fr": ("L'export perd la dernière ligne de chaque fichier.", "L'écriture ferme avant de vider le tampon."),
    "es": ("La exportación pierde la última fila de cada archivo.", "El escritor cierra antes de vaciar el búfer."),
    "ja": ("エクスポートで各ファイルの最終行が消えます。", "書き込みがフラッシュの前に閉じられます。"),
}


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "OK that makes sense."),
        ("en", "Good to know."),
        ("pl", "Rozumiem, to ma sens."),
        ("ru", "Понятно, звучит логично."),
        ("he", "אוקיי, נשמע הגיוני."),
        ("de", "Okay, das ergibt Sinn."),
        ("fr", "D'accord, ça se tient."),
        ("es", "Vale, tiene sentido."),
        ("ja", "なるほど、納得しました。"),
        ("en", "Use DATABASE_URL=postgres://x and tell me if it connects."),
        ("ja", "テストも両方の形式でお願いします。"),
        ("pl", "Usuń stary plik eksportu od razu."),
        ("de", "Lösch die alte Datei des Exports gleich."),
        ("fr", "Régénère les fichiers de mai maintenant."),
        ("en", "The docs job needs the staging database for the API examples."),
        ("pl", "Grafik potrzebuje też dni wolnych z Niemiec."),
        ("he", "צוות התמיכה צריך את הרשימה של הכפולים."),
        ("de", "Die Kollegen brauchen das Archiv ab acht Uhr."),
        ("en", "Deploying the new build to staging now."),
        ("en", "I'm restarting the replica now."),
        ("pl", "Wdrażam nową wersję na serwer testowy."),
        ("ru", "Выкатываю новую сборку на боевой сервер."),
        ("he", "אני מעלה את הגרסה לסביבת הבדיקות."),
        ("es", "Estoy desplegando la versión nueva en pruebas."),
        ("ja", "本番サーバーに新しい版を反映しています。"),
        ("pl", "W maju aktualizowali program księgowy."),
    ],
)
def test_what_settles_nothing_is_no_decision(language: str, line: str) -> None:
    prompt, reply = SESSION[language]
    assert not digest(f"u: {prompt}", f"a: {reply}", "e: out.py", f"u: {line}", "a: OK.").decisions


@pytest.mark.parametrize(
    "report",
    [
        "Import faktur psuje polskie znaki: zamiast „Żegluga” mamy „¯egluga”. Znajdź przyczynę i napraw.",
        "Die Sicherung dauert seit Juni neun Stunden statt zwei. Finde bitte heraus, warum.",
        "The export writes commas instead of semicolons since Monday. Please fix it.",
    ],
)
def test_the_report_of_a_fault_is_no_decision(report: str) -> None:
    made = digest(f"u: {report}", "a: OK.", "e: a.py")
    assert not made.decisions
    assert made.context.text.split()[0] == report.split(maxsplit=1)[0]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "I don't want another retry decorator in there.",
            "I don't want another retry decorator in there.",
        ),
        (
            "Agreed: column stays nullable, no NOT NULL yet.",
            "Column stays nullable, no NOT NULL yet.",
        ),
        ("And use exit code 3 for the old case.", "Use exit code 3 for the old case."),
        ("Then let's keep the folder for each job.", "Let's keep the folder for each job."),
        ("hey, let's keep the folder for each job", "let's keep the folder for each job"),
        ("Good. offsetMs stays in the output, always.", "offsetMs stays in the output, always."),
    ],
)
def test_a_persons_sentence_keeps_its_subject(line: str, shown: str) -> None:
    prompt, reply = SESSION["en"]
    assert texts(digest(f"u: {prompt}", f"a: {reply}", "e: out.py", f"u: {line}").decisions) == [shown]


def test_the_polish_and_is_cut_in_polish_only() -> None:
    prompt, reply = SESSION["pl"]
    made = digest(f"u: {prompt}", f"a: {reply}", "e: out.py", "u: I zostawmy stary format dla księgowości na zawsze.")
    assert made.decisions[0].text == "Zostawmy stary format dla księgowości na zawsze."


@pytest.mark.parametrize(
    ("proposal", "answer", "shown"),
    [
        (
            "I would show the stored forecast with its age.",
            "Yes, do that. But never older than 12 hours, then it's an error.",
            "I would show the stored forecast with its age. – But never older than 12 hours, then it's an error.",
        ),
        (
            "登録と同じトランザクションで採番する方法を提案します。",
            "その方法でいきましょう。",
            "登録と同じトランザクションで採番する方法を提案します。 – その方法でいきましょう。",
        ),
        (
            "Ich empfehle, die Prüfziffer als Text zu lesen.",
            "Ja, so machen wir es. Aber ohne den alten Decoder.",
            "Ich empfehle, die Prüfziffer als Text zu lesen. – Aber ohne den alten Decoder.",
        ),
    ],
)
def test_half_a_decision_is_shown_with_the_proposal_it_answers(proposal: str, answer: str, shown: str) -> None:
    made = digest("u: What do we show offline in the forecast?", f"a: {proposal}", f"u: {answer}", "e: a.py", "a: OK.")
    assert texts(made.decisions) == [shown]


# ---------------------------------------------------------------- actions


@pytest.mark.parametrize(
    ("language", "todo", "report"),
    [
        (
            "en",
            "TODO: repair the 31 invoices of April, the script is ready.",
            "31 invoices are repaired, none is left.",
        ),
        (
            "en",
            "TODO: document the vacuum schedule in the runbook.",
            "The vacuum schedule is documented in the runbook.",
        ),
        (
            "pl",
            "Do zrobienia: przeliczyć raporty od końca marca.",
            "Przeliczyłem 78 raportów od końca marca.",
        ),
        ("ru", "Следующий шаг: переобработать 64 уведомления.", "64 уведомления переобработаны."),
        ("he", "TODO: למחוק את ההודעות הכפולות מהתור.", "מחקתי את 40 ההודעות הכפולות מהתור."),
        (
            "de",
            "Zu erledigen: den alten Zwischenspeicher löschen.",
            "Der alte Zwischenspeicher ist gelöscht.",
        ),
        (
            "fr",
            "À faire : regénérer les 212 factures de mai.",
            "Les 212 factures de mai sont regénérées.",
        ),
        (
            "es",
            "Por hacer: corregir los 9 productos negativos.",
            "Los 9 productos negativos están corregidos.",
        ),
        ("ja", "TODO: 説明を docs に書く。", "説明を docs/export.md に書きました。"),
    ],
)
def test_what_a_later_reply_reports_as_done_is_no_action(language: str, todo: str, report: str) -> None:
    prompt, reply = SESSION[language]
    talk = [f"u: {prompt}", "e: a.py", f"a: {reply}\n\n{todo}"]
    [action] = digest(*talk).actions
    assert not digest(*talk, "u: Go on with it please.", "c0: make it", f"a: {report}").actions
    assert action.quote in todo
    assert digest(*talk, "u: Go on with it please.", "a: Nothing else was in the way today.").actions


@pytest.mark.parametrize(
    "talk",
    [
        (
            "u: Read the notes about the race.",
            "a: Read.",
            "u: Write down what we learned, I'll forget it by next week.",
        ),
        (
            "u: Check the table of October 25, test first.",
            "e: a.test.ts",
            "a: The test fails as reported: 23:24 is missing.",
        ),
        ("u: Check the deploy script.", "e: a.sh", "a: It reads the secret, and it stops when the token is missing."),
        (
            "u: Sprawdź logowanie na serwerze księgowości.",
            "a: Logowanie działa. Hasło podałem przez zmienną, żeby nie zostało w historii powłoki.",
        ),
    ],
)
def test_a_finding_or_an_order_of_today_is_no_action(talk: tuple[str, ...]) -> None:
    assert not digest(*talk, "u: Next, the weekly table.", "e: b.py", "a: The weekly table is built.").actions


def test_an_action_is_named_once() -> None:
    made = digest(
        "u: Import faktur psuje polskie znaki. Napraw to.",
        "e: a.py",
        "a: Import działa.\n\nDo zrobienia: poprawić 31 faktur z kwietnia, które już zaimportowano.",
        "u: Kwietniowe faktury popraw jutro skryptem, dziś już nie ruszamy bazy.",
        "a: Tak zrobię.",
    )
    assert texts(made.actions) == ["Poprawić 31 faktur z kwietnia, które już zaimportowano."]


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("line", "part", "shown"),
    [
        ("Decision: no lock and no retry in tests.", "decisions", "No lock and no retry in tests."),
        (
            "Decyzja zapisana: blokady w testach nie będzie.",
            "decisions",
            "Blokady w testach nie będzie.",
        ),
        ("決定: 依存は増やさず、幅の計算は自前で行う。", "decisions", "依存は増やさず、幅の計算は自前で行う。"),
        ("Решение: блокировку в тестах не ставим.", "decisions", "Блокировку в тестах не ставим."),
        ("Entscheidung: keine Sperre in den Tests.", "decisions", "Keine Sperre in den Tests."),
        (
            "Lesson learned: never print the whole environment.",
            "lessons",
            "Never print the whole environment.",
        ),
        (
            "Wniosek: plik CSV nie mówi, w jakim jest kodowaniu.",
            "lessons",
            "Plik CSV nie mówi, w jakim jest kodowaniu.",
        ),
        (
            "Leçon : un montant ne se calcule qu'une fois.",
            "lessons",
            "Un montant ne se calcule qu'une fois.",
        ),
        ("לקח: מאזין שנרשם בטעינה נרשם פעמיים.", "lessons", "מאזין שנרשם בטעינה נרשם פעמיים."),
        (
            "TODO: rotate the token of the deploy job.",
            "actions",
            "Rotate the token of the deploy job.",
        ),
        ("Next step: remove the column in 3.0.", "actions", "Remove the column in 3.0."),
        ("Do zrobienia: zapytać księgowość o eksport.", "actions", "Zapytać księgowość o eksport."),
        ("Próximo paso: avisar al almacén del cambio.", "actions", "Avisar al almacén del cambio."),
    ],
)
def test_the_label_of_a_part_is_not_repeated_in_it(line: str, part: str, shown: str) -> None:
    [point] = getattr(digest("u: Tell me about the runners of the CI.", "e: a.py", f"a: OK.\n\n{line}"), part)
    assert point.text == shown
    assert point.quote == line


# ---------------------------------------------------------------- sentences that lean on their neighbour


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (
            "Lesson learned: this is the third time this week. Look for a literal /tmp path in all that runs twice.",
            "This is the third time this week. Look for a literal /tmp path in all that runs twice.",
        ),
        (
            "Wniosek: tak było już w styczniu. Dane wczytane przy starcie starzeją się z usługą.",
            "Tak było już w styczniu. Dane wczytane przy starcie starzeją się z usługą.",
        ),
        (
            "教訓: これは二回目です。採番と登録を分けると必ずずれる。",
            "これは二回目です。採番と登録を分けると必ずずれる。",
        ),
    ],
)
def test_a_labelled_sentence_that_points_on_takes_the_next_one_along(reply: str, shown: str) -> None:
    assert shown in texts(digest("u: Tell me about the runners of the CI.", "e: a.py", f"a: {reply}").lessons)


@pytest.mark.parametrize(
    ("prompt", "lead", "leaning"),
    [
        (
            "Why are rows lost?",
            "The parser keeps only one line of the field.",
            "Therefore transfers from abroad are silently ignored.",
        ),
        (
            "Dlaczego pliki są zepsute?",
            "Program do wersji 7 zapisywał cp1250, a potem UTF-8.",
            "Dlatego część plików jest zepsuta.",
        ),
        (
            "Warum dauert die Sicherung so lange?",
            "Der Zwischenspeicher liegt auf der Netzplatte.",
            "Deshalb wird jede Datei über das Netz verglichen.",
        ),
        (
            "¿Por qué hay existencias negativas?",
            "La devolución resta la reserva dos veces.",
            "Por eso solo pasa con tarjeta, nunca con efectivo.",
        ),
        (
            "欠番が出るのはなぜですか。",
            "採番はトランザクションの外で行われます。",
            "そのため失敗のたびに一つ欠番になります。",
        ),
    ],
)
def test_a_sentence_that_leans_back_is_joined_or_left_out(prompt: str, lead: str, leaning: str) -> None:
    made = digest(f"u: {prompt}", f"a: {lead} {leaning}", "u: ok", "e: a.py")
    assert any(leaning in text for text in texts(made.lessons))
    assert not any(text.startswith(leaning[:8]) for text in texts(made.lessons))


def test_what_leans_on_an_announcement_is_left_out() -> None:
    made = digest(
        "u: Compute the table by the zone of the station.",
        "a: I'll take everything between the two midnights. Then the length of the day is never assumed.",
        "e: a.py",
        "a: All 38 tests pass.",
    )
    assert "never assumed" not in str(made)


def test_what_is_left_out_in_the_middle_does_not_end_a_sentence() -> None:
    made = digest(
        "u: Why does the batch wait for a lock?",
        "a: The root cause is that somebody opened a transaction with SELECT … FOR UPDATE and never ended it.",
    )
    assert texts(made.lessons)[0].endswith("SELECT … FOR UPDATE and never ended it.")


# ---------------------------------------------------------------- exchanges


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Options?", "There is a lock, a retry and a folder for each job."),
        ("How far are we?", "57 percent are done, about 11 minutes to go."),
        ("What about the docs?", "The docs are updated: a table covers one local day."),
        ("Write it.", "31 invoices are repaired, none is left."),
        ("A niemieckie?", "Zaktualizowałem kalendarz, są już święta z Niemiec."),
        ("Et la comptabilité ?", "J'ai prévenu la comptabilité, les PDF sont corrigés."),
        ("説明は？", "説明を docs/export.md に書きました。"),
    ],
)
def test_a_bare_question_is_not_shown(question: str, answer: str) -> None:
    prompt, reply = SESSION["en"]
    made = digest(f"u: {prompt}", "e: a.py", f"a: {reply}", f"u: {question}", "c0: make", f"a: {answer}")
    assert question.rstrip("?。.？ ") not in str([made.exchanges, made.context])


def test_a_farewell_is_no_exchange() -> None:
    made = digest(
        "u: The export loses the last row of every file.",
        "e: a.py",
        "a: The export writes all rows now.",
        "u: Good night then.",
        "a: Good night.",
    )
    assert "ood night" not in str(made.exchanges)


def test_a_request_is_not_paired_with_a_result_of_something_else() -> None:
    made = digest(
        "u: The nightly release finds the manifest of another job.",
        "a: Both jobs write to one folder.",
        "u: Agreed. Add a check that fails when someone writes a literal /tmp path.",
        "e: a.sh",
        "a: Release 881 is green with both jobs on dock-1 at the same time.",
    )
    assert texts(made.exchanges) == ["Release 881 is green with both jobs on dock-1 at the same time."]


def test_a_question_is_paired_with_its_answer() -> None:
    made = digest(
        "u: Every job gets a temp folder of its own.",
        "e: ci.yml",
        "a: The jobs have folders of their own.",
        "u: Can you push the branch and check that TMPDIR really arrives in the job?",
        "c0: gh run view",
        "a: TMPDIR arrives in both jobs now. I took the debug step out again.",
    )
    assert any("→ TMPDIR arrives in both jobs now." in text for text in texts(made.exchanges))


@pytest.mark.parametrize(
    "command",
    [
        "for i in 1 2 3; do (pytest -q tests/a.py & pytest -q tests/a.py; wait) | tail -1; done",
        "for i in 1 2 3\ndo\n  pytest -q tests/a.py\ndone",
        "while ! pytest -q tests/a.py; do sleep 1; done",
        "if true; then pytest -q tests/a.py; fi",
        "(pytest -q tests/a.py)",
    ],
)
def test_a_loop_is_named_by_what_it_runs(command: str) -> None:
    made = digest("u: Find the race in the exports.", f"c1: {command}", "e: a.py", "c0: pytest -q tests/a.py", "a: OK.")
    assert texts(made.exchanges) == ["pytest -q tests/a.py failed, then passed after editing a.py"]


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("ja", "npm test は失敗した（TypeError: x）が、src/a.ts を編集すると成功した"),
        ("pl", "npm test nie przeszło (TypeError: x), a po zmianie src/a.ts przeszło"),
        ("he", "npm test נכשל (TypeError: x), ואחרי עריכת src/a.ts עבר"),
        ("de", "npm test schlug fehl (TypeError: x) und lief nach Änderung an src/a.ts durch"),
        ("fr", "npm test a échoué (TypeError: x), puis a réussi après modification de src/a.ts"),
        ("es", "npm test falló (TypeError: x) y luego pasó tras editar src/a.ts"),
    ],
)
def test_a_fix_is_told_in_one_sentence(language: str, shown: str) -> None:
    made = digest(f"u: {SESSION[language][0]}", "c1: npm test", "o: TypeError: x", "e: src/a.ts", "c0: npm test")
    assert shown in texts(made.exchanges)


def test_a_fix_without_an_edit_and_with_another_command() -> None:
    again = digest(f"u: {SESSION['ja'][0]}", "c1: npm test -- a", "c0: npm test", "a: OK.")
    assert texts(again.exchanges) == ["npm test -- a は失敗したが、その後 npm test が成功した"]


# ---------------------------------------------------------------- context


@pytest.mark.parametrize(
    ("prompt", "title", "shown"),
    [
        (
            "Zobacz, co jest nie tak, i zaproponuj poprawkę. W raporcie dziennym brakuje wydań z nocy.",
            "",
            "W raporcie dziennym brakuje wydań z nocy.",
        ),
        (
            "Next: offline. On a boat there is often no network.",
            "A forecast cache",
            "A forecast cache – On a boat there is often no network.",
        ),
        (
            "14 rows. And the count?",
            "Backfill of berth lengths on staging",
            "Backfill of berth lengths on staging",
        ),
        (
            "調べて直してもらえますか。予約ボタンを二回押すと予約が二件できます。",
            "",
            "予約ボタンを二回押すと予約が二件できます。",
        ),
        ("תבדוק ותתקן בבקשה. טופס ההרשמה שולח שני מיילים.", "", "טופס ההרשמה שולח שני מיילים."),
        (
            "Посмотри и почини, пожалуйста. Возвраты через кассу зависают.",
            "",
            "Возвраты через кассу зависают.",
        ),
    ],
)
def test_the_context_names_the_matter(prompt: str, title: str, shown: str) -> None:
    assert digest(f"u: {prompt}", "a: The count is one.", "e: a.py", title=title).context.text == shown


def test_the_matter_may_be_named_after_the_first_prompt() -> None:
    made = digest("u: please fix", "u: the mail merge leaves the salutation empty", "a: OK.", "e: a.py")
    assert made.context.text == "the mail merge leaves the salutation empty"
