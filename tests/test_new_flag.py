"""Flags of meaning that the format does not have: everyone refuses them until taught.

A kind of attention, something that a head sees, a function of units and a sense of claims
are added to the types that headers are read by. Files that state them are otherwise right.
Whoever runs, proves, exports, measures or draws networks names what it is not about.
"""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from consumers import CONSUMERS, NAMED, Given, changed, evidence, plain

from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.network import modelfile
from krohn.program.architectures.transformer import Block
from krohn.program.attention import Attention
from krohn.program.stated import Count, Part
from krohn.verify.checker.established import judge
from krohn.verify.checker.model_file import read
from krohn.verify.checker.network import open_model
from krohn.verify.checker.verdict import Proved, Speaker
from krohn.verify.kernel.asking import ask, find_kernel
from krohn.verify.kernel.evidence import find_kernel_evidence
from krohn.verify.proof import Proof, prove

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Toy(Part):
    """A kind of attention that nobody has heard of."""

    kind: Literal["toy"] = "toy"


def of_field(patch: Patch, name: str, rule: Any) -> None:
    """Let a field of blocks have other values."""
    patch.setattr(Block.__dataclass_fields__[name], "type", rule)


def attention(patch: Patch, block: dict[str, Any]) -> None:
    """Heads that weigh positions in a new way."""
    of_field(patch, "attention", Attention | Toy)
    block["attention"] = {"kind": "toy"}


def sight(patch: Patch, block: dict[str, Any]) -> None:
    """Heads that see something else."""
    of_field(patch, "causal", tuple[Literal["toy"], ...] | None)
    known = Block.__dict__["sights"].fget

    def sights(self: Block) -> Any:
        causal: Any = self.causal
        return causal if causal and causal[0] == "toy" else known(self)

    patch.setattr(Block, "sights", property(sights))
    block["causal"] = ["toy"] * block["heads"]


def activation(patch: Patch, block: dict[str, Any]) -> None:
    """Units with another function."""
    runs = tuple[tuple[Literal["toy"], Count], ...]
    of_field(patch, "activation", tuple[runs, ...] | None)
    block["activation"] = [[["toy", width]] for width in block["mlp"]]


FLAGS = (attention, sight, activation)


@pytest.fixture(params=FLAGS, ids=lambda flag: flag.__name__)
def given(request: pytest.FixtureRequest, monkeypatch: Patch, tmp_path: Path) -> Given:
    """The plain network with one more flag in its only block with heads."""
    return changed(tmp_path, lambda block: request.param(monkeypatch, block))


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_flag_is_refused_by_name(given: Given, name: str) -> None:
    try:
        answer = CONSUMERS[name](given)
    except KrohnError as error:
        answer = error
    else:
        assert not isinstance(answer, Proof) or answer.verdict == "undecided"
        assert isinstance(answer, str | Proof), answer
    assert NAMED.search(str(answer)), answer


@pytest.mark.slow
def test_the_plain_network_is_taken(tmp_path: Path) -> None:
    """So it is the flag that is refused, and nothing else."""
    path = tmp_path / "plain.safetensors"
    plain().save(path)
    for name, consumer in CONSUMERS.items():
        if name not in (
            "training",
            "disguise",
            "smt",
        ):  # which want float64, or choices
            consumer(Given(path))


COMMANDS = (
    *("run F 1 2", "verify F", "verify F --exhaustive 3", "verify F --sample 3"),
    *("verify F --gadgets 1/100", "verify F --smt 3", "verify F --attack 1"),
    *(
        "verify F --evidence D/E",
        "verify F --html D/page.html",
        "verify F --machine C3",
    ),
    *("recheck F G", "formal F -o D/formal", "draw F -o D/F.svg", "learn F"),
    *("equivalent F F", "export F --to onnx -o D/onnx"),
    *("export F --to transformer-lens -o D/lens", "export F --to gpt2 -o D/gpt2"),
    "export F --to huggingface -o D/huggingface",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.sample(2)
def test_commands_refuse_a_flag(
    given: Given, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = given.path.parent
    told = json.loads(evidence())
    told["model"] = hashlib.sha256(given.data).hexdigest()
    (folder / "G").write_text(json.dumps(told))
    names = {"F": given.path, "G": folder / "G"}
    words = [names.get(w, w.replace("D/", f"{folder}/")) for w in command.split()]
    assert cli.run([*map(str, words)]) == 2
    said = capsys.readouterr()
    assert NAMED.search(said.out + said.err)
    assert "verified" not in said.out


@pytest.mark.sample(1)
@pytest.mark.skipif(find_kernel() is None, reason="there is no kernel")
def test_the_kernel_refuses_a_flag(given: Given) -> None:
    """It reads files by itself, and knows only blocks without flags."""
    kernel, file = find_kernel(), plain().file
    assert kernel is not None
    data = modelfile.pack(file.header, file.tensors)
    evidence = find_kernel_evidence(open_model(data))
    assert ask(kernel, data, evidence).proved
    answer = ask(kernel, given.data, evidence)
    assert not answer.proved
    assert re.search('has "(attention|causal|act)', answer.text)


class Other(StrEnum):
    """What no claim says so far."""

    TOY = "toy"


def test_a_sense_of_claims_is_refused() -> None:
    """Where it is read, judged and told."""
    file = plain().file
    model = read(modelfile.pack(file.header, file.tensors))
    claim: Any = replace(file.claim, sense=Other.TOY)
    for told in (
        lambda: str(Proved(claim, Speaker.RULES, 0.0, 1.0)),
        lambda: claim.lines(),
        lambda: judge(proved_of(), claim, {}),
    ):
        with pytest.raises(KrohnError, match="is not about 'toy'"):
            told()
    vars(model)["claim"] = replace(file.claim, shows=Other.TOY)  # type: ignore[arg-type]
    with pytest.raises(KrohnError, match="is not about 'toy'"):
        _ = model.machine


def proved_of() -> Any:
    """All that is shown of the plain network."""
    return prove(plain().file, plain().machine).bounds
