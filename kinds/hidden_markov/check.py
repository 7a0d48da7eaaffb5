"""Hidden Markov models: a Transformer says the belief after each letter, within an error.

The belief is a function of finitely many situations, exactly or nearly: Theorems W8 to W8c
of docs/proofs/beliefs.md.
"""

from typing import Any

import numpy as np

from krohn.kinds.hidden_markov.check_situations import (
    beliefs,
    followed_by,
    window,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.hidden_markov.statement_inputs import PossibleWords
from krohn.program.errors import demand
from krohn.program.statement import Statement
from krohn.verify.checker import refinement, sublayers
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model, names
from krohn.verify.checker.sublayers import collect_streams
from krohn.verify.checker.transformer import causal, read_program


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that can be shown: by heads, by products of operators, or by situations.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    if not model.program:
        # No other proof rests on it.
        from krohn.kinds.hidden_markov import (
            check_attention_products as attention_products,
        )

        return attention_products.prove_error(model)
    letters = len(names(model.source, "letters"))
    channels = model.program["channels"]
    if any(channel["op"] == "letter-matrix" for channel in channels):
        from krohn.kinds.hidden_markov import (
            check_products as belief_products,  # no other proof rests on it
        )

        return belief_products.prove_error(
            model, read_program(model, letters, matrices=True), said
        )
    return _by_situations(
        model, causal(read_program(model, letters, vectors=True)), said
    )


def _by_situations(model: Model, program: Statement, said: Any) -> Established:
    source, machine = StatedHiddenMarkov.from_wire(model.source), followed_by(model)
    demand(len(program.outputs) == 1, "a belief is said by one channel")
    output = program.channels[program.outputs[0]]
    demand(output.vectors is not None, "the output is not laid out as vectors")
    assert output.vectors is not None
    if machine is None:
        law = window(program, output, source)
    else:
        readings = refinement.check(program, said["program"], machine)
        law = beliefs(source, machine, readings)
    streams, looks = collect_streams(model, program, said)
    size = model.tensors["unembed.weight"].shape[1]
    demand(size == len(source.start), "the network has not one output for each state")
    values, at = np.unique(law.value, return_inverse=True)
    outputs = sublayers.values_said(model, streams[-1], values)
    off = abs(Interval.of(outputs.value[at]) - law.belief) + outputs.total[at] + law.off
    planned = abs(Interval.of(output.vectors[law.value]) - law.belief) + law.off
    facts = {
        "argument": "window" if machine is None else "beliefs",
        "model error": planned.most,
        "total variation": (off.sum(axis=1) / 2).most,
        "situations": len(values),
    }
    inputs = PossibleWords(program.length)
    return Established(model.format, inputs, facts, off.most, streams, looks)
