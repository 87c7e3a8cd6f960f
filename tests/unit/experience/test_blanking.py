from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.documents import episode_to_json
from perdure.domain.experience.episode import Click, Episode, EpisodeId, Keys, SetValue, ToolCall
from perdure.errors import InvalidArgument, Reason
from support.experience_world import click, episode, keys, tool, typed

pytestmark = pytest.mark.requirement("I5-EP-2")

SECRET = "zebra-Quilt.41"


def text_of(value: Episode) -> str:
    return json.dumps(episode_to_json(value), ensure_ascii=False)


def first(*actions: dict[str, Any]) -> object:
    return blanked(episode(actions)).steps[0].action


def test_a_flagged_value_is_blanked_whatever_its_field_is_called() -> None:
    found = first(typed("Colour", "x", secret=True))
    assert isinstance(found, SetValue)
    assert (found.value, found.secret) == ("", True)
    assert blanked(episode([typed("Colour", "x", secret=True)])).redacted == ("secret",)


def test_an_empty_secret_is_accepted() -> None:
    found = first(typed("Password", "", secret=True))
    assert isinstance(found, SetValue)
    assert found.secret


@pytest.mark.parametrize(
    "label",
    [
        *("Password", "New password:", "Password (min. 8 characters)", "PIN", "CVV", "API key", "Access token", "TOTP"),
        *("One-time code", "Passwort", "Kennwort", "TAN", "Contraseña", "Clave", "Mot de passe", "Senha"),
        *(
            "密码",
            "确认密码",
            "验证码",
            "密碼",
            "パスワード",
            "暗証番号",
            "認証コード",
            "비밀번호",
            "인증번호",
            "Пароль",
        ),
        *("Wachtwoord", "txtPassword", "user_pwd", "clientSecret", "Hasło", "Şifre", "Private key", "Recovery code"),
    ],
)
def test_an_unflagged_secret_is_known_by_its_field(label: str) -> None:
    found = first(typed(label, "tiger"))
    assert isinstance(found, SetValue)
    assert (found.value, found.secret) == ("", True)


@pytest.mark.parametrize(
    "label",
    [
        *("Password hint", "Token count", "Max tokens", "Search", "Amount", "Pin to taskbar", "Secretary", "Author"),
        *("Passenger", "Security question", "Postcode", "密码提示", "パスワードのヒント", "비밀번호 힌트", "Key"),
        *("Passwort-Hinweis", "Palabra clave", "Indice du mot de passe", "API key name", "Username"),
    ],
)
def test_a_field_that_is_only_about_a_secret_keeps_its_value(label: str) -> None:
    found = first(typed(label, "tiger"))
    assert isinstance(found, SetValue)
    assert (found.value, found.secret) == ("tiger", False)


@pytest.mark.parametrize(
    "fields",
    [
        {"controlType": "PasswordBox"},
        {"className": "NSSecureTextField"},
        {"isPassword": True},
        {"inputType": "password"},
        {"autocomplete": "one-time-code"},
        {"automationId": "pwdLogin"},
        {"placeholder": "Your password"},
    ],
)
def test_an_unflagged_secret_is_known_by_its_control(fields: dict[str, Any]) -> None:
    found = first(typed("Enter here", "tiger", **fields))
    assert isinstance(found, SetValue)
    assert found.secret


def test_keys_into_a_secret_field_become_one_blank_step() -> None:
    pressed = [keys(char) for char in "s3creX"] + [keys("Backspace"), keys("t"), keys("Enter")]
    found = blanked(episode([click("Password"), *pressed, typed("Note", "s3cret")]))
    assert [step.id for step in found.steps] == ["s1", "s2", "s10", "s11"]
    assert found.steps[1].action == Keys(keys="", secret=True)
    assert isinstance(found.steps[2].action, Keys)
    assert "s3cre" not in text_of(found)


def test_keys_after_leaving_the_field_stay() -> None:
    found = blanked(episode([click("Password"), keys("tiger"), keys("Tab"), keys("hello")]))
    assert [step.action.keys for step in found.steps[1:] if isinstance(step.action, Keys)] == ["", "Tab", "hello"]


def test_keys_with_their_own_target_are_judged_by_it() -> None:
    found = blanked(episode([click("Password"), keys("bob", "User"), keys("tiger", "PIN")]))
    assert [step.action.keys for step in found.steps[1:] if isinstance(step.action, Keys)] == ["bob", ""]


def test_a_token_typed_key_by_key_is_found_by_its_form() -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0eF3hI6"
    found = blanked(episode([click("Note"), *(keys(char) for char in f"x {token}")]))
    assert "".join(step.action.keys for step in found.steps[1:] if isinstance(step.action, Keys)) == "x "


def test_what_was_a_secret_once_is_one_everywhere() -> None:
    found = blanked(
        episode(
            [
                typed("Password", SECRET),
                typed("Comment", f"it is {SECRET}, really"),
                click(SECRET, windowTitle=f"Hello {SECRET}"),
                tool("note", f"saved {SECRET}", text=SECRET, nested={"a": [SECRET]}),
                *(keys(char) for char in SECRET),
            ],
            name=f"Log in with {SECRET}",
            args=[SECRET, f"--note={SECRET}"],
            remark={"deep": [SECRET]},
        )
    )
    assert SECRET not in text_of(found)
    assert SECRET not in "".join(step.action.keys for step in found.steps if isinstance(step.action, Keys))


@pytest.mark.parametrize("secret", ["swordfish", "hunter", "4711", "a b c!"])
def test_a_weak_secret_is_found_inside_other_text_as_a_word(secret: str) -> None:
    found = blanked(
        episode(
            [typed("PIN", secret), click(f"see ({secret}), please"), tool("x", f"{secret} it was; 密码是{secret}。")]
        )
    )
    assert secret not in text_of(found)


def test_a_short_word_is_blanked_only_where_it_is_the_whole_text() -> None:
    found = blanked(episode([typed("Password", "send"), click("send"), click("send it")]))
    names = [step.action.target.name for step in found.steps if isinstance(step.action, Click)]
    assert names == ["[redacted:password]", "send it"]


def test_a_value_beside_a_secret_field_is_blanked() -> None:
    found = blanked(episode([click("Password", value="tiger", text="tiger")]))
    assert "tiger" not in text_of(found)


@pytest.mark.parametrize(
    ("args", "gone", "stays"),
    [
        (["--password", "x"], "x", "--password"),
        (["--password=tiger"], "tiger", "--password="),
        (["--api-key", "tiger"], "tiger", "--api-key"),
        (["-pS3cret!"], "S3cret!", "-p"),
        (["https://bob:tiger9@host/x"], "tiger9", "https://bob:"),
        (["PGPASSWORD=tiger"], "tiger", "PGPASSWORD="),
        (["/password:tiger"], "tiger", "/password:"),
        (["-p", "8080", "--port", "80", "--max-tokens", "9", "--password-file", "f.txt"], None, "f.txt"),
    ],
)
def test_secrets_among_the_program_s_arguments_are_blanked(args: list[str], gone: str | None, stays: str) -> None:
    found = blanked(episode([click("a")], args=args))
    whole = " ".join(found.args).replace("[redacted:password]", "#").replace("[redacted:url_password]", "#")
    assert gone is None or gone not in whole.replace("--password", "").replace("/password", "")
    assert stays in whole
    assert bool(found.redacted) == (gone is not None)


def test_tool_arguments_are_known_by_name_and_by_what_they_are_described_as() -> None:
    found = first(tool("login", user="bob", password="tiger", token=7, max_tokens=100))
    assert isinstance(found, ToolCall)
    assert found.arguments == {"user": "bob", "password": "", "token": "", "max_tokens": 100}
    assert found.secrets == ("password", "token")
    found = first(tool("browser_type", element="Password field", text="tiger"))
    assert isinstance(found, ToolCall)
    assert found.arguments["text"] == ""


def test_nested_tool_arguments_results_and_command_lines_are_blanked() -> None:
    value = blanked(
        episode(
            [
                tool("fill", fields=[{"name": "User", "value": "bob"}, {"name": "Passwort", "value": "tiger"}]),
                tool("http", headers={"Authorization": "Basic YWJj", "Accept": "*/*"}, auth={"password": 1234}),
                tool("sh", '{"password": "tiger"}', command="mysql -ptiger99 d; curl -u bob:lion7 x; API_KEY=bear y"),
                tool("sh", argv=["deploy", "--token", "wolf", "--port", "80"]),
            ]
        )
    )
    whole = text_of(value)
    for gone in ("tiger", "YWJj", "1234", "lion7", "bear", "wolf"):
        assert gone not in whole
    for stays in ("bob", "*/*", "mysql", "--port", "80"):
        assert stays in whole


def test_help_texts_and_ports_stay() -> None:
    said = "Use --token flag; docker run -p 80:80 x; ssh -p 22 h; PWD=/home x; mkdir -p a/b"
    assert (
        blanked(episode([tool("sh", said, command="docker run -p 80:80 x; mkdir -p a/b; ssh -p 22 h")])).redacted == ()
    )


def test_blanking_twice_changes_nothing_and_keeps_the_kinds() -> None:
    once = blanked(
        episode(
            [
                typed("Password", SECRET),
                tool("sh", command=f"x --password {SECRET}", password=SECRET),
                keys(SECRET, "PIN"),
            ],
            args=["--password", SECRET],
        )
    )
    assert blanked(once) == once
    assert once.redacted


def test_an_episode_without_secrets_stays_as_it_is() -> None:
    value = episode([typed("Amount", "12.50"), click("Pay"), keys("Enter"), tool("x", "y", a="b", n=5, f=True)])
    assert blanked(value) == value


HARD = 'zebra "Quilt" & <41>/ü'
"""A secret that every way of escaping changes."""


@pytest.mark.parametrize(
    "form",
    [
        *(
            quote(HARD),
            quote(HARD, safe=""),
            quote_plus(HARD),
            "zebra+%22Quilt%22+%26+%3c41%3e%2f%c3%bc",
            quote(HARD, safe="!*'()"),
        ),
        *(json.dumps(HARD)[1:-1], json.dumps(HARD, ensure_ascii=False)[1:-1]),
        *(html.escape(HARD), html.escape(HARD, quote=False)),
        *(base64.b64encode(HARD.encode()).decode(), base64.b64encode(HARD.encode()).decode().rstrip("=")),
        *(base64.urlsafe_b64encode(HARD.encode()).decode(), HARD.encode().hex(), HARD.encode().hex().upper()),
    ],
)
def test_a_known_secret_is_blanked_in_its_other_forms(form: str) -> None:
    found = blanked(episode([typed("Password", HARD), tool("sh", f"a={form}&b", url=f"https://x.test/?q={form}")]))
    action = found.steps[1].action
    assert isinstance(action, ToolCall)
    assert form not in f"{action.result} {action.arguments['url']}"
    assert "redacted:" in str(action.result)


def test_a_short_secret_is_not_looked_for_in_base64_or_hex() -> None:
    found = blanked(episode([typed("PIN", "4711"), click("order 34373131"), click("NDcxMQ==")]))
    names = [step.action.target.name for step in found.steps if isinstance(step.action, Click)]
    assert names == ["order 34373131", "NDcxMQ=="]


def test_a_strong_secret_is_blanked_inside_a_word_and_a_weak_one_is_not() -> None:
    found = blanked(
        episode([typed("Password", SECRET), typed("Password", "summer"), click(f"x{SECRET}x"), click("midsummer")])
    )
    names = [step.action.target.name for step in found.steps if isinstance(step.action, Click)]
    assert names == ["x[redacted:password]x", "midsummer"]


def test_names_of_tools_and_arguments_hold_no_secret_and_stay_different() -> None:
    deep = {SECRET: {"a": 1}, f" {SECRET}": 2, "list": [{SECRET: 3}]}
    called: dict[str, Any] = {SECRET: 1, f"{SECRET} ": 2, "deep": deep, "secretly": True}
    value = blanked(episode([typed("Password", SECRET), tool(f"x{SECRET}", **called)]))
    found = value.steps[1].action
    assert isinstance(found, ToolCall)
    mark = "[redacted:password]"
    assert found.name == f"x{mark}"
    assert found.arguments == {
        mark: 1,
        f"{mark} 2": 2,
        "deep": {mark: {"a": 1}, f"{mark} 2": 2, "list": [{mark: 3}]},
        "secretly": True,
    }
    assert blanked(value) == value


@pytest.mark.parametrize(
    "text",
    [
        "<password>tiger</password>",
        "<a><wsse:Password Type='x'> tiger </wsse:Password></a>",
        "<password><![CDATA[tiger]]></password>",
        '<input type="password" value="tiger">',
        "<input value='tiger' type='password'/>",
        "<input type=password value=tiger>",
        '<input name="user_password" value="tiger">',
        '<login user="ann" password="tiger"/>',
        '<form data-x="a>b"><input type="password" name="p" value="tiger"></form>',
        json.dumps({"html": '<input type="password" value="tiger">'}),
    ],
)
def test_a_secret_in_markup_needs_no_password_step(text: str) -> None:
    found = blanked(episode([tool("fetch", f"Got: {text}", body=text), click("tiger")]))
    assert "tiger" not in text_of(found)
    assert found.redacted == ("password",)
    assert blanked(found) == found


@pytest.mark.parametrize(
    "text",
    ['<input type="text" name="city" value="tiger">', "<label>tiger</label>", "<password-hint>tiger</password-hint>"],
)
def test_markup_without_a_secret_stays(text: str) -> None:
    assert blanked(episode([tool("fetch", text, body=text)])).redacted == ()


@pytest.mark.parametrize("holding", [SECRET, f"x{SECRET}x", quote(f"{SECRET}", safe="")])
@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("episode.id", lambda value, text: replace(value, id=EpisodeId(text))),
        ("episode.steps[1].id", lambda value, text: _with_step(value, id=text)),
        ("episode.steps[1].screenshot", lambda value, text: _with_step(value, screenshot=text)),
    ],
)
def test_an_id_that_holds_a_secret_is_refused(
    holding: str, field: str, changed: Callable[[Episode, str], Episode]
) -> None:
    value = changed(episode([typed("Password", SECRET), click("Go")]), holding)
    with pytest.raises(InvalidArgument) as refused:
        blanked(value)
    assert refused.value.reason is Reason.FIELD_INVALID
    assert refused.value.details["field"] == field
    assert SECRET not in str(refused.value) + str(refused.value.details)


def test_kinds_that_came_with_the_episode_hold_no_secret() -> None:
    value = blanked(replace(episode([typed("Password", SECRET)]), redacted=("api_key", SECRET)))
    assert SECRET not in value.redacted
    assert "api_key" in value.redacted


def _with_step(value: Episode, **changes: Any) -> Episode:
    return replace(value, steps=(value.steps[0], replace(value.steps[1], **changes)))
