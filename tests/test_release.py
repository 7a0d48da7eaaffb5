"""The promises of the release, at the sizes that it promises (slow)."""

import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.network.model import Model
from krohn.verify.testing.sampling import sample

pytestmark = pytest.mark.slow

LENGTH = 100


@pytest.mark.parametrize("name", zoo.names())
def test_every_zoo_machine_is_proved_and_right_on_adversarial_words(name: str) -> None:
    compiled = krohn.compile(name, LENGTH)
    machine = krohn.zoo(name)
    assert krohn.verify(compiled.file, machine).verdict == "verified"
    assert sample(Model(compiled.file), machine, 256, LENGTH, seed=3).has_passed


@pytest.mark.parametrize(
    ("length", "dtype"),
    [(1024, "float32"), (4096, "float32"), (256, "bfloat16"), (256, "float16")],
)
def test_a_scan_of_five_states_is_proved_at_great_length(
    length: int, dtype: str
) -> None:
    compiled = krohn.compile("Grid5", length, "scan", dtype=dtype)
    assert krohn.verify(compiled.file, "Grid5").verdict == "verified"


@pytest.mark.parametrize(
    "name", [n for n in zoo.names() if n not in ("S5", "PermReset4")]
)
def test_every_zoo_machine_has_a_proved_rnn(name: str) -> None:
    compiled = krohn.compile(name, arch="rnn")
    report = krohn.verify(compiled.file, name, proof=True, sample=64)
    assert (report.verdict, report.length) == ("verified", None)


def test_all_million_words_of_parity() -> None:
    compiled = krohn.compile("C2", 20)
    report = krohn.verify(compiled.file, "C2", exhaustive=19, length=19)
    assert (report.verdict, report.words) == ("verified", 2**20 - 2)


@pytest.mark.parametrize("strict", [False, True])
def test_the_strict_form_gives_the_same_states(strict: bool) -> None:
    compiled = krohn.compile("S5", LENGTH, "scan", strict=strict)
    words = torch.randint(8, (16, LENGTH), generator=torch.Generator().manual_seed(0))
    expected = krohn.zoo("S5").semiautomaton.trace(words.numpy(), krohn.zoo("S5").start)
    assert (Model(compiled.file)(words).argmax(-1).numpy() == expected).all()
