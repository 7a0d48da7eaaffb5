"""Texts as vectors (Yang et al. 2024, equation 10), and a network that is fed with them."""

import numpy as np
import pytest
from slow_network import slow_logits

import krohn
from krohn.kinds.dynamic_programs.source import DynamicProgram, find_by_name
from krohn.kinds.dynamic_programs.source_vectors import text_of, vectors_of
from krohn.program.domains import IntArray
from krohn.program.errors import Refused

DISTANCE = "EditDistance2,2:letters=3"
PROMPTS = {"LIS3": "3 1 2", DISTANCE: "a b | c b", "Knapsack2,3": "2 1 | 5 7"}


def program(name: str) -> DynamicProgram:
    found = find_by_name(name)
    assert found is not None
    return found


def test_parts_are_those_of_the_paper() -> None:
    rows = program("LIS3").vectors("3 1 2").tolist()
    assert rows[:4] == [[3, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]]
    assert rows[4:6] == [[0, 1, 1, 0], [0, 2, 1, 0]]
    assert rows[-2:] == [[0, 0, 0, 2], [0, 0, 0, 0]]


@pytest.mark.parametrize("name", PROMPTS)
def test_vectors_are_read_again(name: str) -> None:
    p, chain = program(name), program(name).chain_of_thought
    low, high = np.array(chain.prompt).T
    prompts = np.random.default_rng(1).integers(low, high + 1, (20, len(low)))
    for text in chain.continue_prompts(prompts):
        rows = vectors_of(chain, text)
        assert text_of(chain, rows).tolist() == text.tolist()
        assert (
            text_of(chain, rows[: len(low) + 2]).tolist()
            == text[: len(low) + 2].tolist()
        )
        assert p.read_vectors(rows) == [chain.tokens[a] for a in text]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("row", "part"), [(0, 0), (3, 1), (5, 1), (5, 2), (10, 3)])
@pytest.mark.parametrize("by", [0.25, 99.0])
def test_noise_is_not_rounded(row: int, part: int, by: float) -> None:
    rows = program("LIS3").vectors("3 1 2").astype(float)
    rows[row, part] += by
    with pytest.raises(Refused, match=f"no token at place {row + 1} "):
        program("LIS3").read_vectors(rows)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "addresses"),
    [("LIS3", "binary"), ("LIS3", "quadratic"), (DISTANCE, "quadratic")],
)
def test_a_network_that_is_fed_with_vectors_writes_the_text(
    name: str, addresses: str
) -> None:
    """No token is looked up: each row that comes in is a vector times a matrix."""
    p = program(name)
    file, chain = krohn.compile(p, addresses=addresses).file, p.chain_of_thought
    table, wanted = file.tensors["embed.token"], p.vectors(PROMPTS[name])
    zero, one = table[0], table[1] - table[0]
    fed = np.array([one, 0 * one, one, one])
    assert np.array_equal(table[text_of(chain, wanted)], zero + wanted @ fed)

    def following(rows: IntArray) -> int:
        given = np.vstack([zero + rows @ fed, table[-1]])
        tensors = {**file.tensors, "embed.token": given}
        header = {**file.header["architecture"], "vocabulary": len(given)}
        logits = slow_logits(header, tensors, range(len(rows)), float)
        return int(np.argmax(logits[-1]))

    rows = wanted[: len(chain.prompt)]
    while len(rows) < len(wanted):
        text = np.append(text_of(chain, rows), following(rows))
        rows = vectors_of(chain, text)
    assert rows.tolist() == wanted.tolist()
