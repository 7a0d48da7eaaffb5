"""Beliefs of a hidden Markov model by products of its operators (docs/within.md, 6)."""

from typing import Any

import numpy as np

from krohn.program.errors import demand
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.statement import Statement
from krohn.verify.checker.arithmetic import INSIDE, Interval, fits, sum_error
from krohn.verify.checker.established import Established
from krohn.verify.checker.linear_system import applied, check_window
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.positive_operators import apart
from krohn.verify.checker.projective_metric import Projective
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.situations import source_of
from krohn.verify.checker.sublayers import walked


def shown(model: Model, program: Statement, said: Any) -> Established:
    """The error that can be shown.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source = source_of(model.header["source"])
    check_window(program)
    start = np.array(program.vector)
    demand(start.shape == source.start.shape, "it starts elsewhere")
    begun = apart(start[None, :, None], source.start)
    operations = program.operations.values()
    letters = [o for o in operations if isinstance(o, LetterMatrix)]
    demand(len(letters) == 1, "letters have matrices in several channels")
    demand(letters[0].start == program.vector, "a word starts elsewhere")
    held = letters[0].rows[:-1]
    metric = Projective.of(source.operators, start, held, program.length)
    streams, looks = walked(model, program, said, metric)
    error = _read_out(model, streams[-1], begun, metric).most
    covers, told = f"all words of up to {program.length} letters", metric.facts
    form = model.format
    return Established(form, program.length, covers, told, error, streams, looks)


def _read_out(
    model: Model, stream: Stream, begun: Interval, metric: Projective
) -> Interval:
    """How far any output can be off; ``begun`` is how far the start is, in the metric."""
    start = metric.products.start
    channel = applied(model, stream, start)
    off, mass = metric.belief(stream.noise[channel.name])
    fits(mass, stream.form, "an output", INSIDE)
    rounded = sum_error(stream.form, int(np.count_nonzero(start)), mass)
    return abs(mass - 1) + mass * ((off + begun) / 4).through(np.tanh) + rounded
