"""Finding evidence for a model: what the small checker `verify.recheck` is told.

What it finds is worth nothing until the checker has checked it.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from verify.evidence import meaning
from verify.recheck import generator, network, recurrent
from verify.recheck.model import Machine, Model, read

# Bounds are written a little larger than found: another processor may round otherwise.
MARGIN = 1 + 2.0**-20

Progress = Callable[[int, int], None]


def find(
    data: bytes, machine: Machine | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Evidence that a model computes a machine, with the bounds that it shows.

    Args:
        data: The model file.
        machine: The machine; that of the file's own header if absent.
        progress: Called with the number of blocks done, and in all.

    Raises:
        Refused: If none is found.
    """
    model = read(data)
    machine, report = machine or model.machine, progress or (lambda done, total: None)
    network.check_of(model)
    evidence = {
        "format": "krohn-evidence",
        "version": 1,
        "model": hashlib.sha256(data).hexdigest(),
    }
    kind = model.header["architecture"]["kind"]
    return evidence | SEARCHES[kind](model, machine, report)


def _transformer(model: Model, machine: Machine, progress: Progress) -> dict[str, Any]:
    program = network.stated(model, len(machine.transitions))
    evidence: dict[str, Any] = {"program": meaning.find(program, machine)}
    facts = network.established(model, evidence, machine, progress).facts()
    for kind in ("noise", "leak"):
        evidence[kind] = {n: bound * MARGIN for n, bound in facts[kind].items()}
    evidence["margin"] = facts["margin"] / MARGIN
    return evidence


def _generator(model: Model, machine: Machine, progress: Progress) -> dict[str, Any]:
    """Nothing needs to be found: the machine itself says which cases there are."""
    return {"error": generator.established(model, {}, machine).law["error"] * MARGIN}


def _rnn(model: Model, machine: Machine, progress: Progress) -> dict[str, Any]:
    """Nothing needs to be found: the checker visits all that the network can do."""
    return {"margin": recurrent.established(model, {}, machine).margin / MARGIN}


SEARCHES = {"transformer": _transformer, "rnn": _rnn, "generator": _generator}
