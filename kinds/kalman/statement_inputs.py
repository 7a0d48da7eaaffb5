"""The inputs of claims about Kalman predictors."""

from krohn.kinds.kalman.statement import observations_within
from krohn.program.inputs import Inputs, Stated, whole_numbers
from krohn.program.strict_json import real


def observations(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All observations within the bound, of every length if there is no longest."""
    most = None if length is None else whole_numbers(length)[0]
    return observations_within(real(source["bound"]), len(source["B"]), most)
