"""What the commands print for people."""

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from compiler.program import Map, Program, reads
from compiler.program import Table as Rows

if TYPE_CHECKING:
    from krohn.compilation import CompiledModel
    from krohn.verification import Report


def _console() -> Console:
    return Console(soft_wrap=True, highlight=False, markup=False)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column.strip(), justify="right" if column[0] == " " else "left"
        )
    return table


def zoo(rows: list[dict[str, Any]]) -> None:
    """The machines known by name."""
    table = _table("name", " states", " letters", "what it is")
    for row in rows:
        table.add_row(
            row["name"], str(row["states"]), str(row["letters"]), row["description"]
        )
    Console(highlight=False, markup=False).print(table)
    print(
        "Families by parameter: C12, C2xC3xC5, D10, S6, A6, Grid20, Dyck3,3 (depth, "
        "types), Memory5, PermReset3."
    )


def explanation(facts: dict[str, Any]) -> None:
    """What a machine is and what its constructions cost."""
    out = _console()
    out.print(
        f"{facts['name']}: {facts['states']} states ({facts['reachable']} reachable from "
        f"{facts['start']}, {facts['minimal']} after minimisation), "
        f"{facts['letters']} letters, outputs on {facts['outputs']}"
    )
    out.print(f"It is {facts['kind']}.")
    if facts["points"]:
        out.print(f"Its letters act faithfully on {facts['points']} points.")
    out.print(f"\nConstructions for words of up to {facts['length']} letters:")
    table = _table(
        "name", " depth", " layers", " d_model", " MLP", " parameters", "how"
    )
    for row in facts["constructions"]:
        sizes = ("depth", "layers", "d_model", "mlp_width", "parameters")
        table.add_row(row["name"], *(f"{row[s]:,}" for s in sizes), row["summary"])
    Console(highlight=False, markup=False).print(table)
    for row in facts["unavailable"]:
        out.print(f"  not {row['name']}: {row['reason']}")
    out.print(f"\nChosen: {facts['chosen']}: {facts['why']}.")
    out.print(f"As an RNN: {facts['rnn_width']} ReLU units, valid at every length.")


def compiled(result: dict[str, Any], model: "CompiledModel") -> None:
    """What was compiled, and what was proved of it."""
    out = _console()
    bound = "words of every length"
    if result["length"] is not None:
        bound = f"words of up to {result['length']} letters"
    out.print(f"wrote {result['file']}: {result['construction']}, for {bound}")
    out.print(
        f"  depth {result['depth']}, {result['layers']} layers, width "
        f"{result['d_model']}, heads {result['heads']}, MLP {result['mlp_width']}, "
        f"{result['parameters']:,} parameters ({result['nonzero']:,} not zero), "
        f"{result['dtype']}"
    )
    if model.proof is None:
        out.print("  NOT proved, as you asked: nothing is known about it yet")
    else:
        out.print(f"  proved in {model.proof.seconds:.2f} s: right on every such word")


def report(file: str, found: "Report") -> None:
    """A verdict, and a counterexample if there is one."""
    out = _console()
    out.print(f"{file}: {found.verdict} ({found.method}, {found.seconds:.2f} s)")
    if found.verdict == "verified":
        out.print(f"  {found.covers}")
        if found.words:
            out.print(f"  {found.words:,} words were run")
    else:
        out.print(f"  {found.reason}")
    if found.counterexample is not None:
        wrong = found.counterexample
        out.print(f"  word      {' '.join(wrong.word)}")
        out.print(f"  expected  {' '.join(wrong.expected)}")
        out.print(f"  actual    {' '.join(wrong.actual)}")
    elif found.verdict == "undecided":
        out.print(
            f"  {found.words:,} words were run in search of a wrong one; none was"
        )


def answers(result: dict[str, Any]) -> None:
    """What a model says after each letter."""
    print(" ".join(result["outputs"]))


def program(name: str, written: Program) -> None:
    """A Program after a pass, one channel a line, on standard error."""
    out = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    out.print(f"--- after {name}: {len(written.operations)} channels", style="bold")
    for channel, operation in written.operations.items():
        size = len(written.domains.get(channel, ()))
        suffix = " one-hot" if channel in written.one_hot else ""
        out.print(f"{channel} = {_operation(operation)}   [{size} values{suffix}]")


def _operation(operation: Any) -> str:
    kind = type(operation).__name__
    if isinstance(operation, Map):
        function = operation.function
        kind = (
            "Select" if not isinstance(function, Rows) else f"Table{len(function.rows)}"
        )
    extra = f", {operation.by}" if hasattr(operation, "by") else ""
    return f"{kind}({', '.join(reads(operation))}{extra})"
