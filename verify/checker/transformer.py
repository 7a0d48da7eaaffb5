"""Transformers: the Program that a file states, and its tensors, sublayer by sublayer.

What only some sources need is imported where such a source is met: a proof rests on what
it imports (`krohn.verify.checker.registry`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.transformer import Transformer
from krohn.program.errors import demand
from krohn.program.exact_numbers import whole
from krohn.program.statement import Statement, parse, statement_of
from krohn.verify.checker import read_out
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.claimed_error import claimed
from krohn.verify.checker.heads import Look
from krohn.verify.checker.model_file import Machine, Model, names
from krohn.verify.checker.read_out import Readings
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.sublayers import embedding, followed

if TYPE_CHECKING:
    from krohn.verify.checker import in_context
    from krohn.verify.checker.claimed_error import Established as Within
    from krohn.verify.checker.shown import WithinError

BLOCKS, CHAIN = "text-in-blocks", "chain-of-thought"
"""Texts in blocks, which are followed beside a machine; and chains of thought."""


@dataclass(frozen=True)
class Established:
    """Every bound that was shown, for all words up to T.

    Attributes:
        streams: What is known of the residual stream, after the embedding and after
            each sublayer.
        looks: Where the head of each channel looks that a head writes.
        readings: For each tuple of output values that occurs the class that it means.
        logits: ``(readings, classes)``: the logits of each tuple, in that order.
        margin: How far the right logit stays above every other one, at worst; 0 before
            the read-out is reached.
        source: The kind of what it computes.
    """

    streams: tuple[Stream, ...]
    looks: Mapping[str, Look]
    readings: Readings
    logits: Noisy
    margin: float
    source: str = "machine"

    @property
    def program(self) -> Statement:
        """What the network computes."""
        return self.streams[0].program

    @property
    def form(self) -> Format:
        """The format that is computed in."""
        return self.logits.form

    def facts(self) -> dict[str, Any]:
        """In numbers: the noise of each channel, the leak of each head, the margin."""
        noise = {n: float(x.max()) for s in self.streams for n, x in s.noise.items()}
        covers = COVERS.get(self.source, COVERS["machine"])
        return {
            "covers": covers.format(self.program.length),
            "length": self.program.length,
            "dtype": self.form.name,
            "readings": len(self.readings),
            "margin": self.margin,
            "noise": noise,
            "leak": {name: look.leak for name, look in self.looks.items()},
        }


def computed(
    model: Model, said: Any, machine: Machine | None, progress: "Progress | None" = None
) -> Established:
    """What is shown of a Transformer that computes a Program of whole numbers.

    ``progress`` is called after each step, with all that is shown up to there.
    """
    streams, looks = list[Stream](), dict[str, Look]()

    def report() -> None:
        if progress is not None:
            none = exact(np.zeros((0, 0)), model.format)
            progress(Established(tuple(streams), dict(looks), readings, none, 0.0))

    program, readings = _referenced(model, said, machine)
    report()
    for stream, found in followed(model, embedding(model, program), said):
        streams.append(stream)
        looks |= found
        report()
    logits, margin = read_out.separated(model, streams[-1], readings)
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    kind = model.header.get("source", {"kind": "machine"})["kind"]
    shown = Established(tuple(streams), looks, readings, logits, margin, kind)
    facts = shown.facts()
    for kind in ("noise", "leak"):
        for name, most in said.get(kind, {}).items():
            demand(facts[kind][name] <= most, f"the {kind} of {name!r} is not shown")
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    if progress is not None:
        progress(shown)
    return shown


def _referenced(
    model: Model, said: Any, machine: Machine | None
) -> tuple[Statement, Readings]:
    """The stated Program, which computes what the file claims; and what it can show."""
    source, claim = model.header.get("source"), model.header["claim"]
    if source is not None:
        alone = machine is None and "machine" not in model.header
        demand(alone, "the file claims to compute no machine")
        known = source["kind"] in {*COMPARED, CHAIN, BLOCKS}
        demand(known, "the file is about a source of an unknown kind")
        demand(model.header["version"] >= 5, "this version is for machines only")
    plain = source is None or source["kind"] == "program"
    kind = "exact" if plain else "generates"
    stands = claim.get("kind", "exact" if source is None else None) == kind
    demand(stands, "a claim of a wrong kind")
    if source is not None and source["kind"] == CHAIN:
        return _generated(model, source)
    if source is not None and source["kind"] in COMPARED:
        return _compared(model, source, said["same"])
    if source is not None:
        from krohn.program.blocks import check_words

        check_words(claim, int(whole(source["block"], 0)))
    from krohn.verify.checker import refinement

    followed_beside = machine or beside(model)
    assert followed_beside is not None
    program = causal(stated(model, len(followed_beside.transitions)))
    return program, refinement.check(program, said["program"], followed_beside)


def beside(model: Model) -> Machine | None:
    """The machine beside which the Program of a file is followed, if there is one.

    Of texts in blocks it is that of legal texts (Theorem 5j), of a hidden Markov model
    that of the situations that the file states.
    """
    source = model.header.get("source")
    if source is None:
        return model.machine
    if source["kind"] == "hidden-markov":
        from krohn.verify.checker.situations import followed_by

        return followed_by(model)
    if source["kind"] != BLOCKS:
        return None
    from krohn.program.blocks import Blocks

    demand(model.header["version"] >= 5, "this version is for machines only")
    return Machine(*Blocks.from_wire(source).legal())


def _generated(model: Model, source: Any) -> tuple[Statement, Readings]:
    """The same of a chain of thought."""
    from krohn.program.chain_of_thought import ChainOfThought
    from krohn.verify.checker import generation

    chain = ChainOfThought.from_wire(source)
    program = causal(stated(model, len(chain.tokens)))
    return program, generation.check(program, chain)


def _compared(model: Model, source: Any, told: Any) -> tuple[Statement, Readings]:
    """The same of what is compared with a Program."""
    from krohn.verify.checker.same_program import Classes, readings

    program, said = COMPARED[source["kind"]](model, source)
    classes = Classes(program, said, told)
    found = readings(program, said, classes)
    if source["kind"] == "rewriting":
        from krohn.program.rewriting import Rewriting
        from krohn.verify.checker.rewriting import nearby

        program = nearby(program, Rewriting.from_wire(source), said, classes)
    return program, found


def _written(model: Model, source: Any) -> tuple[Statement, Statement]:
    """The Program of a file, and the one that was written as it is (Theorem 5i)."""
    demand("classes" in source, "the file does not name its outputs")
    program = stated(model, len(names(source, "letters")))
    return program, parse(source["program"], program.letters, program.length)


def _rewritten(model: Model, source: Any) -> tuple[Statement, Statement]:
    """The same of the texts of a rewriting system (Theorem 5k)."""
    from krohn.program.rewriting import Rewriting
    from krohn.program.rewriting_program import program_of

    system = Rewriting.from_wire(source)
    program = causal(stated(model, len(system.tokens)))
    return program, statement_of(program_of(system, program.length))


def _increasing(model: Model, source: Any) -> tuple[Statement, Statement]:
    """The same of longest increasing subsequences (Theorem 5m)."""
    from krohn.program.increasing import Increasing, program_of

    lists = Increasing.from_wire(source)
    program = causal(stated(model, len(lists.tokens)))
    demand(program.length == lists.length, "the claim is about other texts")
    return program, statement_of(program_of(lists))


def causal(program: Statement) -> Statement:
    """A Program, if it can be followed letter by letter: nothing in it looks ahead."""
    alike = [channel.operation.causal for channel in program.channels.values()]
    demand(alike, "the Program reads later letters")
    return program


def established(
    model: Model, said: Any, machine: Machine | None, progress: "Progress | None" = None
) -> "Established | WithinError":
    """What the file of a Transformer shows, by the kind of what it computes."""
    source = model.header.get("source")
    if source is None or source["kind"] not in WITHIN:
        return computed(model, said, machine, progress)
    demand(model.header["version"] >= 5, "this version is for machines only")
    alone = machine is None and "machine" not in model.header
    demand(alone, "the file claims to compute no machine")
    shown = WITHIN[source["kind"]](model, source, said)
    claimed(model.header["claim"], shown.error, getattr(shown, "model", np.inf))
    demand(shown.error <= said.get("error", np.inf), "the error is not shown")
    return shown


def _multiplied(model: Model, source: Any, said: Any) -> "Within":
    """Of a linear system."""
    from krohn.verify.checker import linear_system

    program = stated(model, len(names(source, "letters")), matrices=True)
    if source["kind"] == "vectors-in-blocks":
        from krohn.verify.checker import vectors_in_blocks

        return vectors_in_blocks.established(model, program, said)
    return linear_system.established(model, program, said)


def _filtered(model: Model, source: Any, said: Any) -> "Within":
    """Of a hidden Markov model: by products of operators, or by situations."""
    channels = model.header["program"]["channels"]
    if any(channel["op"] == "letter-matrix" for channel in channels):
        from krohn.verify.checker import belief_products

        program = stated(model, len(names(source, "letters")), matrices=True)
        return belief_products.established(model, program, said)
    from krohn.verify.checker import hidden_markov

    program = stated(model, len(names(source, "letters")), vectors=True)
    return hidden_markov.established(model, causal(program), said)


def _learning(model: Model, source: Any, said: Any) -> "in_context.Established":
    """Of gradient descent on a prompt, which has no Program."""
    held(Transformer, model.header, model.tensors)
    from krohn.verify.checker import in_context

    return in_context.established(model)


def stated(
    model: Model, letters: int, matrices: bool = False, vectors: bool = False
) -> Statement:
    """The Program that a Transformer claims to compute; whether of real numbers, too."""
    length = model.header["claim"].get("length")
    demand(type(length) is int and length > 0, "the file claims no length")
    shape = held(Transformer, model.header, model.tensors)
    demand(length < shape.positions, "too few positions")
    other = "the file has another number of letters than the machine"
    demand(shape.vocabulary == letters + 1, other)
    demand(
        type(model.header.get("program")) is dict,
        "the file does not say what its channels are",
    )
    return parse(model.header["program"], letters, length, matrices, vectors)


Progress = Callable[[Established], None]
Both = Callable[[Model, Any], tuple[Statement, Statement]]
COVERS = {
    "machine": "all words of up to {} letters",
    "program": "all words of up to {} letters",
    "chain-of-thought": "the text after every prompt, of {} tokens and the last",
    "increasing": "each next token in the texts of all lists, after up to {} tokens",
    "rewriting": "each next token in the texts of all lines, after up to {} tokens",
    BLOCKS: "all texts of up to {} tokens in which states are written in time",
}
COMPARED: dict[str, Both] = {
    "program": _written,
    "rewriting": _rewritten,
    "increasing": _increasing,
}
"""Sources that say which Program a file must compute."""
WITHIN: dict[str, "Callable[[Model, Any, Any], WithinError]"] = {
    "linear-system": _multiplied,
    "vectors-in-blocks": _multiplied,
    "hidden-markov": _filtered,
    "context-learner": _learning,
}
"""Sources of real numbers, which networks say within an error."""
