"""Hidden Markov models: a Transformer says the belief after each letter, within an error.

The belief is a function of finitely many situations, exactly or nearly: Theorems W8 to W8c
of docs/within.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.program.errors import demand
from krohn.program.statement import Statement
from krohn.verify.checker import read_out, refinement
from krohn.verify.checker.arithmetic import INFLATION, Format
from krohn.verify.checker.heads import Look
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.situations import beliefs, followed_by, source_of, window
from krohn.verify.checker.sublayers import embedding, followed


@dataclass(frozen=True)
class Established:
    """Every bound that was shown of the network of a hidden Markov model.

    Attributes:
        streams: As for a machine.
        looks: As for a machine.
        kind: ``beliefs`` or ``window``: why the situations say the belief.
        situations: How many there are.
        model: How far a belief can be from the vector that the Program says.
        error: How far any output can be off, at any position of any possible word.
        variation: How far all outputs together can be off, in total variation.
    """

    streams: tuple[Stream, ...]
    looks: Mapping[str, Look]
    kind: str
    situations: int
    model: float
    error: float
    variation: float

    @property
    def program(self) -> Statement:
        """What the network computes."""
        return self.streams[0].program

    @property
    def form(self) -> Format:
        """The format that is computed in."""
        return self.streams[0].form

    def facts(self) -> dict[str, Any]:
        """In numbers: the error, that of the Program, the noise of each channel."""
        noise = {n: float(x.max()) for s in self.streams for n, x in s.noise.items()}
        return {
            "covers": f"all possible words of up to {self.program.length} letters",
            "length": self.program.length,
            "dtype": self.form.name,
            "error": self.error,
            "model error": self.model,
            "total variation": self.variation,
            "situations": self.situations,
            "noise": noise,
            "leak": {name: look.leak for name, look in self.looks.items()},
        }


def established(model: Model, program: Statement, said: Any) -> Established:
    """The error that can be shown; `claimed_error.claimed` says if it is enough.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source, machine = source_of(model.header["source"]), followed_by(model)
    demand(len(program.outputs) == 1, "a belief is said by one channel")
    output = program.channels[program.outputs[0]]
    demand(output.vectors is not None, "the output is not laid out as vectors")
    if machine is None:
        law = window(program, output, source)
    else:
        readings = refinement.check(program, said["program"], machine)
        law = beliefs(source, machine, readings)
    known = list(followed(model, embedding(model, program)))
    looks = {name: look for _, heads in known for name, look in heads.items()}
    size = model.tensors["unembed.weight"].shape[1]
    demand(size == len(source.start), "the network has not one output for each state")
    values, at = np.unique(law.value, return_inverse=True)
    found = read_out.said(model, known[-1][0], values)
    off = np.abs(found.value[at] - law.belief) + found.total[at] + law.off
    assert output.vectors is not None
    planned = np.abs(output.vectors[law.value] - law.belief) + law.off
    return Established(
        tuple(stream for stream, _ in known),
        looks,
        "window" if machine is None else "beliefs",
        len(values),
        float(planned.max() * INFLATION),
        float(off.max() * INFLATION),
        float(off.sum(axis=1).max() / 2 * INFLATION),
    )
