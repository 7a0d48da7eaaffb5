"""Texts and tables on a terminal: batches, comparisons, recovered models, grammars."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from krohn.algebra.wording import count
from krohn.program.domains import FloatArray
from krohn.program.quoting import Lines, on_a_line, on_a_terminal
from krohn.program.word_texts import join_letters
from krohn.program.wording import at_most

if TYPE_CHECKING:
    from krohn.instruments.batch.batch import Batch
    from krohn.instruments.batch.work import RowResult
    from krohn.instruments.compare.comparison.belief_result import BeliefComparison
    from krohn.instruments.compare.comparison.result import Comparison
    from krohn.instruments.workbench.checking import Checked
    from krohn.instruments.workbench.contents import Made
    from krohn.instruments.workbench.scoring import Score
    from krohn.kinds.hidden_markov.commands_decompile import Recovered

# Texts and tables on a terminal.


class _Console(Console):
    """A terminal on which each text is a line."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print texts, or a table."""
        super().print(*map(_line, objects), **how)


class _Table(Table):
    """A table in which each text is a line."""

    def add_row(self, *cells: Any, **how: Any) -> None:
        """Add texts."""
        super().add_row(*map(_line, cells), **how)


def _line(told: Any) -> Any:
    return on_a_line(told) if isinstance(told, str) else told


def several_lines(text: str) -> Text:
    """A text of our own that has line breaks, which a cell or a terminal shows as such."""
    return Text("\n".join(map(on_a_line, text.split("\n"))))


def console(**how: Any) -> Console:
    """A terminal that takes texts as they are, each as a line."""
    if isinstance(sys.stdout, Lines) and not how.get("stderr"):
        how = {"file": sys.stdout.beneath, **how}
    return _Console(**{"soft_wrap": True, "highlight": False, "markup": False, **how})


def new_table(*columns: str) -> Table:
    """An empty table; a heading that begins with a blank is of numbers."""
    table = _Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        named = on_a_line(column.strip())
        table.add_column(named, justify="right" if column[0] == " " else "left")
    return table


def print_table(table: Table, least: int = 0) -> None:
    """Print a table; where it has a least width, no cell is broken."""
    for column in table.columns:
        column.no_wrap = bool(least)
    out = console(soft_wrap=False)
    out.width = max(out.width, least)
    out.print(table)


def cut_short(out: Console, facts: dict[str, Any]) -> None:
    """Print the parts that a search left out, and how to ask for more."""
    if not facts.get("cut_short"):
        return
    more = "a higher --effort finds no more"
    if facts["effort"] is not None:
        more = f"each search may take {facts['effort']:,} steps; --effort allows more"
    out.print(f"Cut short: {'; '.join(facts['cut_short'])} ({more}).")


def tried(out: Console, rows: list[dict[str, Any]], indent: str = "") -> None:
    """Print the ways that were tried before the chosen one, and why they are not proved."""
    for row in rows:
        sizes = ""
        if row["depth"] is not None:
            sizes = (
                f" (depth {row['depth']}, {count(row['layers'], 'layer')}, "
                f"{row['parameters']:,} parameters)"
            )
        form = f" in {row['dtype']}" if row["dtype"] else ""
        out.print(
            f"{indent}Tried before: {row['construction']}{form}{sizes}: {row['reason']}"
        )


# The table of a batch on a terminal.


def batch(found: "Batch", table: object = None) -> None:
    """A line for each row, then why rows did not pass."""
    longest = any(row.longest is not None for row in found.results)
    columns = ["name", "verdict", " T", "how", " depth", " width", " parameters"]
    columns += [" longest T"] * longest + [" wrong words"]
    shown = new_table(*columns)
    for row in found.results:
        shown.add_row(*_cells(row, longest))
    print_table(shown)
    out = console()
    for row in found.results:
        for why in filter(None, (row.reason, row.first_wrong)):
            out.print(f"{on_a_terminal(row.name)}: {why}")
    out.print(found.summary)
    if table is not None:
        out.print(f"The table: {table}")


def _cells(row: "RowResult", longest: bool) -> list[str]:
    every = "every" if row.construction else ""
    length = every if row.length is None else f"{row.length:,}"
    sizes = [_number(n) for n in (row.depth, row.width, row.parameters)]
    words = "" if row.words is None else f"{row.wrong:,} of {row.words:,}"
    begin = [on_a_terminal(row.name), row.verdict, length, row.construction]
    return [*begin, *sizes, *([_number(row.longest)] * longest), words]


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


# A derived network beside trained ones.


ON_PAGES = ("parameters", "training")
"""Columns that a terminal has no room for."""


def beliefs(found: "BeliefComparison", page: object = None) -> None:
    """A derived network beside trained ones, on a hidden Markov model."""
    from krohn.instruments.compare.comparison.belief_result import (
        headline,
        lines,
    )

    rows = lines(found)
    shown = [column for column in rows[0].cells if column not in ON_PAGES]
    table = new_table("network", *(f" {column}" for column in shown))
    for row in rows:
        table.add_row(row.title, *(row.cells[column] for column in shown))
    _compared(found, headline(found), table, page)


def comparison(found: "Comparison", page: object = None) -> None:
    """A derived network beside trained ones."""
    from krohn.instruments.compare.comparison.models import headline
    from krohn.instruments.compare.draw_comparison_page import summary

    table = new_table(
        "measure", *(f" {on_a_terminal(c.title)}" for c in found.contestants)
    )
    for row in summary(found):
        table.add_row(row.title, *(entry.main for entry in row.entries))
    _compared(found, headline(found), table, page)


def _compared(
    found: "Comparison | BeliefComparison",
    sentences: Iterable[str],
    table: object,
    page: object,
) -> None:
    out = console()
    out.print(f"{on_a_terminal(found.name)}: {found.task}")
    for sentence in sentences:
        out.print(f"  {sentence}")
    out.print(table)
    for remark in found.origin.remarks:
        out.print(remark)
    if page is not None:
        out.print(f"The page: {page}")


# A model that was recovered from a network's law.


MOST = 12
"""So many states, letters or coordinates are printed."""


def decompiled(found: "Recovered", output: Path | None) -> None:
    """Emissions, transitions, and how sure they are."""
    told = found.to_object()
    print(f"{told['network']}: a model of {told['states']} hidden states")
    points = "means" in told
    _matrix("means" if points else "emissions", found.pair[0], "x" if points else "")
    _matrix("transitions", found.pair[1], "to ")
    print(
        f"residual {at_most(told['residual'])}: the largest difference between the "
        "law of the network and that of this model"
    )
    if not points:
        print(
            f"condition {told['condition']:.3g}: an error of the law can change the "
            "model by this factor"
        )
    if told["error"] is not None:
        print(
            f"error {at_most(told['error'])}: the largest difference from the model "
            "in the file"
        )
    if output is not None:
        print(f"wrote {output}")


def _matrix(name: str, matrix: FloatArray, row: str) -> None:
    rows, columns = (min(size, MOST) for size in matrix.shape)
    table = new_table(name, *(f" state {i + 1}" for i in range(columns)))
    for i in range(rows):
        cells = (f"{x:.6f}" for x in matrix[i, :columns].tolist())
        table.add_row(f"{row}{i + 1}", *cells)
    print_table(table)
    if max(matrix.shape) > MOST:
        print(f"  … {matrix.shape[0]} × {matrix.shape[1]}; --json prints all")


# Grammars.


def grammar(found: dict[str, Any]) -> None:
    """A grammar, its depths; and what was asked for beside."""
    print(
        f"{found['name']}: {count(found['symbols'], 'symbol')}, "
        f"{count(found['rules'], 'rule')}, letters "
        f"{join_letters(found['letters'])}; a sentence has {found['mean_length']:.4g} "
        "letters in the mean"
    )
    table = new_table(" depth", " sentences within", "exactly")
    for row in found["depths"]:
        exact = row["within"] if len(row["within"]) < 40 else "…"
        table.add_row(str(row["depth"]), f"{row['probability']:.6f}", exact)
    print_table(table)
    if "cut" in found:
        _print_cut(found["cut"])
    if "asked" in found:
        _print_word(found["asked"])
    for row in found.get("sample", ()):
        print(f"depth {row['depth']}: {join_letters(row['sentence'])}")


def _print_cut(found: dict[str, Any]) -> None:
    print(
        f"cut at depth {found['depth']}: {found['states']} states; the law of whole "
        f"derivations diverges by {found['divergence']:.6g} nats"
    )
    table = new_table(
        " letters", " prefixes", " reached", " never said", " variation", " divergence"
    )
    for row in found["lengths"]:
        numbers = (row[k] for k in ("reached", "beyond", "variation", "divergence"))
        shown = (f"{abs(x):.6f}" if abs(x) < 5e-7 else f"{x:.6f}" for x in numbers)
        table.add_row(str(row["length"]), f"{row['prefixes']:,}", *shown)
    print_table(table)


def _print_word(found: dict[str, Any]) -> None:
    print(f"word: {join_letters(found['word'])}")
    for place, law in found.get("hidden", {}).items():
        print(f"  letter {place}: {_law(law)}")
    if "probability" in found:
        print(f"  a sentence with probability {found['probability']}")
        print(f"  the beginning of one with probability {found['prefix']}")
        if found["prefix"] != "0":
            print(f"  next: {_law(found['next'])}")


def _law(law: dict[str, str]) -> str:
    return ", ".join(
        f"{letter} = {share}" for letter, share in law.items() if share != "0"
    )


# Texts of the workbench.


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
        "proved; README.md there says what is what."
    )


def workbench_check(rows: "list[Checked]") -> None:
    """Print what is wrong with a set, and how much was looked at."""
    out = console()
    for row in rows:
        for told in row.wrong:
            out.print(f"{row.name}: {told}")
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
