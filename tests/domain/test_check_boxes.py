"""Check-boxes of a markdown list."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.text.markdown import CheckBoxes, check_boxes


def test_what_is_open_in_its_order_and_how_many_are_done() -> None:
    body = "Intro\n\n- [ ] cut the log\n- [x] tell Ada\n* [X] and Bob\n  1. [ ] nested, with `code`\n> - [ ] quoted\n"
    assert check_boxes(body) == CheckBoxes(("cut the log", "nested, with `code`", "quoted"), 2)


def test_an_example_in_a_fence_is_nothing_to_do() -> None:
    body = "- [ ] before\n\n```md\n- [ ] in the fence\n- [x] done there\n```\n\n- [ ] behind\n"
    assert check_boxes(body) == CheckBoxes(("before", "behind"))


def test_what_is_no_box() -> None:
    for line in ("[ ] no list", "- [] nothing in it", "- [ ]", "- [ ]glued", "- [y] strange", "a - [ ] in a sentence"):
        assert check_boxes(line) == CheckBoxes(), line


def test_a_long_one_is_cut_and_hides_nothing() -> None:
    (shown,) = check_boxes(f"- [ ] x\u202e{'long ' * 200}").open
    assert len(shown) <= 300
    assert shown.endswith("…")
    assert "\u202e" not in shown


@given(st.text(alphabet="-*[] xX`~>\n1.ab", max_size=200))
def test_any_text_has_some_number_of_boxes(text: str) -> None:
    boxes = check_boxes(text)
    assert len(boxes.open) + boxes.done <= text.count("[")
    assert all(each and "\n" not in each for each in boxes.open)
