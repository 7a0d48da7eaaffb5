"""Finding the evidence that a Program computes a machine (docs/recheck.md, 2).

Nothing here is trusted: what is found is checked by `verify.recheck.meaning`, whose own
step function is used to explore. Each part of a Program is explored from BOS on with as
few memories told apart as will do: by the state of the machine beside them; then by all
but what latest matches remember; then by everything.
"""

from collections.abc import Iterator
from typing import Any

from verify.evidence.chains import chain
from verify.evidence.exploration import MODES, GivenUp, explore
from verify.evidence.sums import reductions
from verify.evidence.windows import windows
from verify.recheck import meaning
from verify.recheck.meaning import Part, Ways
from verify.recheck.model import Machine, Refused
from verify.recheck.program import MAPS, Program


def find(program: Program, machine: Machine) -> dict[str, Any]:
    """Evidence that the checker accepts.

    Args:
        program: The Program.
        machine: The machine.

    Returns:
        A JSON value: windows, parts, and which parts have the outputs.

    Raises:
        Refused: If none is found.
    """
    found = windows(program)
    followed = meaning.ways(program, found)
    reason = "no part of the Program can be explored"
    for groups in _groupings(program, followed):
        parts, proved, final = list[dict[str, Any]](), list[Part](), list[int]()
        try:
            for outputs in groups:
                for said in _lemmas(program, followed, outputs, len(proved)):
                    said = _explored(program, machine, followed, proved, said)
                    parts.append(said)
                    proved.append(
                        meaning.part(program, machine, followed, proved, said)
                    )
                    proved[-1].prove()
                final.append(len(parts) - 1)
            said = {**found, "parts": parts, "final": final}
            meaning.readings(program, machine, [proved[j] for j in final])
            return said
        except (GivenUp, Refused) as error:
            reason = str(error)
    raise Refused(reason)


def _groupings(program: Program, followed: Ways) -> Iterator[list[list[str]]]:
    """The outputs, those together that share more than the letters; then all together."""
    groups: list[tuple[set[str], list[str]]] = []
    for output in dict.fromkeys(program.outputs):
        cone = {
            c.name
            for c, k, _ in meaning.steps(program, followed, [output])
            if k != "token"
        }
        names = [output]
        for other in [group for group in groups if group[0] & cone]:
            groups.remove(other)
            cone, names = cone | other[0], other[1] + names
        groups.append((cone, names))
    yield [names for _, names in groups]
    if len(groups) > 1:
        yield [list(dict.fromkeys(program.outputs))]


def _lemmas(
    program: Program, followed: Ways, outputs: list[str], done: int
) -> Iterator[dict[str, Any]]:
    """What is to be explored for some outputs, without what exploring finds."""
    links = chain(program, followed, outputs[0]) if len(outputs) == 1 else []
    links = links if len(links) > 1 else []
    plain = {"length": program.length, "assumed": {}, "reduced": [], "split": []}
    for name, shift, length in links:
        assumed = {} if shift is None else {shift: done - 1}
        yield {**plain, "outputs": [name], "length": length, "assumed": assumed}
        done += 1
    if not links:
        steps = meaning.steps(program, followed, outputs)
        rules = reductions(steps, outputs)
        yield {**plain, "outputs": outputs, "reduced": rules, "split": _split(steps)}


def _split(steps: list[meaning.Step]) -> list[str]:
    """Latest matches that something remembered is computed from."""
    read: dict[str, frozenset[str]] = {}
    found = set[str]()
    for channel, kind, reads in steps:
        below = frozenset[str]().union(*(read[n] for n in reads))
        read[channel.name] = below if kind in MAPS else frozenset()
        if kind not in MAPS:
            found |= below
        if kind == "latest-match":
            read[channel.name] = frozenset({channel.name})
    return sorted(found)


def _explored(
    program: Program,
    machine: Machine,
    followed: Ways,
    parts: list[Part],
    said: dict[str, Any],
) -> dict[str, Any]:
    for mode in MODES:
        try:
            return explore(program, machine, followed, parts, said, mode)
        except (GivenUp, Refused) as error:
            reason = error
    raise reason
