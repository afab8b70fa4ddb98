"""What a sentence is about: its content words, by their stems, and whether it has any."""

import re

from afterword.compile.sentences import words

_STEM = 4
_GENERIC_STEM = 5
_PARTICIPLE = 6
_LEAST_SHARED = 2
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EAST = re.compile("[\u30a0-\u30ff\u3400-\u9fff]{2,}")
_KATAKANA = re.compile("[\u30a0-\u30ff]{2,}")
_KANJI = re.compile("[\u3400-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7af]{2,}")
_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_NAME = re.compile(r"`[^`]+`|[\w-]+[._/][\w./-]*\w|\b[A-Z]{2,}[A-Z0-9]*\b|\w*[a-z][A-Z]\w*|\d\w+")
_PREFIXES = "והבלמשכ"


def _stems_of(row: str) -> frozenset[str]:
    return frozenset(word[:_GENERIC_STEM] for word in words(row))


_GENERIC = _stems_of(
    "about after again also another anything because been before being both cannot change check choice choices could "
    "does doing done ease else even ever every explain figure find fine first fix from gladly good great happen happens"
    " "
    "have having help here idea into issue just know last later left like look looking made make makes many maybe mind "
    "more most much must need needed needs next night nothing only open option options other over please possible "
    "problem problems properly quick quickly really reason right same show some something start started still stuff "
    "suggest sure take tell test tests than thank thanks that their them then there these they thing things think this "
    "those time today tomorrow tonight took tried under understand until very want wanted wants what when where which "
    "while will with without works work would write wrong years your yours catch "
    "week weeks month monday tuesday wednesday thursday friday saturday sunday tydzień tygodniu przyszłym poniedziałek"
    " wtorek "
    "środę czwartek piątek miesiącu неделе следующей понедельник вторник среду четверг пятницу woche nächste montag "
    "dienstag mittwoch donnerstag freitag semaine prochaine lundi mardi mercredi jeudi vendredi semana próxima lunes "
    "martes miércoles jueves viernes settimana prossima lunedì martedì mercoledì giovedì venerdì "
    "albo ale bardzo bez błąd być był była było będzie chcę chyba coś czego czemu czy dlaczego dlatego dobra dobrze "
    "dobranoc dodaj dzięki dziękuję dzisiaj gdzie jak jaki jakie jeszcze jest jutro każdy kiedy która które który "
    "mamy może możesz najpierw napisz napraw nasze nie opcje oraz poczekaj podobnie pokaż poprawkę poprawki popraw "
    "powiedz proszę przyczynę przyczyna rozumiem sens sprawdź sprawdzić super tego teraz test testy tylko trzeba tutaj "
    "ustal wciąż więc wszystko zacznij zaproponuj zgadywania zgadnij zobacz zostaw zrób znajdź świetnie żeby "
    "будет было быть вариант варианты вопрос все всё где давай дальше день для есть если ещё зачем идеи или исправь как"
    " "
    "какие какой когда который лучше меня можно можешь мысли надо найди нужно отлично очень понятно пожалуйста покажи "
    "почему почини починить посмотри проблема проверь просто причину разберись сделай сейчас скажи спасибо сначала так "
    "такое теперь тест тесты тогда только тоже хорошо что чтобы это этого "
    "auch aber alles bitte danke dann dass denn dies diese dieser dieses dort eine einen einer eines erst etwas finde "
    "gerne gute gut habe haben heraus heute hier immer ist jetzt kann kannst kein keine liegt machen mach morgen muss "
    "nacht nicht nichts noch nur oder ohne okay problem prüfe prüf richtig schau schon schreib sehr sich sind soll "
    "sollen stand test tests ursache vielleicht viel warum weit welche wenn wieder will wird woran wäre zeig zuerst "
    "aussi avec autre avant bien bonne cause cela ces cet cette comme comment correct corrige dans demain donc elle "
    "encore est être faire fais faut ici maintenant mais merci même montre nous nuit options parce parfait peux plaît "
    "plus pour pourquoi problème quand que quel quelle quelles quels quoi regarde sans sont temps test tests tout toute"
    " "
    "très trouve vérifie voir "
    "ahora algo alguna antes arregla aquí bueno busca causa cómo como corrige cuando cuál cuáles dale decir después "
    "donde encuentra entonces eres ese eso esta está estas este esto falta favor gracias hacer hace hay luego mañana "
    "mejor mira mismo mucho muestra nada noches opciones otra otro para pero por porque primero problema prueba pruebas"
    " "
    "puede puedes qué quiero revisa siempre sobre solo también tiene todo trata una vale ver "
    "adesso allora altro anche ancora ben bene bisogna buona causa che ciao come controlla correggi cosa così dove dopo"
    " "
    "dovrebbe fare grazie guarda mostra nella niente notte nulla opzioni ora per perché poi possiamo prima problema "
    "puoi quale quali qualcosa quando quello questa questo scopri sempre solo sono subito trova tutto tutti vediamo "
    "agora ainda algo aqui boa bom causa como corrija depois dessa desse deve ele ela encontre então essa esse está "
    "fazer faz isso isto mais mas mesmo mostre muito nada noite obrigado olhe onde opções outra para pode pois porque "
    "primeiro problema qual quais qualquer quando quero sempre também tudo veja verifique você "
)
_GENERIC_HEBREW = words(
    "תבדוק תתקן תמצא תראה בדוק תקן מצא בבקשה למה איך מה איפה מתי אפשר עכשיו אחר כך גם עוד אבל אז כי זה זאת הוא היא את"
    " של על עם "
    "לא כן טוב בסדר אוקיי מצוין יופי תודה לילה הבנתי הגיוני נשמע הכל משהו הסיבה הבעיה בעיה סיבה אני אתה אנחנו צריך כל"
    " עדיין רק יש "
    "ביום ראשון שני שלישי רביעי חמישי בשבוע הבא נטפל בזה מחר אין היה הייתה ומה ואיך אפשרויות תעשה תכתוב"
)
_GENERIC_EAST = words(
    "来週 先週 一旦 下周 暂时 原因 確認 調査 修正 対応 方法 問題 今日 明日 実行 再現 お願 納得 了解 全部 何故 "
    "本当 以上 説明 一覧 検査 检查 修复 解释 原因 方法 问题 现在 什么 怎么 可以 这样 谢谢 为什 今天 明天 一下 "
    "확인 수정 원인 문제 방법 지금 이제 해주세요 부탁 그럼 오늘 내일 주세요 알겠습니다"
)


def stems(text: str) -> frozenset[str]:
    """Its names whole, of other content words the beginnings, of Japanese and Chinese the pairs of characters."""
    found = {name.casefold() for name in _NAME.findall(text) if not name.isdigit() and name[0] != "`"}
    for word in _TOKEN.findall(text.casefold().replace("_", " ")):
        if _KANA.search(word):
            found.update(run[n : n + 2] for run in _EAST.findall(word) for n in range(len(run) - 1))
            continue
        if "\u0590" <= word[0] <= "\u05ff":
            bare = word[1:] if word[0] in _PREFIXES and len(word) > 3 else word
            if len(bare) > 2 and word not in _GENERIC_HEBREW and bare not in _GENERIC_HEBREW:
                found.add(bare[:_STEM])
        elif word.isdigit():
            found.add(word)
        elif len(word) >= _STEM and word[:_GENERIC_STEM] not in _GENERIC:
            found.add(word.removeprefix("ge")[:_STEM] if len(word) > _PARTICIPLE else word[:_STEM])
    return frozenset(found)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the smaller of two sets of stems is in the other; nothing where they share a single word of many."""
    least = min(len(one), len(other))
    common = len(one & other)
    return common / least if common and common >= min(_LEAST_SHARED, least) else 0.0


def substance(text: str) -> int:
    """How many words of a text name something: 0 for "Options?", "How far are we?", "Popraw to, proszę."""
    for generic in _GENERIC_EAST:
        text = text.replace(generic, " ")
    east = len(set(_KATAKANA.findall(text))) + -(-len(set(_KANJI.findall(text))) // 2)
    hangul = set(_HANGUL.findall(text))
    names = set(_NAME.findall(text))
    plain = {stem for stem in stems(_NAME.sub(" ", text)) if len(stem) >= (3 if stem[0] >= "\u0590" else 4)}
    plain = {stem for stem in plain if not _KANA.search(stem) and not _HANGUL.search(stem)}
    return east + len(hangul) + len(names) + len(plain)
