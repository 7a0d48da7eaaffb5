"""Prompts of a bounded form: names, layout, and what is refused."""

import numpy as np
import pytest

from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
    find_by_name,
    regression,
)
from krohn.program.errors import Refused

NAMES = ["InContext3,2", "InContext3,2:steps=4,ahead=2", "InContext2,4:history=8"]


def of(name: str) -> InContext:
    found = find_by_name(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_names_and_headers_say_the_same_source(name: str) -> None:
    source = of(name)
    assert source.name == name
    assert InContext.from_wire(source.to_wire()) == source
    assert len(source.classes) == source.targets == source.count**source.ahead


def test_other_names_are_of_other_sources() -> None:
    assert find_by_name("MatMul5,5@3") is None
    assert find_by_name("Context3,2") is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("InContext3", "is no name"),
        ("InContext3,2:depth=3", "is no name"),
        ("InContext3,2:letters=3", "is no name"),
        ("InContext3,2:steps=4,steps=5", "twice"),
        ("InContext1,2", "2 to 64 letters"),
        ("InContext3,0", "below 1"),
        ("InContext3,2:steps=0", "below 1"),
        ("InContext3,2:history=1", "history=2"),
        ("InContext9,2:ahead=3", "729 targets"),
        ("InContext3,2:demonstrations=2000", "8008 tokens"),
        ("InContext3,2:ahead=999999999", "8 letters"),
        ("InContext64,64", "features"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(name: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        find_by_name(name)


def test_a_prompt_is_read_as_it_is_written() -> None:
    source = of("InContext3,2")
    for prompt in source.sample_prompts(40, np.random.default_rng(1)):
        assert source.parse_prompt(source.write_prompt(prompt)) == prompt


def test_what_is_not_there_is_delimiters() -> None:
    source = of("InContext3,2:demonstrations=2,history=4")
    tokens = source.laid_out([source.parse_prompt(list("123|31"))])
    assert tokens.tolist() == [[0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 2, 0]]
    assert tokens.shape[1] == source.length


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        (Prompt((), (0, 1)), "0 demonstrations"),
        (Prompt(((0, 1, 2),) * 17, (0, 1)), "17 demonstrations"),
        (Prompt(((0, 1),), (0, 1)), "demonstration 1 has 2 letters"),
        (Prompt(((0, 1, 2),), (0,)), "has 1 letters; it has 2 to 8"),
        (Prompt(((0, 1, 2),), (0,) * 9), "has 9 letters"),
        (Prompt(((0, 1, 3),), (0, 1)), "a letter is not one of 1 2 3"),
    ],
)
def test_prompts_of_another_form_are_refused(prompt: Prompt, why: str) -> None:
    with pytest.raises(Refused, match=why):
        of("InContext3,2").laid_out([prompt])


def test_windows_are_one_hot_with_the_latest_letter_first() -> None:
    source = of("InContext3,2:demonstrations=2,ahead=2")
    found = regression(source, [Prompt(((0, 1, 2, 1),), (2, 2, 0))])
    assert found.windows[0].tolist() == [[0, 1, 0, 1, 0, 0], [0] * 6]
    assert np.flatnonzero(found.targets[0, 0]).tolist() == [2 * 3 + 1]
    assert not found.targets[0, 1].any()
    assert found.asked[0].tolist() == [1, 0, 0, 0, 0, 1]
