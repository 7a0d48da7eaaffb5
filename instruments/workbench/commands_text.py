"""The texts of a workbench on a terminal."""

from typing import TYPE_CHECKING

from krohn.algebra.wording import count

if TYPE_CHECKING:
    from krohn.instruments.workbench.checking import Checked
    from krohn.instruments.workbench.contents import Made
    from krohn.instruments.workbench.scoring import Score
from krohn.show.tables import console, new_table, print_table


def workbench(made: "list[Made]") -> None:
    """Print a line for each network of a set that was made."""
    columns = ("name", "of", " T", " blocks", " heads", " parameters", " edges")
    table = new_table(*columns, "GPT-2")
    for each in made:
        table.add_row(
            each.name,
            each.source,
            str(each.length),
            str(each.layers),
            str(each.heads),
            f"{each.parameters:,}",
            f"{each.edges[0]} of {each.edges[1]}",
            "no" if each.forms["gpt2"].startswith("none:") else "yes",
        )
    print_table(table)
    print(
        f"{count(len(made), 'network')}, {sum(each.proved for each in made)} of them "
        "proved; its README.md explains the files."
    )


def workbench_check(rows: "list[Checked]") -> None:
    """Print what is wrong with a set, and how much was looked at."""
    out = console()
    for row in rows:
        for fault in row.wrong:
            out.print(f"{row.name}: {fault}")
    right = sum(not row.wrong for row in rows)
    proved = sum(row.gpt2 == "verified" for row in rows)
    words, pairs = sum(row.words for row in rows), sum(row.pairs for row in rows)
    out.print(f"{right} of {count(len(rows), 'network')} as they should be:")
    checked = sum(row.verdict != "not proved" for row in rows)
    out.print(f"  proofs checked: {checked}; GPT-2 directories proved: {proved}")
    out.print(f"  words run in other forms: {words:,}; interchanges run: {pairs:,}")


def score(told: "Score") -> None:
    """Print a score in a sentence, and of directions a line for each variable."""
    from krohn.instruments.workbench.directions import (
        DirectionScore,
        FeatureScore,
    )
    from krohn.instruments.workbench.scoring import EdgeScore

    if isinstance(told, EdgeScore):
        auc = "" if told.auc is None else f", area under the ROC curve {told.auc:.3f}"
        print(
            f"{told.found} edges found, {told.true} true, {told.possible} possible: "
            f"precision {told.precision:.3f}, recall {told.recall:.3f}, F1 {told.f1:.3f}"
            f"{auc}"
        )
        return
    if isinstance(told, FeatureScore):
        print(
            f"{told.features} features of a dictionary, {told.true} of the network: "
            f"nearest cosine {told.nearest:.3f} in the mean, {told.recovered:.0%} "
            f"recovered (0.9 or more), {told.matching:.0%} of the dictionary among them"
        )
        return
    for name, value in told.each.items():
        print(f"  {name:24} {value:.3f}")
    if isinstance(told, DirectionScore):
        print(
            f"{told.found} of {told.variables} variables found: overlap {told.overlap:.3f} "
            "in the mean"
        )
        return
    print(
        f"{told.exchanges} exchanges that should change an answer: {told.accuracy:.1%} do "
        "so as predicted"
    )
