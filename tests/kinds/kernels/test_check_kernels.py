"""Theorem K1: what is shown of linear RNNs of kernels holds, and is nearly reached."""

from time import process_time
from typing import Any

import numpy as np
import pytest
from context_networks import restated
from kernel_networks import measured, of, recurrent, shown

from krohn.kinds.kernels.build_rnn import (
    Realisation,
    short_realisations,
)
from krohn.kinds.kernels.check_rnn import (
    Recurrence,
    powers,
    recurrence_of,
    sums,
)
from krohn.kinds.kernels.source import (
    Kernel,
    Mode,
)
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.network import check_claim
from krohn.verify.proof import prove

WAVE = Kernel(
    "wave", (0.5, -1.5), (Mode(1 - 2j, 0.9 + 0.3j), Mode(1, -0.5)), 48, (0.0, 3.0)
)
KERNELS = [
    of("Exp32"),
    of("Exp256,64"),
    of("Delay32,5"),
    of("Mean32,5"),
    of("RanKernel32@1"),
    of("Exp32:mix=5@1"),
    WAVE,
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_no_input_is_further_off_than_is_shown(kernel: Kernel, dtype: str) -> None:
    file = recurrent(kernel, dtype)
    error = shown(file).error
    inputs = kernel.sample_inputs(60, np.random.default_rng(0))
    assert measured(file, kernel, inputs) <= error + kernel.rounding()
    assert error < (1e-11 if dtype == "float64" else 3e-3)


def test_the_exponential_is_right_up_to_rounding() -> None:
    """Row 26: one unit, whose kernel is right in exact arithmetic; 2e-16 is measured."""
    file = recurrent(of("Exp32"))
    found = shown(file)
    assert found.told["parts"]["kernel"] < 1e-40
    assert found.error < 2e-15
    assert file.header["architecture"]["hidden"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("Power64,1", 1e-3), ("Power64,2", 1e-5)])
def test_the_bound_of_a_shortened_kernel_is_reached(name: str, most: float) -> None:
    """The worst input takes the sign of each deviation, and the norm is a maximum."""
    kernel = of(name)
    for way in short_realisations(kernel.samples(), most):
        file = recurrent(kernel, way=way)
        error = shown(file).error
        assert 0.99 * error <= measured(file, kernel, np.zeros((1, 64))) <= error


def test_a_box_that_is_not_symmetric_has_its_own_bound() -> None:
    """On [0, 1] deviations of one sign count, and not all of them."""
    both, above = (
        of("Power64,1"),
        Kernel("above", of("Power64,1").values, (), 64, (0.0, 1.0)),
    )
    way = next(short_realisations(both.samples(), 1e-2))
    errors = [shown(recurrent(k, way=way)).error for k in (both, above)]
    assert errors[1] < errors[0]
    file = recurrent(above, way=way)
    random = np.random.default_rng(0)
    tried = random.choice([0.0, 1.0], (2000, 64))
    off = way.response(64) - above.samples()
    worst = [(np.where(s * off[::-1] > 0, 1.0, 0.0)) for s in (1, -1)]
    found = measured(file, above, np.concatenate([worst, tried]))
    assert 0.99 * errors[1] <= found <= errors[1]


def of_matrix(matrix: Any) -> Recurrence:
    """A recurrence of a dense matrix."""
    rows, columns = np.nonzero(matrix)
    n = len(matrix)
    return Recurrence(
        n, rows, columns, matrix[rows, columns], np.ones(n), np.ones(n), 0.0
    )


@pytest.mark.slow
def test_bounds_of_powers_are_above_them_and_not_far() -> None:
    """Lemmas K2 and K3, of turns, registers and dense matrices."""
    random = np.random.default_rng(0)
    turned, _ = np.linalg.qr(random.standard_normal((6, 6)))
    for matrix in (
        np.array([[0.6, -0.7], [0.7, 0.6]]),
        np.eye(5, k=-1),
        turned * 0.95,
        np.diag([0.5, -0.9, 0.0]),
    ):
        power, total = np.eye(len(matrix)), 0.0
        each, column = np.ones(len(matrix)), np.zeros(len(matrix))
        for _ in range(200):
            total += np.abs(power).sum(axis=1).max()
            column += np.abs(each)
            power, each = matrix @ power, matrix @ each
        w = of_matrix(matrix)
        found = powers(w, 200, np.zeros(len(matrix), int))
        assert total * (1 - 1e-9) <= found.most <= 2 * total
        reached = sums(w, 200, found).high
        assert (column * (1 - 1e-12) <= reached).all()
        assert (reached <= column * (1 + 1e-9) + 1e-9).all()


def test_units_that_read_each_other_are_of_one_group() -> None:
    w = of_matrix(np.eye(4, k=-2))
    assert (
        powers(w, 9, np.array([0, 1, 0, 1])).most == powers(w, 9, np.zeros(4, int)).most
    )
    for groups in ([0, 0, 1, 1], [0, 1, 0], [0, 1, 0, 1, 1]):
        with pytest.raises(Refused, match="of another group"):
            powers(w, 9, np.array(groups))


@pytest.mark.slow
def test_what_grows_is_refused() -> None:
    for way in (
        Realisation(np.array([[1.5], [0.0], [0.0]]), np.ones(1), np.ones(1)),
        Realisation(
            np.array([[1.0, 1.0], [0, 0.9], [-0.9, 0]]), np.ones(2), np.ones(2)
        ),
    ):
        kernel = Kernel("long", (1.0,), (), 500)
        with pytest.raises(Refused, match=r"stable|large|bounded|far"):
            shown(recurrent(kernel, way=way))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("part", "said", "why"),
    [
        ("claim", {"error": None}, "claims the error None"),
        ("claim", {"length": 31}, "what is shown is about"),
        ("source", {"length": 33}, "what is shown is about"),
        ("source", {"length": 32.0}, "not a sensible size"),
        ("source", {"modes": [[1.0, 0.0, 1.5, 0.0]]}, "grows"),
        ("source", {"modes": [[1.0, 0.0, 0.5]]}, "cannot reshape|weight"),
        ("source", {"modes": [[True, 0, 0, 0]]}, "real numbers"),
        ("source", {"modes": [], "values": []}, "has a value or a mode"),
        ("source", {"values": [float("1e300")]}, "out of range"),
        ("source", {"values": ["1.0"]}, "real numbers"),
        ("source", {"inputs": [1.0, -1.0]}, "there are none"),
        ("source", {"inputs": [-200.0, 2.0]}, "file claims"),
        ("source", {"order": list(range(32))}, "in their order"),
        ("source", {"order": [0]}, "permutation"),
        ("source", {"kind": "linear-system"}, "the claim is malformed"),
        ("architecture", {"form": "dense"}, "tensors are not as stated"),
        ("architecture", {"hidden": 2}, "tensors are not as stated"),
        ("architecture", {"hidden": 2**30}, "tensors are not as stated"),
        ("architecture", {"inputs": 2}, "tensors are not as stated"),
    ],
)
def test_other_claims_and_headers_are_refused(
    part: str, said: dict[str, Any], why: str
) -> None:
    file = restated(recurrent(of("Exp32")), "claim", error=1e-14)
    shown(file)
    damaged = restated(file, part, **said)
    assert prove(damaged, None).verdict == "undecided"
    with pytest.raises((Refused, ValueError), match=why):
        shown(damaged)


def test_headers_that_ask_for_much_cost_little() -> None:
    modes = [[1.0, 0.0, 0.5, 0.0]] * 256
    heavy = restated(recurrent(of("Exp32")), "source", modes=modes, length=2**16)
    dense = Realisation(np.full((300, 300), -0.01), np.ones(300), np.ones(300), False)
    long = Kernel("long", (1.0,), (), 2**16)
    began = process_time()
    for file in (restated(heavy, "claim", length=2**16), recurrent(long, way=dense)):
        with pytest.raises(Refused, match="too long"):
            shown(file)
    assert process_time() - began < 3


def test_narrow_formats_are_refused() -> None:
    file = recurrent(of("Exp32"))
    model = Model(FORMATS["float32"], file.tensors, file.header)
    with pytest.raises(Refused, match="too narrow"):
        shown(recurrent(of("Exp32"), "bfloat16"))
    with pytest.raises(Refused, match="another format"):
        check_claim(model, {}, None)


def test_a_recurrence_from_a_start_is_another_network() -> None:
    """Its start would count, whichever rule is asked."""
    file = recurrent(of("Exp32"))
    shape = {**file.header["architecture"], "kind": "started-recurrence"}
    header = {**file.header, "architecture": shape}
    tensors = {**file.tensors, "hidden.start": np.ones(shape["hidden"])}
    with pytest.raises(Refused, match="a start of its own"):
        recurrence_of(Model(FORMATS["float64"], tensors, header))
