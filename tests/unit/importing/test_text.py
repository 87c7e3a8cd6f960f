from __future__ import annotations

from perdure.importing.text import PART_BYTES_MAX, parts_of, sections_of, unused


def test_a_text_of_tens_of_megabytes_is_cut_into_all_of_its_parts() -> None:
    text = "Ünlü sözler burada durur. " * 1_500_000
    parts = parts_of(text)
    assert all(len(part.encode()) <= PART_BYTES_MAX for part in parts)
    assert " ".join(parts) == text.strip()


def test_a_heading_loses_the_marks_at_its_end_and_a_long_row_of_blanks_takes_no_time() -> None:
    long = "# a" + " " * 200_000 + "b"
    text = f"# One #\nx\n## C# and F#  ##  \ny\n### ###\nz\n#none\n{long}\nw"
    assert [section.path[-1] for section in sections_of(text)][:3] == ["One", "C# and F#", "#"]
    assert sections_of(text)[-1].body == "w"


def test_a_key_that_is_taken_gets_a_number_and_none_is_given_twice() -> None:
    used: dict[str, int] = {}
    assert [unused(key, used) for key in ("a", "a", "a~2", "a", "b", "a~2")] == [
        "a",
        "a~2",
        "a~2~2",
        "a~3",
        "b",
        "a~2~3",
    ]
    many = [unused("todo", used) for _ in range(200_000)]
    assert len(set(many)) == 200_000
