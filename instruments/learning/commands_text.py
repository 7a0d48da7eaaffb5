"""A machine that was learned, on a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from krohn.algebra.wording import count
from krohn.program.word_texts import join_letters

if TYPE_CHECKING:
    from krohn.instruments.learning.learner import Learned


MOST = 24
"""So many states are printed."""


def print_learned(file: str, found: "Learned", output: Path | None) -> None:
    """The machine, how it was found, what it is like, and where the network leaves it."""
    states = count(len(found.machine.states), "state")
    print(
        f"{file}: learned a machine of {states} ({found.method}, {found.seconds:.1f} s)"
    )
    print(
        f"  {found.queries:,} queries, and {found.words:,} words that were run to check "
        f"{count(found.rounds, 'guess', 'es')}"
    )
    for line in [*_describe_agreement(found), *_beside_wanted(found)]:
        print(f"  {line}")
    if output is not None:
        print(f"wrote {output}")


def _describe_agreement(found: "Learned") -> list[str]:
    """How far the network follows the machine."""
    lines = [f"the network agrees with it on all words of up to {found.right} letters"]
    if found.chow:
        lines.append(
            f"if some machine of up to {found.chow} states describes the network on all "
            "words, it is this one"
        )
    word = found.parted.word
    if word is None:
        lines.append(
            "no difference was found on the longer words that were run, of up to "
            f"{found.parted.searched} letters"
        )
        return lines
    at = word.found
    lines.append(
        f"they differ after {join_letters(at.word)}: the network says {at.actual[-1]}, the "
        f"machine {at.expected[-1]}"
    )
    lines.append(f"  {word.summary}")
    if found.spent:
        lines.append(f"  the machine could not be learned: {found.spent}")
    return lines


def _beside_wanted(found: "Learned") -> list[str]:
    """How the machine is beside the one that the network should follow."""
    if found.wanted is None or found.beside is None:
        return []
    if found.states is None:
        word = join_letters(found.differs or ())
        return [
            f"not the minimal machine of {found.wanted.name}: they differ after {word}"
        ]
    lines = [f"isomorphic to the minimal machine of {found.wanted.name}:"]
    wide = max(len(one) for one in found.states)
    pairs = list(found.states.items())
    lines += [f"  {one:{wide}}  {other}" for one, other in pairs[:MOST]]
    return lines + ["  …"] * (len(pairs) > MOST)
