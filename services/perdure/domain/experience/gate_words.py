"""Words of what cannot be taken back, and of what only looks like it: tables, and nothing else.

Lower case. A word with accents is also meant without them, a German one with ae, oe, ue too. Source of the first words
of en de es fr zh: Builderforce Memory; the others are our own.
"""

# ruff: noqa: E501 - one line a verb

from __future__ import annotations

from perdure.domain.experience.label_words import without_accents

_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def _words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in text.split():
        found.update((word, without_accents(word), word.translate(_GERMAN)))
    return frozenset(found)


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        {form for phrase in text.split("|") for form in (tuple(phrase.split()), tuple(without_accents(phrase).split()))}
    )


def _spaced(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ALWAYS = _words(
    """
    send resend submit resubmit pay prepay repay buy delete remove confirm publish republish unpublish approve erase
    wipe uninstall unsubscribe revoke refund reimburse withdraw overwrite discard deploy redeploy undeploy authorize
    authorise accept terminate deactivate destroy purge shred obliterate deregister decommission liquidate sell redeem
    donate remit esign countersign truncate agree grant evict expel disburse finalize finalise nuke annihilate
    rollback subscribe reserve broadcast reject decline void forfeit relinquish unenroll unregister wire
    senden sende absenden abschicken verschicken versenden schicken einreichen bezahlen zahlen kaufen bestellen
    löschen lösche entfernen entferne bestätigen bestätige überweisen überweise veröffentlichen veröffentliche
    genehmigen freigeben akzeptieren annehmen zustimmen unterschreiben unterzeichnen buchen kündigen stornieren
    widerrufen zurücksetzen überschreiben verwerfen leeren deinstallieren zusammenführen mergen bereitstellen
    ausrollen deployen erstatten zurückerstatten rückerstatten abheben auszahlen abbestellen autorisieren vernichten
    beauftragen spenden posten publizieren übermitteln verkaufen kostenpflichtig zahlungspflichtig endgültig
    unwiderruflich ablehnen tilgen
    enviar envía envíe mandar pagar pague comprar compre eliminar elimina elimine borrar borra borre suprimir
    confirmar confirme transferir transfiere publicar publique aprobar apruebe autorizar autorice aceptar acepto
    acepte firmar firme reservar desinstalar restablecer sobrescribir descartar fusionar desplegar reembolsar retirar
    revocar vaciar destruir vender donar tramitar rechazar anular quitar
    envoyer envoyez expédier payer payez acheter achetez commander commandez supprimer supprimez effacer effacez
    confirmer confirmez publier publiez transférer valider validez soumettre approuver autoriser accepter acceptez
    signer signez réserver réservez désinstaller réinitialiser écraser fusionner déployer rembourser retirer révoquer
    résilier désabonner désinscrire clôturer vider détruire vendre poster refuser
    invia inviare invii spedisci spedire pagare acquista acquistare comprare elimina eliminare cancella cancellare
    rimuovi rimuovere confermare pubblicare approva approvare autorizza autorizzare accetta accettare accetto firmare
    prenota prenotare disinstalla disinstallare reimposta reimpostare sovrascrivi sovrascrivere scarta scartare
    rimborsa rimborsare preleva prelevare revocare disiscriviti svuota svuotare trasferisci trasferire distruggi vendi
    rifiuta
    envie excluir exclua apagar apague remover remova transfira aprovar aprove autorize aceitar aceito aceite assinar
    assine redefinir sobrescrever mesclar implantar estornar sacar resgatar revogar deletar esvaziar doar encerrar
    submeter rejeitar recusar confirmar publicar finalizar
    отправить удалить оплатить заплатить купить подтвердить опубликовать заказать перевести подписать принять одобрить
    сбросить очистить стереть отозвать вернуть отклонить
    verzenden versturen verwijderen betalen kopen bevestigen publiceren wissen
    wyślij usuń zapłać kup zamów potwierdź opublikuj
    """
)
"""Each is enough wherever it stands in a label."""

FIRST: dict[str, frozenset[str]] = {
    word: _words(text)
    for word, text in {
        "post": "code codes office title titles card number type id date count list box",
        "order": "",
        "book": "title titles name club review reviews author list shelf cover value keeping",
        "sign": "in up out on off language post",
        "transfer": "rate speed protocol learning file files size encoding window",
        "purchase": "order orders",
        "checkout": "branch branches tag commit time latest revision",
        "merge": "cell cells field fields sort conflict conflicts center centre shapes tool view formatting layers",
        "reset": "zoom view filter filters layout search sort sorting column columns selection rotation window scale camera "
        "timer form pan position grid",
        "release": "notes note key build",
        "charge": "level indicator cycle cycles",
        "deposit": "slip",
        "trade": "mark show view",
        "bid": "ask",
        "push": "notification notifications button pin to",
        "kill": "ring line word",
        "execute": "query",
        "invest": "",
        "restore": "window down size default session tab tabs",
        "reorder": "columns list rows tabs items pages",
        "allow": "popups multiple editing notifications zoom resize",
        "drop": "down shadow cap caps zone area files here target list menu",
        "compra": "",
        "paga": "",
        "conferma": "",
        "pubblica": "",
        "revoca": "",
        "dona": "",
        "ordina": "per crescente decrescente",
        "publica": "",
        "confirma": "",
        "virement": "",
    }.items()
}
"""Words that are nouns as well: enough where a label begins with them, unless what follows makes them nouns."""

THINGS = _words(
    """
    history policy policies setting settings options option preferences date dates time status log logs list details
    detail info information type types name id ids number no rate count total amount limit limits period method
    methods template templates summary overview tab title label field color colour help guide faq tutorial docs price
    fee fees queue rules permissions reason by from painter size speed mode as per statistics stats report reports
    page pages view form forms key code confirmation reference ref items line lines volume value ascending descending
    asc desc a preview terms instructions tracking tracker cycle group column sort sorting direction week month year
    notification notifications
    """
)
"""What may follow a noun of ``FIRST`` in a name of something."""

WITH: dict[str, frozenset[str]] = {
    verb: _words(objects)
    for verb, objects in {
        "cancel": "order orders subscription booking reservation account membership plan flight appointment payment transfer "
        "contract trip ticket policy service auction bid registration enrollment shipment delivery invoice transaction",
        "close": "account accounts position positions bank store shop permanently",
        "clear": "history data cache cookies storage database logs memory everything table disk",
        "empty": "trash bin recycle cart folder junk spam bucket mailbox",
        "end": "subscription contract lease membership employment agreement",
        "leave": "team organization organisation workspace group company project channel server",
        "disable": "account 2fa mfa protection backup backups",
        "force": "push delete stop quit remove merge overwrite unlock",
        "place": "order bid bet",
        "format": "disk drive c d e usb sd card partition volume stick device hdd ssd hard harddisk",
        "drop": "table database db schema column index collection user role course class stash partition keyspace bucket tables",
        "make": "payment transfer public donation permanent purchase offer",
        "complete": "purchase order payment checkout booking transaction sale transfer",
        "finish": "order purchase payment checkout booking",
        "process": "payment refund payroll transaction order",
        "issue": "refund payment invoice credit",
        "request": "payout withdrawal",
        "charge": "card customer account",
        "promote": "production prod",
        "launch": "campaign rocket",
        "execute": "trade order payment transaction transfer",
        "replace": "file files existing destination",
        "move": "trash bin rubbish wastebasket papierkorb corbeille",
        "shut": "down",
        "power": "off",
        "roll": "back",
        "go": "live",
        "top": "up",
        "check": "out",
        "allow": "access",
        "stop": "payment",
        "run": "payroll",
        "ship": "order it orders",
        "transmit": "order",
        "cancelar": "suscripción suscripcion pedido reserva cuenta plan contrato vuelo cita assinatura conta inscrição compra",
        "realizar": "pedido pago compra transferencia pagamento transferência",
        "hacer": "pedido pago transferencia",
        "finalizar": "compra pedido",
        "dar": "baja",
        "darse": "baja",
        "darme": "baja",
        "cerrar": "cuenta",
        "formatear": "disco unidad usb tarjeta",
        "fazer": "pedido pagamento transferência",
        "fechar": "conta pedido",
        "formatar": "disco unidade usb cartão",
        "annuler": "commande abonnement réservation vol paiement contrat",
        "effectuer": "paiement virement achat",
        "passer": "commande",
        "fermer": "compte",
        "formater": "disque lecteur clé usb",
        "abandonner": "modifications",
        "finaliser": "commande achat",
        "annulla": "ordine abbonamento prenotazione iscrizione volo contratto",
        "effettua": "bonifico pagamento ordine acquisto",
        "chiudi": "conto account",
        "formatta": "disco unità usb",
        "completa": "ordine acquisto pagamento",
        "konto": "schließen auflösen deaktivieren",
        "bestellung": "aufgeben abschließen abschicken",
        "kauf": "abschließen",
        "auftrag": "erteilen",
        "abo": "beenden",
        "festplatte": "formatieren",
        "laufwerk": "formatieren",
        "datenträger": "formatieren",
        "papierkorb": "leeren",
        "оформить": "заказ",
        "отменить": "подписку заказ бронирование",
        "закрыть": "счёт счет аккаунт",
    }.items()
}
"""Verbs that are harmless alone and not with one of these objects after them."""

HARMLESS_FIRST = _words(
    """
    view show hide open preview find search sort filter learn about help how why what where edit back select choose
    configure manage list see read print export download copy compare track review new add create draft recent last my
    total number undo redo dont don not never no without keep cancel is auto next previous toggle explore browse get
    fetch query count describe lookup validate check expand collapse jump zoom scheduled pending failed show ansehen
    anzeigen suche suchen sortieren öffnen bearbeiten nicht zurück neue neuer abbrechen ver mostrar buscar ordenar
    abrir editar deshacer nuevo nueva cancelar mis método métodos historial fecha código voir afficher rechercher
    trier ouvrir modifier annuler nouveau nouvelle mes mode historique date cerca mostra visualizza apri modifica
    annulla nuovo nuova metodo cronologia data desfazer novo nova meus minhas forma procurar histórico
    """
)
"""A label that begins with one of these only leads there, or undoes it."""

LOOKALIKES = _phrases(
    """
    sort order | send date | confirm password | confirm new password | confirm your password | confirm pin | confirm
    email address | confirm e mail address | confirm e mail | accept language | accept header | accept all cookies |
    accept cookies | accept encoding | reject all cookies | reject cookies | decline cookies | accept only necessary
    cookies | delete key | remove filter | remove filters | remove formatting | remove highlight | remove bookmark |
    remove background | publish date | publish time | submit date | submit time | submission date | pay period | pay
    rate | pay stub | pay date | pay grade | pay scale | pay slip | refund policy | refund history | refund status |
    refund policies | deploy status | deploy log | deploy logs | deploy history | deploy key | withdraw limit |
    withdraw history | wire frame | buy price | sell price | buy sell ratio | subscribe count | reserve price |
    reserve balance | terminate date | void date | reserve status | approve status | unsubscribe rate | send later
    folder | send receive settings | send to menu | wire thickness | broadcast address | broadcast settings | conferma
    password | conferma la password | confirmar contraseña | confirmar la contraseña | confirme su contraseña |
    confirmar senha | confirme a senha | confirmer le mot de passe | confirmez le mot de passe | passwort bestätigen |
    kennwort bestätigen | email bestätigen | cookies akzeptieren | alle cookies akzeptieren | aceptar cookies |
    aceptar todas las cookies | accepter les cookies | tout accepter les cookies | accetta i cookie | accetta tutti i
    cookie | aceitar cookies | aceitar todos os cookies | filter entfernen | filter zurücksetzen | zoom zurücksetzen |
    ansicht zurücksetzen | formatierung löschen | eliminar filtro | eliminar filtros | quitar filtro | quitar filtros
    | borrar filtros | borrar formato | supprimer le filtre | supprimer les filtres | effacer les filtres | effacer la
    mise en forme | rimuovi filtro | rimuovi filtri | cancella filtri | remover filtro | remover filtros | limpar
    filtros | quitar el formato | restablecer filtros | restablecer zoom | réinitialiser les filtres | réinitialiser
    le zoom | reimposta filtri | reimposta zoom | redefinir filtros | redefinir zoom | drop down | drop files here |
    clear all filters | empty state
    """
)
"""Word for word no reason to ask."""

CONJUNCTIONS = _words("and then und dann et puis y e luego depois poi или и")

AFFIXES = _words(
    """
    btn button buttons cmd command mnu menu menuitem mi lnk link hyperlink action act icon ico tool tsb tsmi toolbar
    ctl ctrl ui on handle please now bouton boton knopf schaltfläche item click primary secondary control element
    jetzt ahora ya agora ora adesso maintenant subito sofort dialog dlg x toolstrip fab img image
    """
)
"""What identifiers and urgency put around a word."""

YES = _words(
    """
    ok okay yes y continue proceed sure got it ja weiter fortfahren sí si vale continuar oui d accord continuer sì procedi
    prosegui continua sim prosseguir да продолжить ja doorgaan tak
    """
)
"""Labels of these alone agree to what a window asks."""

CJK_YES = frozenset({"是", "好", "确定", "继续", "確定", "繼續", "はい", "続行", "続ける", "了解", "예", "네", "계속"})

CJK_ALWAYS = _spaced(
    """
    发送 提交 支付 付款 购买 下单 删除 确认 转账 发布 清空 清除 移除 卸载 格式化磁盘 格式化硬盘 格式化u盘
    格式化分区 格式化驱动器 合并 部署 退款 撤销订单 注销 取消订阅 取消订单 取消预订 取消预约 签署 签字 批准
    授权 同意 接受 重置 覆盖 丢弃 提现 取款 汇款 充值 结算 结账 销户 永久 终止 停用 解散 吊销 撤回 付费 购票
    预订 订购 发表 拒绝 放弃更改 强制推送 关机 恢复出厂 捐款 卖出 买入 驳回 汇出 推送到 作废 發送 傳送 送出
    購買 下單 刪除 確認 轉帳 轉賬 匯款 發佈 發布 發表 解除安裝 合併 撤銷 註銷 簽署 核准 授權 重設 覆蓋 覆寫
    捨棄 提領 提款 結帳 訂購 停權 終止 取消訂閱 取消訂單 取消預訂 退訂 關閉帳戶 關閉帳號 恢復原廠 格式化硬碟
    格式化磁碟 拒絕 預訂 賣出 買入 儲值 公開發行 送信 削除 支払 購入 注文を確定 注文する 注文確定 確定 公開する
    公開 投稿 送金 振込 振り込 決済 承認 許可 承諾 解約 退会 初期化 リセット 上書き 消去 破棄 アンインストール
    マージ デプロイ 返金 払い戻 失効 無効化 予約する 予約を確定 予約確定 署名する 登録する 申し込 申込 空にする
    取り消す 購読を解除 登録を解除 登録解除 配信停止 フォーマットする ディスクをフォーマット 出金 売却 拒否
    却下 キャンセルを確定 注文をキャンセル 予約をキャンセル 強制プッシュ 同意する 同意して 実行する 反映する
    買う 寄付 完全に消 シャットダウン 承る 보내기 전송 발송 삭제 제거 결제 구매 주문하기 주문_확정 주문하 확인
    송금 이체 게시 등록하기 제출 승인 동의 수락 서명하기 서명하 예약하기 예약하 예약_확정 해지 탈퇴 초기화
    덮어쓰기 덮어쓰 폐기 환불 병합 배포 철회 출금 구독_취소 주문_취소 예약_취소 비우기 지우기 발행 기부 매도
    매수 강제_푸시 포맷하기 디스크_포맷 제거하기 거절 거부 허용 권한_부여 계정_닫기 종료하기 시스템_종료
    """
)
"""Found anywhere in a label; "_" stands for a blank that may be missing."""

CJK_LOOKALIKES = _spaced(
    """
    搜索 已发送 已发布 已删除 已确认 已付款 待付款 待确认 未确认 发送者 发送人 发布者 发布时间 发布日期
    发送时间 付款方式 支付方式 付款记录 支付记录 购买记录 购买历史 提交历史 提交记录 确认密码 最近删除 删除记录
    删除时间 转账记录 合并单元格 授权码 部署状态 部署日志 退款记录 退款政策 退款状态 提交者 支付宝 重置缩放
    重置筛选 清除筛选 清除格式 取消发送 取消删除 撤销删除 不同意 不接受 不删除 订购记录 预订记录 结算方式
    充值记录 确认号 同意书 付费会员 永久链接 推送通知 发布说明 购买须知 支付设置 删除线 覆盖率 覆盖范围
    终止日期 注销记录 授权列表 已傳送 已發佈 已刪除 寄件者 發佈者 發佈時間 發佈日期 付款紀錄 購買紀錄 確認密碼
    刪除線 最近刪除 合併儲存格 搜尋 訂購紀錄 退款紀錄 轉帳紀錄 授權碼 傳送者 傳送時間 清除篩選 結帳方式 涵蓋率
    重設縮放 取消傳送 復原刪除 提領紀錄 送信者 送信元 送信済み 送信済 送信日時 送信履歴 送信トレイ 削除済み
    削除済 購入履歴 購入日 注文履歴 注文番号 公開日 公開設定 公開範囲 投稿日 投稿者 投稿一覧 確認用 確認画面
    確認メール 確認待ち 支払方法 支払い方法 支払履歴 支払い履歴 承認待ち 承認者 検索 並べ替え 並び替え 書式
    決済方法 決済履歴 返金ポリシー 予約一覧 予約番号 署名欄 登録日 申込履歴 申込日 デプロイ履歴 デプロイ状況
    セルを結合 許可リスト 元に戻す 送金履歴 未確定 取り消し線 ズームをリセット フィルターをリセット 振込先
    振込履歴 確定申告 非公開 注文一覧 公開鍵 削除しない 同意しない マージン 보낸 보내는 전송_기록 전송_내역
    전송_시간 삭제된 결제_수단 결제_방법 결제_내역 구매_내역 주문_내역 주문_번호 확인_중 비밀번호_확인 검색
    설정 정렬 게시자 게시일 게시판 게시글 게시물 등록일 예약_내역 예약_목록 배포_상태 배포_기록 환불_정책
    환불_내역 이체_내역 미확인 확인됨 송금_내역 승인_대기 동의하지_않 삭제_취소 보내기_취소 셀_병합 필터_초기화
    확대/축소_초기화 발행일 구매일 결제일 제출일 매수_단가 서명란 허용_목록
    """
)
