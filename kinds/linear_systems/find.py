"""Evidence of linear systems: the norm that errors are measured in."""

from krohn.kinds.linear_systems.check_matrix_norms import NORMS
from krohn.verify.checker.model_file import Machine, Model


def norms(model: Model, machine: Machine | None) -> list[dict[str, str]]:
    """Every norm: what a proof shows by each tells which one is best."""
    del model, machine
    return [{"norm": name} for name in NORMS]
