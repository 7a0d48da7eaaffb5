"""Hidden Markov models: a Transformer says the belief after each letter, within an error.

The belief is a function of finitely many situations, exactly or nearly: Theorems W8 to W8c
of docs/within.md.
"""

from typing import Any

import numpy as np

from krohn.program.errors import demand
from krohn.program.statement import Statement
from krohn.verify.checker import read_out, refinement
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.claimed_error import Established
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.situations import beliefs, followed_by, source_of, window
from krohn.verify.checker.sublayers import walked


def established(model: Model, program: Statement, said: Any) -> Established:
    """The error that can be shown; `claimed_error.claimed` says if it is enough.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source, machine = source_of(model.header["source"]), followed_by(model)
    demand(len(program.outputs) == 1, "a belief is said by one channel")
    output = program.channels[program.outputs[0]]
    demand(output.vectors is not None, "the output is not laid out as vectors")
    assert output.vectors is not None
    if machine is None:
        law = window(program, output, source)
    else:
        readings = refinement.check(program, said["program"], machine)
        law = beliefs(source, machine, readings)
    streams, looks = walked(model, program, said)
    size = model.tensors["unembed.weight"].shape[1]
    demand(size == len(source.start), "the network has not one output for each state")
    values, at = np.unique(law.value, return_inverse=True)
    found = read_out.said(model, streams[-1], values)
    off = abs(Interval.of(found.value[at]) - law.belief) + found.total[at] + law.off
    planned = abs(Interval.of(output.vectors[law.value]) - law.belief) + law.off
    told = {
        "argument": "window" if machine is None else "beliefs",
        "model error": planned.most,
        "total variation": (off.sum(axis=1) / 2).most,
        "situations": len(values),
    }
    covers, form = f"all possible words of up to {program.length} letters", model.format
    return Established(form, program.length, off.most, covers, told, streams, looks)
