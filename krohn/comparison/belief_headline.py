"""What a comparison on a hidden Markov model says, in sentences and in a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from krohn.comparison.belief_result import BeliefComparison, BeliefModel
from krohn.program.wording import at_most


@dataclass(frozen=True)
class Line:
    """What a table says of one kind of network.

    Attributes:
        title: Of it.
        about: What it is.
        cells: By column.
    """

    title: str
    about: str
    cells: dict[str, str]


def over_seeds(values: Sequence[float | None], digits: int = 3) -> str:
    """The mean, with half of Student's 95 % interval of it if there are several."""
    known = np.array([v for v in values if v is not None], dtype=float)
    if len(known) < len(values) or not len(known):
        return "–"
    mean = f"{known.mean():.{digits}g}"
    if np.ptp(known) == 0:  # seeds that are all alike say nothing of others
        return mean
    half = stats.t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / len(known) ** 0.5
    return f"{mean} ± {half:.2g}"


def lines(found: BeliefComparison) -> list[Line]:
    """A line for each kind of network."""
    return [Line(m.title, m.about, _cells(m, found)) for m in found.models]


def _cells(model: BeliefModel, found: BeliefComparison) -> dict[str, str]:
    scores = [one.scores for one in model.ones]
    cells = {
        "0.05-fit": ", ".join(str(s.fits[0]) for s in scores),
        "0.1-fit": ", ".join(str(s.fits[1]) for s in scores),
        "error": over_seeds([s.error for s in scores]),
        "within 0.05": over_seeds([100 * s.within for s in scores]) + " %",
    }
    if found.probabilities:
        cells["above floor"] = over_seeds([s.excess for s in scores])
    cells["parameters"] = "–" if model.parameters is None else f"{model.parameters:,}"
    seconds = [one.training.seconds for one in model.ones if one.training]
    cells["training"] = f"{np.mean(seconds):.0f} s" if seconds else "–"
    return cells


def headline(found: BeliefComparison) -> list[str]:
    """What is proved, what training reached, and what nothing can go below."""
    said = [_proved(found)]
    deep = [m for m in found.models if m.depth is not None]
    if deep:
        fits = "; ".join(f"{m.depth}: {_fits(m)}" for m in deep)
        said.append(f"Trained Transformers, 0.05-fit length by blocks: {fits}.")
    others = [m for m in found.models if m.key in ("rnn", "blocks", "ngram")]
    rest = "; ".join(f"{m.title}: {_fits(m)}" for m in others)
    said.append(f"Beside them: {rest}; words have {found.length} letters.")
    floor = next((m.ones[0].scores.floor for m in found.models), None)
    if floor is not None:
        said.append(
            f"No cross entropy is below {floor:.3f} nats, the mean entropy of the truth."
        )
    return said


def _proved(found: BeliefComparison) -> str:
    proof = found.proved
    if proof is None:
        return "There is no compiled network to compare with."
    return (
        f"The compiled network ({proof.construction}, {proof.dtype}) is "
        f"{proof.verdict} for all words of up to {proof.length} letters: no output is "
        f"off by more than {at_most(proof.error, 2)}."
    )


def _fits(model: BeliefModel) -> str:
    return ", ".join(str(one.scores.fits[0]) for one in model.ones)
