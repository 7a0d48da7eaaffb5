"""What is printed of a model that was recovered from a network's law."""

from pathlib import Path
from typing import TYPE_CHECKING

from krohn.program.domains import FloatArray
from krohn.program.wording import at_most
from krohn.show.tables import new_table, print_table

if TYPE_CHECKING:
    from krohn.decompiling import Recovered

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
