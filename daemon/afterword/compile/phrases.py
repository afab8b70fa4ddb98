"""The cue phrases of decisions and lessons, as literal tables: language → weight → phrases.

Grammar of a phrase: `word*` any ending · `*ed` any beginning (not for the first word) · `…` up to four words ·
`^` only where a sentence or clause starts · `@` only in a person's words. Under "inside" stand texts looked for as
they are (Japanese, Chinese, Korean).
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
            " | @^leave | @must not | @i want … to be | @no need | @^no more | will live in | will be the default"
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
            " | note to self | worth knowing | worth noting | it was … that | not enough | isn't enough "
            "| wasn't enough | aren't enough | happens when"
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
