"""Nothing stands in a claim that the small checker has not looked at."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.network.errors import ModelFileError
from krohn.network.modelfile import ModelFile, _parse, pack
from krohn.program.errors import Refused
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.network import recheck
from krohn.verify.search.find import claims, for_file, model_of, search

HOW: dict[str, tuple[str, dict[str, Any]]] = {
    "states": ("C3", {"length": 4}),
    "turnstile": ("examples/turnstile.dot", {"length": 4}),
    "outputs": ("regex:(ab)*", {"length": 4, "observation": "accept"}),
    "rnn": ("C2", {"arch": "rnn"}),
    "lstm": ("C2", {"arch": "lstm"}),
    "ssm": ("FlipFlop", {"arch": "ssm"}),
    "beliefs": ("GoldenMean", {"length": 4}),
    "beliefs of an RNN": ("GoldenMean", {"arch": "rnn"}),
    "system": ("MatMul2,2@3", {"length": 4}),
    "blocks": ("C2", {"length": 4, "block": 2}),
    "program": ("program:reverse", {"length": 4}),
    "increasing": ("ShortLIS2", {}),
    "dynamic program": ("LCS2,2:letters=2", {}),
    "rewriting": ("Sorting2", {"length": 8}),
}
MACHINES = ("states", "outputs", "rnn", "lstm", "ssm")
WITHIN = ("beliefs", "beliefs of an RNN", "system")


@cache
def proved(kind: str) -> tuple[ModelFile, dict[str, Any]]:
    """A network, and what the small checker is told of it."""
    name, how = HOW[kind]
    file = krohn.compile(name, **how, proved=False).file
    with np.errstate(all="ignore"):
        evidence, found = search(model_of(file), None)
    return file, {**evidence, **claims(found)}


def check(kind: str, at: tuple[Any, ...], value: Any, machine: Any = None) -> None:
    """Run the small checker on a file that states something else at a place."""
    file, told = proved(kind)
    header = json.loads(json.dumps(file.header))
    holder = header
    for key in at[:-1]:
        holder = holder[key]
    if at:
        holder[at[-1]] = value
    header.pop("digest", None)
    data = pack(header, file.tensors)
    recheck(data, json.dumps(for_file(data, told)).encode(), machine)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "term", "value"),
    [
        *((kind, "error", 0.5) for kind in (*MACHINES, "blocks", "program")),
        *((kind, "tolerance", 0.5) for kind in (*MACHINES, *WITHIN, "blocks")),
        *((kind, "shows", "outputs") for kind in WITHIN),
        *((kind, "letters", 4) for kind in ("states", "system", "program")),
        *((kind, "opening", "1/2") for kind in ("states", "beliefs")),
        ("states", "surely", True),
    ],
)
def test_a_claim_has_nothing_that_no_check_looks_at(
    kind: str, term: str, value: Any
) -> None:
    """Its lines would say that answers are numbers, or laws, within what is stated."""
    with pytest.raises(Refused, match=f"the claim has .*{term}"):
        check(kind, ("claim", term), value)
    file, _ = proved(kind)
    claim = {**file.header["claim"], term: value}
    with pytest.raises(ModelFileError, match=f"the claim has .*{term}"):
        _parse(pack({**file.header, "claim": claim}, file.tensors))


@pytest.mark.parametrize("kind", WITHIN)
def test_an_error_of_the_model_is_claimed_where_it_is_shown(kind: str) -> None:
    with pytest.raises(Refused, match="error of the model is not shown"):
        check(kind, ("claim", "model_error"), 2.0**-60)


@pytest.mark.parametrize("kind", MACHINES)
def test_the_start_that_is_claimed_is_that_of_the_machine(kind: str) -> None:
    with pytest.raises(Refused, match="another start state"):
        check(kind, ("claim", "start"), "elsewhere")


@pytest.mark.parametrize(
    ("kind", "at", "value", "reason"),
    [
        ("outputs", ("claim", "shows"), "Outputs", "to say something else"),
        (
            "outputs",
            ("machine", "output", "names"),
            ["yes", "yes"],
            "have the same name",
        ),
        ("outputs", ("machine", "output", "names"), ["yes"], "bad outputs"),
        ("turnstile", ("machine", "output", "names"), ["yes"], "bad outputs"),
        ("turnstile", ("machine", "output", "table"), [[0, 0, 0]], "bad outputs"),
        (
            "turnstile",
            ("machine", "output", "on"),
            "both",
            "must lie on states or transitions",
        ),
        ("beliefs", ("source", "states"), ["A"], "number of states"),
        ("beliefs of an RNN", ("source", "states"), ["A", "A"], "have the same name"),
        ("beliefs", ("source", "classes"), ["A", "B", "C"], "name each output"),
        ("system", ("source", "classes"), ["b1"], "name each output"),
        ("system", ("source", "classes"), ["b1", "b1"], "have the same name"),
        ("beliefs", ("source",), None, "what it is about"),
    ],
)
def test_each_name_is_one_of_one_thing(
    kind: str, at: tuple[str, ...], value: Any, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        check(kind, at, value)


@pytest.mark.parametrize("kind", ["increasing", "dynamic program", "rewriting"])
def test_next_tokens_have_the_names_of_letters(kind: str) -> None:
    """`Model.run` would say other tokens than those that are proved."""
    letters = proved(kind)[0].header["source"]["letters"]
    with pytest.raises(Refused, match="other names than letters"):
        check(kind, ("source", "classes"), letters[::-1])


@pytest.mark.parametrize("kind", WITHIN[:2])
def test_beliefs_have_the_names_of_states(kind: str) -> None:
    states = proved(kind)[0].header["source"]["states"]
    with pytest.raises(Refused, match="other names than the states"):
        check(kind, ("source", "classes"), states[::-1])


def test_a_machine_that_is_given_need_not_be_that_of_the_file() -> None:
    """The start that a file claims binds who asks for nothing else."""
    file, _ = proved("states")
    moves = np.array(file.header["machine"]["transitions"])
    given = Machine(0, moves, np.arange(3))
    check("states", ("machine",), {}, given)
