"""Finding the evidence that a Program computes a machine (docs/proofs/invariants.md).

Nothing here is trusted: the evidence is checked by `krohn.verify.checker.refinement`,
whose own step function is used to explore. Each part of a Program is explored from BOS on
with as few memories told apart as will do: by the state of the machine beside them; then
by all but what latest matches remember; then by everything. At last the whole Program is
explored, which finds a shortest word on which it is wrong.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from krohn.program.domains import LARGEST, Matrices
from krohn.program.errors import Refused
from krohn.program.functions import FUNCTIONS
from krohn.program.statement import Channel, Statement
from krohn.verify.checker import refinement
from krohn.verify.checker.invariant import Part, Step, memory, steps, ways
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.transformer import read_program
from krohn.verify.search.exploration import (
    Allowed,
    Effort,
    Explorer,
    GivenUp,
    Mode,
    explore,
)
from krohn.verify.search.lemmas import (
    about,
    chain,
    clock,
    counters,
    reductions,
    smallest,
    windows,
)

MOST_VALUES = 2**20  # of what one abstract state remembers of one channel


def find(program: Statement, machine: Machine) -> dict[str, Any]:
    """Evidence that the checker accepts.

    Args:
        program: The Program.
        machine: The machine.

    Returns:
        A JSON value: windows, parts, and which parts have the outputs.

    Raises:
        WrongWord: With a shortest word, if the Program does not compute the machine.
        Refused: If nothing is found.
        Rejected: If that takes too much work.
    """
    search = Search(program, machine)
    try:
        return search.parts()
    except (GivenUp, Refused):
        pass
    try:
        return search.whole()
    except GivenUp as error:
        raise Refused(str(error)) from None


def of_model(
    model: Model,
    machine: Machine,
    vectors: bool = False,
    known: Statement | None = None,
) -> list[dict[str, Any]]:
    """The evidence that the Program of a file computes a machine; as `find` does.

    Args:
        model: The file.
        machine: The machine.
        vectors: Whether its outputs may be laid out as vectors.
        known: Its Program, if that was read.
    """
    letters = len(machine.transitions)
    if known is None or known.bos != letters or not _is_plain(known):
        known = read_program(model, letters, vectors=vectors)
    return [{"program": find(known, machine)}]


def _is_plain(program: Statement) -> bool:
    """Whether all channels hold whole numbers, laid out as such."""
    return not any(
        c.says_vectors or isinstance(c.values, Matrices)
        for c in program.channels.values()
    )


class Search:
    """A search for the evidence of one Program.

    Attributes:
        effort: The work that may still be spent.
        windows: The windows of the Program.
        found: The evidence of each part.
        proved: The parts, with the outputs that they show.
        counted: The lemmas found on sums of letters.
        left: The ways to explore the whole Program that were not tried.
    """

    def __init__(self, program: Statement, machine: Machine) -> None:
        self.program, self.machine, self.effort = program, machine, Effort()
        self.effort.allow(sum(map(_numbers, program.channels.values())))
        self.windows = windows(program, machine)
        self.followed = ways(program, self.windows, machine)
        self.found, self.proved = list[dict[str, Any]](), list[Part]()
        self.counted: dict[tuple[str, ...], tuple[dict[str, Any], Part] | None] = {}
        self.left: list[Mode] = []

    def parts(self) -> dict[str, Any]:
        """Evidence part by part, each with some of the outputs."""
        final, groups = list[int](), self._groups()
        for outputs in groups:
            alone = True
            for statement in self._links(outputs):
                first, alone = self.start(statement), False
                self._explore(statement, first, _modes(first.steps))
            if alone:
                statement = self.stated_part(outputs, self._count(outputs))
                first = self.start(statement)
                modes = _modes(first.steps)
                self.left = [modes.pop()] if len(groups) == 1 else []
                self._explore(statement, first, modes)
            final.append(len(self.found) - 1)
        return self._together(final)

    def whole(self) -> dict[str, Any]:
        """Evidence for all outputs at once."""
        self.found, self.proved = [], []
        outputs = list(dict.fromkeys(self.program.outputs))
        statement = self.stated_part(outputs, self._count(outputs))
        first = self.start(statement)
        self._explore(statement, first, self.left or _modes(first.steps)[-2:])
        return self._together([len(self.found) - 1])

    def _together(self, final: list[int]) -> dict[str, Any]:
        refinement.readings(self.program, self.machine, [self.proved[j] for j in final])
        return {**self.windows, "parts": self.found, "final": final}

    def _steps(self, said: dict[str, Any]) -> list[Step]:
        known = self.followed | dict.fromkeys(said["assumed"], ("assumed", ()))
        return steps(self.program, known, said["outputs"])

    def _clock(self, said: dict[str, Any]) -> list[int]:
        return clock(self._steps(said))

    def _groups(self) -> list[list[str]]:
        """The outputs, those together that share more than the letters."""
        groups: list[tuple[set[str], list[str]]] = []
        for output in dict.fromkeys(self.program.outputs):
            cone = {
                c.name
                for c, k, _ in steps(self.program, self.followed, [output])
                if k != "token"
            }
            names = [output]
            for other in [group for group in groups if group[0] & cone]:
                groups.remove(other)
                cone, names = cone | other[0], other[1] + names
            groups.append((cone, names))
        return [names for _, names in groups]

    def _links(self, outputs: list[str]) -> Iterator[dict[str, Any]]:
        """The parts to be explored in turn, if an output is the end of a chain."""
        links = []
        if len(outputs) == 1:
            links = chain(self.program, self.followed, outputs[0])
        for name, shift, length in links if len(links) > 1 else []:
            assumed = {} if shift is None else {shift: len(self.found) - 1}
            plain = {"reduced": [], "split": [], "assumed": assumed}
            statement = {**plain, "outputs": [name], "length": length}
            yield {**statement, "repeats": self._clock(statement)}

    def _count(self, outputs: list[str]) -> dict[str, int]:
        """A lemma on channels that read sums of letters: the channels that it has shown."""
        statement = self.stated_part(outputs)
        counted = counters(self._steps(statement), outputs, statement["reduced"])
        if counted is None:
            return {}
        shown, rules = counted
        if tuple(shown) not in self.counted:
            lemma = {**statement, "outputs": shown, "reduced": rules, "split": []}
            lemma["repeats"] = self._clock(lemma)
            self.counted[tuple(shown)] = self._count_lemma(lemma)
        shown_lemma = self.counted[tuple(shown)]
        if shown_lemma is None:
            return {}
        self.found.append(shown_lemma[0])
        self.proved.append(shown_lemma[1])
        return dict.fromkeys(shown, len(self.found) - 1)

    def _count_lemma(self, said: dict[str, Any]) -> tuple[dict[str, Any], Part] | None:
        """The evidence of such a lemma; None if it would not tell less apart."""
        one = np.zeros((self.program.letters, 1), np.int64)
        first = self.start({**said, "machine": about(Machine(0, one, one[0]))})
        explorer = Explorer(replace(first, length=LARGEST), "all", self.effort)
        try:
            explorer.run()
            shows = explorer.values()
        except GivenUp:
            return None
        follow = explorer.follow[: explorer.size]
        machine, classes = smallest(shows, follow, self.effort)
        if 2 * len(machine.shows) > len(classes):
            return None
        values = np.column_stack([shows, classes]).tolist()
        evidence = {**explorer.evidence(), "states": classes.tolist()}
        part = replace(first, machine=machine, shown=set(map(tuple, values)))
        return {**said, "machine": about(machine), **evidence}, part

    def stated_part(
        self, outputs: list[str], assumed: dict[str, int] | None = None
    ) -> dict[str, Any]:
        """The statement of a part with some outputs, without the evidence of exploring.

        Args:
            outputs: The outputs.
            assumed: Channels about which an earlier part has shown a lemma.
        """
        length, assumed = self.program.length, assumed or {}
        statement = {"outputs": outputs, "length": length, "assumed": assumed}
        needed_steps = self._steps(statement)
        return {
            **statement,
            "reduced": reductions(needed_steps, outputs),
            "repeats": clock(needed_steps),
            "split": _matches_to_split(needed_steps),
        }

    def _explore(self, said: dict[str, Any], first: Part, modes: list[Mode]) -> None:
        """Explore a part in the first of some ways that leads to evidence."""
        allowed = self.allowed_values(said["outputs"])
        for mode in modes:
            try:
                evidence, part = explore(first, mode, self.effort, allowed)
            except (GivenUp, Refused):
                if mode == modes[-1]:
                    raise
                continue
            self.found.append({**said, **evidence})
            self.proved.append(part)
            return

    def start(self, said: dict[str, Any]) -> Part:
        """The part, with the first abstract state alone."""
        state = {"states": [said.get("machine", {}).get("start", self.machine.start)]}
        state |= {"depths": [0], "follow": [[0] * self.program.letters]}
        part = refinement.part(
            self.program,
            self.machine,
            self.followed,
            self.proved,
            {**said, **state, "cells": {}},
        )
        cells = {}
        for step in part.steps:
            channel, kind, _ = step
            if kind not in ("token", "position", *FUNCTIONS):
                domain, start, size = memory(
                    part.program, part.machine, step, part.assumed
                )
                if size * len(domain) > MOST_VALUES:
                    raise Refused(f"{channel.name!r} looks back at too much to follow")
                none = np.zeros((1, size), np.int64)
                cells[channel.name] = (domain == start)[None], none
        return replace(part, cells=cells)

    def allowed_values(self, outputs: list[str]) -> Allowed:
        """The values of outputs allowed beside each class; None if some are no outputs."""
        if not set(outputs) <= set(self.program.outputs):
            return None
        named = self.program.outputs  # one may be there twice
        allowed = set()
        for values, right in self.program.decode.items():
            value = dict(zip(named, values, strict=True))
            if values == tuple(value[n] for n in named):
                allowed.add((*(value[n] for n in outputs), right))
        return allowed


def _numbers(channel: Channel) -> int:
    rows = (
        channel.table.rows.size + len(channel.table.rows)
        if channel.op == "table"
        else 0
    )
    given = channel.values.given
    return rows + len(channel.domain) + (0 if given is None else len(given))


def _modes(steps: list[Step]) -> list[Mode]:
    matches = any(kind == "latest-match" for _, kind, _ in steps)
    return ["state", "joined", "all"] if matches else ["state", "all"]


def _matches_to_split(steps: list[Step]) -> list[str]:
    """Latest matches from which something remembered is computed."""
    read: dict[str, frozenset[str]] = {}
    matches = set[str]()
    for channel, kind, reads in steps:
        below = frozenset[str]().union(*(read[n] for n in reads))
        read[channel.name] = below if kind in FUNCTIONS else frozenset()
        if kind not in FUNCTIONS:
            matches |= below
        if kind == "latest-match":
            read[channel.name] = frozenset({channel.name})
    return sorted(matches)
