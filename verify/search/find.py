"""Finding the evidence that the small checker `krohn.verify.checker` needs for a model.

What it finds is worth nothing until the checker has checked it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import one_thread
from krohn.program import slices
from krohn.program.architectures.transformer import Transformer
from krohn.program.claim import Claim
from krohn.program.errors import Refused
from krohn.program.statement import Channel, Statement
from krohn.verify.checker import network
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Files, Machine, Model
from krohn.verify.checker.registry import program_rule, reader_of, rule_module
from krohn.verify.checker.residual_stream import Stream, owners
from krohn.verify.checker.sublayers import born, mlp_of
from krohn.verify.checker.transformer import read_program
from krohn.verify.search import refinement

if TYPE_CHECKING:
    from krohn.verify.checker.mlp import Mlp

MARGIN = 1 + 2.0**-20
"""Bounds are written a little larger than found: another processor may round otherwise."""
Watch = Callable[[dict[str, Any], Established], None]


def model_of(file: ModelFile, gain: float = 1.0) -> Model:
    """A model file that was read; where it runs, scores are ``gain`` times its own."""
    form = FORMATS[file.precision.name]
    return network.strip_disguise(Model(form, file.tensors, file.header, gain=gain))


def machine_of(machine: Automaton, shows: IntArray | None = None) -> Machine:
    """A machine with the logit that must be the largest in each state, or its own."""
    each = np.arange(len(machine.states)) if shows is None else shows
    return Machine(machine.start, machine.transitions, each)


def find(data: bytes, machine: Machine | None = None) -> dict[str, Any]:
    """Evidence that a model computes a machine, with the bounds that it shows.

    Args:
        data: The model file.
        machine: The machine; by default the one of the file's own header.

    Raises:
        Refused: If none is found.
    """
    model = network.open_model(data)
    # What is not a number fails every demand.
    with one_thread(), np.errstate(all="ignore"):
        evidence, statement = search(model, machine)
    return for_file(data, {**evidence, **claims(statement)})


def for_file(data: bytes | Files, told: dict[str, Any]) -> dict[str, Any]:
    """The content of an evidence file about a model file, from the checker's evidence."""
    named = network.digest(data)
    return {"format": "krohn-evidence", "version": 1, "model": named, **told}


def search(
    model: Model,
    machine: Machine | None,
    watch: Watch | None = None,
    claim: Claim | None = None,
) -> tuple[dict[str, Any], Established]:
    """The evidence that the small checker must be given of a model, and the claim it shows.

    Args:
        model: The model.
        machine: The machine; None for the file's own, or if it is about another source.
        watch: Called after each step of the proof of a Transformer, with the evidence
            and all that is shown up to there.
        claim: Of a file that states the machine, with its names; by default its own.

    Raises:
        Refused: If nothing is found that shows the claim.
        WrongWord: With a shortest word, if the stated Program, or an exact recurrent
            network, is another one.
    """
    common, program = dict[str, Any](), None
    assert model.claim.architecture is not None
    if kind_of(model.claim.architecture).program:
        program = _stated_program(model)
        common["cases"] = {} if program is None else _cases(model, program)
    (*others, last), reasons = _alternatives(model, machine, program), list[str]()
    if not others:
        evidence = {**common, **last}
        step = partial(watch, evidence) if watch else None
        return evidence, network.check_claim(model, evidence, machine, step, claim)
    proofs = list[tuple[dict[str, Any], Established]]()
    for one in (*others, last):
        evidence = {**common, **one}
        try:
            shown = network.check_claim(model, evidence, machine, claim=claim)
        except Refused as reason:
            reasons.append(str(reason))
            continue
        proofs.append((evidence, shown))
    if not proofs:
        raise Refused("; ".join(dict.fromkeys(reasons)))
    return min(proofs, key=lambda one: one[1].error)


DAMAGED = Refused, KeyError, IndexError, TypeError, ValueError
"""What a damaged file leads to. Where nothing is found nothing is said, and the checker
says what is wrong."""


def _stated_program(model: Model) -> Statement | None:
    """The Program of a file, whatever it is about; None if it cannot be read."""
    try:
        letters = model.network(Transformer).vocabulary - 1
        return read_program(model, letters, matrices=True, vectors=True)
    except DAMAGED:
        return None


def _cases(model: Model, program: Statement) -> dict[str, Any]:
    """The cases that decide the maps of MLPs, channel by channel, as evidence has them."""
    cases, known = dict[str, Any](), dict[Any, Any]()
    try:
        for mlp, channel in _outputs_of_mlps(model, program):
            from_cases = _find_cases(mlp, channel, known)
            if from_cases is not None:
                cases[channel.name] = from_cases
    except DAMAGED:
        pass
    return cases


def _outputs_of_mlps(
    model: Model, program: Statement
) -> Iterator[tuple["Mlp", Channel]]:
    for block in range(len(model.network(Transformer).blocks)):
        stream = _stream(model, program, 2 * block + 1)
        mlp = mlp_of(model, stream, block, {}, {})
        for channel in born(stream, 2 * block + 2):
            yield mlp, channel


def _find_cases(mlp: "Mlp", channel: Channel, known: dict[Any, Any]) -> Any:
    from krohn.verify.search.cases import find_cases, needs_cases  # of maps alone

    needed = needs_cases(mlp, channel)
    return find_cases(mlp, channel, known) if needed else None


def _stream(model: Model, program: Statement, snapshot: int) -> Stream:
    """Which channels are there before an MLP, as if they were exact."""
    width = model.tensors["embed.token"].shape[1]
    owner, names = owners(program, snapshot, width)
    noise = {n: np.zeros(max(1, len(program.channels[n].domain))) for n in names}
    none = np.zeros((program.length + 1, width))
    return Stream(program, model.format, none, owner, noise, np.zeros(width))


def _alternatives(
    model: Model, machine: Machine | None, program: Statement | None
) -> list[dict[str, Any]]:
    """What a slice finds for its reader beside cases: any of these may be evidence.

    Args:
        model: The model.
        machine: As for `search`.
        program: The Program of the file, if it has one that can be read.

    Raises:
        Refused: If there is nothing.
        WrongWord: With some word, if the network is wrong.
    """
    reader = reader_of(model)
    if reader == "transformer" and model.claim.of_machine:
        return refinement.of_model(model, machine or model.machine, known=program)
    reader = rule_module(program_rule(model) if reader == "transformer" else reader)
    place = slices.find_in_slices("finders", reader)
    return [{}] if place is None else slices.find(place)(model, machine)


def measure_proof(model: Model, machine: Machine) -> list[dict[str, Any]]:
    """Steps of a proof that a slice adds for people: what it measures of the network."""
    place = slices.find_in_slices("measures", rule_module(reader_of(model)))
    return [] if place is None else [slices.find(place)(model, machine)]


def claims(found: Established) -> dict[str, Any]:
    """The bounds that were shown, a little larger."""
    if found.error < inf:
        return {"error": found.error * MARGIN}
    bounds, facts = dict[str, Any](margin=found.margin / MARGIN), found.facts()
    for kind in ("noise", "leak") if found.streams else ():
        bounds[kind] = {n: bound * MARGIN for n, bound in facts[kind].items()}
    return bounds
