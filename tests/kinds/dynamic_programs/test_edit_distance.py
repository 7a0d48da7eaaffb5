"""Edit distance as text: the reference, the derived network, and what is refused."""

from itertools import product

import numpy as np
import pytest

from krohn.kinds.dynamic_programs.source import find_by_name
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.program import Refused


def edit_distance(
    rows: int, columns: int, letters: int = 26, boundary: int = 2
) -> ChainOfThought:
    name = f"EditDistance{rows},{columns}:letters={letters},boundary={boundary}"
    found = find_by_name(name)
    assert found is not None
    return found.chain_of_thought


def table(s: str, t: str, boundary: int) -> list[list[int]]:
    """The textbook's program, of costs 2, 2 and 3."""
    rows = [[boundary * k for k in range(len(t) + 1)]]
    for j, a in enumerate(s, 1):
        rows.append([boundary * j])
        for k, b in enumerate(t, 1):
            across = rows[j - 1][k - 1] + 3 * (a != b)
            rows[j].append(min(rows[j - 1][k] + 2, rows[j][k - 1] + 2, across))
    return rows


def prompt(chain: ChainOfThought, s: str, t: str) -> list[int]:
    return [chain.tokens.index(x) for x in [*s, "|", *t, "<sep>"]]


def text(chain: ChainOfThought, s: str, t: str, boundary: int) -> list[str]:
    """The right text, as a whole."""
    found = [*s, "|", *t, "<sep>"]
    rows = table(s, t, boundary)
    for row in rows[1:]:
        found += [*map(str, row[1:]), ","]
    return [*found, "<sep>", str(rows[-1][-1]), "<eos>"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("boundary", [1, 2])
def test_the_reference_is_the_textbook_program(boundary: int) -> None:
    rng = np.random.default_rng(3)
    for rows, columns in [*product((1, 2, 3), repeat=2), (6, 7), (12, 9)]:
        chain = edit_distance(rows, columns, 4, boundary)
        words = ["".join(rng.choice(list("abcd"), n)) for n in (rows, columns)]
        found = chain.continue_prompts(np.array([prompt(chain, *words)]))[0]
        assert [chain.tokens[i] for i in found] == text(chain, *words, boundary)
        assert chain.tokens[found[chain.answer - 1]] == str(
            table(*words, boundary)[-1][-1]
        )
        assert ChainOfThought.from_wire(chain.to_wire()) == chain


def test_the_known_example() -> None:
    chain = edit_distance(6, 7)
    found = chain.continue_prompts(np.array([prompt(chain, "kitten", "sitting")]))[0]
    assert chain.tokens[found[chain.answer - 1]] == "8"


def test_numbers_stay_in_their_boxes() -> None:
    chain = edit_distance(3, 2, 2)
    letters = [chain.tokens.index(a) for a in "ab"]
    bar, sep = (chain.tokens.index(x) for x in ("|", "<sep>"))
    prompts = [[*word[:3], bar, *word[3:], sep] for word in product(letters, repeat=5)]
    content = np.array([*chain.contents])[chain.continue_prompts(np.array(prompts))]
    low, high = np.array(chain.boxes()[1:]).T
    assert ((low <= content) & (content <= high)).all()


def test_a_prompt_of_another_form_is_refused() -> None:
    chain = edit_distance(2, 2)
    with pytest.raises(Refused, match="prompt"):
        chain.continue_prompts(np.array([prompt(chain, "ab", "abc")]))
    with pytest.raises(Refused, match="prompt"):
        chain.continue_prompts(np.array([[0, 0, 0, 0, 0, 0]]))
