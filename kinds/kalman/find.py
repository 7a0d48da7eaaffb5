"""Evidence of Kalman predictors: the Riccati equation, solved in float64."""

from krohn.kinds.kalman.source import KalmanPredictor
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.search.exact_walk import pack_array


def riccati(model: Model, machine: Machine | None) -> list[dict[str, str]]:
    """A covariance and a gain that nearly solve it."""
    del machine
    steady = KalmanPredictor.from_wire(model.source).steady
    return [
        {
            "covariance": pack_array(steady.covariance),
            "gain": pack_array(steady.gain),
        }
    ]
