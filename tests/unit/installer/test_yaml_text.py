from __future__ import annotations

import pytest
import yaml

from perdure.installer import yaml_text
from perdure.installer.refusal import Refused

PATH = ("extensions",)
ENTRY = {"type": "stdio", "cmd": "/b", "args": [], "envs": {"A": "日本 🙂"}, "enabled": True}


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "- a\n",
        "extensions: 3\n",
        "extensions: {a: {b: c}}\n",
        "extensions:\n\ta: 1\n",
        "a: !other b\n",
        "a: 1\n---\nb: 2\n",
    ],
)
def test_what_cannot_be_read_or_edited_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        yaml_text.put(text, PATH, "perdure", ENTRY)


def test_an_entry_that_the_host_has_rewritten_is_cut_out_whole() -> None:
    text = (
        "extensions:\n  a:\n    enabled: true\n  perdure:\n    args: []\n    cmd: /b\n    description: |\n      two\n"
        "      lines\n  z:\n    enabled: true\nGOOSE: x\n"
    )

    new = yaml_text.remove(text, PATH, "perdure", with_container=True)

    assert new == "extensions:\n  a:\n    enabled: true\n  z:\n    enabled: true\nGOOSE: x\n"


def test_words_of_every_script_are_read_back() -> None:
    assert yaml.safe_load(yaml_text.put("", PATH, "perdure", ENTRY)) == {"extensions": {"perdure": ENTRY}}
