"""Kalman predictors: mean squared errors, and windows beside what is proved of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from report import Row, Table, each, parser, publish

import krohn
from krohn.kinds.kalman.commands import KalmanPredictors
from krohn.kinds.kalman.source import KalmanPredictor, find_by_name
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.program.domains import FloatArray
from krohn.source_kinds.real_sequences import SAMPLED, run_network

WORDS, LENGTH, LATER, BAD = 2000, 120, 24, 200
HEADS = (2, 4, 8, 12, 16)
NAME = "RanLDS5@3"
BOAT = krohn.kalman(
    [[1, 0.1, 0], [0, 1, 0.1], [0, 0, 0.9]],
    [[1, 0, 0]],
    np.diag([1e-4, 1e-4, 0.01]),
    0.25,
    name="place, velocity, force",
)
UNSTABLE = krohn.kalman(
    [[1.3, 0.2], [-0.1, 0.8]],
    [[1, 0], [1, 1]],
    0.1,
    [[1, 0.5], [0.5, 2]],
    name="unstable, 2 seen",
)
CASES: tuple[tuple[str | KalmanPredictor, str, str, float | None], ...] = (
    ("RanLDS1@1", "rnn", "float64", None),
    (NAME, "rnn", "float64", None),
    (NAME, "rnn", "float32", None),
    ("RanLDS32@1", "rnn", "float64", None),
    (BOAT, "rnn", "float64", None),
    (UNSTABLE, "rnn", "float64", None),
    (NAME, "transformer", "float64", None),
    (NAME, "transformer", "float64", 1e-3),
    (NAME, "transformer", "float32", 0.1),
    (BOAT, "transformer", "float64", 1e-3),
    (UNSTABLE, "transformer", "float64", 1e-3),
    (UNSTABLE, "transformer", "float64", 1e-9),
)


def heads_of(file: ModelFile) -> int | None:
    """How many heads a network has, if it has any."""
    return getattr(file.architecture, "heads", None)


def run_in_batches(file: ModelFile, inputs: FloatArray) -> FloatArray:
    """What a network says, some inputs at a time."""
    return np.concatenate(
        [run_network(file, inputs[at : at + 40]) for at in range(0, len(inputs), 40)]
    )


def lost(said: FloatArray, seen: FloatArray) -> str:
    """The mean squared error of predictions of y_2, y_3, …."""
    return f"{((said[:, :-1] - seen[:, 1:]) ** 2).mean():.5f}"


def predictors(source: KalmanPredictor) -> Iterator[tuple[str, Any]]:
    """The networks that are compared."""
    yield "RNN", krohn.compile(source, arch="rnn")
    errors = source.windows(LENGTH)
    for heads in HEADS:
        within = float(errors[heads]) * (1 + 1e-6) + 1e-9
        yield "window", krohn.compile(source, length=LENGTH, within=within)


def of_family() -> Iterator[Row]:
    """Each predictor of `NAME` beside the optimum, where x_0 is known."""
    source = find_by_name(NAME)
    assert source is not None
    seen = source.sample(WORDS, LENGTH, np.random.default_rng(0))
    best, right, zeta = source.filter(seen), source.run(seen), source.steady.forgetting
    yield {"predictor": "filter (optimum)", "MSE": lost(best, seen)}
    for name, model in predictors(source):
        file = model.file
        said, heads = run_in_batches(file, seen), heads_of(file)
        yield {
            "predictor": name,
            "heads": heads,
            "MSE": lost(said, seen),
            f"from the optimum, t ≥ {LATER}": float(
                np.abs(said - best)[:, LATER:].max()
            ),
            "from the predictor": float(np.abs(said - right).max()),
            "ζ^r": None if heads is None else float(zeta**heads),
            "worst input": worst(source, file),
            "proved": file.claim.error,
        }


def worst(source: KalmanPredictor, file: ModelFile) -> float:
    """The largest error on inputs that are made to be bad."""
    rng = np.random.default_rng(0)
    bad = KalmanPredictors().adversarial(source, file, BAD, rng)
    bad = file.precision.round(bad)
    return float(np.abs(run_in_batches(file, bad) - source.run(bad)).max())


def row(case: tuple[str | KalmanPredictor, str, str, float | None]) -> Row:
    """A network beside its predictor."""
    given, arch, dtype, within = case
    source = find_by_name(given) if isinstance(given, str) else given
    assert source is not None
    length = None if arch == "rnn" else LENGTH
    model = krohn.compile(source, length=length, arch=arch, dtype=dtype, within=within)
    file, shape = model.file, model.file.header["architecture"]
    return {
        "predictor": f"`{source.name}`" if isinstance(given, str) else source.name,
        "forgets to": source.steady.forgetting,
        "network": arch,
        "format": dtype,
        "asked": within,
        "heads": heads_of(file),
        "width": kind_of(shape).width(shape),
        "parameters": parameters(shape),
        "worst input": worst(source, file),
        "proved": file.claim.error,
    }


def main() -> None:
    """Print the tables of docs/kinds/kalman.md."""
    options = parser(__doc__).parse_args()
    note = (
        f"{WORDS:,} sequences of {LENGTH} observations. The optimum knows x_0 and is the "
        f"filter with a gain for each step; the last two columns are about all inputs "
        "within the bound of 100."
    )
    tables = [Table("Predictors of RanLDS", list(of_family()), note)]
    note = f"Worst input: of {BAD}, up to {LENGTH} vectors ({SAMPLED} of RNNs)."
    publish([*tables, Table("Kalman predictors", each(row, CASES), note)], options)


if __name__ == "__main__":
    main()
