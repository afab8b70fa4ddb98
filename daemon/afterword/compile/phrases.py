"""The cue phrases of decisions, lessons, actions and results, as literal tables: language → weight → phrases.

Grammar of a phrase: `word*` any ending · `…` up to four words · `^` only where a sentence or clause starts ·
`@` only in a person's words. Under "inside" stand texts looked for as they are (Japanese, Chinese, Korean).
A sentence needs 2 points for a part; hedges take points away, chatter takes the sentence out.
"""

from typing import TypeAlias

Table: TypeAlias = dict[str, dict[float, str]]

DECISION: Table = {
    "en": {
        3: (
            "decided to | decided on | decided that | decided against | we decide* | ^decision | let's go with"
            " | we'll go with | going with | go with | we'll use | we will use | let's use | let's keep"
            " | let's stick | stick with | sticking with | stick to | settled on | settle on | we agreed | agreed to"
            " | opted for | opted to | i'd rather | we'd rather | from now on | we'll keep | we'll stay | let's not"
            " | in favor of | in favour of | i'll go with | i've chosen | we chose | i chose | the decision"
            " | final answer | let's switch | let's move to | let's drop | let's leave | we'll stick"
            " | we are going to use | we're going to use | let's postpone | let's do it"
        ),
        2.5: (
            "can wait | going forward | we won't | won't be using | @^use | @^keep | @^go with | @^don't use"
            " | @^do not use | @i don't want | @please use | @^always | @^never | we'll do … instead | not worth"
            " | @^skip | @^drop | chose | chosen | we're keeping | out of scope | we'll leave | i'll keep | i kept"
            " | we keep | we'll have | @just use | @prefer | standardi* on | stays in | stays on | stays as"
            " | will stay | should stay"
        ),
        2: (
            "the plan is to | @rather than | switched to | switching to | @^don't | @^do not | @^make it"
            " | not going to | i'll use | leave … as is | keep … as is | @we should | @we don't want | @we want"
            " | @^leave | @must not | @i want … to be | @no need | will live in | will be the default"
            " | the default will | by default we"
        ),
        1.5: (
            "rather than | instead of | @instead | switch to | migrate to | move to | we use | i used | @must"
            " | @should | @let's | no longer | picked | not … but"
        ),
        1: "replace … with | use … for | @no | @only | we'll",
    },
    "pl": {
        3: (
            "zdecydowa* | decydujemy | ^decyzja | zostajemy przy | zostańmy przy | ustaliliśmy | ustalmy | użyjmy"
            " | użyjemy | będziemy używać | wybieramy | wybraliśmy | wybrałem | idziemy w | przechodzimy na"
            " | przejdźmy na | od teraz | bierzemy | weźmy | stawiamy na | rezygnujemy | umówmy się | postanowi*"
            " | wolałbym | wolę | nie będziemy"
        ),
        2.5: (
            "@^użyj | @nie chcę | @^zostaw | @^zawsze | @^nigdy | @^nie używaj | trzymamy się | trzymajmy | zostaje"
            " | zostawiamy | poza zakresem | robimy | @^nie rób | odpuszczamy | odpuśćmy"
        ),
        2: ("@zamiast | przeszedłem na | przełączamy | @powinniśmy | @^nie | @niech | domyślnie będzie | zamieniamy"),
        1.5: "zamiast | na rzecz | @musi | używamy | @lepiej | już nie",
    },
    "ru": {
        3: (
            "решил* | решено | ^решение | договорил* | остановил* на | останемся на | остаёмся на | остаемся на"
            " | будем использовать | будем делать | используем | выбрал* | выбираем | переходим на | перейдём на"
            " | перейдем на | давай* возьмём | давай* возьмем | возьмём | давай* использовать | давай* оставим"
            " | оставим | с этого момента | отказываемся | не будем | отныне | берём | откажемся"
        ),
        2.5: (
            "@^используй* | @не хочу | @^оставь* | @^всегда | @^никогда | @не надо | @лучше | @^не используй*"
            " | оставляем | выбор пал | за рамками | откладываем | отложим"
        ),
        2: (
            "@вместо | @^не | перешёл на | перешел на | @нужно чтобы | @пусть | по умолчанию будет | @^сделай* так"
            " | а не"
        ),
        1.5: "вместо | в пользу | @должен | @должн* | больше не | меняем",
    },
    "he": {
        3: (
            "החלטנו | החלטתי | הוחלט | נלך על | הולכים על | בוא נשתמש | בואו נשתמש | נשתמש | נשאר עם | נישאר עם"
            " | נשארים עם | סיכמנו | מעכשיו | בחרנו | בחרתי | נעבור ל* | נבחר | עוברים ל* | ההחלטה | החלטה"
            " | לא נשתמש | מוותרים | נוותר"
        ),
        2.5: (
            "@תשתמש | @השתמש | @אני מעדיף | @אני מעדיפה | @אל תשתמש | @לא רוצה | @עדיף | @תמיד | @תשאיר | משאירים"
            " | נשאיר"
        ),
        2: "@במקום | @אל | @צריך להיות | ולא | @שיהיה | לטובת | נדחה",
        1.5: "במקום | כבר לא | @בלי | @חייב | @רק",
    },
    "de": {
        3: (
            "entschieden | ^entscheidung | wir nehmen | wir bleiben | bleiben wir bei | wir verwenden | wir nutzen"
            " | nehmen wir | lass uns … nehmen | lass uns bei | wir einigen | geeinigt | ab jetzt | ab sofort"
            " | wir steigen | wir wechseln | wechseln wir | beschlossen | wir stellen … um | wir verzichten"
            " | verzichten wir | festgelegt | künftig | lieber"
        ),
        2.5: (
            "@^nimm | @^verwende | @^nutze | @ich möchte kein* | @ich will kein* | @^immer | @^nie | @^lass"
            " | wir behalten | bleibt bei | wir lassen | @^behalte | außerhalb des umfangs"
        ),
        2: (
            "@anstatt | @statt | zugunsten | umgestellt auf | @^kein* | @wir sollten | @bitte … verwenden"
            " | standardmäßig soll | @soll"
        ),
        1.5: "statt | anstelle | nicht mehr | @muss | sondern",
    },
    "fr": {
        3: (
            "décid* | ^décision | on part sur | on reste sur | partons sur | restons sur | on va utiliser"
            " | on utilise | nous utiliserons | utilisons | on garde | on choisit | choisi | désormais | dorénavant"
            " | on abandonne | je préfère | convenu | on passe à"
        ),
        2.5: ("@^utilise* | @^garde* | @^n'utilise | @je ne veux pas | @^ne | on laisse | hors périmètre | opté pour"),
        2: (
            "@au lieu de | @au lieu d* | @plutôt que | @plutôt qu* | @il faut que | @on devrait | à la place"
            " | remplaçons"
        ),
        1.5: "au lieu de | plutôt que | en faveur | ne … plus | @doit",
    },
    "es": {
        3: (
            "decidi* | ^decisión | vamos con | nos quedamos con | quedémonos con | usaremos | vamos a usar | usemos"
            " | elegimos | optamos | a partir de ahora | acordamos | prefiero | mantenemos | mantengamos | pasamos a"
            " | descartamos"
        ),
        2.5: ("@^usa | @^utiliza | @no quiero | @^no uses | @^siempre | @^nunca | dejamos | fuera de alcance | @^deja"),
        2: "@en lugar de | @en vez de | cambiamos a | @deberíamos | @^no | a favor de",
        1.5: "en lugar de | en vez de | ya no | @debe | sino",
    },
    "it": {
        3: (
            "deciso | decidiamo | ^decisione | andiamo con | usiamo | useremo | restiamo su | restiamo con"
            " | scegliamo | scelto | d'ora in poi | preferisco | teniamo | passiamo a | concordato | rinunciamo"
        ),
        2.5: "@^usa | @non voglio | @^non usare | @^sempre | @^mai | lasciamo | fuori ambito | @^tieni",
        2: "@invece di | @al posto di | @piuttosto che | @dovremmo | @^non | a favore",
        1.5: "invece di | non … più | @deve | anziché",
    },
    "pt": {
        3: (
            "decidi* | ^decisão | vamos usar | vamos com | usaremos | ficamos com | vamos manter | optamos"
            " | escolhemos | a partir de agora | combinamos | prefiro | mantemos | passamos a usar | descartamos"
        ),
        2.5: ("@^use | @^usa | @não quero | @^não use | @^sempre | @^nunca | deixamos | fora do escopo | @^mantenha"),
        2: "@em vez de | @ao invés de | @no lugar de | @deveríamos | @^não | a favor de",
        1.5: "em vez de | não … mais | @deve | e não",
    },
    "inside": {
        3: (
            "ことにし|ことにする|にしましょう|に決め|決定しまし|決定：|決定:|採用し|採用する|方針で|でいきましょう"
            "|でいこう|决定|就用|我们用|采用|选择了|改用|以后都|统一使用|還是用|还是用|確定用|确定用|기로 했|기로 하"
            "|결정했|결정:|으로 가자|로 가자|를 쓰자|을 쓰자|사용하자|채택|앞으로는"
        ),
        2: (
            "ではなく|の代わりに|に統一|に切り替え|使わない|は見送|而不是|不要用|代替|不用|保持|대신|말고|쓰지 않"
            "|하지 말|유지하"
        ),
        1: "今後は|換成|换成|전환|바꾸",
    },
}

LESSON: Table = {
    "en": {
        3: (
            "no improvement | no luck | wasn't it | was not it | gave nothing | not the reason | not the cause"
            " | not the culprit | which explains | that explains | explains why | barely helped | what solved"
            " | what fixed | what helped | what worked | what made the difference | changed nothing"
            " | changes nothing | no difference | root cause | turns out | turned out | culprit | the cause was"
            " | the cause is | caused by | the fix was | the fix is | the trick | gotcha | gotchas | ^lesson"
            " | lesson learned | never … without | dead end | didn't help | doesn't help | did not help"
            " | didn't work | did not work | doesn't work | does not work | the problem was | the issue was"
            " | the bug was | the real problem | the real reason | the reason was | the reason is | that's why"
            " | which is why | keep in mind | beware | no effect | learned that | learnt | was because | is because"
            " | were because | failing because | failed because | made no difference | the actual cause"
            " | for the record"
        ),
        2.5: (
            "incompatible | not compatible | matters | heads-up | don't … against | gave only | gained only"
            " | only gave | only bought | only moved | only shifted | until they were | matches all | bit us"
            " | only mask | only masks | only hides | only hid | would only | due to | note that | remember that"
            " | note to self | worth knowing | worth noting | it was … that | not enough | happens when"
            " | happens because | only works | only work | works only | silently | workaround | makes no difference"
            " | red herring | does not support | doesn't support | came from | comes from | the catch | caveat"
            " | pitfall | must … before | must … otherwise | needs … otherwise | has to … before | have to … before"
            " | was wrong | ruled out | the problem is that | the issue is that | trips over | the explanation"
            " | traced … to | boils down | the answer was | misleading | fyi"
        ),
        2: (
            "@remember | without … fails | without … would | ignores | ignored | unless | so never | so always"
            " | even though | despite | surprisingly | in practice | the reason | the cause | not supported"
            " | is required | only when | only if | otherwise | always … before | never | had … all along"
            " | wasn't … it was | was not … it was"
        ),
        1.5: (
            "because | defaults to | by default | unlike | requires | cannot | can't | leaks | race | the problem"
            " | the issue | as long as | depends on | be careful | make sure | before … not after"
        ),
        1: "which means | so that | since | actually | needs | only | always | means | when | but",
    },
    "pl": {
        3: (
            "nic nie zmienia | niczego nie zmienia | nic nie zmieniło | okazało się | okazuje się | przyczyn*"
            " | winowajc* | wina leżała | pomogło | nie pomogło | nie pomaga | nie działa* | problem polegał"
            " | problemem był* | źródłem problemu | wniosek | nauczka | pułapka | ślepa uliczka | ślepy zaułek"
            " | nigdy … bez | rozwiązaniem był* | poprawką był* | powodem był* | spowodowan* | winny | winna | winne"
        ),
        2.5: (
            "dał tylko | dało tylko | dała tylko | nic nie wniosł* | nikt … nie zauważył | warto pamiętać"
            " | trzeba pamiętać | pamiętaj | uwaga | zwróć uwagę | nie wystarcz* | dzieje się tak | wynika* z"
            " | brał się | brało się | brały się | bez tego | nie obsługuje | po cichu | obejście | działa tylko"
            " | nic nie dał*"
        ),
        2: (
            "kończ* się błędem | dlatego | inaczej | ignoruje | w przeciwnym razie | tylko wtedy | dopiero | wymaga"
            " | mimo że | chociaż | zanim"
        ),
        1.5: "ponieważ | bo | gdyż | domyślnie | nie wolno | przez to",
        1: "więc | czyli | zawsze",
    },
    "ru": {
        3: (
            "бесполез* | ничего не давал* | толку не было | ничего не меняет | ничего не изменил* | оказал*"
            " | причин* | виноват* | виновник | не помогл* | не помогает | не сработал* | не работает | не работал*"
            " | проблема была | дело в том | дело было | корень проблемы | вывод | урок | грабли | тупик"
            " | никогда … без | решение было | исправление было | помогло | вызван* | проблема в том"
        ),
        2.5: (
            "стоит помнить | имей* в виду | имейте в виду | надо помнить | обрати* внимание | запомни* | учти*"
            " | недостаточно | из-за | происходит когда | молча | обходной путь | не поддерживает | работает только"
            " | нюанс | важно | зря | ничего не дал*"
        ),
        2: (
            "поэтому | иначе | игнорирует* | только если | только когда | требует* | хотя | без этого | прежде чем"
            " | нельзя"
        ),
        1.5: "потому что | так как | поскольку | по умолчанию | всегда",
        1: "значит | то есть | а не | но",
    },
    "he": {
        3: (
            "לא שינה | לא שינתה | לא שינו | התברר | מתברר | הסתבר | הסיבה | שורש הבעיה | הבעיה הייתה | הבעיה היתה"
            " | הבעיה היא | הגורם | נגרם* | לא עזר* | לא עבד* | לא עובד* | הפתרון היה | התיקון היה | לקח | מלכודת"
            " | מבוי סתום | האשם | מקור הבעיה"
        ),
        2.5: (
            "שים לב | שימו לב | חשוב לזכור | לזכור ש* | לא מספיק | בגלל | עוקף | לא תומך* | עובד רק | כדאי לדעת"
            " | בשקט | חשוב | נבע* | קורה כש* | אף פעם"
        ),
        2: "לכן | אחרת | מתעלם | מתעלמת | רק אם | דורש* | למרות | בלי זה | לפני ש* | אסור | תמיד",
        1.5: "כי | מכיוון | כיוון ש* | כברירת מחדל | ברירת המחדל | מאחר",
        1: "אבל | רק",
    },
    "de": {
        3: (
            "brachte keine | brachte kaum | änderte nichts | ändert nichts | ursache | grund war | lag an"
            " | lag daran | liegt daran | stellte sich heraus | hat sich herausgestellt | schuld | das problem war"
            " | der fehler war | half nicht | hilft nicht | hat nicht geholfen | funktioniert* nicht | sackgasse"
            " | die lösung war | lehre | fallstrick | stolperfalle | nie … ohne | niemals … ohne | verursacht"
            " | brachte nichts | herausgestellt"
        ),
        2.5: (
            "lässt sich nur | wegen | beachte | zu beachten | merke | wichtig | reicht nicht | genügt nicht"
            " | passiert wenn | stillschweigend | umgehung | unterstützt … nicht | funktioniert nur | kam daher"
            " | kommt daher | achtung | vorsicht | ohne … schlägt"
        ),
        2: (
            "deshalb | daher | sonst | andernfalls | ignoriert | nur wenn | erst wenn | erfordert | obwohl | trotz"
            " | bevor"
        ),
        1.5: "weil | da | denn | standardmäßig | immer",
        1: "also | aber | damit",
    },
    "fr": {
        3: (
            "n'apporte rien | n'a rien apporté | n'a rien changé | ne change rien | la cause | cause racine"
            " | il s'avère | s'est avéré | venait de | vient de | venait du | coupable | le problème était"
            " | le problème venait | n'a pas aidé | n'aide pas | ne fonctionne pas | n'a pas marché | ne marche pas"
            " | impasse | leçon | piège | jamais … sans | la solution était | le correctif | en fait c'était"
            " | ne sert à rien"
        ),
        2.5: (
            "à peine | à cause de | à cause d* | attention | à noter | il faut savoir | ne suffit pas"
            " | silencieusement | contournement | ne prend pas en charge | se produit quand | fonctionne que"
            " | retenir | important"
        ),
        2: "sinon | c'est pourquoi | ignore | seulement si | nécessite | bien que | malgré | avant de",
        1.5: "parce que | parce qu* | car | puisque | par défaut | toujours",
        1: "donc | mais",
    },
    "es": {
        3: (
            "no aportó | no sirve | no cambió nada | no cambia nada | la causa | causa raíz | resulta que | resultó"
            " | culpable | el problema era | el problema fue | no ayudó | no ayuda | no funcionó | no funciona"
            " | no funcionaba | callejón | lección | trampa | nunca … sin | la solución fue | se debía a"
            " | causado por | no sirvió"
        ),
        2.5: (
            "debido a | ten en cuenta | hay que tener en cuenta | ojo | recuerda que | no basta | ocurre cuando"
            " | silenciosamente | no soporta | solo funciona | importante | por culpa"
        ),
        2: "por eso | si no | de lo contrario | ignora | solo si | requiere | aunque | a pesar | antes de",
        1.5: "porque | ya que | por defecto | siempre",
        1: "así que | pero",
    },
    "it": {
        3: (
            "non è servito | non ha cambiato nulla | non cambia nulla | la causa | causa principale | si è scoperto"
            " | è emerso | colpevole | il problema era | non ha aiutato | non aiuta | non ha funzionato"
            " | non funziona* | vicolo cieco | lezione | trappola | mai … senza | la soluzione era"
            " | la soluzione è stata | dovuto a | causato da | dipendeva da"
        ),
        2.5: (
            "a causa | attenzione | da notare | tieni presente | ricorda che | non basta | succede quando"
            " | silenziosamente | non supporta | funziona solo | importante"
        ),
        2: "per questo | altrimenti | ignora | solo se | richiede | nonostante | prima di",
        1.5: "perché | poiché | siccome | sempre",
        1: "quindi | ma",
    },
    "pt": {
        3: (
            "não adiantou | não resolveu | não resolve | não mudou nada | não muda nada | a causa | causa raiz"
            " | acontece que | descobri* | culpado | o problema era | o problema foi | não ajudou | não ajuda"
            " | não funcionou | não funciona* | beco sem saída | lição | armadilha | nunca … sem | a solução foi"
            " | causado por"
        ),
        2.5: (
            "devido a | por causa | atenção | vale notar | lembre que | lembrar que | não basta | ocorre quando"
            " | acontece quando | silenciosamente | não suporta | só funciona | importante | cuidado"
        ),
        2: ("por isso | senão | caso contrário | ignora | apenas se | requer | exige | embora | apesar | antes de"),
        1.5: "porque | já que | pois | por padrão | sempre",
        1: "então | mas",
    },
    "inside": {
        3: (
            "効果はありません|意味がありませ|ためです|无济于事|解决不了|효과는 없|改善しな|改善しませ|変わりませ"
            "|気をつけ|没有变化|没有效果|没有改善|소용이 없|변화가 없|原因は|原因が|が原因|根本原因|判明し"
            "|わかりました|分かりました|分かった|わかった|効果がな|うまくいかな|効きません|でした。実は|のせいで"
            "|教訓|落とし穴|ハマり|罠|ため失敗|根因|原因是|原因在于|问题在于|問題在於|问题出在|原来是|其实是|没有用"
            "|没用|不起作用|无效|教训|坑|发现是|原因在|원인은|원인이|때문이었|때문에|때문입|알고 보니|효과가 없"
            "|도움이 되지 않|안 됐|작동하지 않|교훈|함정|문제는|원인:"
        ),
        2: (
            "だけでした|だけで、|만으로는|只能|不能避免|注意|ないと|しない限り|必ず|対応していない|ため、|导致|因为"
            "|否则|必须|切记|记住|不支持|주의|반드시|않으면|지원하지 않|그래서"
        ),
        1: "ため|だけでは|只有|才能|해야만",
    },
}

ACTION: Table = {
    "en": {
        3: (
            "not now | someday | some day | one day | next year | next version | next iteration | next milestone"
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
            " | before *ing anything | should follow | is missing | are missing | still lacks | remains open"
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
        1: "still | for now | later | should | must | after | remaining | before",
    },
    "pl": {
        3: (
            "osobnym commicie | osobny commit | osobnej zmianie | osobnym zadaniu | backlog* | w przyszłym miesiącu"
            " | w następnym sprincie | w weekend | na koniec miesiąca | jeszcze nie istnieje | todo | następny krok"
            " | następne kroki | kolejny krok | do zrobienia | pozostało | pozostaje | zostało jeszcze | zostało"
            " | trzeba jeszcze | jeszcze trzeba | musimy jeszcze | brakuje jeszcze | nie zapomnij | przypomnij"
            " | na później | osobne zadanie | osobny ticket | osobnym pr | wciąż brakuje | nadal brakuje"
            " | nadal trzeba | wciąż trzeba | do dokończenia | w następnej kolejności"
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
            "отдельным коммитом | отдельный pr | отдельной правкой | в бэклог | в следующем месяце"
            " | в следующем спринте | на выходных | до конца месяца | до конца недели | ещё нет | todo"
            " | следующий шаг | следующие шаги | следующим шагом | осталось | остаётся | остается | ещё нужно"
            " | еще нужно | нужно ещё | нужно еще | надо ещё | надо еще | ещё надо | еще надо | не забудь*"
            " | не забыть | напомни* | на потом | отдельной задачей | отдельным pr | отдельный тикет | доделать"
            " | ещё не сделано | по-прежнему нужно"
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
            "בקומיט נפרד | ב-pr נפרד | בנפרד | לבאקלוג | בחודש הבא | בספרינט הבא | בסוף השבוע | בסוף החודש"
            " | עוד לא קיים | עוד אין | todo | הצעד הבא | השלב הבא | צעדים הבאים | נשאר ל* | נותר ל* | עדיין צריך"
            " | עוד צריך | צריך עוד | לא לשכוח | אל תשכח | תזכיר לי | להמשך | בהמשך | נותר | משימה נפרדת | עדיין חסר"
            " | עדיין לא"
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
            "eigenen commit | eigener commit | separaten commit | separater pr | ins backlog | nächsten monat"
            " | nächsten sprint | am wochenende | ende des monats | bis ende | gibt es noch nicht | todo"
            " | nächster schritt | nächste schritte | als nächstes | noch offen | offen ist | offen bleibt"
            " | bleibt noch | steht noch aus | stehen noch aus | fehlt noch | fehlen noch | muss noch | müssen noch"
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
            "commit séparé | pr séparée | dans le backlog | le mois prochain | au prochain sprint | ce week-end"
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
            "commit aparte | pr aparte | al backlog | el próximo mes | el próximo sprint | el mes que viene"
            " | la semana que viene | el fin de semana | fin de mes | todavía no existe | aún no existe | todo"
            " | próximo paso | próximos pasos | siguiente paso | queda por | quedan por | falta | faltan"
            " | pendiente* | todavía hay que | aún hay que | no olvides | recuérdame | ticket aparte | por hacer"
            " | todavía no | aún no"
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
            "commit separato | pr separata | nel backlog | il mese prossimo | al prossimo sprint"
            " | nel fine settimana | a fine mese | fine mese | non esiste ancora | todo | prossimo passo"
            " | prossimi passi | resta da | restano da | rimane da | manca ancora | mancano | bisogna ancora"
            " | non dimenticare | ricordami | da fare | non ancora | ticket separato | in sospeso"
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
            "commit separado | pr separado | no backlog | no próximo mês | mês que vem | semana que vem"
            " | próximo sprint | fim de semana | fim do mês | ainda não existe | próximo passo | próximos passos"
            " | falta | faltam | ainda precisa* | ainda falta | pendente* | não esqueça | não esquecer | me lembre"
            " | por fazer | ainda não | ticket separado | resta | restam"
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
            "週明け|来年|次のバージョン|次のリリース|今日はやら|といいです|そのうち|いずれ|下个版本|下一版|明年|等下"
            "|有空再|最好能|내년|다음 버전|나중으로|하면 좋겠|来月|月末に|次回|誰かが|別途|まだありません|バックログ"
            "|将来的に|下个月|月底|周末再|有人需要|还没有|单独的|以后|다음 달|월말|주말에|누군가|별도로|아직 없"
            "|백로그|下周再|来週|明日以降|다음 주에|TODO|残タスク|残りは|残って|次のステップ|次は|まだ未|未対応"
            "|未実装|忘れずに|後で|あとで|別のPR|別PR|別チケット|今後の課題|まだ必要|待办|下一步|还需要|還需要|还没"
            "|还要|剩下|别忘了|以后再|后续|稍后|未完成|다음 단계|남은|아직|나중에|잊지 말|후속|별도 PR|별도 이슈"
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
            " | ^refactored | ^deployed | ^merged | ^done | ^rewrote | ^split | i've | i added | i fixed | i moved"
            " | i replaced | i changed | i updated | i removed | i wrote | i rewrote | i renamed | now passes"
            " | now pass | now works | now runs | works now | is green | are green | tests pass | now uses"
            " | now returns | now has | is now | are now | passes now | went from | dropped from | down to"
            " | no longer | now reads | now takes | now fails | now lives | ^switched | ^converted | ^dropped"
            " | ^extracted | green again | is fixed | are fixed | ^bumped | ^migrated | succeeded"
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
