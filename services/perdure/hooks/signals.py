"""What a durable statement sounds like, and what does not, in seven languages (en zh ja de es fr ru).

Words only: patterns for a choice that was made, a standing rule or wish, a cause that was found, how a system is; and
for what is no fact: questions, requests, plans in progress, guesses, talk. ``capture`` weighs them. Measured by
``tests/quality/test_capture.py``.
"""

from __future__ import annotations

import re

_LATIN_CYRILLIC = re.IGNORECASE


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), _LATIN_CYRILLIC)


def _worded(*patterns: str) -> str:
    """The patterns as whole words; for scripts with spaces."""
    return rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)"


DECISION = _any(
    _worded(
        r"(?:gave|given) up(?: on)?",
        r"abandon(?:ed|amos|né|nons)?",
        r"aufgegeben|verabschiedet|abgeschafft",
        r"dejamos de",
        r"laissé tomber",
        r"отказ(?:ались|ался|ано)|бросили",
    ),
    r"放弃|はやめて|をやめて|にしました",
    _worded(
        r"(?:we're|we are|we) (?:moving|switching|migrating|dropping|replacing|retiring)",
        r"fue elegid[oa]",
        r"(?:est|a été|ont été) (?:retenu|choisi|écarté|remplacé|abandonné)e?s?",
    ),
    _worded(
        r"(?:we|i|team|they)(?:'ve| have|'d| had)? (?:just |finally |all )?(?:decided|chose|chosen|settled|agreed|opted|picked|committed|standardi[sz]ed)",
        r"(?:was|were|is|been|it's) (?:decided|agreed|settled|chosen|dropped|deprecated|rejected|replaced|retired|superseded)",
        r"decision(?: is)?:|the decision (?:is|was)",
        r"(?:we're|we are|i'm|let's) (?:going|sticking|staying) with",
        r"(?:we )?went with",
        r"(?:switched|moved|migrated|upgraded|downgraded|changed) (?:\w+ ){0,5}?(?:to|from|off)",
        r"replaced \S+(?: \S+){0,4} (?:with|by)",
        r"instead of",
        r"rather than",
        r"no longer",
        r"in favou?r of",
        r"ruled out|decided against",
        r"dropped support",
        r"(?:haben|hat) (?:uns |sich )?.{0,60}(?:entschieden|geeinigt|beschlossen|festgelegt|verworfen|umgestellt|gewählt)",
        r"entschieden (?:uns|wir)|beschlossen wurde|entscheidung:|wurde (?:\S+ ){0,6}(?:umgestellt|ersetzt|abgelöst|verworfen|beschlossen|eingestellt)",
        r"sind (?:von|auf) .{0,40}(?:umgestiegen|gewechselt)",
        r"anstelle von|anstatt|nicht mehr|bleiben bei|statt(?! dessen)",
        r"(?:hemos|se ha|se|han|he) (?:decidido|decidió|acordado|acordó|elegido|eligió|optado|descartado|descartó|migrado|migró|cambiado)|decidimos|acordamos|elegimos|optamos|descartamos|migramos|cambiamos|pasamos de|nos quedamos con|decisión:",
        r"en lugar de|en vez de|ya no|sustituyó|reemplazamos|sustituimos|queda descartad[oa]|fue (?:reemplazad|sustituid|eliminad)[oa]",
        r"(?:nous avons|on a|avons|j'ai) (?:finalement |tous )?(?:décidé|choisi|retenu|opté|convenu|abandonné|remplacé|migré|basculé|écarté|acté)|est (?:décidé|acté|abandonné|remplacé)e?|décision :",
        r"au lieu d[e']|plutôt que|ne? \S+ plus|à la place d[eu]|on (?:reste|part) (?:sur|avec)",
        r"(?:мы |было |я |команда )?(?:решили|решено|решил[аи]?|выбрали|договорились|отказались|остановились на|перешли|перевели|заменили|утвердили|мигрировали)",
        r"вместо|больше не|решение:|а не",
    ),
    r"决定|选择了|选用|选定|改用|改为|换成|换到|迁移到|切换到|放弃了|弃用|采用|不再|敲定|定为|统一用|统一使用|而不是|取代|代替",
    r"決定|決めた|決めました|ことにし[たま]|ことになっ[たて]|採用し|採用する|選び|選んだ|移行し[たま]|移行済|切り替え[たま]|変更し[たま]|廃止し|廃止された|やめ[たま]|ではなく|の代わりに|置き換え[たま]|に統一",
)

RULE = _any(
    _worded(
        r"nobody but|no one but|only (?:the |an? )?(?:\S+ ){1,3}(?:may|can|should)",
        r"signs? off|approves?",
        r"(?:nur|allein) (?:der|die|das|ein|eine)",
        r"sol[oa] (?:el|la|los|las|un|una) (?:\S+ ){1,5}puede[n]?",
        r"seule?s? (?:le|la|les|un|une) (?:\S+ ){1,5}peu(?:t|vent)",
    ),
    r"只有.{1,12}(?:才能|才可以|可以)|できるのは|だけです",
    _worded(
        r"(?:i|we|boss|client|customer|team) wants? (?!to\b|you\b|it\b|this\b|that\b)\S+ \S+",
        r"use \S+(?: \S+){0,4},? not \S+",
        r"(?:chef|kunde|kundin|team) will",
        r"jede[rs]? (?:\S+ ){1,4}(?:trägt|braucht|bekommt|muss|erhält)",
        r"no pueden?",
        r"el (?:cliente|jefe|equipo) (?:quiere|exige|pide)",
        r"se escriben? (?:en|con|sin)",
        r"le (?:client|chef) (?:veut|exige|demande)",
        r"s'écri(?:t|vent) (?:en|au|avec|sans)",
        r"chaque (?:\S+ ){1,4}(?:porte|doit|reçoit)",
        r"(?:заказчик|клиент|начальник|команда) (?:хочет|требует|просит)",
        r"(?:пишем|записываем|оформляем|называем)",
    ),
    r"都要|都得|要求所有|缩进",
    _worded(
        r"always",
        r"never",
        r"from now on",
        r"going forward",
        r"(?:must|shall|may)(?: not|n't)?(?= \w)",
        r"do not ever",
        r"under no circumstances",
        r"(?:i|we|he|she|client|customer|team) (?:strongly |really |much )?(?:prefer|prefers|like|hate|dislike|want all|want every|expect)",
        r"prefer(?:s|red)?",
        r"(?:is|are|isn't|aren't) (?:not )?(?:allowed|forbidden|mandatory|required|prohibited|off limits)",
        r"convention(?: here)? is|our convention|by convention|house style|rule(?: is)?:",
        r"every (?:\S+ ){1,4}(?:must|needs|has to|gets|goes|carries)",
        r"(?:don't|do not) (?:use|mock|commit|push|touch|edit|deploy|merge|add|put|write|log|call|store)",
        r"only (?:ever )?(?:use|deploy|merge|commit|release)",
        r"keep (?:it|them|all|every)",
        r"make sure (?:that )?(?:every|all|you always|to always)",
        r"use \S+(?: \S+)?,? not \S+",
        r"whenever you",
        r"remember (?:that|to always)",
        r"stick to",
        r"please always|please never",
        r"immer|niemals|nie|grundsätzlich|ab (?:jetzt|sofort|heute)|künftig|in zukunft|bevorzug\w+|dürfen?|darf|verboten|pflicht|vorgeschrieben|muss|müssen|lieber|konvention|regel:|ausschließlich|stets|nur noch|keinesfalls|auf keinen fall|soll(?:en)? (?:nicht|nur|immer)",
        r"siempre|nunca|jamás|a partir de ahora|de ahora en adelante|prefiero|preferimos|prefiere|debe(?:n|mos)?|no se (?:debe|permite|puede)|obligatori[oa]s?|prohibid[oa]s?|está prohibido|hay que|convención|norma:|regla:|únicamente|solo se|no (?:uses|usar|usamos|toques|hagas|subas)|tiene que|tienen que",
        r"toujours|jamais|désormais|dorénavant|à partir de maintenant|je préfère|nous préférons|on préfère|préfère(?:nt|z)?|doit|doivent|il faut|interdit(?:e|es|s)?|obligatoires?|convention|règle :|uniquement|exclusivement|ne pas (?:utiliser|toucher|modifier|pousser)|n'utilise[zs]? (?:pas|jamais)|ne \S+ (?:jamais|que)|systématiquement",
        r"всегда|никогда|впредь|отныне|с этого момента|предпочита\w+|должн[ыоа]?|должен|нельзя|запрещен[оаы]?|запрещён\S*|обязательн\w*|только|не (?:используй\w*|используем|трогай\w*|коммить\w*|пушь\w*|меняй\w*)|правило:|соглашение|принято|строго|исключительно",
    ),
    r"总是|一律|永远不要|永远不|从现在起|今后|以后都|必须|禁止|不允许|不得|严禁|不要用|不要在|不要把|不要直接|偏好|更喜欢|我喜欢|习惯|约定|规范|规定|只能|只用|统一|务必|不能",
    r"必ず|絶対に|常に|今後は|これからは|禁止|してはいけ|しては(?:いけ|なら)ない|しないでください|しないこと|べきではない|好み|のほうが好き|の方が好き|好きです|ルール|規約|方針|すること[。]?$|とする[。]?$|のみ|だけを?使|原則|義務|徹底",
)

CAUSE = _any(
    _worded(
        r"(?:bounces?|freezes?|stalls?|returns?|disappears?) (?:when|if|unless|after)",
        r"kommen? zurück, wenn|stürzt ab|bricht ab",
        r"rebotan? (?:cuando|si)",
        r"revien(?:t|nent) (?:quand|si)",
        r"возвраща(?:е|ю)тся,? если",
    ),
    r"造成的|引起的|所致|があると|仕様です",
    _worded(
        r"(?:came|comes|stems?|resulted) from",
        r"(?:goes|went) away",
        r"(?:does not|doesn't) (?:happen|occur|appear) any ?more",
        r"makes \S+(?: \S+){0,4}",
        r"tritt (?:\S+ ){0,4}nicht mehr",
        r"(?:instabil|langsam|kaputt|fehlerhaft), da",
        r"se debían?",
        r"ya no (?:aparece|ocurre)",
        r"ne se produit plus",
        r"(?:возникал[аио]?|происходил[аио]?) из",
        r"больше не (?:появляется|возникает|воспроизводится)",
    ),
    r"问题就(?:消失|解决|没)|出在|ためです|ためでした|解消し|解決し|理由で",
    _worded(
        r"root cause",
        r"(?:was|were|is|are) caused by",
        r"(?:was|were|is) due to",
        r"turn(?:s|ed) out",
        r"the (?:fix|cause|culprit|reason|problem|issue|bug|workaround|trick|leak|crash|failure) (?:is|was|came|comes|turned)",
        r"because",
        r"fixed by",
        r"(?:fails|failed|breaks|broke|crashes|crashed|hangs|leaks|times out|timed out) (?:if|when|because|on|unless|with|under)",
        r"only (?:happens|works|fails|occurs)",
        r"workaround",
        r"so that",
        r"needed (?:to be|a)",
        r"ursache|grund (?:war|ist|dafür)|lag (?:an|am|daran)|liegt (?:an|am|daran)|weil|wegen|stellte sich heraus|behoben|schuld (?:war|ist)|scheitert|schlägt fehl|tritt nur|auslöser",
        r"causa|se debía|se debe|debido a|porque|resultó|el problema (?:era|es|estaba)|el fallo (?:era|es|estaba|venía)|el error (?:era|venía|estaba)|la solución (?:fue|es)|se solucionó|se arregló|culpa|falla (?:si|cuando)|solo ocurre",
        r"cause (?:était|est|racine|profonde)|causé par|venait de|vient de ce|provenait|à cause d[eu']|parce qu[e']|car|le problème (?:était|est|venait)|la solution (?:était|est)|corrigé en|échoue (?:si|quand|lorsque)|ne se produit que|le bug (?:était|est|venait)|dû à|due à",
        r"причин[аойы]+|из-за|потому что|оказалось|дело было в|проблема была|виноват\S*|исправ(?:или|лено|ил)|ошибка была|возникает только|падает (?:если|когда|при)|так как|поскольку|решилось",
    ),
    r"根本原因|根因|原因是|原因在于|是因为|由于|因为|导致|其实是|问题出在|问题在于|修复方法|解决办法是|解决方法是|才会|只有在|归功于",
    r"根本原因|原因は|が原因|のため|によるもの|せいで|と判明|とわかった|と分かった|ことが分かり|起因|解決策|回避策|対処法|と失敗する|場合のみ|ときだけ|でした原因",
)

STATE = _any(
    _worded(
        r"(?:ships?|writes?|goes|sends?|publishes?|imports?|exports?) (?:\S+ ){0,4}(?:to|into|through|from|via)",
        r"schreibt|sendet|liefert|exportiert",
        r"escriben?|envían?",
        r"écri(?:t|vent)|envoient?",
        r"пиш(?:ет|ут)|отправля(?:ет|ют)|выгружает",
    ),
    r"写到|写入|发送到|書き出し|書き込み|送信し",
    _worded(
        r"(?:owns?|maintains?|skips?|ignores?|takes care of)",
        r"(?:is|are) responsible for",
        r"(?:stays?|remains?) (?:\w+ ){0,3}(?:until|in|on|at|online|available|supported)",
        r"only supports?",
        r"is \d[\d.]* (?:percent|seconds|minutes|hours|days|mb|gb|ms)",
        r"(?:go|goes|ships?|released?) (?:out )?(?:on |every )\S+",
        r"zuständig|verantwortlich",
        r"bleib(?:t|en) (?:\S+ ){0,5}(?:bis|erreichbar|online|bestehen|verfügbar)",
        r"eingerückt",
        r"se encargan? de",
        r"responsables? d[eu]s?",
        r"seguirán? (?:\S+ )?(?:hasta|activ\S+|disponible)",
        r"está(?:n)? hech[oa]s?",
        r"publicamos",
        r"sangría",
        r"cada (?:dos|tres|\d+) \w+",
        r"s'occupent? d[eu]s?",
        r"reste(?:nt)? (?:\S+ ){0,2}(?:jusqu'\S+|en ligne|disponibles?)",
        r"indentation",
        r"une? \w+ sur (?:deux|trois)",
        r"отвечает",
        r"остан(?:ется|утся)|оста[её]тся",
        r"отступ\S*|составляет|выходит",
    ),
    r"负责|保留到|缩进|同时跑|担当|残し(?:ます|て)|残す[。]|インデント|行います",
    _worded(
        r"(?:runs?|listens?|lives?|is stored|are stored|is kept|are kept|is hosted|are hosted|is deployed|are deployed|is served|sits|resides?) (?:\w+ )?(?:on|in|at|under|behind|inside|every|as)",
        r"we (?:use|deploy|run|store|keep|host|release|ship|support|pin|test|sign|cache|log|bill|serve)",
        r"(?:depends|relies|builds|based|built) on",
        r"requires?",
        r"needs",
        r"expects?",
        r"defaults? to|default (?:is|for)|by default",
        r"is (?:written|built|generated|configured|managed|owned|maintained|handled|limited|capped|pinned|set|named|called|located|defined|derived|versioned|encrypted|rotated|signed|backed)",
        r"are (?:written|built|generated|configured|managed|owned|maintained|handled|limited|capped|pinned|set|named|called|located|defined|derived|versioned|encrypted|rotated|signed|backed|kept)",
        r"(?:uses|supports|returns|contains|stores|writes|reads|accepts|rejects|exports|imports|points|maps|caches|expires|refreshes|retries|sends|owns|handles|covers|means)",
        r"at most|at least|up to|maximum|minimum|limit(?:s|ed)?|timeout|times out after|expires? after",
        r"(?:on|every) (?:mon|tues|wednes|thurs|fri|satur|sun)days?|nightly|weekly|monthly|daily",
        r"läuft|laufen|liegt|liegen|lauscht|nutzt|nutzen|verwendet|verwenden|benutzen|benötigt|braucht|erwartet|basiert|hängt (?:\S+ )?(?:von|ab)|standardmäßig|voreinstellung|höchstens|mindestens|maximal|gespeichert|abgelegt|gehostet|deployt|ausgeliefert|bereitgestellt|heißt|steht (?:in|unter)|unterstützt|enthält|befindet sich|wird (?:\S+ ){0,6}(?:erzeugt|generiert|gebaut|verwaltet|gepflegt|geschrieben|gelesen|signiert|rotiert|begrenzt)|läuft .{0,20}ab|jeden|nächtlich|wöchentlich",
        r"corre|se ejecuta|escucha|usa|usamos|utiliza|utilizamos|requiere|necesita|espera|depende|está (?:escrito|alojad[oa]|desplegad[oa]|configurad[oa]|limitad[oa]|basad[oa]|en)|se (?:guardan?|almacenan?|despliegan?|generan?|encuentran?|publican?|ejecutan?|firman?|llama|rota|compila)|por defecto|de forma predeterminada|como máximo|como mínimo|hasta|vive en|caduca|devuelve|contiene|soporta|cada (?:noche|semana|lunes|martes|miércoles|jueves|viernes|mes|día|hora)|tiene un límite",
        r"tourne|s'exécute|écoute|utilise|utilisons|on (?:utilise|déploie|stocke|garde|héberge)|nécessite|exige|dépend|attend|repose sur|est (?:écrit|hébergé|stocké|déployé|configuré|limité|basé|généré|géré|situé|défini|signé|versionné|fixé)e?s?|sont (?:écrit|hébergé|stocké|déployé|configuré|limité|généré|géré|situé|défini|signé|versionné|conservé)e?s?|par défaut|au maximum|au plus|au moins|maximum|se trouve(?:nt)?|expire(?:nt)?|renvoie|contient|prend en charge|chaque (?:nuit|semaine|lundi|mardi|mercredi|jeudi|vendredi|mois|jour|heure)|s'appelle",
        r"работает|работают|слушает|использует\S*|используем|используется|требует\S*|нужен|нужна|нужно для|зависит|хранится|хранятся|храним|лежит|лежат|находится|находятся|размещ[её]н\S*|развёрнут\S*|написан[аоы]?|по умолчанию|не более|не менее|максимум|минимум|лимит|ограничен\S*|поддержива\S+|содержит|возвращает|деплоим|деплоится|генерируется|собирается|ожидает|истекает|называется|кажд(?:ый|ую|ое|ые)|живёт|запускается|настроен[аоы]?",
    ),
    r"运行在|跑在|监听|部署在|部署到|存储在|存在|存放在|保存在|位于|放在|使用|用的是|依赖|需要|默认|最多|最少|至少|上限|超时|限制|支持|不支持|由.{1,12}(?:负责|维护|管理|生成)|基于|写的|每周|每天|每晚|每月|返回|包含|端口|过期|有效期",
    r"動いて|動作し|稼働|待ち受け|リッスン|保存され|保存して|格納|置いて|置かれ|デプロイされ|デプロイして|使って(?:いる|います)|使用し|利用し|依存し|必要(?:です|がある|があります|。)|デフォルト|既定|最大|最小|以上|以下|以内|上限|タイムアウト|対応し|サポートし|生成され|管理され|書かれ|基づ|毎週|毎日|毎晩|毎月|ポート|返す|返します|含ま|期限|にあり|にある",
)

QUESTION = _any(
    r"^(?:y si|et si|und wenn|was wenn|and if|(?:а )?(?:что,? )?если)\s",
    r"[?？؟]\s*[\"'”’»)\]*_`]*$",
    r"^(?:who|what|when|where|why|how|which|can you|could you|would you|will you|do you|does it|did you|is there|are there|should (?:we|i)|shall (?:we|i)|may i)\b.{0,200}$",
    r"^(?:wer|was|wann|wo|warum|wieso|wie|welche[rsnm]?|kannst du|könntest du|können wir|sollen wir|soll ich)\s",
    r"^(?:qui|que|quand|où|pourquoi|comment|quel(?:le)?s?|est-ce que|peux-tu|pouvez-vous|pourrais-tu)\s|^¿",
    r"^(?:кто|что такое|когда|где|почему|зачем|как|какой|какая|какие|можешь|можно ли|стоит ли|не мог)\s",
    r"(?:吗|呢|么)[。．.]?$|^(?:为什么|怎么|如何|能不能|可不可以|是不是|要不要|哪)|[かの]。?$(?<=か。)|ですか|ますか|でしょうか|ませんか|ですかね|かな[。]?$|だろうか",
)

UNDERWAY = _any(
    r"^(?:(?:ok|okay|sure|right|great|alright|now|first|next|then|so|and|good|perfect|well|hmm|hm|also|thanks)[,.!:;—-]*\s+)*(?:let me|let's|i'll|i will|i'm going to|i am going to|i'm now|i am now|i'm|i need to|i want to|i have to|i should|i can|i've (?:just )?(?:started|begun)|we'll|we need to|we should|we could|going to|time to|starting|looking|checking|reading|running|searching|now)\b",
    _worded(
        r"let me",
        r"i'll",
        r"i am (?:currently|still)",
        r"i'm (?:currently|still)",
        r"right now",
        r"at the moment",
        r"in progress",
        r"for now",
        r"work in progress",
        r"next step",
        r"todo",
        r"as a next",
        r"gerade (?:dabei|noch|eben)",
        r"im moment",
        r"momentan",
        r"zurzeit",
        r"als nächstes",
        r"noch nicht fertig",
    ),
    r"^(?:(?:ok|okay|gut|jetzt|nun|also|zuerst|danach|dann|super|alles klar)[,.!:]*\s+)*(?:ich (?:werde|schaue|prüfe|lese|führe|sehe|starte|beginne|muss|will|möchte|bin)|lass(?:t)? (?:mich|uns)|wir (?:werden|sollten|könnten)|schauen wir|mal sehen|jetzt (?:schaue|prüfe|lese|kommt|mache))",
    r"^(?:(?:vale|ok|bien|ahora|primero|luego|después|perfecto|genial|entonces)[,.!:]*\s+)*(?:voy a|vamos a|déjame|dejame|estoy|estamos|tengo que|quiero|revisaré|miraré|empezaré|necesito|ahora (?:voy|reviso|miro)|veamos|a continuación)",
    r"^(?:(?:ok|bon|bien|maintenant|d'abord|ensuite|puis|parfait|super|alors|d'accord)[,.!:]*\s+)*(?:je (?:vais|regarde|vérifie|lis|lance|commence|suis|dois|veux|voudrais|m'occupe)|laisse(?:z)?-moi|nous allons|on va|voyons|allons|regardons|il me reste)",
    _worded(
        r"en ce moment",
        r"pour l'instant",
        r"pour le moment",
        r"en cours",
        r"prochaine étape",
        r"por ahora",
        r"de momento",
        r"en este momento",
        r"siguiente paso",
        r"en curso",
    ),
    r"^(?:(?:ок|окей|хорошо|так|теперь|сначала|затем|потом|отлично|сейчас|ладно)[,.!:]*\s+)*(?:я (?:посмотрю|проверю|сейчас|начну|запущу|пойду|буду|хочу|ещё)|давай(?:те)?|посмотрим|проверю|посмотрю|сейчас|надо бы|нам нужно|буду|попробую|попробуем|запускаю|смотрю|читаю|начинаю|займусь)",
    _worded(r"в процессе", r"прямо сейчас", r"пока что", r"следующий шаг", r"пока не готов\w*"),
    r"^(?:好的?|行|嗯|那么?|现在|首先|接下来|然后|接着|先)?[，,、]?(?:让我|我来|我先|我会|我将|我要|我正在|我们来|我们先|正在|接下来|先看|看一下|我去|我再|下一步|待会|稍后)|正在(?:运行|检查|处理|读|写|看|调试)|目前还在|还没(?:有)?完成|暂时",
    r"^(?:では|それでは|じゃあ|次に|まず|今から|これから|続いて|さて|はい)[、,]?.{0,60}(?:ます|ましょう|みる|みます|する予定|します)[。]?$|(?:してみます|確認します|見てみます|調べます|調べてみます|始めます|進めます|見ていきます|やってみます|直していきます|修正します|追加します|実行します|読みます)[。]?$|(?:ところです|中です|しています途中|途中です|今のところ|とりあえず|予定です|つもりです|しましょう)[。]?|ている最中",
)

REQUEST = _any(
    _worded(
        r"i need|ich brauche|necesito|j'ai besoin|мне нуж(?:ен|на|но|ны)|by (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    ),
    r"我需要|(?:が|を)?欲しい(?:です)?",
    r"^(?:please|pls|kindly|just)?\s*(?:fix|add|run|show|write|create|make|update|change|refactor|rename|delete|remove|check|look|find|explain|implement|open|read|review|test|try|rerun|commit|push|revert|undo|give|tell|summari[sz]e|generate|continue|help|stop|start|move|install|list|print|search|debug|clean|build|bump|compare|draft|translate)\b",
    r"^(?:bitte\s+)?(?:behebe?|füge?|zeige?|schreibe?|erstelle?|lösche?|entferne?|prüfe?|ändere?|starte?|erkläre?|öffne?|mach|baue?|teste?|suche?|führe?|benenne?|korrigiere?|vergleiche?|aktualisiere?|räum|schau|gib)\b|\bbitte\b",
    r"^(?:por favor,?\s+)?(?:arregla|añade|agrega|muestra|muéstrame|escribe|crea|borra|elimina|revisa|cambia|ejecuta|explica|abre|haz|prueba|busca|corrige|compara|actualiza|renombra|genera|lee|dime|mira|resume)\b|\bpor favor\b",
    r"^(?:corrige|ajoute|montre|écris|crée|supprime|vérifie|change|exécute|explique|ouvre|fais|teste|cherche|lance|compare|renomme|génère|lis|dis|regarde|résume|mets)(?:z|-moi)?\b|s'il (?:te|vous) plaît|\bmerci de\b",
    r"^(?:пожалуйста,?\s+)?(?:исправь|добавь|покажи|напиши|создай|удали|проверь|измени|запусти|объясни|открой|сделай|протестируй|найди|сравни|переименуй|обнови|прочитай|скажи|посмотри|поправь|убери|перепиши)(?:те)?\b|пожалуйста",
    r"^(?:请|麻烦|帮我|帮忙|给我|再)(?!不要|务必|始终|一律|记住)|^(?:修复|添加|删除|检查|运行|看看|解释|写一个|生成|重构|继续|更新|打开|对比)(?:一下|这|那|下|个)",
    r"(?:してください|してくれ|してほしい|お願いします|下さい|頼む|頼みます|教えて|見せて|直して|作って(?!い)|書いて(?!い)|消して|調べて)[。！]?$(?<!ないでください。)(?<!ないでください)",
)

UNSURE = _any(
    _worded(
        r"maybe",
        r"perhaps",
        r"might",
        r"could be",
        r"probably",
        r"possibly",
        r"i (?:think|guess|suppose|believe|assume|wonder|suspect)",
        r"not sure",
        r"seems?",
        r"looks like",
        r"apparently",
        r"we could",
        r"what if",
        r"if we",
        r"would be nice",
        r"one option",
        r"another option",
        r"consider",
        r"considering",
        r"alternatively",
        r"let's see",
        r"supposed to",
        r"should (?:probably|maybe)",
        r"hopefully",
        r"imagine",
        r"suppose",
        r"for example",
        r"vielleicht|womöglich|möglicherweise|wahrscheinlich|vermutlich|ich (?:glaube|denke|vermute|schätze)|könnte(?:n)?|scheint|anscheinend|wäre|mal schauen|eventuell|angenommen|eine option|zum beispiel",
        r"quizás?|tal vez|a lo mejor|probablemente|posiblemente|creo que|supongo|parece|podría(?:mos|n)?|no estoy segur[oa]|habría que|sería|una opción|por ejemplo|imagino",
        r"peut-être|probablement|sans doute|je (?:pense|crois|suppose|me demande)|il semble|on dirait|pourrait|pourrions|pourraient|pas sûre?|serait|une option|par exemple|éventuellement|ça a l'air|imaginons",
        r"может быть|возможно|наверное|наверно|вероятно|кажется|похоже|думаю|полагаю|мог(?:ли|ло)? бы|не уверен[аы]?|вариант|например|допустим|скорее всего|хотелось бы|было бы",
    ),
    r"也许|可能|大概|或许|我觉得|我想|好像|似乎|不确定|应该是|看起来|说不定|如果我们|要是|比如|估计|不如|一种方案|方案之一|先评估",
    r"かもしれ|たぶん|多分|おそらく|と思(?:う|います|われ)|気がする|ようです|みたい|らしい|だろう|でしょう|もし|例えば|たとえば|のはず|検討|案として",
)

CHATTER = _any(
    r"^(?:thanks|thank you|great|perfect|nice|cool|awesome|sounds good|got it|done|yes|no|yep|nope|ok|okay|sure|sorry|hello|hi|hey|good (?:morning|job|idea|point|catch)|well done|you're (?:right|welcome)|i see|understood|all (?:done|good|tests pass)|here(?:'s| is| are)|that's|this is|excellent)\b",
    r"^(?:danke|super|prima|toll|perfekt|alles klar|genau|ja|nein|fertig|hallo|guten (?:morgen|tag)|entschuldigung|verstanden|gern|stimmt|hier ist|hier sind|klingt gut|sehr gut|gute (?:idee|frage))\b",
    r"^(?:gracias|genial|perfecto|vale|sí|no,|listo|hola|buenos días|perdón|entendido|de acuerdo|claro|aquí (?:está|tienes|van)|suena bien|muy bien|buena idea|tienes razón)(?!\w)",
    r"^(?:merci|super|parfait|génial|d'accord|oui|non|fini|bonjour|salut|désolé|compris|voici|voilà|ça marche|très bien|bonne idée|tu as raison|bien vu)(?!\w)",
    r"^(?:спасибо|отлично|супер|хорошо|да|нет|готово|привет|здравствуй\S*|извини\S*|понял\S*|понятно|ясно|вот|ок|звучит|хорошая идея|ты прав\S*|молодец|круто)(?!\w)",
    r"^(?:谢谢|好的|太好了|完美|不错|没问题|明白|了解|收到|是的|对的|对，|嗯|你好|抱歉|完成了|搞定|这是|以下是|辛苦了)",
    r"^(?:ありがとう|了解|承知|なるほど|いいですね|完璧|はい[、。]|いいえ|お疲れ|すみません|こんにちは|おはよう|わかりました|分かりました|完了しました|以下[がは]|こちらが|素晴らしい|助かり)",
)

EPHEMERAL = _any(
    _worded(
        r"(?:line|zeile|línea|ligne|строке|строка) \d+",
        r"but (?:gets|got|returns|was)|bekommt aber|pero (?:recibe|devuelve)|mais (?:reçoit|renvoie)|а (?:получает|возвращает)",
        r"error (?:message|says)|fehlermeldung|mensaje de error|message d'erreur|сообщени[ие] об ошибке",
        r"my (?:laptop|machine|computer)|mein rechner|mi portátil|mon portable|ноутбук",
        r"(?:this|that) (?:function|method|component|class|file|test|loop)|diese (?:funktion|methode|datei|klasse)|est[ae] (?:función|prueba|clase|archivo|fichero)|cette (?:fonction|méthode|classe)|эта функция|этот (?:тест|класс|файл)",
        r"still fail(?:s|ing)?|failing tests?|schlagen noch fehl|en échec|упавш\w+|more seconds",
    ),
    r"第 ?\d+ ?行|\d+ ?行目|但实际|报错信息|エラーが出|这个(?:函数|方法|类|文件)|この(?:関数|メソッド|クラス|ファイル)|还剩|残っています",
    _worded(
        r"all (?:\d+ )?tests (?:pass|passed|are green)",
        r"tests? (?:are )?(?:passing|green)",
        r"(?:the )?build (?:passed|succeeded|failed|is (?:green|red))",
        r"i(?:'ve| have)? (?:added|updated|created|removed|renamed|fixed|edited|changed|written|wrote|run|ran|refactored|read|checked|looked|found|opened|committed|pushed)",
        r"(?:lines?|files?) changed",
        r"this (?:morning|afternoon|evening)|yesterday|today|tomorrow|tonight|(?<!and )(?<!or )later",
        r"a moment ago|just now|as you can see|above|below|the following",
        r"ich habe (?:\S+ ){0,8}(?:hinzugefügt|geändert|erstellt|gelöscht|umbenannt|behoben|geprüft|gelesen|geschrieben|angepasst|aktualisiert|ausgeführt|gefunden)|alle tests|heute|gestern|morgen|nachher|später|siehe (?:oben|unten)|die folgende\w*",
        r"he (?:añadido|cambiado|creado|borrado|actualizado|arreglado|renombrado|revisado|leído|escrito|ejecutado|encontrado|subido)|todas las pruebas|todos los tests|hoy|ayer|mañana|más tarde|luego|a continuación|la siguiente lista",
        r"j'ai (?:ajouté|modifié|créé|supprimé|mis à jour|corrigé|renommé|vérifié|lu|écrit|exécuté|lancé|trouvé|poussé)|tous les tests|aujourd'hui|hier|demain|tout à l'heure|plus tard|ci-dessous|ci-dessus|suivante?s? :",
        r"я (?:добавил|изменил|создал|удалил|обновил|исправил|переименовал|проверил|прочитал|написал|запустил|нашёл|нашел|поправил)а?|все тесты|сегодня|вчера|завтра|позже|ниже|выше|только что",
    ),
    r"我(?:已经|刚刚|刚)?(?:添加|修改|创建|删除|更新|修复|重命名|检查|读|写|运行|找到|提交)了|测试(?:全部|都)?通过|今天|昨天|明天|刚才|刚刚|稍后|如下|上面|下面|待会|一会儿",
    r"(?:を|に)?(?:追加|修正|作成|削除|更新|変更|確認|実行|実装|コミット|プッシュ)しました|テストは?(?:すべて|全て|全部)?(?:通り|通過|成功|パス)|今日|昨日|明日|さっき|先ほど|あとで|後で|以下の|上記の|今朝",
)

STANDING = _any(
    _worded(
        r"always|never|from now on|going forward|under no circumstances|whenever",
        r"immer|niemals|nie|ab (?:jetzt|sofort)|künftig|in zukunft|grundsätzlich|stets",
        r"siempre|nunca|jamás|a partir de ahora|de ahora en adelante",
        r"toujours|jamais|désormais|dorénavant|à partir de maintenant|systématiquement",
        r"всегда|никогда|впредь|отныне|с этого момента",
    ),
    r"永远|总是|一律|从现在起|今后|以后都|务必|始终|必ず|絶対に|常に|今後は|これからは|決して",
)
"""A rule for the time to come, which may be worded as a request."""
