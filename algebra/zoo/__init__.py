"""The machines of the thesis by name, with its ways to draw words for them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.wording import near
from krohn.algebra.zoo import machines
from krohn.algebra.zoo.machines import rubik

if TYPE_CHECKING:
    from krohn.algebra.zoo.samplers import Sampler

__all__ = ["description", "machine", "names", "sampler"]


_LISTED = (
    *(f"C{n}" for n in range(2, 9)),
    *("C2xC2", "C2xC2xC2", "D6", "D8", "Q8", "A4", "S4", "A5", "S5"),
    *("Grid4", "Grid9", "Dyck4,2", "FlipFlop", "abab", "Adder", "PermReset4"),
    *("FFL2", "FFLTracker2", "Parity8@2,3,7", "ParityTree2,2", "Rubik"),
)


@dataclass(frozen=True)
class _Family:
    """Machines whose names match a pattern; numbers in the name are parameters.

    Samplers are named, and so are machines that are made beside them: that module is
    imported when one of them is asked for.
    """

    pattern: str
    build: Callable[..., Automaton] | str
    description: str
    sampler: str = "uniform"


def _of_samplers(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(
        import_module("krohn.algebra.zoo.samplers"), name
    )
    return function


_FAMILIES = (
    _Family(r"C(\d{1,9})", machines.cyclic, "counter modulo {0}"),
    _Family(
        r"C\d{1,9}(?:xC\d{1,9})+",
        lambda *moduli: machines.cyclic_product(moduli),
        "counters modulo {} side by side",
    ),
    _Family(
        r"D(\d{1,9})",
        machines.dihedral,
        "dihedral group of order {0}: a car on a circle",
    ),
    _Family(r"Q8", machines.quaternion, "quaternion group"),
    _Family(r"S(\d{1,9})", machines.symmetric, "all permutations of {0} points"),
    _Family(r"A(\d{1,9})", machines.alternating, "even permutations of {0} points"),
    _Family(r"Grid(\d{1,9})", machines.grid, "corridor of {0} cells with walls"),
    _Family(
        r"Dyck(\d{1,9}),(\d{1,9})",
        machines.dyck,
        "stacks of depth at most {0} over {1} kinds of brackets",
        "legal",
    ),
    _Family(
        r"FlipFlop",
        lambda: machines.memory(2, "FlipFlop"),
        "one bit that is written or kept",
        "writes",
    ),
    _Family(
        r"Memory(\d{1,9})",
        machines.memory,
        "cell of {0} values that is written or kept",
        "writes",
    ),
    _Family(
        r"FFL(\d{1,9})",
        "acceptor",
        "prefixes of the flip-flop language of {0} values",
        "flip_flop",
    ),
    _Family(
        r"FFLTracker(\d{1,9})",
        "tracker",
        "value written last in a word of the flip-flop language of {0} values",
        "flip_flop",
    ),
    _Family(
        r"Parity(\d{1,9})@\d{1,9}(?:,\d{1,9})*",
        machines.sparse_parity,
        "parity of the bits at chosen positions, for words of up to {0} bits",
    ),
    _Family(
        r"ParityTree(\d{1,9}),(\d{1,9})",
        machines.parity_tree,
        "leaf of a tree of depth {0}; the parity of {1} bits leads from each node to "
        "the next",
    ),
    _Family(r"abab", machines.abab, "words abab repeated", "half_periodic"),
    _Family(r"Adder", machines.adder, "sum of two binary numbers", "numbers"),
    _Family(
        r"PermReset(\d{1,9})",
        machines.permutation_reset,
        "permutations of {0} points with resets",
        "with_resets",
    ),
    _Family(r"Rubik", rubik, "the place of one sticker of Rubik's cube"),
)


def names() -> tuple[str, ...]:
    """The machines to show in a list; families hold more of them."""
    return _LISTED


@lru_cache(maxsize=64)
def machine(name: str) -> Automaton:
    """The machine of this name, such as ``"C5"``, ``"S5"`` or ``"Dyck4,2"``.

    Families take other parameters: ``C12``, ``C2xC2xC5``, ``D10`` (of order 10),
    ``S6``, ``A6``, ``Grid20``, ``Dyck3,3`` (depth 3, three kinds), ``Memory5``,
    ``PermReset3``, ``FFL5`` (the flip-flop language of five values), ``FFLTracker5``,
    ``Parity9@1,4`` (bits 1 and 4 of 9), ``ParityTree3,5`` (depth 3, five bits each).

    Raises:
        MachineError: If there is no such machine, or the parameter does not fit.
    """
    family, parameters = _find(name)
    build = (
        _of_samplers(family.build) if isinstance(family.build, str) else family.build
    )
    built: Automaton = build(*parameters)
    return built


def description(name: str) -> str:
    """A description of the machine of this name, in a few words.

    Raises:
        MachineError: If no machine or family has this name.
    """
    family, parameters = _find(name)
    if family.description.count("{}"):
        return family.description.format(", ".join(map(str, parameters)))
    return family.description.format(*parameters)


def sampler(name: str) -> "Sampler":
    """How to draw random words for this machine, as in the thesis's experiments.

    Returns:
        A function of a random generator, a count and a length; it gives letter
        indices ``(count, length)``.

    Raises:
        MachineError: If there is no such machine.
    """
    family, _ = _find(name)
    drawn: Sampler = _of_samplers(family.sampler)(machine(name))
    return drawn


def _find(name: str) -> tuple[_Family, tuple[int, ...]]:
    for family in _FAMILIES:
        if re.fullmatch(family.pattern, name, flags=re.ASCII):
            # The eight of the quaternions is part of their name, not a parameter.
            numbers = [] if name == "Q8" else re.findall(r"\d+", name)
            return family, tuple(map(int, numbers))
    raise UnknownNameError(unknown_name_message(name))


class UnknownNameError(MachineError):
    """A name that is no machine's."""


def unknown_name_message(name: str, others: Iterable[str] = ()) -> str:
    """What is said of a name that is no machine's.

    Args:
        name: The name.
        others: Names of other sources, which may be meant.
    """
    hint = near(name, (*_LISTED, "Memory4", *others), most=3)
    return f"the zoo has no machine {name!r}{hint}; `krohn zoo` lists all names"
