"""Beliefs of a hidden Markov model by products of its operators (docs/within.md, 6)."""

import numpy as np

from krohn.program.errors import demand
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.statement import Statement
from krohn.verify.checker.arithmetic import INFLATION, INSIDE, UNDERFLOW, fits
from krohn.verify.checker.linear_system import Established, applied, check_window
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.product_gates import growth
from krohn.verify.checker.projective_metric import Projective
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.situations import Source, source_of
from krohn.verify.checker.sublayers import embedding, followed


def established(model: Model, program: Statement) -> Established:
    """The error that can be shown; `claimed_error.claimed` says if it is enough.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source = source_of(model.header["source"])
    check_window(program)
    demand(program.vector == tuple(source.start.tolist()), "it starts elsewhere")
    operations = program.operations.values()
    letters = [o for o in operations if isinstance(o, LetterMatrix)]
    demand(len(letters) == 1, "letters have matrices in several channels")
    demand(letters[0].start == program.vector, "a word starts elsewhere")
    metric = Projective.of(*source, letters[0].rows[:-1], program.length)
    known = list(followed(model, embedding(model, program, metric)))
    looks = {name: look for _, heads in known for name, look in heads.items()}
    streams = tuple(stream for stream, _ in known)
    error = _read_out(model, streams[-1], source, metric)
    return Established(streams, looks, metric, error)


def _read_out(
    model: Model, stream: Stream, source: Source, metric: Projective
) -> float:
    """How far any output can be off."""
    channel = applied(model, stream, source.start)
    apart, low, high = metric.belief(stream.noise[channel.name])
    terms = int(np.count_nonzero(source.start))
    rounded = growth(terms, stream.form.sum_unit) * high + terms * UNDERFLOW
    fits(high, stream.form, "an output", INSIDE)
    off = np.maximum(high - 1, 1 - low) + high * np.tanh(apart / 4) + rounded
    return float(off * INFLATION)
