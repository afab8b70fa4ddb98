"""The cue phrases of action items and of work done. The grammar of a phrase is that of `phrases`."""

from afterword.compile.phrases import Table

ACTION: Table = {
    "en": {
        3: (
            "don't … yet | doesn't … yet | isn't … yet | aren't … yet | wasn't … yet | didn't … yet | revisit"
            " | left for | for another | for a later | for some other | sometime | isn't written | isn't done"
            " | isn't implemented | aren't written | aren't done | parked | postponed | put off | come back to"
            " | not now | someday | some day | one day | next year | next version | next iteration | next milestone"
            " | when we have | when i have time | when i'm back | i'd get to | didn't get to | did not get to"
            " | haven't got to | another time | we'll see | to be decided | tbd | for milestone | for version"
            " | for the next | after my holiday | after the holidays | after vacation | for the summer"
            " | for the winter | until then | backlog | separate change | separate pr | separate commit | own pr"
            " | own commit | own ticket | separate issue | does not exist yet | doesn't exist yet | not … yet"
            " | next sprint | next month | next quarter | next release | this weekend | at the weekend"
            " | on the weekend | end of the month | end of the week | after the freeze | i would do next"
            " | would be next | not today | on the list | when you find | when you have time | when there is time"
            " | leave … for later | left … for later | ^todo | todo | fixme | next step | next steps | still need to"
            " | still needs to | still have to | still left to do | follow-up | followup | follow up | action item"
            " | remind me | don't forget to | remains to be | should be done later | still missing | not done yet"
            " | not yet | yet to be | still open | to be done | still needs | still need | later we | remaining work"
            " | remaining step | what's left | left for later | in a separate pr | in a later pr | separate ticket"
            " | open an issue | file an issue | file a ticket | open a ticket | still outstanding | next time"
            " | still has to | haven't … yet | hasn't … yet | remember to"
        ),
        2.5: (
            "would be nice | would be good | would be great | is a topic for | a topic for | not covered"
            " | not included | not handled | not tested | needs a fix | has to become | in spring | in summer"
            " | in autumn | in winter | in january | in february | in march | in april | in june | in july"
            " | in august | in september | in october | in november | in december | by monday | by friday"
            " | before *ing anything | should follow | still lacks | remains open"
            " | can wait | somebody … has to | somebody … should | someone … has to | somebody … must"
            " | somebody … needs | will need | i'd still | on monday | on tuesday | on wednesday | on thursday"
            " | on friday | @later | ^remaining | ^pending | ^later | ^tomorrow | next week | tomorrow"
            " | before the release | before release | before merging | before we merge | before we ship"
            " | after the release | needs a | eventually | someone should | someone needs to | you'll need to"
            " | you will need to | you should | i have not | i haven't | i did not touch | i didn't touch"
            " | another day | separately | outstanding | at some point"
        ),
        2: (
            "should be | needs to be | need to | needs to | have to be | remains | we should | should also"
            " | worth adding | would be good to | once we"
        ),
        1.5: "is missing | are missing",
        1: "still | for now | later | should | must | after | remaining | before",
    },
    "pl": {
        3: (
            "odkładam* | odłożon* | przełożon* | innym razem | wrócimy do | wrócić do | zostawiamy na | zostawmy na"
            " | kiedy indziej | jeszcze … nie | nie … jeszcze | osobnym commicie | osobny commit | osobnej zmianie"
            " | osobnym zadaniu | backlog* | w przyszłym miesiącu | w następnym sprincie | w weekend"
            " | na koniec miesiąca | jeszcze nie istnieje | todo | następny krok | następne kroki | kolejny krok"
            " | do zrobienia | pozostało | pozostaje | zostało jeszcze | zostało | trzeba jeszcze | jeszcze trzeba"
            " | musimy jeszcze | brakuje jeszcze | nie zapomnij | przypomnij | na później | osobne zadanie"
            " | osobny ticket | osobnym pr | wciąż brakuje | nadal brakuje | nadal trzeba | wciąż trzeba"
            " | do dokończenia | w następnej kolejności"
        ),
        2.5: (
            "przydałby się | przydałaby się | przydałoby się | dobrze byłoby | nie teraz | w przyszłym roku"
            " | w następnym kwartale | po urlopie | po wakacjach | na wakacje | ktoś musi | ktoś powinien"
            " | we wtorek | w środę | w czwartek | w sobotę | wiosną | latem | jesienią | zimą | w przyszłości"
            " | trzeba by | w poniedziałek | w piątek | ^jutro | jutro | później | w przyszłym tygodniu"
            " | przed wydaniem | po wydaniu | przed wdrożeniem | należy jeszcze | jeszcze nie | kiedyś | zgłoś"
            " | nie ruszałem | ^dalej | do sprawdzenia"
        ),
        2: ("należy | trzeba | trzeba będzie | powinniśmy | warto dodać | przydałby się | przydałoby się | musisz"),
        1: "nadal | wciąż | jeszcze | powin*",
    },
    "ru": {
        3: (
            "откладыва* | отложим | отложен* | в другой раз | вернёмся к | вернемся к | вернуться к | оставим на"
            " | когда-нибудь потом | не … ещё | ещё … не | отдельным коммитом | отдельный pr | отдельной правкой"
            " | в бэклог | в следующем месяце | в следующем спринте | на выходных | до конца месяца"
            " | до конца недели | ещё нет | todo | следующий шаг | следующие шаги | следующим шагом | осталось"
            " | остаётся | остается | ещё нужно | еще нужно | нужно ещё | нужно еще | надо ещё | надо еще | ещё надо"
            " | еще надо | не забудь* | не забыть | напомни* | на потом | отдельной задачей | отдельным pr"
            " | отдельный тикет | доделать | ещё не сделано | по-прежнему нужно"
        ),
        2.5: (
            "хорошо бы | было бы хорошо | неплохо бы | не сейчас | не сегодня | в следующем году"
            " | в следующем квартале | в следующей версии | после отпуска | к лету | надо бы | кто-то должен"
            " | кому-то нужно | в понедельник | во вторник | в среду | в четверг | в пятницу | в субботу | весной"
            " | летом | осенью | зимой | в будущем | ^завтра | завтра | позже | на следующей неделе | перед релизом"
            " | после релиза | ещё не | еще не | пока не | заведи* | когда-нибудь | не трогал* | ^дальше | предстоит"
        ),
        2: "нужно | надо | необходимо | следует | стоит добавить | придётся | придется | хорошо бы",
        1: "по-прежнему | всё ещё | все еще | ещё | еще",
    },
    "he": {
        3: (
            "נדחה ל* | דוחים ל* | בפעם אחרת | נחזור ל* | לחזור ל* | נשאיר ל* | נטפל בזה | בקומיט נפרד | ב-pr נפרד"
            " | בנפרד | לבאקלוג | בחודש הבא | בספרינט הבא | בסוף השבוע | בסוף החודש | עוד לא קיים | עוד אין | todo"
            " | הצעד הבא | השלב הבא | צעדים הבאים | נשאר ל* | נותר ל* | עדיין צריך | עוד צריך | צריך עוד | לא לשכוח"
            " | אל תשכח | תזכיר לי | להמשך | בהמשך | נותר | משימה נפרדת | עדיין חסר | עדיין לא"
        ),
        2.5: (
            "כדאי | היה טוב | יהיה טוב | לא עכשיו | לא היום | בשנה הבאה | ברבעון הבא | בגרסה הבאה | אחרי החופש"
            " | אחרי החגים | רצוי | מישהו צריך | ביום ראשון | ביום שני | ביום שלישי | ביום רביעי | ביום חמישי"
            " | בעתיד | בקיץ | בחורף | כדאי גם | צריך גם | מחר | אחר כך | מאוחר יותר | בשבוע הבא | לפני השחרור"
            " | אחרי השחרור | טרם | לפתוח כרטיס | לפתוח טיקט | לפני הגרסה"
        ),
        2: "נותרו | נשארו | צריך | יש ל* | נצטרך | כדאי להוסיף | חייבים | תצטרך | נדרש",
        1: "עוד | עדיין",
    },
    "de": {
        3: (
            "verschieben wir | verschoben auf | aufgeschoben | vertagt | vertagen | ein andermal | kommen … dran"
            " | kommt … dran | darauf zurück | nehmen wir uns … vor | nicht angefasst | eigenen commit"
            " | eigener commit | separaten commit | separater pr | ins backlog | nächsten monat | nächsten sprint"
            " | am wochenende | ende des monats | bis ende | gibt es noch nicht | todo | nächster schritt"
            " | nächste schritte | als nächstes | noch offen | offen ist | offen bleibt | bleibt noch"
            " | steht noch aus | stehen noch aus | fehlt noch | fehlen noch | muss noch | müssen noch"
            " | müssen wir noch | noch zu tun | nicht vergessen | erinnere mich | später noch | eigenes ticket"
            " | separates ticket | eigenen pr | noch nicht | sollten wir noch | zu erledigen"
        ),
        2.5: (
            "wäre gut | wäre schön | wäre nett | nicht jetzt | nicht heute | nächstes jahr | nächsten jahr"
            " | nächsten quartal | nächsten version | nächsten release | nach dem urlaub | bei gelegenheit"
            " | demnächst | jemand muss | jemand sollte | im frühjahr | im frühling | im sommer | im herbst"
            " | im winter | am montag | am dienstag | am mittwoch | am donnerstag | am freitag | in zukunft"
            " | wäre noch | ^morgen | morgen | später | nächste woche | vor dem release | nach dem release"
            " | ausstehend | irgendwann | offen | solltest du"
        ),
        2: "müssen wir | sollte noch | sollten | wäre gut | muss … werden | müssen … werden",
        1: "weiterhin | noch | sollte",
    },
    "fr": {
        3: (
            "reporté* | on reporte | une autre fois | on y reviendra | revenir sur | pas … encore | laissons pour"
            " | commit séparé | pr séparée | dans le backlog | le mois prochain | au prochain sprint | ce week-end"
            " | fin du mois | n'existe pas encore | todo | prochaine étape | prochaines étapes | reste à | il reste"
            " | restent à | il faut encore | n'oublie pas | n'oubliez pas | rappelle-moi | à faire | pas encore"
            " | ticket séparé | il manque encore | à terminer"
        ),
        2.5: (
            "ce serait bien | il serait bien | pas maintenant | pas aujourd'hui | l'an prochain"
            " | le trimestre prochain | la prochaine version | après les vacances | à la rentrée | on verra"
            " | quelqu'un doit | quelqu'un devrait | lundi | mardi | mercredi | jeudi | vendredi | à l'automne"
            " | cet été | au printemps | cet hiver | à l'avenir | il faudrait aussi | ^demain | demain | plus tard"
            " | la semaine prochaine | avant la release | avant la mise en production | un jour"
        ),
        2: "il faudra | il faudrait | il faut | devra | devrons | tu devras",
        1: "toujours | encore | reste",
    },
    "es": {
        3: (
            "aplazado | aplazamos | posponemos | otra vez será | en otra ocasión | volveremos | lo dejamos para"
            " | los dejamos para | no … todavía | no … aún | nos falta | commit aparte | pr aparte | al backlog"
            " | el próximo mes | el próximo sprint | el mes que viene | la semana que viene | el fin de semana"
            " | fin de mes | todavía no existe | aún no existe | todo | próximo paso | próximos pasos"
            " | siguiente paso | queda por | quedan por | falta | faltan | pendiente* | todavía hay que"
            " | aún hay que | no olvides | recuérdame | ticket aparte | por hacer | todavía no | aún no"
        ),
        2.5: (
            "estaría bien | sería bueno | ahora no | hoy no | el próximo año | el próximo trimestre"
            " | la próxima versión | después de las vacaciones | ya veremos | alguien tiene que | alguien debe"
            " | alguien debería | el lunes | el martes | el miércoles | el jueves | el viernes | en otoño"
            " | en verano | en invierno | en el futuro | ^queda | ^quedan | ^mañana | mañana | más tarde"
            " | más adelante | la próxima semana | antes del lanzamiento | antes de publicar | algún día"
        ),
        2: "hay que | habrá que | habría que | tenemos que | deberás",
        1: "sigue | siguen | todavía | aún",
    },
    "it": {
        3: (
            "rimandiamo | rimandato | un'altra volta | ci torneremo | lasciamo per | non … ancora | commit separato"
            " | pr separata | nel backlog | il mese prossimo | al prossimo sprint | nel fine settimana | a fine mese"
            " | fine mese | non esiste ancora | todo | prossimo passo | prossimi passi | resta da | restano da"
            " | rimane da | manca ancora | mancano | bisogna ancora | non dimenticare | ricordami | da fare"
            " | non ancora | ticket separato | in sospeso"
        ),
        2.5: (
            "sarebbe bello | sarebbe utile | non adesso | non oggi | l'anno prossimo | il prossimo trimestre"
            " | la prossima versione | dopo le ferie | vedremo | qualcuno deve | qualcuno dovrebbe | lunedì"
            " | martedì | mercoledì | giovedì | venerdì | in autunno | in estate | in inverno | in futuro"
            " | mancherebbe | ^domani | domani | più tardi | più avanti | la prossima settimana | prima del rilascio"
        ),
        2: "bisogna | bisognerà | occorre | dobbiamo | andrebbe | dovrai",
        1: "tuttora | ancora | manca",
    },
    "pt": {
        3: (
            "adiamos | adiado | outra hora | voltaremos | deixamos para | não … ainda | commit separado"
            " | pr separado | no backlog | no próximo mês | mês que vem | semana que vem | próximo sprint"
            " | fim de semana | fim do mês | ainda não existe | próximo passo | próximos passos | falta | faltam"
            " | ainda precisa* | ainda falta | pendente* | não esqueça | não esquecer | me lembre | por fazer"
            " | ainda não | ticket separado | resta | restam"
        ),
        2.5: (
            "seria bom | seria legal | agora não | hoje não | no próximo ano | no próximo trimestre"
            " | na próxima versão | depois das férias | veremos | alguém precisa | alguém tem que | segunda-feira"
            " | terça-feira | quarta-feira | quinta-feira | sexta-feira | no outono | no verão | no inverno"
            " | no futuro | ^amanhã | amanhã | mais tarde | na próxima semana | antes do lançamento | futuramente"
        ),
        2: "precisamos | é preciso | será preciso | temos que | deveria",
        1: "continua | ainda",
    },
    "inside": {
        3: (
            "延期|見送って次|また今度|暂缓|推迟|改天|以后处理|미루|다음번|週明け|来年|次のバージョン|次のリリース"
            "|今日はやら|といいです|そのうち|いずれ|下个版本|下一版|明年|等下|有空再|最好能|내년|다음 버전|나중으로"
            "|하면 좋겠|来月|月末に|次回|誰かが|別途|まだありません|バックログ|将来的に|下个月|月底|周末再|有人需要"
            "|还没有|单独的|以后|다음 달|월말|주말에|누군가|별도로|아직 없|백로그|下周再|来週|明日以降|다음 주에"
            "|TODO|残タスク|残りは|残って|次のステップ|次は|まだ未|未対応|未実装|忘れずに|後で|あとで|別のPR|別PR"
            "|別チケット|今後の課題|まだ必要|待办|下一步|还需要|還需要|还没|还要|剩下|别忘了|以后再|后续|稍后|未完成"
            "|다음 단계|남은|아직|나중에|잊지 말|후속|별도 PR|별도 이슈"
        ),
        2: (
            "必要があります|する必要|明日|来週|リリース前|べき|明天|下周|发布前|需要|내일|다음 주|릴리스 전"
            "|필요가 있|해야 합|해야 해"
        ),
        1: "まだ|应该|해야",
    },
}

DONE: Table = {
    "en": {
        2: (
            "is *ed | are *ed | has been | have been | is written | are written | ^fixed | ^added | ^moved"
            " | ^replaced | ^updated | ^implemented | ^created | ^removed | ^changed | ^wrote | ^renamed"
            " | ^refactored | ^deployed | ^merged | ^done | ^rewrote | ^split | i've | i *ed | i also *ed | i ran"
            " | i also ran | i took | i put | i added | i fixed | i moved"
            " | i replaced | i changed | i updated | i removed | i wrote | i rewrote | i renamed | now passes"
            " | now pass | now works | now runs | works now | is green | are green | tests pass | now uses"
            " | now returns | now has | is now | are now | passes now | went from | dropped from | down to"
            " | no longer | now reads | now takes | now fails | now lives | ^switched | ^converted | ^dropped"
            " | ^extracted | green again | as expected | since then | is fixed | are fixed | ^bumped | ^migrated"
            " | succeeded"
        ),
        1: "now | pass | passes | added | fixed | moved | replaced | updated | works",
    },
    "pl": {
        2: (
            "dodałem | dodałam | naprawiłem | poprawiłem | zmieniłem | przeniosłem | usunąłem | gotowe | zrobione"
            " | dodano | naprawiono | teraz działa | przechodzą | działa już | zaktualizowałem | napisałem"
            " | zastąpiłem | przepisałem | zamieniłem | utworzyłem | wydzieliłem | spadł* z | ustawiłem"
        ),
        1: "teraz | działa | przechodz*",
    },
    "ru": {
        2: (
            "добавил* | исправил* | перенёс | перенес* | заменил* | готово | удалил* | обновил* | сделал*"
            " | реализовал* | переписал* | вынес* | написал* | создал* | проходят | проходит | сократил* | настроил*"
            " | починил* | переделал* | зелёные | заработал*"
        ),
        1: "теперь | работает",
    },
    "he": {
        2: (
            "הוספתי | תיקנתי | העברתי | החלפתי | עדכנתי | מחקתי | הסרתי | בוצע | יצרתי | כתבתי | שיניתי | עוברים"
            " | עוברות | מוכן | עובר עכשיו | הגדרתי | ירד מ* | סיימתי | פיצלתי"
        ),
        1: "עכשיו | עובד | כעת",
    },
    "de": {
        2: (
            "hinzugefügt | behoben | geändert | ersetzt | umgestellt | fertig | erledigt | läuft jetzt | ergänzt"
            " | verschoben | entfernt | angepasst | eingebaut | laufen durch | sind grün | ist grün | umgebaut"
            " | aktualisiert | umbenannt | ausgelagert | geschrieben | läuft wieder"
        ),
        1: "jetzt | läuft | nun",
    },
    "fr": {
        2: (
            "ajouté | corrigé | remplacé | déplacé | supprimé | terminé | mis à jour | passent | modifié | créé"
            " | réécrit | j'ai | extrait | renommé"
        ),
        1: "maintenant | fonctionne",
    },
    "es": {
        2: (
            "añadí | añadido | agregué | corregí | corregido | cambié | cambiado | reemplacé | reemplazado | moví"
            " | movido | listo | pasan | he | actualicé | eliminé | implementé | creé | reescribí | bajó de"
        ),
        1: "ahora | funciona",
    },
    "it": {
        2: (
            "aggiunto | corretto | sostituito | spostato | rimosso | fatto | passano | ho | aggiornato | riscritto"
            " | creato"
        ),
        1: "ora | adesso | funziona",
    },
    "pt": {
        2: (
            "adicionei | corrigi | corrigido | troquei | substituí | movi | removi | pronto | passam | atualizei"
            " | criei | implementei | reescrevi | caiu de"
        ),
        1: "agora | funciona",
    },
    "inside": {
        2: (
            "しました|完了|通るように|できました|になりました|已添加|已修复|修复了|添加了|改成了|完成了|通过了|已经"
            "|已将|替换|추가했|수정했|변경했|교체했|완료|통과|고쳤|바꿨|줄었"
        ),
        1: "現在|现在|이제",
    },
}
