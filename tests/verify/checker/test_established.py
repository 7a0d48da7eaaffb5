"""Less than a file or its evidence claims is refused, whoever reads the file."""

from math import inf, nan
from typing import Any

import pytest

from krohn.network.architecture import every_kind
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.established import Established, judge
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.registry import READERS, reader_of

FORM = FORMATS["float32"]
KERNEL: dict[str, Any] = {"source": {"kind": "kernel"}, "claim": {"kind": "within"}}
MACHINE: dict[str, Any] = {"claim": {}}


def judged(
    header: dict[str, Any], said: dict[str, Any] | None = None, **how: Any
) -> None:
    judge(Established(FORM, 4, "words", **how), header, said or {})


def claiming(error: Any) -> dict[str, Any]:
    return {**KERNEL, "claim": {"kind": "within", "error": error}}


def test_what_is_shown_is_enough() -> None:
    judged(claiming(0.5), {"error": 0.5}, error=0.5)
    judged(MACHINE, {"margin": 2.0}, margin=2.0)
    judged(MACHINE, {"error": 1e-3}, error=1e-3)  # a generator, whose reader judges


@pytest.mark.parametrize(
    ("header", "how", "reason"),
    [
        (claiming(0.5), {"error": 0.6}, "may be 0.6"),
        (claiming(0.5), {"error": nan}, "may be nan"),
        (claiming(0.5), {"error": -1.0}, "may be -1"),
        (claiming(0.5), {"margin": 1.0}, "may be inf"),
        (claiming(inf), {"error": 0.1}, "claims no error"),
        (claiming(1), {"error": 0.1}, "claims no error"),
        (KERNEL, {"error": 0.1}, "claims no error"),
        ({**KERNEL, "claim": {}}, {"error": 0.1}, "not claim to be within"),
        ({**KERNEL, "claim": {}}, {"error": nan}, "confuse two states"),
        (MACHINE, {}, "confuse two states"),
        (MACHINE, {"margin": nan}, "confuse two states"),
        (MACHINE, {"margin": -1.0}, "confuse two states"),
    ],
)
def test_less_than_a_file_claims_is_refused(
    header: dict[str, Any], how: dict[str, float], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        judged(header, **how)


@pytest.mark.parametrize(
    ("said", "how", "reason"),
    [
        ({"error": 0.1}, {"error": 0.2}, "error is not shown"),
        ({"error": nan}, {"error": 0.2}, "error is not shown"),
        ({"margin": 2.0}, {"margin": 1.0}, "margin is not shown"),
        ({"margin": nan}, {"margin": 1.0}, "margin is not shown"),
    ],
)
def test_less_than_evidence_says_is_refused(
    said: dict[str, float], how: dict[str, float], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        judged(MACHINE, said, **how)


@pytest.mark.parametrize("length", [0, -1, True, 4.0, "4", [4]])
def test_a_length_is_a_whole_number(length: Any) -> None:
    model = Model(FORM, {}, {"claim": {"length": length}})
    with pytest.raises(Refused, match="claims no length"):
        model.length  # noqa: B018
    assert Model(FORM, {}, MACHINE).length is None


@pytest.mark.parametrize("network", sorted(every_kind()))
def test_only_listed_pairs_have_a_reader(network: str) -> None:
    for kind in {*(kind for _, kind in READERS), "machine", "another"}:
        header = {"architecture": {"kind": network}, "source": {"kind": kind}}
        if (network, kind) in READERS:
            assert reader_of(header) == READERS[network, kind]
            header["architecture"]["ranks"] = "{}"
        with pytest.raises(Refused, match="there is no rule"):
            reader_of(header)
