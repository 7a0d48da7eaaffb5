"""Every kind of mutation by name, single ones and two at once."""

import numpy as np

from mutants import claims, statements, structure, weights
from mutants.subject import Mutant, Mutation, Subject, same

SINGLE: dict[str, Mutation] = (
    weights.KINDS | structure.KINDS | claims.KINDS | statements.KINDS
)
TRIES = 8


def two_at_once(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """Two mutations of any kinds, one after the other: a fault and a lie about it."""
    names = list(SINGLE)
    first = SINGLE[str(rng.choice(names))](subject, rng)
    if first is None:
        return None
    second = SINGLE[str(rng.choice(names))](first.subject, rng)
    if second is None:
        return None
    return Mutant(f"{first.where}; {second.where}", second.subject)


KINDS: dict[str, Mutation] = SINGLE | {"two at once": two_at_once}


def draw(name: str, subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A mutant of a kind that differs from the subject; None if none is found."""
    for _ in range(TRIES):
        mutant = KINDS[name](subject, rng)
        if mutant is None:
            return None
        if not same(mutant.subject, subject):
            return mutant
    return None
