"""What the language of a machine is called."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification.findings import Findings
from krohn.algebra.classification.languages import LanguageClasses, classify_language
from krohn.algebra.wording import count


def language(machine: Automaton, budget: Budget, known: Findings) -> dict[str, Any]:
    """What the language of a machine is called.

    Returns:
        ``of`` (which words it has), ``states`` (of the minimal machine), ``tier``,
        ``alike`` (letters that act alike), ``classes`` (name, whether it holds or null,
        why, and a witness with ``k`` where there is one), and ``network``: what follows
        for networks.
    """
    found = classify_language(machine, budget, known)
    whole = "the words it accepts"
    parts = "for each state of the minimal machine, the words that lead to it"
    return {
        "of": whole if found.acceptor else parts,
        "states": found.states,
        "tier": found.tier,
        "alike": found.alike,
        "classes": [asdict(p) for p in found.classes],
        "network": list(_network(found)),
    }


def _network(found: LanguageClasses) -> Iterator[str]:
    """What follows for networks (docs/classes.md, section 4)."""
    yield from _depth(found)
    rasp, single = found["C-RASP"], found["R∘G"]
    if rasp.holds and rasp.witness is not None:
        rounds = rasp.witness["rounds"]
        counts = f"{rounds} round{'s' * (rounds != 1)} of counts" if rounds else "order"
        yield (
            f"it is in C-RASP ({counts}): trained softmax Transformers are expected to "
            "generalise in length"
        )
    elif rasp.holds is False:
        reason = (
            "a network must find what was written last"
            if single.holds is False
            else "counts of letters cannot tell its states apart"
        )
        yield (
            f"it is not in C-RASP, because {reason}: trained softmax Transformers are "
            "not expected to generalise in length"
        )


def _depth(found: LanguageClasses) -> Iterator[str]:
    """The fewest attention layers that its classes promise, whatever the length."""
    threshold, piecewise = (
        found[n] for n in ("locally threshold testable", "piecewise testable")
    )
    tier = found["tier-based locally threshold testable"]
    if threshold.holds and threshold.witness is not None:
        k = threshold.witness["k"]
        yield (
            f"windows of {k} letters, and counts of these windows, decide: "
            f"{count(1 + (k > 1), 'attention layer')} for every T"
        )
    elif piecewise.holds and piecewise.witness is not None:
        k = piecewise.witness["k"]
        yield (
            f"subsequences of up to {k} letters decide, and each layer adds a letter: "
            f"{count(k, 'attention layer')} for every T"
        )
    elif tier.holds and tier.witness is not None:
        k = tier.witness["k"]
        yield (
            f"the last {k} letters of the tier, and counts of these, decide: "
            f"{count(k, 'attention layer')} for every T"
        )
