"""Transformers: the Program that a file states, and its tensors, sublayer by sublayer.

What only some sources need is imported where such a source is met: a proof rests on what
it imports (`krohn.verify.checker.registry`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from krohn.program.architectures.transformer import Transformer
from krohn.program.errors import Refused, demand
from krohn.program.inputs import Inputs, Lines, Lists, Prompts, Words
from krohn.program.statement import Statement, parse
from krohn.verify.checker import sublayers
from krohn.verify.checker.affine_arithmetic import exact
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model, names
from krohn.verify.checker.sublayers import Readings, embedding, followed

BLOCKS, CHAIN = "text-in-blocks", "chain-of-thought"
"""Texts in blocks, which are followed beside a machine; and chains of thought."""


def established(
    model: Model,
    said: Any,
    machine: Machine | None,
    progress: Callable[[Established], None] | None = None,
) -> Established:
    """The proved statement about a Transformer that computes a Program of whole numbers.

    ``progress`` is called after each step, with all that is shown up to there.
    """
    program, readings = _referenced(model, said, machine)
    found = Established(
        model.format,
        _inputs(model, program),
        {"readings": len(readings)},
        readings=readings,
        logits=exact(np.zeros((0, 0)), model.format),
    )

    def report() -> None:
        if progress is not None:
            progress(found)

    report()
    for stream, looks in followed(model, embedding(model, program), said):
        each, known = (*found.streams, stream), {**found.looks, **looks}
        found = replace(found, streams=each, looks=known)
        report()
    logits, margin = sublayers.separated(model, found.streams[-1], readings)
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    found = replace(found, logits=logits, margin=margin)
    report()
    return found


def _referenced(
    model: Model, said: Any, machine: Machine | None
) -> tuple[Statement, Readings]:
    """The stated Program, which computes what the file claims; and what it can show."""
    kind = model.claim.kind
    if kind == CHAIN:
        return _generated(model, model.source)
    if kind in COMPARED:
        return _compared(model, model.source, said["same"])
    from krohn.verify.checker import refinement

    followed_beside = machine or beside(model)
    assert followed_beside is not None
    program = causal(stated(model, len(followed_beside.transitions)))
    return program, refinement.check(program, said["program"], followed_beside)


def beside(model: Model) -> Machine | None:
    """The machine beside which the Program of a file is followed, if there is one.

    Of texts in blocks it is that of legal texts (Theorem 5j).
    """
    if model.claim.of_machine:
        return model.machine
    if model.claim.kind != BLOCKS:
        return None
    from krohn.kinds.blocks.statement import Blocks

    return Machine(*Blocks.from_wire(model.source).legal())


def _inputs(model: Model, program: Statement) -> Inputs:
    """The inputs on which a Program was followed."""
    length, kind = program.length, model.claim.kind
    match kind:
        case "machine" | "program":
            return Words(program.letters, length)
        case "text-in-blocks":
            from krohn.kinds.blocks.statement import (
                Blocks,
                words_of,
            )

            blocks = Blocks.from_wire(model.source)
            return words_of(model.claim, len(blocks.letters), blocks.block)
        case "chain-of-thought":
            from krohn.kinds.dynamic_programs.statement import ChainOfThought

            prompt = ChainOfThought.from_wire(model.source).prompt
            return Prompts(tuple(high - low + 1 for low, high in prompt), length)
        case "rewriting":
            from krohn.kinds.rewriting.statement import Rewriting

            rules = Rewriting.from_wire(model.source)
            return Lines(rules.end, rules.longest, length)
        case "increasing":
            from krohn.kinds.dynamic_programs.statement_increasing import Increasing

            lists = Increasing.from_wire(model.source)
            return Lists(lists.longest, lists.largest)
    raise Refused(f"no rule is about a Program of {kind}")


def _generated(model: Model, source: Any) -> tuple[Statement, Readings]:
    from krohn.kinds.dynamic_programs import check as generation
    from krohn.kinds.dynamic_programs.statement import ChainOfThought

    chain = ChainOfThought.from_wire(source)
    program = causal(stated(model, len(chain.tokens)))
    return program, generation.check(program, chain)


def _compared(model: Model, source: Any, told: Any) -> tuple[Statement, Readings]:
    """Statement and readings of a source that is compared with a Program."""
    from krohn.verify.checker.same_program import Classes, readings

    program, said = COMPARED[source["kind"]](model, source)
    classes = Classes(program, said, told)
    found = readings(program, said, classes)
    if source["kind"] == "rewriting":
        from krohn.kinds.rewriting.check import nearby
        from krohn.kinds.rewriting.statement import Rewriting

        program = nearby(program, Rewriting.from_wire(source), said, classes)
    return program, found


def _written(model: Model, source: Any) -> tuple[Statement, Statement]:
    """The Program of a file, and the one that was written as it is (Theorem 5i)."""
    named = type(source.get("classes")) is list
    demand(named, "the file does not name its outputs")
    program = stated(model, len(names(source, "letters")))
    return program, parse(source["program"], program.letters, program.length)


def _rewritten(model: Model, source: Any) -> tuple[Statement, Statement]:
    """Statements of the texts of a rewriting system (Theorem 5k)."""
    from krohn.kinds.rewriting.statement import Rewriting
    from krohn.kinds.rewriting.statement_program import program_of
    from krohn.program.program import statement_of

    system = Rewriting.from_wire(source)
    program = causal(stated(model, len(system.tokens)))
    return program, statement_of(program_of(system, program.length))


def _increasing(model: Model, source: Any) -> tuple[Statement, Statement]:
    """Statements of longest increasing subsequences (Theorem 5m)."""
    from krohn.kinds.dynamic_programs.statement_increasing import (
        Increasing,
        program_of,
    )
    from krohn.program.program import statement_of

    lists = Increasing.from_wire(source)
    program = causal(stated(model, len(lists.tokens)))
    demand(program.length == lists.length, "the claim is about other texts")
    return program, statement_of(program_of(lists))


def causal(program: Statement) -> Statement:
    """A Program, if it can be followed letter by letter: nothing in it looks ahead."""
    alike = [channel.operation.causal for channel in program.channels.values()]
    demand(alike, "the Program reads later letters")
    return program


def stated(
    model: Model, letters: int, matrices: bool = False, vectors: bool = False
) -> Statement:
    """The Program that a Transformer claims to compute; whether of real numbers, too."""
    length = model.length or 0
    demand(length > 0, "the file claims no length")
    shape = model.network(Transformer)
    demand(length < shape.positions, "too few positions")
    other = "the file has another number of letters than the machine"
    demand(shape.vocabulary == letters + 1, other)
    return parse(model.program, letters, length, matrices, vectors)


COMPARED: dict[str, Callable[[Model, Any], tuple[Statement, Statement]]] = {
    "program": _written,
    "rewriting": _rewritten,
    "increasing": _increasing,
}
"""Sources that say which Program a file must compute."""
