"""The block of rules comes and goes and leaves every byte of the rest, whatever the rest is."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.installer.rules import BEGIN, END, block, put, removed

PIECES = st.sampled_from(
    [b"# Mine", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\xff\xfe", b"- a", "日本".encode(), END.encode()[:12], b"---"]
)
TEXTS = st.one_of(
    st.binary(max_size=80).filter(lambda text: b"\0" not in text and text[:2] not in (b"\xff\xfe", b"\xfe\xff")),
    st.lists(PIECES, max_size=12).map(b"".join).filter(lambda text: not text.startswith(b"\xff\xfe")),
)
BLOCKS = st.builds(block, st.sampled_from(["_global", "shop", "a`b<!-- -->", "läden"]), readonly=st.booleans())


@example(text=b"\r", bom=b"", first=block(), second=block(readonly=True))
@given(text=TEXTS, bom=st.sampled_from([b"", b"\xef\xbb\xbf"]), first=BLOCKS, second=BLOCKS)
@pytest.mark.requirement("I4-RULES-01")
def test_what_was_there_is_there_again(text: bytes, bom: bytes, first: str, second: str) -> None:
    text = bom + text
    with_first = put(text, first)
    assert with_first.startswith(text)
    assert put(with_first, first) == with_first
    with_second = put(with_first, second)
    assert put(text, second) == with_second
    assert with_second.count(BEGIN.encode()) == 1
    assert removed(with_second) == text


@given(text=TEXTS, more=st.lists(PIECES, max_size=6).map(b"".join), written=BLOCKS)
def test_what_is_written_below_later_stays(text: bytes, more: bytes, written: str) -> None:
    left = removed(put(text, written) + b"\n" + more)
    assert left.startswith(text.rstrip(b"\r\n"))
    assert left.endswith(more)
