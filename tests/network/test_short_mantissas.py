"""Forward passes whose numbers have few digits."""

import numpy as np
import pytest
import torch
from short_mantissas import ShortMantissas, shorten, shorten_heads

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.network.model import Model
from krohn.network.reading import decode
from krohn.network.stepping import stepping
from krohn.network.transformer import Transformer
from krohn.program.word_texts import BLANK


def test_all_results_have_so_many_digits() -> None:
    x = torch.randn(
        500, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    with ShortMantissas(24):
        copied, table = x * 1, torch.zeros(2, 500, dtype=torch.float64)
        table[0] = x
        infinite = torch.tensor([torch.inf, -torch.inf, 1e308], dtype=torch.float64) * 1
    assert torch.equal(copied, x.float().double())
    assert torch.equal(table[0], copied)
    assert infinite.tolist()[:2] == [torch.inf, -torch.inf]
    assert not torch.equal(x, copied)


@pytest.mark.sample(1)
@pytest.mark.parametrize("attention", ["standard", "linear", "sparse"])
def test_texts_survive_few_digits_and_not_fewer(attention: str) -> None:
    """Heads take fewer than the read-out, which squares the numbers that it tells apart."""
    name = "EditDistance2,2:letters=4"
    model = krohn.compile(name, attention=attention, dtype="float64")
    found = ChainsOfThought().find_by_name(name)
    assert found is not None
    source = found.chain_of_thought
    low, high = np.array(source.prompt).T
    rng = np.random.default_rng(0)
    wanted = source.continue_prompts(rng.integers(low, high + 1, size=(8, len(low))))
    blank = wanted.copy()
    blank[:, len(low) :] = BLANK

    def right(digits: int, heads: bool) -> bool:
        network = Model(model.file).network
        assert isinstance(network, Transformer)
        if heads:
            shorten_heads(network, digits)
            return bool((decode(stepping(network), blank) == wanted).all())
        shorten(network, digits)
        with ShortMantissas(digits):
            written = decode(stepping(network), blank)
        return bool((written == wanted).all())

    assert right(8, heads=False)
    assert not right(5, heads=False)
    assert right(5, heads=True)
    assert not right(1, heads=True)
