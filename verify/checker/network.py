"""The whole proof: a model file and its evidence, sublayer by sublayer."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from program import increasing, strict_json
from program.blocks import KIND, Blocks, check_words
from program.chain_of_thought import ChainOfThought
from program.errors import Refused, demand
from program.numbers import whole
from program.operations.letter_matrix import LetterMatrix
from program.rewriting import Rewriting
from program.statement import Statement, parse, statement_of
from verify.checker import (
    attention_target,
    belief_products,
    gated_recurrent,
    generation,
    generator,
    gpt2,
    grid_function,
    hidden_markov,
    in_context,
    kernel_attention,
    kernels,
    linear_recurrence,
    linear_rnn,
    linear_system,
    posterior_head,
    read_out,
    real_networks,
    recurrent,
    recurrent_beliefs,
    refinement,
    relu_boxes,
    rewriting,
    same_program,
    selected_mean,
    situations,
    state_space,
    vectors_in_blocks,
)
from verify.checker.affine_arithmetic import Noisy, exact
from verify.checker.attention import Look
from verify.checker.model_file import (
    Format,
    Machine,
    Model,
    names,
    read,
)
from verify.checker.read_out import Readings
from verify.checker.residual_stream import Stream
from verify.checker.sublayers import embedding, followed


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


def recheck(
    data: bytes | gpt2.Files, evidence: bytes, machine: Machine | None = None
) -> "Shown":
    """What a model file and its evidence show.

    Args:
        data: The model file, or the files of a GPT-2.
        evidence: The evidence, as JSON.
        machine: What it must compute; that of the file's own header if absent.

    Returns:
        What was established.

    Raises:
        Refused: If that does not show that the network computes the machine from its
            start state, on every word of up to T letters, of any length if it is an RNN,
            in the format of the file; or, of a generator, that it says the law of the
            next letter on legal prefixes.
    """
    try:
        with np.errstate(all="ignore"):  # what is not a number fails every demand
            said = strict_json.read(evidence)
            demand(said["format"] == "krohn-evidence", "this is no evidence")
            demand(said["version"] == 1, "the evidence has an unknown version")
            demand(
                said["model"] == digest(data), "the evidence is for another model file"
            )
            model = gpt2.read(data) if isinstance(data, gpt2.Files) else read(data)
            return check_of(model)(model, said, machine)
    except Refused:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise Refused(f"the evidence cannot be followed ({reason})") from None


def digest(data: bytes | gpt2.Files) -> str:
    """What evidence names a model file by, or the files of a GPT-2."""
    if isinstance(data, gpt2.Files):
        return data.digest
    return hashlib.sha256(data).hexdigest()


def check_of(model: Model) -> "Check":
    """The check of the networks of a kind; as `recheck`, raises other errors, too."""
    kind = model.header["architecture"]["kind"]
    demand(kind in CHECKS, f"there is no evidence for a network of kind {kind!r}")
    said = model.header["claim"].get("kind", "exact")
    fits = said == "exact" or "source" in model.header
    demand(fits, "the claim is another one than about a machine")
    return CHECKS[kind]


def established(
    model: Model, said: Any, machine: Machine | None, progress: "Progress | None" = None
) -> Established:
    """What the file of a Transformer and its evidence show.

    ``progress`` is called after each step, with all that is shown up to there.
    """
    streams, looks = list[Stream](), dict[str, Look]()

    def report() -> None:
        if progress is not None:
            none = exact(np.zeros((0, 0)), model.format)
            progress(Established(tuple(streams), dict(looks), readings, none, 0.0))

    program, readings = _referenced(model, said, machine)
    report()
    for stream, found in followed(model, embedding(model, program)):
        streams.append(stream)
        looks |= found
        report()
    logits, margin = read_out.separated(model, streams[-1], readings)
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    kind = model.header.get("source", {"kind": "machine"})["kind"]
    shown = Established(tuple(streams), looks, readings, logits, margin, kind)
    facts = shown.facts()
    for kind in ("noise", "leak"):
        for name, claimed in said.get(kind, {}).items():
            demand(facts[kind][name] <= claimed, f"the {kind} of {name!r} is not shown")
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    if progress is not None:
        progress(shown)
    return shown


def _rnn(
    model: Model, said: Any, machine: Machine | None
) -> "recurrent.Established | RecurrentWithinError":
    """What the file of an RNN shows, by the kind of what it computes."""
    if "ranks" in model.header["architecture"]:
        return relu_boxes.established(model, said, machine)
    if "source" not in model.header:
        return recurrent.established(model, said, machine)
    alone = machine is None and "machine" not in model.header
    demand(alone and model.header["version"] >= 5, "the file claims no machine")
    kind = model.header["source"]["kind"]
    demand(kind in RECURRENT, "no RNN of such a source is known")
    shown = RECURRENT[kind](model)
    linear_system.claimed(model.header["claim"], shown.error)
    demand(shown.error <= said.get("error", np.inf), "the error is not shown")
    return shown


def _referenced(
    model: Model, said: Any, machine: Machine | None
) -> tuple[Statement, Readings]:
    """The stated Program, which computes what the file claims; and what it can show."""
    source, claim = model.header.get("source"), model.header["claim"]
    if source is not None:
        alone = machine is None and "machine" not in model.header
        demand(alone, "the file claims to compute no machine")
        known = source["kind"] in {*SOURCES, KIND}
        demand(known, "the file is about a source of an unknown kind")
    if source is not None and source["kind"] in SOURCES:
        return SOURCES[source["kind"]](model, source)
    kind = "exact" if source is None else "generates"
    demand(claim.get("kind", "exact") == kind, "the claim is another one")
    if source is not None:
        check_words(claim, int(whole(source["block"], 0)))
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
    if source["kind"] != KIND:
        return hidden_markov.followed_by(model)
    demand(model.header["version"] >= 5, "a file of its version is of a machine")
    return Machine(*Blocks.from_wire(source).legal())


def _generated(model: Model, source: Any) -> tuple[Statement, Readings]:
    """The same of a chain of thought."""
    demand(model.header["claim"].get("kind") == "generates", "the claim is another one")
    demand(model.header["version"] >= 5, "a file of its version is of a machine")
    chain = ChainOfThought.from_wire(source)
    program = causal(stated(model, len(chain.tokens)))
    return program, generation.check(program, chain)


def _written(model: Model, source: Any) -> tuple[Statement, Readings]:
    """The same of a Program that was written as it is (Theorem 5i)."""
    claim, classes = model.header["claim"].get("kind"), names(source, "classes")
    demand(claim == "exact", "the claim about a Program is not that it is computed")
    demand(model.header["version"] >= 5, "a file of its version has no such source")
    demand(
        len(classes) == model.header["architecture"]["outputs"],
        "the file does not name each output",
    )
    program = stated(model, len(names(source, "letters")))
    said = parse(source["program"], program.letters, program.length)
    return program, same_program.readings(program, said)


def _rewritten(model: Model, source: Any) -> tuple[Statement, Readings]:
    """The same of the texts of a rewriting system (Theorem 5k)."""
    demand(model.header["claim"].get("kind") == "generates", "the claim is another one")
    demand(model.header["version"] >= 5, "a file of its version is of a machine")
    system = Rewriting.from_wire(source)
    program = causal(stated(model, len(system.tokens)))
    return rewriting.check(program, system)


def _increasing(model: Model, source: Any) -> tuple[Statement, Readings]:
    """The same of longest increasing subsequences (Theorem 5m)."""
    demand(model.header["claim"].get("kind") == "generates", "the claim is another one")
    demand(model.header["version"] >= 5, "a file of its version is of a machine")
    lists = increasing.Increasing.from_wire(source)
    program = causal(stated(model, len(lists.tokens)))
    demand(program.length == lists.length, "the claim is about other texts")
    said = statement_of(increasing.program_of(lists))
    return program, same_program.readings(program, said)


def causal(program: Statement) -> Statement:
    """A Program, if it can be followed letter by letter: nothing in it looks ahead."""
    alike = [channel.operation.causal for channel in program.channels.values()]
    demand(alike, "the Program looks at letters that come later")
    return program


def transformer(
    model: Model, said: Any, machine: Machine | None, progress: "Progress | None" = None
) -> "Established | WithinError":
    """What the file of a Transformer shows, by the kind of what it computes."""
    source = model.header.get("source")
    if source is None or source["kind"] not in WITHIN:
        return established(model, said, machine, progress)
    demand(model.header["version"] >= 5, "a file of its version is of a machine")
    alone = machine is None and "machine" not in model.header
    demand(alone, "the file claims to compute no machine")
    shown = WITHIN[source["kind"]](model, source, said)
    linear_system.claimed(model.header["claim"], shown.error)
    demand(shown.error <= said.get("error", np.inf), "the error is not shown")
    return shown


def _multiplied(model: Model, source: Any, said: Any) -> linear_system.Established:
    """Of a linear system."""
    program = stated(model, len(names(source, "letters")), matrices=True)
    if source["kind"] == vectors_in_blocks.KIND:
        return vectors_in_blocks.established(model, program)
    return linear_system.established(model, program)


def _filtered(
    model: Model, source: Any, said: Any
) -> hidden_markov.Established | linear_system.Established:
    """Of a hidden Markov model: by products of operators, or by situations."""
    channels = model.header["program"]["channels"]
    if any(channel["op"] == LetterMatrix.wire for channel in channels):
        program = stated(model, len(names(source, "letters")), matrices=True)
        return belief_products.established(model, program)
    program = stated(model, len(names(source, "letters")), vectors=True)
    shown = hidden_markov.established(model, causal(program), said)
    stated_error = model.header["claim"].get("model_error", shown.model)
    demand(shown.model <= stated_error, "the claimed error of the model is too small")
    return shown


def _learning(model: Model, source: Any, said: Any) -> in_context.Established:
    """Of gradient descent on a prompt, which has no Program."""
    shapes = {name: tensor.shape for name, tensor in model.tensors.items()}
    demand(shapes == _shapes(model.header["architecture"]), "other tensors than stated")
    return in_context.established(model)


def stated(
    model: Model, letters: int, matrices: bool = False, vectors: bool = False
) -> Statement:
    """The Program that a Transformer claims to compute; whether of real numbers, too."""
    length = model.header["claim"].get("length")
    demand(type(length) is int and length > 0, "the file claims no length")
    demand(length < model.header["architecture"]["positions"], "too few positions")
    demand(
        model.header["architecture"]["vocabulary"] == letters + 1,
        "the file has another number of letters than the machine",
    )
    demand(
        type(model.header.get("program")) is dict,
        "the file does not say what its channels are",
    )
    shapes = {name: tensor.shape for name, tensor in model.tensors.items()}
    demand(shapes == _shapes(model.header["architecture"]), "other tensors than stated")
    return parse(model.header["program"], letters, length, matrices, vectors)


def _shapes(said: Any) -> dict[str, tuple[int, ...]]:
    """The tensors of an architecture, as docs/model-format.md lists them."""
    d, outputs = said["d_model"], said["outputs"]
    found: dict[str, tuple[int, ...]] = {"embed.token": (said["vocabulary"], d)}
    found |= {"embed.position": (said["positions"], d)}
    found |= {"unembed.weight": (d, outputs), "unembed.bias": (outputs,)}
    for b, block in enumerate(said["blocks"]):
        h, k, v, widths = (block[n] for n in ("heads", "d_qk", "d_v", "mlp"))
        for name in ("query", "key", "value", "out") if h else ():
            shape = {"value": (h, d, v), "out": (h, v, d)}.get(name, (h, d, k))
            found[f"blocks.{b}.attention.{name}"] = shape
        for j, pair in enumerate(pairwise([d, *widths, d]) if widths else ()):
            found[f"blocks.{b}.mlp.{j}.weight"] = pair
            found[f"blocks.{b}.mlp.{j}.bias"] = pair[1:]
        if not said["strict"]:
            found[f"blocks.{b}.mlp.residual"] = (d,)
    return found


Progress = Callable[[Established], None]
Source = Callable[[Model, Any], tuple[Statement, Readings]]
COVERS = {
    "machine": "all words of up to {} letters",
    "program": "all words of up to {} letters",
    "chain-of-thought": "the text after every prompt, of {} tokens and the last",
    increasing.KIND: "each next token in the texts of all lists, after up to {} tokens",
    "rewriting": "each next token in the texts of all lines, after up to {} tokens",
    KIND: "all texts of up to {} tokens in which states are written in time",
}
SOURCES: dict[str, Source] = {
    "chain-of-thought": _generated,
    "program": _written,
    "rewriting": _rewritten,
    increasing.KIND: _increasing,
}
WITHIN: dict[str, "Callable[[Model, Any, Any], WithinError]"] = {
    linear_system.KIND: _multiplied,
    vectors_in_blocks.KIND: _multiplied,
    situations.KIND: _filtered,
    in_context.KIND: _learning,
}
"""Sources of real numbers, which networks say within an error."""
RecurrentWithinError = linear_rnn.Established | recurrent_beliefs.Established
RECURRENT: dict[str, Callable[[Model], RecurrentWithinError]] = {
    linear_system.KIND: linear_rnn.established,
    situations.KIND: recurrent_beliefs.established,
}
"""The same, of RNNs."""
WithinError = (
    linear_system.Established
    | hidden_markov.Established
    | in_context.Established
    | real_networks.Established
)
Shown = (
    Established
    | hidden_markov.Established
    | in_context.Established
    | linear_system.Established
    | real_networks.Established
    | RecurrentWithinError
    | recurrent.Established
    | state_space.Established
    | generator.Established
)
Check = Callable[[Model, Any, Machine | None], Shown]
CHECKS: dict[str, Check] = {
    "transformer": transformer,
    "rnn": _rnn,
    "lstm": gated_recurrent.established,
    "gru": gated_recurrent.established,
    "ssm": state_space.established,
    "generator": generator.established,
    **dict.fromkeys(real_networks.KINDS, real_networks.established),
}
real_networks.CHECKS["attention-layer", grid_function.KIND] = grid_function.established
real_networks.CHECKS["attention-layer", posterior_head.KIND] = (
    posterior_head.established
)
real_networks.CHECKS[linear_recurrence.KIND, kernels.KIND] = kernels.established
real_networks.CHECKS["attention-layer", attention_target.KIND] = (
    attention_target.established
)
real_networks.CHECKS["attention-layer", selected_mean.KIND] = selected_mean.established
real_networks.CHECKS["attention-layer", kernels.KIND] = kernel_attention.established
