"""The result of looking into a network: a map, verdicts, and sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from krohn.instruments.compare.probes.interchange import (
    FEWEST,
    Interchange,
)
from krohn.instruments.compare.probes.scores import Score
from krohn.instruments.compare.probes.variables import Kind

# The verdicts that scores allow. Which came when: docs/which-algorithm.md, section 3.


Verdict = Literal["used", "partly used", "readable", "not readable", "free"]
"""Readable: no more than that is shown. Free: as readable before training."""

READ = 0.95
"""Accuracy, or R²: at most one position in twenty is read wrongly."""

HALF = 0.5
"""At most so many errors are left of those of what comes for free."""

LEAST = 0.01
"""Above what comes for free: one position in a hundred."""

USED = 0.9
"""Of the cases in which the Program's answer changes, and of those in which it stays."""

PARTLY = 0.5
"""More often than not."""

SURE = 3.0
"""Standard errors above all controls: chance does this once in a thousand times."""


def quality(score: Score) -> float:
    """Accuracy, or R² where there are too many values to tell apart."""
    if score.accuracy is not None:
        return score.accuracy
    return score.explained if score.explained is not None else 0.0


def free(score: Score, references: Iterable[Score]) -> float:
    """The share of right answers that comes for free, at most.

    It is the share of the most frequent value, the accuracy of the probe in the control
    task, or its accuracy elsewhere without training.
    """
    chance = (score.majority or 0.0, score.control or 0.0)
    return max([*chance, *map(quality, references)])


def is_readable(score: Score, references: Iterable[Score]) -> bool:
    """Whether a layer holds a variable, so that an affine function reads it.

    Args:
        score: At a layer.
        references: Of the embedding, and of all layers before training.
    """
    own_quality, floor = quality(score), free(score, references)
    more = own_quality - floor >= LEAST and 1 - own_quality <= HALF * (1 - floor)
    return own_quality >= READ and more


def gain(score: Score, references: Iterable[Score]) -> float:
    """The share of the errors of free reading that is gone."""
    floor = free(score, references)
    return (quality(score) - floor) / (1 - floor) if floor < 1 else 0.0


def is_free(references: Iterable[Score]) -> bool:
    """Whether a variable can be read without training."""
    return max(map(quality, references), default=0.0) >= READ


def use(tested: Interchange) -> Verdict:
    """The verdict that an exchange allows.

    The subspace must hold the variable, and exchanging it must do more than random
    subspaces do, and than the answer does where that can be exchanged: many variables
    determine the answer, and a subspace of the answer would pass for each of them.
    """
    agreement = tested.found
    decided = agreement.decided if tested.decisive >= FEWEST else None
    above = all(
        agreement.changed - control.changed > SURE * (agreement.error + control.error)
        for control in (tested.random, tested.varying, tested.answer)
        if control is not None
    )
    if tested.cases < FEWEST or tested.carried < READ or not above:
        return "readable"
    if (
        min(agreement.changed, agreement.kept, USED if decided is None else decided)
        >= USED
    ):
        return "used"
    return (
        "partly used"
        if min(agreement.changed, agreement.kept) >= PARTLY
        else "readable"
    )


# The result of looking into a network: layers by variables, and the use of these.


@dataclass(frozen=True)
class Cell:
    """A variable at a layer.

    Attributes:
        trained: The score of a probe there.
        untrained: The score before training; None if no such network was given.
        gain: The share of the errors of free reading that is gone.
        readable: Whether this is enough; never in the embedding, which is a reference.
    """

    trained: Score
    untrained: Score | None
    gain: float
    readable: bool


@dataclass(frozen=True)
class Row:
    """A variable at all layers.

    Attributes:
        names: Its name, and names of variables equal to it.
        kind: Its kind.
        values: How many values it takes.
        of_answer: Whether it is a function of the answer and nowhere readable before the
            answer is: then it tells how the answer is written, not how it is found.
        constructions: The derived networks that have it.
        cells: One for each layer, the embedding first.
        exchanged: The causal tests.
        verdict: The conclusion from all this, and no more.
    """

    names: tuple[str, ...]
    kind: Kind
    values: int
    of_answer: bool
    constructions: tuple[str, ...]
    cells: tuple[Cell, ...]
    exchanged: tuple[Interchange, ...]
    verdict: Verdict

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]

    @property
    def intermediate(self) -> bool:
        """Whether it is neither the answer nor a part of the input."""
        return not self.of_answer and self.kind != "reference"

    @property
    def holding_layers(self) -> tuple[int, ...]:
        """The layers where it can be read, for free or not, and the embedding says less.

        There exchanging it means something.
        """
        if quality(self.cells[0].trained) >= READ:
            return ()
        return tuple(
            i for i, cell in enumerate(self.cells) if quality(cell.trained) >= READ
        )

    @property
    def readable(self) -> tuple[int, ...]:
        """The layers where it can be read better than for free."""
        return tuple(i for i, cell in enumerate(self.cells) if cell.readable)


@dataclass(frozen=True)
class ProbeMap:
    """The variables of derived networks that a network holds, and the ones that it uses.

    Attributes:
        machine: The task.
        words: How many words were looked at.
        length: Letters in each.
        seed: Of everything that was drawn.
        accuracy: Of the network's answers on the words that test.
        layers: The names of the columns.
        rows: The variables; the answer, standard ones, channels, the letter and position.
        of_letter: Channels that are functions of the letter, or of the position, alone.
        left_out: The variables that were not looked for, and why.
        conclusion: The variables that it was shown to use, in one sentence.
        said: The findings, in sentences.
    """

    machine: str
    words: int
    length: int
    seed: int
    accuracy: float
    layers: tuple[str, ...]
    rows: tuple[Row, ...]
    of_letter: tuple[str, ...]
    left_out: tuple[str, ...]
    conclusion: str
    said: tuple[str, ...]

    def find_by_name(self, name: str) -> Row:
        """The row of a variable.

        Raises:
            KeyError: If there is none.
        """
        for row in self.rows:
            if name in row.names:
                return row
        raise KeyError(name)

    def to_object(self) -> dict[str, Any]:
        """All values, as JSON holds them."""
        return asdict(self)


# The findings of probes, in words that are no stronger than the causal test allows.


LISTED = 6
"""So many variables are named in a sentence; the table has all of them."""

ENOUGH = 0.9
"""A network that answers less does not do the task, and its algorithm is none of it."""


def sentences(found: ProbeMap) -> tuple[str, ...]:
    """A sentence on each variable that is used, and one on each other kind."""
    lines = [_answering(found)]
    lines += [
        _sentence_on_use(row, found) for row in found.rows if row.verdict == "used"
    ]
    lines += [
        _sentence_on_use(row, found)
        for row in found.rows
        if row.verdict == "partly used"
    ]
    lines += _sentence_on_rows(
        [r for r in found.rows if r.verdict == "readable" and r.exchanged],
        "can be read, but not shown to be used",
    )
    lines += _sentence_on_rows(
        [r for r in found.rows if r.verdict == "readable" and not r.exchanged],
        "can be read; whether this is used was not tested",
    )
    lines += _sentence_on_rows(
        [r for r in found.rows if r.verdict == "free" and r.kind != "reference"],
        "can be read before training already, so reading it afterwards shows nothing",
    )
    return (*lines, *_by_construction(found))


def conclusion(found: ProbeMap) -> str:
    """One sentence on a network: the variables shown to be used, or else the ones held."""
    rows = [row for row in found.rows if row.intermediate]
    used = [row for row in rows if row.verdict == "used"]
    partly = [row for row in rows if row.verdict == "partly used"]
    read = [row for row in rows if row.verdict == "readable"]
    read.sort(key=lambda row: not row.exchanged)
    if used or partly:
        each = [_in_short(row) for row in (used + partly)[:LISTED]]
        return (
            "Of the intermediate variables of derived networks, it uses "
            f"{'; '.join(each)}."
        )
    if read:
        return (
            "These intermediate variables can be read from it, but no use of them "
            f"was shown: {_names(read)}."
        )
    return (
        "No intermediate variable of derived networks was found in it beyond what "
        "comes for free."
    )


def _in_short(row: Row) -> str:
    tested = _telling(row)
    return (
        f"{_full(row, tested)}{' in part' * (row.verdict != 'used')} (exchanged, "
        f"{tested.found.changed:.0%} of {tested.cases:,} answers change as predicted, "
        f"{_whose(tested)}; controls at most {_most(tested):.0%})"
    )


def _whose(tested: Interchange) -> str:
    """The share of predicted answers that are neither word's, in words."""
    if not tested.decisive:
        return "each to the answer of the source word"
    return f"{tested.decisive:,} of them to an answer of neither word"


def _most(tested: Interchange) -> float:
    controls = (tested.random, tested.varying, tested.answer)
    return max(control.changed for control in controls if control is not None)


def _full(row: Row, tested: Interchange) -> str:
    """Its name, and the name of the channel with which it was compared."""
    own = [n for n in row.names if n.startswith(f"{tested.construction}: ")]
    return f"{row.name} ({own[0]})" if own and own[0] != row.name else row.name


def _telling(row: Row) -> Interchange:
    """The exchange that the verdict rests on."""
    decided = [t for t in row.exchanged if use(t) == row.verdict]
    return max(decided, key=lambda t: t.found.mean_share)


def _answering(found: ProbeMap) -> str:
    share = f"{found.accuracy:.1%} of its answers on held-out words are right"
    if found.accuracy < ENOUGH:
        return f"{share}. This is too few to say how it does the task."
    return f"{share}."


def _sentence_on_use(row: Row, found: ProbeMap) -> str:
    tested = _telling(row)
    much = "Used" if row.verdict == "used" else "Used in part"
    where = found.layers[tested.layer]
    coded = " (a function of the answer, so only a way to write it)" * row.of_answer
    does = tested.found
    return (
        f"{much}: {_full(row, tested)}{coded}. Exchanging it at {where}, in "
        f"{_dimensions(tested)}, changes the answer as the Program of "
        f"{tested.construction} says in {does.changed:.0%} of {tested.cases:,} cases "
        f"(random subspaces: {tested.random.changed:.0%}, directions in which states vary "
        f"most: "
        f"{tested.varying.changed:.0%}{_rival(tested)}, no exchange: 0%) and keeps it in "
        f"{does.kept:.0%} of the others{_decisive_cases(tested)}."
    )


def _rival(tested: Interchange) -> str:
    if tested.answer is None:
        return ""
    return f", the answer's subspace: {tested.answer.changed:.0%}"


def _dimensions(tested: Interchange) -> str:
    how = {
        "probe": "that the probe reads",
        "means": "spanned by the means of its values",
    }
    origin = how.get(tested.subspace, "found by a search")
    count = tested.dimensions
    return f"{count} dimension{'s' if count > 1 else ''} {origin}"


def _decisive_cases(tested: Interchange) -> str:
    if tested.found.decided is None:
        return "; each predicted answer is that of the source word"
    return (
        f"; in the {tested.decisive:,} cases whose predicted answer is that of "
        f"neither word, {tested.found.decided:.0%} are as predicted"
    )


def _sentence_on_rows(rows: Sequence[Row], what: str) -> list[str]:
    return [f"{_names(rows)}: {what}."] if rows else []


def _names(rows: Sequence[Row]) -> str:
    named = [_best(row) for row in rows[:LISTED]]
    more = [f"{len(rows) - LISTED} more"] * (len(rows) > LISTED)
    return ", ".join([*named, *more])


FOUR_NUMBERS = (
    "The numbers behind a variable: how often a probe reads it; how often a probe reads it "
    "from the exchanged part of the state alone, where that is below 95%; how often the "
    "exchange changes the answer as predicted; and how often the best control does, an "
    "exchange of another part of the state."
)
"""The numbers that `_best` says of a variable, in order."""


def _best(row: Row) -> str:
    best = max(quality(cell.trained) for cell in row.cells)
    if not row.exchanged:
        return f"{row.name} ({best:.0%})"
    tested = max(row.exchanged, key=lambda t: t.found.changed)
    idle = f", {tested.carried:.0%} from the exchanged part" * (tested.carried < READ)
    return (
        f"{row.name} ({best:.0%} read{idle}, {tested.found.changed:.0%} of changes as "
        f"predicted, controls {_most(tested):.0%})"
    )


def _by_construction(found: ProbeMap) -> list[str]:
    """How much of each derived network is there, answers and letters apart."""
    alike: dict[tuple[Row, ...], list[str]] = {}
    for name in dict.fromkeys(c for row in found.rows for c in row.constructions):
        rows = tuple(
            row for row in found.rows if name in row.constructions and row.intermediate
        )
        if rows:
            alike.setdefault(rows, []).append(name)
    return [_much_of(names, rows) for rows, names in alike.items()]


def _much_of(names: Sequence[str], rows: Sequence[Row]) -> str:
    read = sum(bool(row.readable) for row in rows)
    used = sum(row.verdict == "used" for row in rows)
    many = "variables" if len(rows) > 1 else "variable"
    return (
        f"{', '.join(names)}: {len(rows)} intermediate {many}, of which {read} can be "
        f"read and {used} were shown to be used."
    )
