"""Numbers that a refusal names are taken where it was refused: there is a network."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fitted_models import FITTED

from krohn import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
ADVICE = re.compile(
    r"(--(?:within|dtype|arch|scale|attention)|-T) (\w\S*?)(?=[),;]|\.?$|\s)"
    r"|(\S+:depth=\d)"
)
IDENTITY = {
    "startprob": [0.5, 0.5],
    "transmat": [[1.0, 0.0], [0.0, 1.0]],
    "emissionprob": [[0.75, 0.25], [0.25, 0.75]],
}
REFUSED = {
    "a format and a length": ("markov4.npz -T 16 --dtype float32", 2),
    "an error": ("identity.npz -T 16 --within 1e-16", 1),
    "a model that does not forget": ("identity.npz -T 3000", 1),
    "kernels": ("Exp32 --arch rnn --within 1e-9 --dtype float32", 2),
    "lines that are rewritten": ("Sorting4 -T 4", 1),
    "generators": ("Dyck4,2 -T 40 --construction balanced --scale 4", 1),
    "disguises": (
        "C2 -T 12 --construction counter --disguise rotate --dtype float16",
        1,
    ),
}
"""Of a name: options of `krohn compile`, and how many ways out are named."""
DEAR = {
    "probabilities that are too small": ("markov4.npz -T 64 --within 1e-4", 2),
    "weights": ("occurrences.json -T 2000", 1),
    "kernels that are no modes": (
        "Delay32,5 --arch rnn --within 1e-12 --dtype float32",
        2,
    ),
    "grammars": ("prepositions.pcfg:depth=3 -T 64 --dtype float32", 3),
    "a cut grammar": ("expr.pcfg:depth=3 -T 24", 1),
    "fits": ("fit10.npz -T 128 --within 1e-6 --dtype float32", 2),
    "products": ("RanHMM5,5@3 -T 64 --within 1e-15", 1),
}
EXPRESSIONS = """E -> E '+' T [0.3] | T [0.7]
T -> T '*' F [0.3] | F [0.7]
F -> '(' E ')' [0.2] | 'x' [0.8]
"""


@pytest.fixture(autouse=True)
def _sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, arrays in {**FITTED, "identity": IDENTITY}.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
    (tmp_path / "expr.pcfg").write_text(EXPRESSIONS)
    for name in ("prepositions.pcfg", "occurrences.json"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    monkeypatch.chdir(tmp_path)


def followed(arguments: list[str], refusal: str) -> Iterator[list[str]]:
    """The arguments, with each option that a refusal names in the place of the own one."""
    advice = refusal.rpartition("; there is one with")[2] or refusal
    for option, value, source in ADVICE.findall(advice):
        own = list(arguments)
        if source:
            yield [own[0], source, *own[2:]]
        elif value == "rnn":
            at = own.index("-T")
            yield [*own[:at], *own[at + 2 :], option, value]
        elif option in own:
            own[own.index(option) + 1] = value
            yield own
        else:
            yield [*own, option, value]


def check(asked: str, ways: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A refusal names so many ways out, and each leads out."""
    arguments = ["compile", *asked.split(), "-o", "model"]
    assert cli.run(arguments) == 2
    (refusal,) = capsys.readouterr().err.splitlines()
    found = list(followed(arguments, refusal))
    assert len(found) == ways, refusal
    for each in found:
        assert cli.run([*each, "--json"]) == 0, (each, capsys.readouterr().err)
        assert json.loads(capsys.readouterr().out)["verdict"] == "verified"


@pytest.mark.sample(1, at=2)
@pytest.mark.parametrize("case", REFUSED)
def test_advice_leads_to_a_network(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check(*REFUSED[case], capsys)


@pytest.mark.slow
@pytest.mark.parametrize("case", DEAR)
def test_dear_advice_leads_to_a_network(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check(*DEAR[case], capsys)
