"""Theorems KF2 to KF4: gains are enclosed, and predictions as near as is shown."""

from typing import Any

import mpmath
import numpy as np
import pytest
from kalman_networks import (
    DIGITS,
    SHEAR,
    SYSTEMS,
    UNSTABLE,
    established,
    evidence,
    filed,
    measured,
    of,
    packed,
    recurrent,
    true_gain,
    window,
)

from krohn.kinds.kalman import check_gain
from krohn.kinds.kalman.build import predictor_rnn
from krohn.kinds.kalman.check_gain import (
    enclose_gain,
    norm,
    row_norms,
    sum_powers,
)
from krohn.kinds.kalman.source import KalmanPredictor, predictor
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import Interval

EACH = pytest.mark.parametrize("source", SYSTEMS, ids=lambda source: source.name)


def length(matrix: Any) -> Any:
    """The 2-norm of a matrix of many digits."""
    return mpmath.sqrt(max(mpmath.eigsy(matrix.T * matrix, eigvals_only=True)))


@pytest.mark.sample(1)
@EACH
def test_the_true_gain_is_enclosed(source: KalmanPredictor) -> None:
    found, (gain, loop) = enclose_gain(source, evidence(source)), true_gain(source)
    with mpmath.workdps(DIGITS):
        off = length(gain - mpmath.matrix(found.near.tolist()))
    power, total = np.eye(loop.rows), 0.0
    for _ in range(400):
        total += float(np.linalg.norm(power, 2))
        power = power @ source.steady.loop
    assert off <= found.off.high < 1e-11
    assert total * (1 - 1e-9) <= found.powers.high <= 4 * total


@pytest.mark.sample(1)
@EACH
def test_a_gain_that_is_off_is_enclosed_as_well(source: KalmanPredictor) -> None:
    """Newton's method would be much nearer: what is shown is about what is stated."""
    steady, (gain, _) = source.steady, true_gain(source)
    for scale in (1e-9, 1e-5):
        said = steady.covariance * (1 + scale), steady.gain * (1 - scale)
        found = enclose_gain(source, packed(*said))
        with mpmath.workdps(DIGITS):
            off = length(gain - mpmath.matrix(found.near.tolist()))
        assert off <= found.off.high < 1e5 * scale


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@EACH
def test_no_prediction_is_further_off_than_is_shown(
    source: KalmanPredictor, dtype: str
) -> None:
    """Of RNNs at four times the length that is made to be bad, too."""
    file = recurrent(source, dtype)
    error = established(file).error
    assert max(measured(file, source, length, 0) for length in (64, 256)) <= error
    file = window(source, 12, 40, dtype)
    assert measured(file, source, 40, 1) <= established(file).error


@pytest.mark.sample(1)
@EACH
def test_the_bound_of_a_window_is_nearly_reached(source: KalmanPredictor) -> None:
    """The worst observations take the sign of all that is left out."""
    file = window(source, 3, 40)
    error = established(file).error
    worst = measured(file, source, 40, 0)
    assert 0.8 * error <= worst <= error
    assert error <= source.windows(40)[3] * (1 + 1e-6)


@pytest.mark.slow
def test_a_window_of_all_observations_is_right_from_the_start() -> None:
    """Heads that look before the first observation add up to what the start says."""
    source = SHEAR
    file = window(source, 21, 20)
    assert measured(file, source, 20, 0) <= established(file).error < 1e-11
    short = window(source, 2, 20)
    silent = {**short.tensors, "start": 0 * short.tensors["start"]}
    without = ModelFile(short.header, silent, short.precision)
    with pytest.raises(Refused, match="wrong positions"):
        established(without)


def changed(file: ModelFile, name: str, at: int, by: float) -> ModelFile:
    tensor = file.tensors[name].copy()
    tensor.flat[at] += by
    return ModelFile(file.header, {**file.tensors, name: tensor}, file.precision)


def honest(file: ModelFile) -> ModelFile:
    """With the error that is shown as its claim."""
    claim = {**file.header["claim"], "error": established(file).error}
    return ModelFile({**file.header, "claim": claim}, file.tensors, file.precision)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "file",
    [recurrent(SHEAR), window(SHEAR, 9, 8), recurrent(of("RanLDS2@1"))],
    ids=["rnn", "window", "two"],
)
def test_damaged_tensors_are_refused(file: ModelFile) -> None:
    file, rng, refused = honest(file), np.random.default_rng(0), 0
    established(file)
    for name, tensor in file.tensors.items():
        for at in rng.choice(tensor.size, min(tensor.size, 6), replace=False):
            damaged = changed(file, name, int(at), 0.25)
            source = KalmanPredictor.from_wire(file.header["source"])
            try:
                established(damaged)
            except Refused:
                refused += 1
            else:  # it makes no difference, as before the first observation
                length = file.header["claim"]["length"] or 64
                error = file.header["claim"]["error"]
                assert measured(damaged, source, length, 0) <= error
    assert refused > 10


def test_forged_evidence_is_refused() -> None:
    source, steady = SHEAR, SHEAR.steady
    file, (p, gain) = honest(recurrent(source)), (steady.covariance, steady.gain)
    for forged, why in (
        (packed(p * 1.001, gain), "the file claims|bounded"),
        (packed(p, gain * 1.001), "the file claims|bounded"),
        (packed(p + np.triu(p, 1), gain), "not symmetric"),
        (packed(p, -gain), "bounded|forgets|singular"),
        (packed(p * np.nan, gain), "not finite"),
        ({"covariance": packed(p, gain)["covariance"]}, "gain"),
        (packed(p[:1], gain), "reshape"),
    ):
        with pytest.raises((Refused, KeyError, ValueError), match=why):
            established(file, forged)


def test_another_solution_of_the_equation_is_refused() -> None:
    """Without noise P = 0 solves it, and then nothing is learnt of an unstable mode."""
    file = recurrent(UNSTABLE)
    with pytest.raises(Refused, match="forgets too slowly"):
        established(file, packed(np.zeros((2, 2)), np.zeros((2, 1))))


def test_the_gain_of_another_system_is_refused() -> None:
    """The tensors and the evidence agree, and the header has another noise."""
    other = predictor(
        "other", SHEAR.transition, SHEAR.observation, 1.0, 0.3, SHEAR.start
    )
    made = predictor_rnn(other, PRECISIONS["float64"])
    file = filed(SHEAR, made, None, "float64", 1e-6)
    for said in (evidence(other), evidence(SHEAR)):
        with pytest.raises(Refused, match=r"the file claims|bounded|singular"):
            established(file, said)


def test_sums_of_powers_are_bounded() -> None:
    for matrix in ([[0.5, 3.0], [0.0, -0.9]], [[0.0, 1.0], [0.0, 0.0]], [[0.0]]):
        power, sums = np.eye(len(matrix)), np.zeros(2)
        for _ in range(2000):
            size = np.linalg.norm(power, 2)
            sums += size, size**2
            power = power @ np.array(matrix)
        found = np.array([x.high for x in sum_powers(Interval.of(np.array(matrix)))])
        assert (sums * (1 - 1e-12) <= found).all()
        assert (found <= 3 * sums).all()


def test_norms_are_bounded_and_those_of_rotations_reached() -> None:
    for seed in range(20):
        matrix = np.random.default_rng(seed).standard_normal((4, 3))
        right = np.linalg.norm(matrix, 2)
        assert right <= norm(matrix).high <= 3**0.5 * right
        turned, _ = np.linalg.qr(matrix)
        assert 1 - 1e-14 <= norm(turned).high <= 1 + 1e-14
        assert abs(norm(matrix[0]).high - np.linalg.norm(matrix[0])) < 1e-12
        rows = np.linalg.norm(matrix, axis=1)
        assert np.allclose(row_norms(matrix).high, rows, rtol=1e-12)


@pytest.mark.sample(1)
@pytest.mark.parametrize("last", [1.0, -1.0, 1.5, 1 - 1e-7])
def test_powers_that_do_not_fade_are_refused(
    last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_gain, "MOST_POWERS", 99)
    with pytest.raises(Refused, match="too slowly"):
        sum_powers(Interval.of(np.diag([0.5, last])))


WINDOW = window(of("RanLDS2@1"), 3, 8)


@pytest.mark.parametrize(
    ("name", "at", "why"),
    [
        ("attention.query", 0, "looks at observations"),
        ("attention.key", 0, "looks at observations"),
        ("start", 0, "the start has an observation"),
        ("attention.value", 4, "a position adds something"),
        ("code", 1, "wrong positions|overflow|far off"),
    ],
)
def test_heads_of_another_form_are_refused(name: str, at: int, why: str) -> None:
    with pytest.raises(Refused, match=why):
        established(changed(WINDOW, name, at, 1e3))


@pytest.mark.parametrize("make", [recurrent, lambda s, d: window(s, 2, 5, d)])
def test_narrow_formats_are_refused(make: Any) -> None:
    with pytest.raises(Refused, match="too narrow"):
        established(make(SHEAR, "float16"))


@pytest.mark.parametrize(
    ("file", "length"), [(recurrent(SHEAR), 5), (WINDOW, 7), (WINDOW, None)]
)
def test_other_lengths_are_refused(file: ModelFile, length: int | None) -> None:
    claim = {**file.header["claim"], "length": length}
    header = {**file.header, "claim": claim}
    with pytest.raises(Refused, match=r"length|longest"):
        established(ModelFile(header, file.tensors, file.precision))


def test_a_box_that_is_wider_is_refused() -> None:
    file = honest(recurrent(SHEAR))
    source = {**file.header["source"], "bound": 200.0}
    header = {**file.header, "source": source}
    with pytest.raises(Refused, match="the file claims"):
        established(ModelFile(header, file.tensors, file.precision))
