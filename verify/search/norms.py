"""The norm in which the least error of a linear system is shown."""

from collections.abc import Callable
from typing import Any

from krohn.program.errors import Refused
from krohn.verify.checker.established import Established
from krohn.verify.checker.matrix_norms import NORMS

MEASURED = ("linear-system", "vectors-in-blocks")
"""Sources whose errors are measured in a norm."""


def least(
    check: Callable[[Any], Established], told: dict[str, Any]
) -> tuple[dict[str, Any], Established]:
    """Evidence that names a norm beside what it has told, and what a check shows by it.

    Raises:
        Refused: If nothing is shown by any norm; with the reasons.
    """
    found, reasons = list[tuple[dict[str, Any], Established]](), list[str]()
    for name in NORMS:
        evidence = {**told, "norm": name}
        try:
            shown = check(evidence)
        except Refused as reason:
            reasons.append(str(reason))
            continue
        found.append((evidence, shown))
    if not found:
        raise Refused("; ".join(dict.fromkeys(reasons)))
    return min(found, key=lambda one: one[1].error)
