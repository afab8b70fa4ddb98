"""What is said around the facts: hedges, chatter, proposals, headings, and whole prompts that ask for nothing.

The grammar of a phrase is that of `phrases`.
"""

from afterword.compile.phrases import Table

HEDGE: Table = {
    "all": {
        2: (
            "could | might | maybe | perhaps | possibly | if we | if you | if you'd | option | alternatively"
            " | would you | either | should we | shall we | consider | do you want | let me know | i think we could"
            " | suspect | probably | my guess | i guess | hypothesis | może | możemy | można by | jeśli chcesz"
            " | chyba | prawdopodobnie | czy mam | opcja | podejrzewam | возможно | может | можно | если хотите"
            " | если хочешь | наверное | вероятно | либо | вариант | похоже | אולי | אפשר | אם תרצה | ייתכן"
            " | נראה לי | כנראה | אופציה | vielleicht | könnte | könnten | wenn du | möglicherweise | vermutlich"
            " | wahrscheinlich | peut-être | pourrait | pourrions | si tu veux | probablement | quizás | tal vez"
            " | podría | podríamos | si quieres | probablemente | forse | potrebbe | potremmo | se vuoi"
            " | probabilmente | talvez | poderia | poderíamos | se quiser | provavelmente"
        ),
        1: ("would | seems | seem | looks like | i think | wydaje się | кажется | scheint | semble | parece | sembra"),
    },
    "inside": {
        2: ("かもしれ|でしょうか|可能性|おそらく|たぶん|也许|可能|或许|要不要|如果你|수도 있|아마|까요|원하시면"),
    },
}

CHATTER: Table = {
    "all": {
        1: (
            "^noted | ^zapisałem | ^zanotowałem | ^zapisane | ^принято | ^записал | ^учёл | ^anotado | ^רשמתי"
            " | ^notiert | ^noté | ^annotato | ^my plan | ^there are | ^let me | ^let's take | ^let's look"
            " | ^let's see | ^let's check | ^let's start | ^i'll | ^i will | ^i'm going to | ^i am going to"
            " | ^i'm now | ^now i | ^now let | ^first let | ^first i | ^next i'll | ^next i will | ^looking at"
            " | ^trying | ^let me try | ^retrying"
            " | ^great | ^perfect | ^excellent | ^sure | ^certainly | ^of course | ^you're right | ^you are right"
            " | ^good question | ^good catch | ^good point | ^thanks | ^thank you | ^i see | ^i understand | ^got it"
            " | ^sorry | ^apologies | ^i apologize | ^happy to | ^let me know | ^feel free | ^would you like"
            " | ^do you want | ^shall i | ^should i | ^want me to | ^here's | ^here is | ^here are | ^interesting"
            " | ^hmm | ^wait | ^time to | ^i can | ^i need to | ^i have to | ^i should | ^i want to | ^i've read"
            " | ^i've got | ^i found the file | ^ok let | ^okay let | ^starting with | ^running the | ^checking"
            " | ^reading | ^searching | ^one moment | ^as requested | ^hope this | ^hello | ^hi | ^hey"
            " | ^good morning | ^glad | ^no problem | ^you're welcome | ^then i'll | ^then i will | ^i'd be happy"
            " | ^moving on | ^on it | ^absolutely | ^understood | ^give me a | ^if you want | ^if you'd like"
            " | ^if you like | ^just let me | ^i am now | ^back to | ^that's a | ^before i | ^to start | ^sprawdzę"
            " | ^zobaczmy | ^zobaczę | ^zaraz | ^najpierw | ^teraz sprawdzę | ^teraz uruchomię | ^teraz zobaczę"
            " | ^świetnie | ^jasne | ^oczywiście | ^masz rację | ^dobre pytanie | ^dziękuję | ^dzięki | ^rozumiem"
            " | ^daj znać | ^przepraszam | ^spójrzmy | ^uruchamiam | ^uruchomię | ^przeczytam | ^zajrzę | ^dobra"
            " | ^cześć | ^chętnie | ^super | ^czy chcesz | ^czy mam | ^popatrzę | ^zacznę | ^zaczynam | ^sprawdzam"
            " | ^teraz dodam | ^teraz poprawię | ^сейчас | ^посмотрю | ^посмотрим | ^проверю | ^давайте посмотрим"
            " | ^давай посмотрю | ^отлично | ^конечно | ^хорошо | ^вы правы | ^ты прав | ^хороший вопрос | ^спасибо"
            " | ^понял | ^понятно | ^извините | ^сначала | ^запускаю | ^запущу | ^теперь посмотрю | ^теперь проверю"
            " | ^теперь запущу | ^дайте знать | ^привет | ^прочитаю | ^начну | ^хотите | ^если хотите"
            " | ^теперь добавлю | ^смотрю | ^проверяю | ^открываю | ^изучу | ^загляну | ^супер | ^прекрасно | ^אבדוק"
            " | ^בוא נראה | ^בואו נראה | ^אני אבדוק | ^אני בודק | ^עכשיו אני | ^מצוין | ^בטח | ^כמובן | ^אתה צודק"
            " | ^שאלה טובה | ^תודה | ^הבנתי | ^סליחה | ^אריץ | ^אסתכל | ^קודם | ^נתחיל | ^אתחיל | ^מעולה | ^אני אריץ"
            " | ^עכשיו אריץ | ^רגע | ^היי | ^ich schaue | ^schauen wir | ^ich prüfe | ^ich werde | ^lass mich"
            " | ^zuerst | ^jetzt schaue | ^jetzt prüfe | ^jetzt starte | ^gerne | ^natürlich | ^klar | ^danke"
            " | ^verstanden | ^gute frage | ^du hast recht | ^perfekt | ^sag bescheid | ^ich sehe mir | ^ich lese"
            " | ^ich führe | ^ich starte | ^ich öffne | ^ich fange | ^entschuldigung | ^hallo | ^soll ich"
            " | ^möchtest du | ^prima | ^jetzt führe | ^jetzt passe | ^je vais | ^laisse-moi | ^laissez-moi"
            " | ^voyons | ^regardons | ^parfait | ^bien sûr | ^merci | ^tu as raison | ^bonne question | ^d'accord"
            " | ^je regarde | ^je vérifie | ^d'abord | ^maintenant je | ^bonjour | ^salut | ^je lance | ^voy a"
            " | ^déjame | ^vamos a ver | ^veamos | ^perfecto | ^claro | ^por supuesto | ^gracias | ^tienes razón"
            " | ^entendido | ^buena pregunta | ^primero | ^ahora voy | ^hola | ^reviso | ^vale | ^miro | ^ejecuto"
            " | ^genial | ^fammi | ^vediamo | ^perfetto | ^certo | ^grazie | ^hai ragione | ^capito"
            " | ^ottima domanda | ^adesso controllo | ^controllo | ^guardo | ^ciao | ^deixe-me | ^deixa eu | ^vou"
            " | ^vamos ver | ^perfeito | ^obrigado | ^entendi | ^você tem razão | ^boa pergunta | ^primeiro"
            " | ^agora vou | ^olá | ^oi | ^verifico"
        ),
    },
    "inside": {
        1: (
            "明白，|明白。|知道了|已记录|わかりました。|알겠어요|確認します|見てみ|実行します|承知しました"
            "|了解しました|調べます|見ていき|ありがとうござ|まず、|確認してみ|読みます|走らせます|いい質問|让我|我来"
            "|我先|好的，|好的。|没问题|谢谢|首先，|看一下|看看|我会|运行一下|当然|您说得对|你说得对|확인해 보"
            "|살펴보|실행해 보|알겠습니다|감사합|먼저|좋은 질문|확인하겠|실행하겠|보겠습니다|물론"
        ),
    },
}

PROPOSAL: Table = {
    "all": {
        2: (
            "i suggest | i'd suggest | ^i would | ^i'd | i'd also | i recommend | i'd recommend | i propose"
            " | i would use | i would go"
            " | i'd go with | my suggestion | my recommendation | recommendation | the best option | i'd use"
            " | should i | shall i | shall we | should we | want me to | proponuję | sugeruję | rekomenduję"
            " | polecam | czy mam | предлагаю | рекомендую | советую | мне | אני מציע | אני ממליץ | מציע | ממליץ"
            " | ich schlage vor | schlage vor | ich empfehle | mein vorschlag | soll ich | je propose"
            " | je recommande | je suggère | propongo | recomiendo | sugiero | consiglio | suggerisco | proponho"
            " | recomendo | sugiro"
        ),
    },
    "inside": {
        2: "提案|おすすめ|お勧め|推奨|しましょうか|建议|推荐|要不要|제안|추천|할까요",
    },
}

REQUEST: Table = {
    "all": {
        1: (
            "^check | ^find | ^fix | ^look | ^run | ^show | ^explain | ^write | ^add | ^create | ^implement"
            " | ^update | ^test | ^investigate | ^read | ^compare | ^tell | ^reproduce | ^try | ^rename | ^refactor"
            " | ^rewrite | ^build | ^debug | ^see | ^figure | ^help | ^give | ^list | ^analyze | ^analyse | ^review"
            " | ^document | ^commit | ^push | ^merge | ^open | ^report | ^deploy | ^release | ^search | ^go through"
            " | ^speed | ^break | ^start | ^now | ^can you | ^could you | ^would you | ^please | ^i need"
            " | ^i want you | ^we need | ^i'd like | ^ask | i'd … like | find out | then find | find the | why"
            " | ^how | any idea | fix it | fix them | ^walk me | ^verify | ^get | ^generate | ^profile | sprawdź"
            " | popraw | znajdź | dodaj | napisz | zrób | uruchom | pokaż | ustal | wyjaśnij | zobacz | przetestuj"
            " | zaktualizuj | zaimplementuj | przygotuj | porównaj | opisz | możesz | czy | dlaczego | czemu"
            " | proszę | potrzebuję | pomóż | przepisz | проверь* | исправь* | найди* | добавь* | напиши* | сделай*"
            " | покажи* | запусти* | разберись | разберитесь | объясни* | посмотри* | обнови* | реализуй*"
            " | протестируй* | перепиши* | сравни* | можешь | почему | зачем | понять | пожалуйста | помоги* | תבדוק"
            " | בדוק | תקן | תתקן | תוסיף | הוסף | תכתוב | כתוב | תמצא | מצא | תריץ | הרץ | תראה | תסביר | תעשה"
            " | תעדכן | תעזור | תאיץ | למה | איך | אפשר | בבקשה | prüfe | prüf | finde | behebe | füge | schreib*"
            " | zeig* | erstelle | teste | erkläre | schau | suche | aktualisiere | vergleiche | warum | kannst du"
            " | könntest du | bitte | hilf | vérifie* | corrige* | trouve* | ajoute* | écris | montre* | lance"
            " | explique* | regarde* | compare | crée | peux-tu | pourquoi | revisa | arregla | busca | añade"
            " | agrega | escribe | muestra | ejecuta | explica | prueba | compara | crea | puedes | por qué | ayuda"
            " | encuentra | controlla | correggi | trova | aggiungi | scrivi | mostra | esegui | spiega | confronta"
            " | puoi | aiuta | verifica | verifique | corrija | encontre | adicione | escreva | mostre | execute"
            " | olhe | crie | você pode | por que | ajude"
        )
    },
    "inside": {
        1: (
            "調べて|直して|教えて|確認して|追加して|書いて|作って|探して|実装して|修正して|見せて|请查|检查|修复"
            "|添加|写一|解释|为什么|帮我|看看|查一下|확인해|고쳐|추가해|작성해|찾아|설명해|알려|왜"
        )
    },
}
"""How a person orders work to be done now."""

OBSERVE: Table = {
    "all": {
        1: (
            "^i | huge | tiny | annoying | again | on my | for me | nobody | stutters | slow | freezes | froze"
            " | wrong | weird | ugly | has | have | had | was | were | ^that's | ^that is | ^this is | ^it's"
            " | ^it is | ^it | ^nice | ^good | ^great | ^perfect | ^thanks | ^i see | ^i like | ^i think | ^i get"
            " | ^i got | ^interesting | ^sounds | ^looks | ^hm | ^here is | ^here's | ^code below | still | crashes"
            " | crash | fails | failing | an error | errors | broken | stuck | hangs | doesn't work | not working"
            " | happens | keeps | too | suspicious | known to | ^i'll | ^i will | ^i can | ^i have | ^i just"
            " | ^i tried | ^i'm | ^we have | ^we've | ^we're | there is | there are | nothing else | ^makes sense"
            " | ^ah | ^oh | ^wow | ^did | good enough | same problem | nie działa | błąd | błędy | pada | wisi"
            " | wciąż | ^świetnie | ^super | dziękuję | padła | wygasł | dostają | не работает | падает | ошибк*"
            " | ложится | висит | ^отлично | спасибо | всё ещё | опять | у нас | ^я | לא עובד | נכשל* | שגיאה"
            " | נתקע* | ^יופי | ^מצוין | תודה | שוב | מקבלים | funktioniert nicht | fehler | schlägt fehl | hängt"
            " | stürzt | ^prima | danke | immer noch | schon wieder | bei mir | ne marche pas | erreur | plante"
            " | échoue | merci | ^parfait | arrivent | no funciona | falla | cuelga | gracias | llegan"
            " | non funziona | errore | fallisce | grazie | não funciona | erro | falha | obrigado | war | waren"
            " | wurde | wurden | hatte | hatten | était | étaient | avait | avaient | a été | ont été | era | fue"
            " | había | estaba | erano | aveva | è stato | foi | tinha | estava | היה | הייתה | היו"
        )
    },
    "inside": {
        1: (
            "ました。|でした。|失敗します|エラー|ありがとう|了解|なりました|問題が|できません|报错|失败|没有结果|谢谢|不工作|문제가"
            "|실패|오류|감사|안 됩|급합"
        )
    },
}
"""How a person tells what is the case, rather than what shall be."""

LIMIT: Table = {
    "all": {
        1: (
            "not | no | never | only | without | none | nothing | don't | doesn't | didn't | isn't | wasn't | aren't"
            " | won't | can't | cannot | couldn't | until | unless | except | always | must | before | alone | same"
            " | every | entire | just | nie | bez | tylko | nigdy | zawsze | dopóki | najpierw | niczego | każd*"
            " | cał* | samo | не | без | только | никогда | всегда | пока | сначала | ничего | нет | кажд* | весь"
            " | всю | лишь | לא | בלי | רק | אף | תמיד | אין | עד | כל | כלום | לבד | nicht | kein* | nur | ohne"
            " | erst | immer | bis | jede* | auch wenn | nichts | ne | pas | sans | seulement | jamais | toujours"
            " | rien | chaque | tout* | sin | solo | nunca | siempre | hasta | nada | cada | todo* | non | senza"
            " | mai | sempre | fino | ogni | tutt* | niente | não | sem | só | até"
        )
    },
    "inside": {1: "ない|ません|だけ|なし|まで|ごと|すべて|不|没|只|必须|每|全部|않|없|만|마다|모두"},
}
"""Words that draw a line: constraints and explanations are full of them, reports of work done are not."""

CONNECT: Table = {
    "all": {
        1: (
            "because | so | since | as | therefore | thus | hence | which | when | whenever | if | while | although"
            " | even | whereas | but | then | though | after | once | więc | bo | ponieważ | gdy | kiedy | jeśli"
            " | czyli | dlatego | który | która | które | przez | lecz | ale | a | так как | поэтому | потому"
            " | когда | если | а | но | тогда | котор* | где | из-за | כי | לכן | כאשר | אם | אבל | בכל פעם | weil"
            " | da | deshalb | wenn | sodass | denn | aber | obwohl | dadurch | wodurch | während | car | donc"
            " | quand | si | mais | alors | puisque | lorsque | qui | así | porque | cuando | pero | aunque"
            " | entonces | ya que | por lo que | al | perché | quindi | quando | se | ma | poiché | mentre | então"
            " | pois | mas | por isso"
        )
    },
    "inside": {1: "ので|から|ため|と、|ると|ており|が、|まま|因为|所以|如果|但|而|被|어서|아서|여서|때문|면|지만|해서"},
}
"""Words that join a cause and what follows from it."""

SELF: Table = {
    "all": {
        1: (
            "i | i'm | i've | i'd | i'll | we | we've | my | let's | me | ich | wir | je | j'ai | nous | yo | я | мы"
            " | אני | אנחנו"
        )
    },
}
"""The speaker speaks of himself."""

HEADINGS: dict[str, str] = {
    "action": (
        "next | left over | leftover* | clarified | clarify | unresolved | further work | further step*"
        " | what remains | still missing | pending | backlog | before … release | todo* | to do | to-do | follow-up*"
        " | followup* | follow up* | remaining | open item* | open point* | open question* | left to do"
        " | what's left | action item* | not done | still open | outstanding | later | future work | not yet"
        " | still to | następne kroki | kolejne kroki | do zrobienia | pozostał* | dalsze kroki | zostało | otwarte"
        " | дальнейшие шаги | следующие шаги | далее | остаток | осталось | что осталось | дальше | не сделано"
        " | открытые | צעדים הבאים | הצעדים הבאים | מה נשאר | נשאר | לעשות | להמשך | משימות | שלבים הבאים | נותר"
        " | nächste schritte | rest | restarbeiten | zu klären | offene punkte | offen | noch offen | ausstehend"
        " | zu erledigen | als nächstes | noch zu | prochaines étapes | ensuite | à clarifier | reste à faire"
        " | à faire | il reste | próximos pasos | pendiente* | queda* | prossimi passi | da fare | resta*"
        " | próximos passos | pendente* | pendência* | falta*"
    ),
    "decision": (
        "decision* | decided | design choice* | choices | agreed | decyzj* | ustaleni* | решени* | решили"
        " | договорённост* | החלט* | entscheidung* | beschl* | décision* | decisiones | decisioni | decisõ*"
        " | we decided"
    ),
    "lesson": (
        "lesson* | learned | root cause | cause | gotcha* | pitfall* | caveat* | findings | what went wrong"
        " | worth knowing | what i learned | why it | wniosk* | przyczyn* | nauk* | uwag* | вывод* | причин* | урок*"
        " | нюанс* | מסקנ* | לקח* | הסיבה | ursache* | erkenntnis* | lehre* | fallstrick* | cause* | leçon* | causa*"
        " | lecci* | lezion* | liç*"
    ),
    "chatter": "option* | alternativ* | opcj* | вариант* | אפשרויות | optionen | plan | my plan",
    "changes": (
        "^changes | ^what i did | ^what i changed | ^what changed | ^what was changed | ^what was done | ^files changed"
        " | ^changed files | ^modified | ^files modified | ^implemented | ^implementation | ^zmiany | ^co zrobiłem"
        " | ^co się zmieniło | ^zmienione pliki | ^изменения | ^что сделано | ^что я сделал | ^что изменилось "
        "| ^שינויים"
        " | ^מה עשיתי | ^מה שונה | ^änderungen | ^was ich geändert | ^geänderte | ^modifications | ^changements"
        " | ^ce que j'ai | ^cambios | ^qué cambié | ^modifiche | ^cosa ho | ^mudanças | ^alterações"
    ),
}
"""What a heading announces."""

HEADINGS_INSIDE: dict[str, str] = {
    "action": "次のステップ|残タスク|残り|TODO|今後|未対応|待办|下一步|后续|剩余|다음 단계|남은|할 일",
    "decision": "決定|方針|决定|决策|결정",
    "lesson": "原因|教訓|学び|わかったこと|教训|经验|注意|원인|교훈|배운",
    "chatter": "選択肢|选项|方案对比|선택지",
    "changes": "変更点|変更内容|实施内容|改动|修改内容|변경 사항|변경사항",
}


def _whole(row: str) -> frozenset[str]:
    return frozenset(row.split("|"))


AFFIRM: frozenset[str] = _whole(
    "yes|y|yep|yeah|yup|sure|ok|okay|k|go|go ahead|do it|do that|sounds good|agreed|agree|please do|yes please"
    "|perfect|lgtm|ship it|fine|good|great|right|exactly|correct|proceed|approved|makes sense|yes do it|yes go ahead"
    "|ok do it|let's do it|works for me|tak|ok zrób|zrób to|zrób tak|dobra|dobrze|zgoda|jasne|rób|śmiało|pasuje"
    "|może być|tak zrób|dawaj|да|ага|давай|ок|окей|хорошо|согласен|делай|поехали|да давай|годится|верно|сделай так"
    "|כן|אוקיי|סבבה|בסדר|קדימה|תעשה|מסכים|תמשיך ככה|כן תעשה|יאללה|ja|ja bitte|gerne|mach das|mach|einverstanden"
    "|passt|genau|los|ja mach das|in ordnung|oui|vas-y|d'accord|parfait|sí|si|dale|vale|adelante|de acuerdo|hazlo|sì"
    "|vai|va bene|procedi|sim|pode|pode ser|manda|はい|お願いします|それで|いいよ|進めて|それでお願いします"
    "|はい、お願いします|好|好的|可以|行|同意|就这样|네|응|좋아|그래|진행해|그렇게 해"
)
"""Whole prompts that say yes to what the agent proposed just before."""

TRIVIAL: frozenset[str] = _whole(
    "continue|go on|next|more|keep going|carry on|thanks|thank you|thx|ty|no|nope|stop|wait|hi|hello|hey|retry"
    "|try again|again|resume|test|done|cool|nice|?|commit|push|commit it|commit and push|dalej|kontynuuj|dzięki|nie"
    "|jeszcze raz|spróbuj ponownie|cześć|продолжай|дальше|спасибо|нет|стоп|ещё раз|еще раз|привет|המשך|תמשיך|תודה|לא"
    "|עוד פעם|עצור|שוב|היי|weiter|danke|nein|nochmal|hallo|stopp|mach weiter|merci|non|encore|continúa|sigue|gracias"
    "|hola|continua|grazie|ciao|obrigado|não|olá|続けて|ありがとう|いいえ|继续|谢谢|不|계속|계속해|고마워|아니"
)
"""Whole prompts that ask for nothing of their own."""

STOPWORDS: dict[str, str] = {
    "en": "the and is to of that with for it this we was not are be on but when you have so now",
    "pl": "nie się jest że na do i w z to po dla jak ale już tylko teraz trzeba przez czy są było",
    "de": "der die und das ist nicht ein zu mit den wir auf für es im von dass noch eine wird nur",
    "fr": "le la les de un et est pas une des que pour dans sur avec on du en il ne qui mais",
    "es": "el la los las de un y es no una que para en con por se del lo pero más está hay al",
    "it": "il la un gli e è non una che per di con si del della ma più sono nel alla anche",
    "pt": "o os as de um e é não uma que para em com por se do da mas mais está no ao",
}
"""Common words by which a Latin-script language is told."""

LETTERS: dict[str, str] = {
    "pl": "ąćęłńśźż",
    "de": "äöüß",
    "fr": "àâçèêîœûù",
    "es": "ñ¿¡áíú",
    "it": "ìòùà",
    "pt": "ãõâêç",
}
"""Letters by which it is told where the sample is short."""
