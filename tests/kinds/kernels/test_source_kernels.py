"""Kernels say what their sums say; the least errors of causal networks."""

from dataclasses import replace
from fractions import Fraction
from math import exp, inf
from pathlib import Path

import numpy as np
import pytest
from kernel_networks import of

from krohn.kinds.kernels.source import (
    Kernel,
    Mode,
    find_by_name,
    mix_inputs,
    permute_inputs,
    random_filter,
    read,
    swap_ends,
)
from krohn.kinds.kernels.source_examples import EXAMPLES
from krohn.kinds.kernels.source_kernel import (
    causal_floor,
    complexity,
    decay,
    errors,
    invariant_floor,
    under_mixing,
)
from krohn.program.errors import Refused


def exactly(kernel: Kernel, s: int) -> Fraction:
    """ρ(s) in fractions."""
    value = Fraction(kernel.values[s]) if s < len(kernel.values) else Fraction(0)
    for weight, base in kernel.modes:
        p, q = Fraction(1), Fraction(0)
        a, b = Fraction(base.real), Fraction(base.imag)
        for _ in range(s):
            p, q = a * p - b * q, a * q + b * p
        value += Fraction(weight.real) * p - Fraction(weight.imag) * q
    return value


@pytest.mark.parametrize("name", [*EXAMPLES, "Exp9,3", "Exp20,4:mix=3@2"])
def test_samples_are_the_nearest_numbers(name: str) -> None:
    kernel = of(name)
    samples = kernel.samples()
    assert samples.tolist() == [float(exactly(kernel, s)) for s in range(kernel.length)]


def test_a_damped_wave_is_a_complex_mode() -> None:
    kernel = Kernel("wave", (), (Mode(2 - 1j, 0.5 + 0.75j),), 30)
    right = [((2 - 1j) * (0.5 + 0.75j) ** s).real for s in range(30)]
    assert kernel.samples() == pytest.approx(right, rel=1e-12, abs=1e-15)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["Exp32", "Delay32,5", "Exp12:swap=3", "RanKernel9@4"])
def test_runs_are_the_sums(name: str) -> None:
    kernel = of(name)
    x = kernel.sample_inputs(4, np.random.default_rng(0))
    order = kernel.order or range(kernel.length)
    for t in range(kernel.length):
        right = sum(
            exactly(kernel, t - s) * Fraction(x[1, order[s]]) for s in range(t + 1)
        )
        assert abs(kernel.run(x)[1, t] - float(right)) <= kernel.rounding()


def test_the_exponential_of_a_name_is_that_of_the_paper() -> None:
    assert of("Exp32").samples()[:4].tolist() == pytest.approx(
        [exp(-s) for s in range(4)]
    )
    assert of("Exp32,8").samples()[4] == pytest.approx(exp(-0.5))


def test_mixing_is_the_convolution_of_kernels() -> None:
    weights = (0.5, -0.25, 0.125, 0.125)
    for kernel in (of("Exp32"), of("RanKernel32@1"), of("Exp32,4:mix=3@1")):
        found = mix_inputs(kernel, weights).samples()
        right = np.convolve(kernel.samples(), weights)[: kernel.length]
        assert np.abs(found - right).max() < 1e-13


def test_inputs_that_are_exchanged_are_read_before_they_come() -> None:
    """Proposition 6.1: the matrix has entries above its diagonal."""
    matrix = of("Exp32:swap=10").matrix()
    assert np.triu(matrix, 1).any()
    assert not np.triu(of("Exp32:mix=5@1").matrix(), 1).any()
    assert matrix[0, 22] == 1.0
    same = permute_inputs(of("Exp8"), range(8))
    assert same.causal


def test_the_printed_filter_reads_the_future() -> None:
    """Erratum A23: (θ * x)[t] = Σ_s θ(s) x(t + s) makes a map with no kernel."""
    weights = random_filter(5, 1)
    ahead = sum(w * np.eye(32, k=j) for j, w in enumerate(weights))
    printed = of("Exp32").matrix() @ ahead
    assert np.abs(np.triu(printed, 1)).sum() > 0.3 * np.abs(printed).sum()


def test_a_kernel_without_its_first_value_can_stay_causal() -> None:
    """Erratum A28: Proposition 6.1 needs ρ(0) ≠ 0."""
    delay = of("Delay8,1")
    first_two = permute_inputs(delay, [1, 0, *range(2, 8)])
    assert not np.triu(first_two.matrix(), 1).any()


def test_the_measures_of_the_exponential() -> None:
    """Erratum A23: C_RNN of e^−s is 2, and not at most γ = 1."""
    first, second = complexity(of("Exp32"))
    assert first == pytest.approx(2, abs=1e-15)
    assert second == 1
    assert decay(of("Exp32,8")) == pytest.approx(8)
    assert complexity(of("Delay32,5")) == (1, pytest.approx(exp(5)))
    growing = Kernel("sum", (), (Mode(1.0, 1.0),), 9)
    assert complexity(growing) == (inf, inf)
    assert under_mixing(growing, 5) == inf


def test_the_supremum_is_of_all_times() -> None:
    """A wave whose largest weighted value comes late."""
    kernel = Kernel("wave", (), (Mode(1j, 0.9 + 0.05j),), 400)
    first, second = complexity(kernel)
    t = np.arange(400)
    assert second == pytest.approx((np.exp(t / first) * np.abs(kernel.samples())).max())


@pytest.mark.parametrize("name", ["Exp32", "Exp64,8", "Exp64,3"])
def test_mixing_raises_the_measure_by_no_more_than_is_said(name: str) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        weights = random.uniform(-1, 1, 5)
        weights /= np.abs(weights).sum() * (1 + 1e-12)
        first, second = complexity(mix_inputs(of(name), weights.tolist()))
        assert first * second <= under_mixing(of(name), 5) * (1 + 1e-9)


def test_files(tmp_path: Path) -> None:
    text = "length 20\ninputs 0 1  # a box\nvalues 1 2\nvalues 3\nmode 1 0.9+0.3j\n"
    (tmp_path / "a.kernel").write_text(text, encoding="utf-8")
    kernel = read(tmp_path / "a.kernel")
    assert kernel == Kernel(
        "a", (1.0, 2.0, 3.0), (Mode(1, 0.9 + 0.3j),), 20, (0.0, 1.0)
    )
    for table in (
        "rho\n1\n.5\n0.25\n\n \n",
        "1,\n.5,\n0.25,\n",
        "ρ\r\n1\r\n.5\r\n0.25",
        "1,.5,0.25",
        "1 .5 0.25",
    ):
        (tmp_path / "b.csv").write_text(table, encoding="utf-8")
        assert read(tmp_path / "b.csv") == Kernel("b", (1.0, 0.5, 0.25), (), 3)


@pytest.mark.parametrize(
    ("suffix", "text", "why"),
    [
        ("kernel", "mode 1 0.5", "does not say its length"),
        ("kernel", "length 3\nmode 1 1.5", "stable"),
        ("kernel", "length 3\nmode 1 x", "line 2: 'x' is no number"),
        ("kernel", "length -3", "line 1: say length N"),
        ("kernel", "values", "line 1"),
        ("kernel", "values 1\nvalues nan", "line 2: 'nan' is not finite"),
        ("kernel", "length 2\nmode 1 infj", "line 2: 'infj' is not finite"),
        ("kernel", "values 1e20", "out of range"),
        ("kernel", "length 0\nmode 1 .5", "1 to 65536 inputs, not 0"),
        ("kernel", "length 0\nvalues 1", "1 to 65536 inputs, not 0"),
        ("kernel", "length 2\nlength 3\nvalues 1", "line 2: length is said twice"),
        ("kernel", "inputs 0 1\ninputs 0 2\nvalues 1", "line 2: inputs is said twice"),
        ("kernel", "length 2\nvalues 1 2\nvalues 3", "3 values, and the length is 2"),
        ("kernel", "length " + "9" * 5000, "line 1: say length N"),
        ("kernel", "length 3", "describes no kernel"),
        ("kernel", "length 99999999999\nvalues 1", "1 to 65536 inputs"),
        ("kernel", "inputs 1 0\nvalues 1", "from 1 to 0 there are none"),
        ("kernel", "", "length|1 to"),
        ("csv", "s,rho\n0,1\n1,.5", "several columns"),
        ("csv", "", "1 to 4096 values"),
        ("csv", "1\ninf", "line 2: 'inf' is not finite"),
        ("csv", "nan\n1", "line 1: 'nan' is not finite"),
        ("csv", "O.9\n1\n2", "line 1: 'O.9' is no number"),
        ("csv", "rho\n1\n\n2", "line 3: there is no number"),
        ("csv", "rho", "1 to 4096 values, not 0"),
        ("csv", "1\n2\nx", "no number"),
    ],
)
def test_what_is_no_kernel_is_said_in_a_sentence(
    tmp_path: Path, suffix: str, text: str, why: str
) -> None:
    path = tmp_path / f"k.{suffix}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Refused, match=why):
        read(path)


def test_other_names_are_no_kernels() -> None:
    for name in ("Exp", "Exp32@1", "RanKernel32", "Wave8", "Exp32:swap=1:mix=3@1"):
        assert find_by_name(name) is None
    for name in ("Exp0", "Delay5,5", "Exp32:swap=17", "Exp32,0x", "Exp99999999"):
        try:
            assert find_by_name(name) is None
        except Refused:
            continue
    with pytest.raises(Refused, match="exchanged"):
        swap_ends(of("Exp8"), 5)


def test_what_is_written_is_read() -> None:
    for name in EXAMPLES:
        assert Kernel.from_wire(of(name).to_wire()) == of(name)


def on_unit(name: str) -> Kernel:
    """The kernel of a name on [0, 1]."""
    return replace(of(name), inputs=(0.0, 1.0))


def test_the_floors_of_exchanged_inputs() -> None:
    """Row 28: 3.01e-2 and 5.26e-2 for e^−s, T = 32, ten inputs exchanged."""
    kernel = on_unit("Exp32:swap=10")
    assert causal_floor(kernel) == pytest.approx(3.01e-2, rel=2e-3)
    assert invariant_floor(kernel) == pytest.approx(5.26e-2, rel=2e-3)


def test_causal_kernels_lose_nothing() -> None:
    for name in ("Exp32", "RanKernel16@1", "Exp32:mix=5@1"):
        assert causal_floor(on_unit(name)) == 0
        assert invariant_floor(on_unit(name)) < 1e-30


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_least_squares_on_samples_come_to_the_floors(seed: int) -> None:
    random = np.random.default_rng(seed)
    kernel = permute_inputs(on_unit("Exp9,3"), random.permutation(9).tolist())
    x = random.uniform(0, 1, (20000, 9))
    y, lost = kernel.run(x), 0.0
    rows, goals = [], []
    for t in range(9):
        past = np.column_stack([x[:, : t + 1], np.ones(len(x))])
        best = np.linalg.lstsq(past, y[:, t])[0]
        lost += ((past @ best - y[:, t]) ** 2).mean() / 9
        one = np.zeros((len(x), 18))
        one[:, : t + 1], one[:, 9 + t] = x[:, t::-1], 1.0
        rows.append(one)
        goals.append(y[:, t])
    assert lost == pytest.approx(causal_floor(kernel), rel=0.03)
    both, goal = np.concatenate(rows), np.concatenate(goals)
    best = np.linalg.lstsq(both, goal)[0]
    found = ((both @ best - goal) ** 2).mean()
    assert found == pytest.approx(invariant_floor(kernel), rel=0.03)


def test_errors_are_mean_squares() -> None:
    kernel = on_unit("Exp8")
    x = kernel.sample_inputs(10, np.random.default_rng(0))
    assert errors(kernel.run(x) + 0.5, kernel, x) == pytest.approx(0.25)
