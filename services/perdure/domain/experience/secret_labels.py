"""Labels of what nobody else may know: passwords, PINs, codes sent once, keys and tokens.

Knows how fields, options and arguments are named in many languages, and what they are called that is only about a
secret ("Password hint", "Token count"). Knows no values; those are ``domain.secrets``'. Prefers blanking too much to
keeping a secret: a routine asks for a blanked value again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from perdure.domain.experience.label_words import plain, without_accents, words


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(without_accents(word.casefold()) for word in text.split())


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_phrase, text.split("|")))


def _bare(text: str) -> frozenset[str]:
    return frozenset(_phrase(text))


# One word that is enough; without accents, in lower case. The languages follow each other.
_ALONE = _bare(
    """
    password passwords passwd passwort passwords passphrase passcode passkey pwd pswd psw passw
    credential credentials secret secrets mnemonic apikey authtoken cvv cvc cvv2 cvc2 csc otp totp hotp mfa 2fa
    bearer authorization pincode keyphrase
    passworte passworter kennwort kennworter geheimzahl geheimnummer losungswort kennwortfeld passwortfeld
    einmalpasswort einmalkennwort einmalcode prufnummer kartenprufnummer sicherheitscode bestatigungscode
    verifizierungscode zugangscode freischaltcode masterpasswort itan mtan smstan phototan pushtan chiptan
    zugangsschlussel geheimschlussel
    mdp motdepasse cryptogramme
    contrasena contrasenia contrasenya contraclave
    senha palavrapasse
    hasło haslo heslo wachtwoord losenord adgangskode kodeord passord salasana jelszo lozinka geslo parool slaptazodis
    sifre parola sifreniz sifresi
    пароль пароля паролем пароли пин пинкод гасло парола лозинка
    συνθηματικο
    סיסמה סיסמא
    पासवर्ड
    """
)

# Words that together are one.
_TOGETHER = _phrases(
    """
    pass word | pass phrase | pass code | api key | api keys | access key | secret key | private key | signing key |
    encryption key | shared key | master key | account key | license key | licence key | product key | session key |
    recovery key | security key | app key | auth key | deploy key | client key | ssh key | security code |
    verification code | authentication code | authenticator code | auth code | confirmation code | one time code |
    one time password | one time pin | onetime code | single use code | login code | sign in code | sms code |
    recovery code | backup code | card code | access code | activation code | 2 fa | 2 factor | two factor | 2 step
    | two step | mfa code | seed phrase | recovery phrase | seed words | security answer | secret answer | memorable
    word | connection string | session cookie | cookie value | mot de passe | mots de passe | code secret | code pin
    | code de securite | code de verification | code a usage unique | cle api | cle d api | cle secrete | cle privee
    | jeton | cle d acces | contrasena | codigo de seguridad | codigo de verificacion | codigo pin | clave secreta |
    clave de acceso | clave privada | clave api | clave de api | codigo de un solo uso | clave dinamica | palavra
    passe | palavra chave de acesso | codigo de seguranca | codigo de verificacao | chave secreta | chave privada |
    chave de api | chave api | chave de acesso | parola d ordine | parola chiave di accesso | codice di sicurezza |
    codice di verifica | codice pin | codice segreto | chiave segreta | chiave privata | chiave api | chiave di
    accesso | codice monouso | beveiligingscode | kod pin | kod bezpieczenstwa | kod sms | guvenlik kodu | dogrulama
    kodu | geheimer schlussel | privater schlussel | einmaliger code | tan eingeben | tan nummer | код подтверждения
    | код из смс | секретный ключ | закрытый ключ | ключ api | одноразовый код | пин код | код безопасности |
    κωδικος προσβασης | κωδικος ασφαλειας | mat khau | kata sandi | kata laluan | كلمة المرور | كلمة السر | كلمه
    المرور | رمز التحقق | رمز عبور | الرقم السري
    """
)

# Words that mean a secret only as the whole label, or next to a word that says so.
_ASKED = _bare("pin pins tan token tokens clave claves puk mpin jeton токен κωδικος")
_ASKING = _bare(
    """
    enter your my new old current confirm repeat retype verify code number no nr nummer card sim atm debit bank
    login user txt text tb edit input field box fld ctl entry value auth access api bearer refresh session id csrf
    jwt oauth github gitlab slack bot personal security secret service client device hardware rsa hash push
    registration webhook app npm pypi docker hub key temporary one time deine ihre neue alte eingeben bestatigen
    ingrese introduzca su tu nueva actual confirmar de acceso digite nova atual votre nouveau saisir inserisci il
    nuovo
    """
)

# What a word after a secret's name makes of it: something that is told to everybody.
_ABOUT = _bare(
    """
    hint hints reminder count counts counter length policy policies strength expiry expires expiration expired
    lifetime ttl reset forgotten question questions manager managers rules requirements type types name names label
    description title limit limits usage used budget url uri endpoint file filename path folder format generator
    rotation age history version status state scope scopes id ids protected protection recovery email mail stdin
    prompt env hash algorithm provider issuer symbol balance price address settings options page link help info
    tooltip error message heading location map to post tab item board message messages comment per window hinweis
    hinweise lange starke richtlinie richtlinien anzahl ablauf vergessen name zurucksetzen manager oublie indice
    longueur nombre olvidada olvidado olvidaste pista longitud esqueci esquecida dica tamanho dimenticata
    suggerimento
    """
)
# The same before it ("length of the password", "max tokens", "show password"); some words only by a link ("name of").
_ABOUT_BEFORE = _bare(
    """
    max maximum min minimum total number count length strength hint show hide remember save forgot forgotten reset
    generate no without output prompt completion used remaining stop special expiry lifetime indice longueur force
    afficher masquer oublie pista longitud mostrar ocultar recordar palabra palabras olvidaste dica tamanho lembrar
    esqueci esqueceu suggerimento mostra nascondi lange anzahl anzeigen verbergen vergessen zeige
    """
)
_ABOUT_BEFORE_LINKED = _bare("name type id status list page names types ids")
_LINKS = _bare("of the a an de la le les du des del della da do d l el il für fur zum zur der das your my su tu")

_CJK = re.compile(
    "密码|密碼|口令|密钥|密鑰|私钥|私鑰|令牌|验证码|驗證碼|校验码|动态码|動態碼|安全码|安全碼|支付密|助记词|"
    "パスワード|パスフレーズ|暗証|認証コード|確認コード|ワンタイム|秘密鍵|セキュリティコード|トークン|APIキー|"
    "비밀번호|패스워드|암호|인증번호|인증 ?코드|보안 ?코드|비밀 ?키|토큰|핀번호|รหัสผ่าน|รหัส"
)
_CJK_ABOUT = re.compile(
    r"(?:的|の|를|을)?\s*(?:提示|强度|強度|长度|長度|问题|問題|策略|规则|規則|过期|過期|有效期|数量|數量|个数|类型|名称|"
    r"ヒント|長さ|強さ|数|名|種類|を?忘れ|お忘れ|の?有効期限|힌트|길이|강도|찾기|재설정|개수|이름|정책|화|化)"
)
MARKS = re.compile(r"\[redacted:[a-z0-9_]+\]")
"""What stands in the place of a secret."""

_PARENTHESES = re.compile(r"[(（\[][^)）\]]*[)）\]]")
_FILE_NAME = re.compile(r"[\w-]+\.[a-z]{1,4}\Z|[/\\]")

_CONTROL = re.compile(
    r"pass(?:word|wd|wort|code)|secure(?:text|edit|entry|field|input)|(?:^|[^a-z])pwd|kennwort|otpinput", re.IGNORECASE
)
_AUTOCOMPLETE = frozenset({"current-password", "new-password", "one-time-code", "cc-csc", "password"})
_MASKED = _bare(
    "ispassword password secure issecure securetextentry issecuretextentry masked ismasked protected isprotected "
    "obscured obscuretext"
)
_TYPED = frozenset({"type", "inputtype", "role", "autocomplete", "contenttype", "controltype"})


def is_secret_label(label: str) -> bool:
    """Whether ``label`` names a secret: of a field, an option, an argument, an identifier. A mark names none."""
    label = MARKS.sub(" ", label)
    if _CJK.search(label):
        return any(not _CJK_ABOUT.match(label, match.end()) for match in _CJK.finditer(label))
    return any(_says_secret(tuple(map(without_accents, words(text)))) for text in _readings(label))


def is_secret_name(name: str) -> bool:
    """As ``is_secret_label``, of something a tool describes: the name of a file is none."""
    return len(name) <= 300 and not _FILE_NAME.search(name.strip()) and is_secret_label(name)


def is_password_control(control_type: str, class_name: str, extra: Iterable[tuple[str, object]] = ()) -> bool:
    """Whether a control hides what is typed: by its type, its class, or what a recorder says of it beside."""
    if _CONTROL.search(plain(control_type)) or _CONTROL.search(plain(class_name)):
        return True
    for name, value in extra:
        bare = "".join(words(name))
        if bare in _MASKED and (value is True or (isinstance(value, str) and value.lower() in ("true", "1", "yes"))):
            return True
        if bare in _TYPED and isinstance(value, str) and (value.lower() in _AUTOCOMPLETE or _CONTROL.search(value)):
            return True
    return False


def _readings(label: str) -> tuple[str, ...]:
    """The label with what is in parentheses taken out, and that alone: "Password (min. 8)", "input[name=pwd]"."""
    outside = _PARENTHESES.sub(" ", label)
    return (outside, *_PARENTHESES.findall(label)) if outside != label else (label,)


def _says_secret(bare: tuple[str, ...]) -> bool:
    return any(not _is_about(bare, start, end) for start, end in _secrets_in(bare))


def _secrets_in(bare: tuple[str, ...]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for at, word in enumerate(bare):
        if word in _ALONE or _is_compound(word) or (word in _ASKED and _is_asked(bare, at)):
            found.append((at, at + 1))
        found.extend(
            (at, at + len(phrase))
            for phrase in _TOGETHER
            if word == phrase[0] and bare[at : at + len(phrase)] == phrase
        )
    return found


def _is_compound(word: str) -> bool:
    """German and Dutch put words together, code leaves out what divides them."""
    return word.endswith(("passwort", "kennwort", "password", "passwd", "wachtwoord", "losenord", "apikey")) or (
        word.startswith(("password", "passwort", "kennwort"))
        and word[8:] in ("box", "feld", "field", "input", "edit", "txt")
    )


def _is_asked(bare: tuple[str, ...], at: int) -> bool:
    rest = [word for place, word in enumerate(bare) if place != at and word not in _LINKS]
    if not rest:
        return True
    near = {*bare[max(0, at - 2) : at], *bare[at + 1 : at + 2]}
    return not near.isdisjoint(_ASKING)


def _is_about(bare: tuple[str, ...], start: int, end: int) -> bool:
    after = end
    while after < len(bare) and bare[after] in _LINKS:
        after += 1
    if after < len(bare) and bare[after] in _ABOUT:
        return True
    before = start - 1
    while before >= 0 and bare[before] in _LINKS:
        before -= 1
    if before < 0:
        return False
    return bare[before] in _ABOUT_BEFORE or (before < start - 1 and bare[before] in _ABOUT_BEFORE_LINKED)
