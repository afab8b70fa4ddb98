"""What is said in passing by a person and settles nothing. The grammar of a phrase is that of `phrases`."""

from afterword.compile.phrases import Table

EMPTY: Table = {
    "all": {
        1: (
            "makes sense | make sense | sounds right | sounds reasonable | sounds logical | good to know | explains it"
            " | explains a lot | that explains | my suspicion | as i thought | i see | i understand | understood"
            " | fair enough | good point | good catch | looks right | looks good | good night | see you | have a nice"
            " | thanks | thank you | no worries | no rush | take your time | never mind | ma sens | rozumiem"
            " | wyjaśnia wszystko | wszystko wyjaśnia | to wyjaśnia | dobrze wiedzieć | tak myślałem | dobranoc"
            " | do jutra | dziękuję | dzięki | logicznie | brzmi dobrze | wygląda dobrze | звучит логично | логично"
            " | понятно | понял* | ясно | теперь ясно | имеет смысл | всё объясняет | так и думал | спокойной ночи"
            " | до завтра | спасибо | выглядит хорошо | נשמע הגיוני | הגיוני | הבנתי | ברור | מסביר הכל"
            " | זה מסביר | טוב לדעת | לילה טוב | תודה | נראה טוב | ergibt sinn | macht sinn | leuchtet ein"
            " | klingt gut | klingt logisch | verstehe | verstanden | erklärt alles | erklärt das | gut zu wissen"
            " | dachte ich mir | gute nacht | bis morgen | danke | sieht gut aus | ça se tient | a du sens"
            " | ça explique | je comprends | je vois | compris | bon à savoir | bonne nuit | à demain | merci"
            " | tiene sentido | lo explica | entiendo | entendido | ya veo | bueno saberlo | buenas noches"
            " | hasta mañana | gracias | ha senso | capisco | capito | spiega tutto | buono a sapersi | buonanotte"
            " | a domani | grazie | faz sentido | explica tudo | entendi | bom saber | boa noite | até amanhã"
            " | obrigado | obrigada"
        )
    },
    "inside": {
        1: (
            "納得しました|納得です|なるほど|分かりました|わかりました|了解です|了解しました|承知しました|おやすみ|お疲れ"
            "|ありがとう|明白了|原来如此|有道理|知道了|晚安|谢谢|이해했|그렇군|알겠|말이 되네|잘 자|감사합|고마워"
        )
    },
}
"""Assent, thanks and farewells."""

ORDER: Table = {
    "all": {
        1: (
            "tell me | let me know | show me | and see if | and see whether | and check whether | and check if"
            " | report back | daj znać | powiedz mi | powiedz czy | pokaż mi | napisz mi | скажи | сообщи | дай знать"
            " | покажи мне | תגיד לי | תראה לי | תעדכן אותי | תכתוב לי | sag mir | sag bescheid | zeig mir | dis-moi"
            " | montre-moi | dime | avísame | muéstrame | dimmi | fammi sapere | mostrami | me diga | me avise"
            " | me mostre"
        )
    },
    "inside": {1: "お願いします|お願いいたします|教えてください|见せて|告诉我|给我看|알려 주|알려주|보여 주"},
}
"""Work ordered together with an answer."""

NOW: Table = {
    "all": {
        1: (
            "now | right away | immediately | at once | straight away | while i'm at it | meanwhile | od razu | teraz"
            " | zaraz | natychmiast | już teraz | сейчас | немедленно | прямо сейчас | עכשיו | מיד | כרגע"
            " | jetzt | gleich | sofort | gerade | maintenant | tout de suite | ahora | ya | ahora mismo | adesso"
            " | subito | agora | já | imediatamente"
        )
    },
    "inside": {1: "今すぐ|すぐに|今お|现在|马上|立刻|지금|바로"},
}
"""At this moment: an order to act, or an act announced."""

NEED: Table = {
    "en": {
        1: (
            "needs the | needs a | needs an | needs access | needs our | needs their | needs our | need the | need a"
            " | need an | need access | need their | also needs | also need | want the | wants the | waits for"
            " | wait for | is waiting | are waiting"
        )
    },
    "pl": {1: "potrzebuje | potrzebują | potrzebny | potrzebna | potrzebne | czeka na | czekają na"},
    "ru": {1: "нужен | нужна | нужны | требуется | требуются | ждёт | ждут | понадобится"},
    "he": {1: "צריך את | צריכים את | צריכה את | צריכים | זקוק* | מחכה | מחכים"},
    "de": {1: "braucht | brauchen | benötigt | benötigen | wartet auf | warten auf"},
    "fr": {1: "a besoin | ont besoin | attend | attendent"},
    "es": {1: "necesita | necesitan | espera | esperan"},
    "it": {1: "ha bisogno | hanno bisogno | serve | servono | aspetta | aspettano"},
    "pt": {1: "precisa de | precisam de | precisa da | precisa do | espera | esperam"},
    "inside": {1: "が必要です|を必要と|待っています|需要用|等着|필요합니다|필요해요|기다리"},
}
"""Somebody needs something: said, not settled."""

DOING: Table = {
    "all": {
        1: (
            "^deploying | ^pushing | ^restarting | ^running | ^starting | ^sending | ^testing | ^merging | ^rolling"
            " | ^rebooting | ^uploading | ^building | ^trying | ^retrying | ^checking | ^installing | ^releasing"
            " | i'm *ing | i am *ing | we're *ing | we are *ing | ^wdrażam | ^uruchamiam | ^restartuję | ^wypuszczam"
            " | ^odpalam | ^puszczam | ^wgrywam | ^sprawdzam | ^testuję | ^wysyłam | ^выкатываю | ^запускаю | ^деплою"
            " | ^перезапускаю | ^проверяю | ^отправляю | ^заливаю | ^катим | אני מעלה | אני מריץ | אני מריצה"
            " | אני מפעיל"
            " | אני שולח | אני בודק | אני מעדכן | ich starte | ich spiele | ich rolle | ich teste | ich fahre"
            " | ich deploye | ich schicke | ich lade | je déploie | je lance | je relance | je redémarre | je teste"
            " | j'envoie | ^despliego | ^lanzo | ^reinicio | estoy *ando | estoy *iendo | sto *ando | sto *endo"
            " | estou *ando | estou *endo | ^subindo | ^rodando"
        )
    },
    "inside": {1: "しています。|しているところ|中です。|正在|在部署|在跑|하고 있|하는 중"},
}
"""What the speaker does while he speaks."""
