"""The findings of probes, in words that are no stronger than the causal test allows."""

from collections.abc import Sequence

from krohn.compare.probes.interchange import Interchange
from krohn.compare.probes.probe_map import ProbeMap, Row
from krohn.compare.probes.verdict import READ, quality, use

LISTED = 6
"""So many variables are named in a sentence; the table has all of them."""

ENOUGH = 0.9
"""A network that answers less does not do the task, and its algorithm is none of it."""


def sentences(found: ProbeMap) -> tuple[str, ...]:
    """A sentence on each variable that is used, and one on each other kind."""
    said = [_answering(found)]
    said += [
        _sentence_on_use(row, found) for row in found.rows if row.verdict == "used"
    ]
    said += [
        _sentence_on_use(row, found)
        for row in found.rows
        if row.verdict == "partly used"
    ]
    said += _sentence_on_rows(
        [r for r in found.rows if r.verdict == "readable" and r.exchanged],
        "can be read, but not shown to be used",
    )
    said += _sentence_on_rows(
        [r for r in found.rows if r.verdict == "readable" and not r.exchanged],
        "can be read; whether this is used was not tested",
    )
    said += _sentence_on_rows(
        [r for r in found.rows if r.verdict == "free" and r.kind != "reference"],
        "can be read before training already, so reading it afterwards shows nothing",
    )
    return (*said, *_by_construction(found))


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
    found = how.get(tested.subspace, "found by a search")
    count = tested.dimensions
    return f"{count} dimension{'s' if count > 1 else ''} {found}"


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
