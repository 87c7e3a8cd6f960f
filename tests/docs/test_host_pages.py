from __future__ import annotations

import pytest

from support import host_pages


@pytest.mark.parametrize("name", host_pages.pages())
@pytest.mark.requirement("CONNECT-11")
def test_a_hosts_page_shows_what_is_written(name: str) -> None:
    assert (host_pages.FOLDER / name).read_text(encoding="utf-8") == host_pages.pages()[name]


def test_there_is_no_page_of_a_host_that_is_not_in_the_table() -> None:
    assert {path.name for path in host_pages.FOLDER.iterdir()} == set(host_pages.pages())
