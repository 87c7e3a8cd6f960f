from __future__ import annotations

from typing import Any

import pytest

from perdure.domain.experience.episode import Click, Element, Keys, SetValue, ToolCall
from perdure.domain.experience.irreversible import is_irreversible, step_needs_approval, steps_need_approval
from support.experience_world import click, episode, keys, typed

pytestmark = pytest.mark.requirement("I5-GATE-1")


def button(name: str, automation_id: str = "", control_type: str = "") -> Element:
    return Element(name=name, automation_id=automation_id, control_type=control_type)


@pytest.mark.parametrize("label", ["Send", "Löschen", "Comprar", "Supprimer", "支付", "Pay now", "DELETE", "Buy…"])
def test_words_of_five_languages_gate(label: str) -> None:
    assert is_irreversible(label)


@pytest.mark.parametrize(
    "label",
    [
        *(
            "merge",
            "Deploy",
            "Accept",
            "Authorize",
            "Withdraw",
            "Reset",
            "Overwrite",
            "Discard",
            "Unsubscribe",
            "Revoke",
        ),
        *("Refund", "Close account", "Drop table", "btnDelete", "delete_account", "btnDel", "OrderSubmitButton"),
    ],
)
def test_what_the_predecessor_missed_gates(label: str) -> None:
    assert is_irreversible(label)


@pytest.mark.parametrize(
    "label",
    [
        *(
            "Sort order",
            "Sender",
            "Settings",
            "Payee name",
            "Format painter",
            "Cancel",
            "Post code",
            "Bookmark",
            "搜索",
        ),
        *("Order by", "Address book", "Format", "Undo delete", "Don't send", "", " ", "!!!", "123"),
    ],
)
def test_lookalikes_do_not_gate(label: str) -> None:
    assert not is_irreversible(label)


def test_cancelling_gates_with_what_is_cancelled() -> None:
    assert not is_irreversible("Cancel")
    assert is_irreversible("Cancel subscription")
    assert is_irreversible("Cancel my order")


def test_each_part_of_a_label_counts() -> None:
    assert is_irreversible("Save & Send")
    assert is_irreversible("Review and pay")
    assert not is_irreversible("Save & Close")


def test_a_click_gates_by_name_or_identifier_but_not_into_a_field() -> None:
    assert step_needs_approval(Click(target=button("", "btnDelete")))
    assert step_needs_approval(Click(target=button("OK", "btnDelete")))
    assert not step_needs_approval(Click(target=button("Cancel", "deleteDialogCancel")))
    assert not step_needs_approval(Click(target=button("Send to", control_type="Edit")))
    assert step_needs_approval(Click(target=button("Delete", control_type="MenuItem")))


def test_typing_a_value_never_gates() -> None:
    assert not step_needs_approval(SetValue(target=button("Send to"), value="bob"))


@pytest.mark.parametrize("key", ["Enter", "{ENTER}", "Return", "Space", "eingabe"])
def test_enter_and_space_gate_only_on_what_is_irreversible(key: str) -> None:
    assert step_needs_approval(Keys(keys=key, target=button("Send", control_type="Button")))
    assert not step_needs_approval(Keys(keys=key, target=button("Search", control_type="Button")))
    assert not step_needs_approval(Keys(keys=key))


def test_the_delete_key_gates_but_in_a_text() -> None:
    item, edit = button("report.pdf", control_type="ListItem"), button("Name", control_type="Edit")
    assert step_needs_approval(Keys(keys="Delete", target=item))
    assert step_needs_approval(Keys(keys="Entf", target=item))
    assert not step_needs_approval(Keys(keys="Delete", target=edit))
    assert step_needs_approval(Keys(keys="Shift+Delete", target=edit))
    assert step_needs_approval(Keys(keys="Ctrl+A, Delete", target=item))


def test_keys_that_send_gate() -> None:
    assert step_needs_approval(Keys(keys="Ctrl+Enter", target=button("Message", control_type="Edit")))
    assert step_needs_approval(Keys(keys="cmd+return", target=button("Message", control_type="Edit")))
    assert not step_needs_approval(Keys(keys="Shift+Enter", target=button("Message", control_type="Edit")))


def test_a_command_that_is_typed_gates() -> None:
    assert step_needs_approval(Keys(keys="rm -rf build"))
    assert not step_needs_approval(Keys(keys="ls -la"))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("send_email", {}),
        ("gmail.drafts.send", {}),
        ("bash", {"command": "git push --force"}),
        ("run", {"argv": ["rm", "-rf", "x"]}),
        ("sql", {"query": "DROP TABLE users"}),
        ("sql", {"query": "UPDATE users SET admin = 1"}),
        ("http_request", {"method": "DELETE", "url": "https://x/y"}),
        ("http_request", {"method": "POST", "url": "https://x/v1/payments"}),
        ("fetch", {"request": {"method": "delete"}}),
        ("stripe.refunds.create", {}),
        ("mergePullRequest", {}),
        ("execute", {"steps": [{"command": "kubectl delete ns x"}]}),
    ],
)
def test_calls_of_tools_gate_by_name_and_arguments(name: str, arguments: dict[str, Any]) -> None:
    assert step_needs_approval(ToolCall(name=name, arguments=arguments))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"path": "delete.txt"}),
        ("list_orders", {"status": "deleted"}),
        ("bash", {"command": "git push"}),
        ("bash", {"command": "grep -r 'DROP TABLE' ."}),
        ("bash", {"command": "git commit -m 'rm -rf is dangerous'"}),
        ("sql", {"query": "SELECT * FROM t WHERE note = 'delete from'"}),
        ("write_file", {"path": "a.md", "content": "Never run rm -rf /"}),
        ("http_request", {"method": "GET", "url": "https://x/payments"}),
        ("get_delete_status", {}),
    ],
)
def test_calls_that_only_look_like_it_do_not(name: str, arguments: dict[str, Any]) -> None:
    assert not step_needs_approval(ToolCall(name=name, arguments=arguments))


def test_yes_is_an_answer_to_its_window() -> None:
    for name in ("Yes", "OK", "Ja", "Sí", "Oui", "确定", "はい", "확인"):
        assert step_needs_approval(Click(target=Element(name=name, window_title="Delete 3 files?"))), name
    assert not step_needs_approval(Click(target=Element(name="No", window_title="Delete 3 files?")))
    assert not step_needs_approval(Click(target=Element(name="OK", window_title="Order 123 - Shop")))
    assert not step_needs_approval(Click(target=Element(name="OK", window_title="Settings")))


def test_enter_after_a_typed_command_runs_it() -> None:
    whole = episode([typed("Terminal", "rm -rf build"), keys("Enter", "Terminal"), keys("Enter", "Terminal")])
    assert steps_need_approval(whole.steps) == (False, True, False)
    by_key = episode([*(keys(char) for char in "rm x"), keys("Enter")])
    assert steps_need_approval(by_key.steps)[-1]
    assert not any(steps_need_approval(episode([*(keys(char) for char in "ls x"), keys("Enter")]).steps))
    left = episode([typed("Terminal", "rm -rf build"), click("Elsewhere"), keys("Enter")])
    assert not any(steps_need_approval(left.steps))
