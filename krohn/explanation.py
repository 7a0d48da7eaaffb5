"""What a machine is, and what it would cost to compile it in each way."""

from dataclasses import asdict
from typing import Any

from algebra.automaton import Automaton
from algebra.formats import Complete
from algebra.operations import minimise, reachable
from algebra.structure import as_counter, as_memory
from compiler import plan
from compiler.pipeline import Options
from compiler.plan import SUMMARIES, Candidate
from krohn.compilation import precision_of
from krohn.sources import read


def explain(
    source: str | Automaton,
    length: int,
    dtype: str = "float32",
    start: str | None = None,
    strict: bool = False,
    complete: Complete = "reject",
) -> dict[str, Any]:
    """The facts about a machine and the table of its constructions.

    Returns:
        ``states``, ``letters`` (counts), ``constructions`` (those that apply, best
        first, with their cost), ``unavailable`` (the others, with the reason),
        ``chosen`` and ``why``, and further facts.

    Raises:
        KrohnError: If the machine cannot be read.
    """
    machine = source if isinstance(source, Automaton) else read(source, complete)
    machine = machine if start is None else machine.with_start(start)
    options = Options(precision_of(dtype), strict)
    found = plan.candidates(machine, length, options)
    usable = [c for c in found if c.cost is not None]
    return {
        "name": machine.name,
        "states": len(machine.states),
        "letters": len(machine.letters),
        "start": machine.states[machine.start],
        "reachable": len(reachable(machine).states),
        "minimal": len(minimise(machine).states),
        "outputs": machine.output.on if machine.output else "the states themselves",
        "points": len(machine.action[0]) if machine.action else None,
        "kind": _kind(machine),
        "length": length,
        "dtype": dtype,
        "constructions": [_row(c) for c in usable],
        "unavailable": [
            {"name": c.name, "reason": c.reason} for c in found if c.cost is None
        ],
        "chosen": usable[0].name if usable else None,
        "why": _why(usable),
        "rnn_width": len(reachable(machine).states) * len(machine.letters) + 1,
    }


def _row(candidate: Candidate) -> dict[str, Any]:
    assert candidate.cost is not None
    summary = SUMMARIES[candidate.name]
    return {"name": candidate.name, **asdict(candidate.cost), "summary": summary}


def _kind(machine: Automaton) -> str:
    count = as_counter(machine)
    if count is not None:
        return f"a counter modulo {count.modulus}: its letters rotate one cycle"
    if as_memory(machine) is not None:
        return "a memory: every letter writes a state or keeps the one there is"
    images = [len(set(row)) for row in machine.transitions.tolist()]
    if min(images) == len(machine.states):
        return "a permutation machine: every letter permutes the states"
    if all(n in (1, len(machine.states)) for n in images):
        return "a permutation-reset machine: letters permute the states or reset them"
    return "a machine with letters that merge some states and keep others apart"


def _why(usable: list[Candidate]) -> str:
    if not usable:
        return "no construction serves this machine"
    best = usable[0]
    assert best.cost is not None
    reason = f"{best.name} has the least depth, {best.cost.depth}"
    same = [c for c in usable[1:] if c.cost and c.cost.depth == best.cost.depth]
    if same:
        reason += f", and fewer parameters than {same[0].name} at that depth"
    return reason
