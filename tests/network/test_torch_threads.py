"""Steps of one letter are computed on one thread, and all else as before."""

import pytest
import torch
from threadpoolctl import threadpool_info

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.network.forward_pass import threads
from krohn.network.reading import IntArray, Texts
from krohn.network.transformer import Transformer


def test_the_number_of_threads_comes_back() -> None:
    before = torch.get_num_threads()
    with threads(before + 1):
        assert torch.get_num_threads() == before + 1
        try:
            with threads(1):
                assert torch.get_num_threads() == 1
                raise ValueError
        except ValueError:
            assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


def test_texts_are_decoded_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = set()
    step = Transformer.step

    def counted(self: Transformer, *given: torch.Tensor) -> object:
        counts.add(torch.get_num_threads())
        return step(self, *given)  # type: ignore[arg-type]

    model = krohn.compile("LCS2,2", dtype="bfloat16", proof=False)
    with threads(3):
        monkeypatch.setattr(Transformer, "step", counted)
        ChainsOfThought().run(model.file, ["a a | a a"])
    assert counts == {1}


def test_numpy_reads_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = set()
    read = Texts.read

    def counted(self: Texts, tokens: IntArray) -> object:
        pools = threadpool_info()
        counts.update(p["num_threads"] for p in pools if p["user_api"] == "blas")
        return read(self, tokens)

    model = krohn.compile("LCS2,2", proof=False)
    monkeypatch.setattr(Texts, "read", counted)
    ChainsOfThought().run(model.file, ["a a | a a"])
    assert counts == {1}
