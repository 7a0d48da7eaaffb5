"""Counting programs: the greatest T that each format certifies (docs/kinds/counting.md).

python benchmarks/counting.py
"""

from collections.abc import Mapping

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.counting.source import (
    CATALOGUE,
    CountingProgram,
    find_by_name,
)

TITLE = "counting programs, and the greatest T that is certified"
LONGEST = {"bfloat16": 2048, "float16": 2048, "float32": 2048, "float64": 4096}
"""Up to where it is looked for."""


def certified(program: CountingProgram, dtype: str, length: int) -> bool:
    """Whether the network for words of up to so many letters is proved."""
    try:
        krohn.compile(program, length=length, dtype=dtype)
    except KrohnError:
        return False
    return True


def greatest(program: CountingProgram, dtype: str) -> str:
    """The greatest T by halving, if what is certified at T is so below."""
    low, high = 0, LONGEST[dtype]
    if certified(program, dtype, high):
        return f"{high} or more"
    while high - low > 1:
        middle = (low + high) // 2
        if certified(program, dtype, middle):
            low = middle
        else:
            high = middle
    return str(low)


def measure(name: str) -> Row:
    """The row of a program of the catalogue."""
    program = find_by_name(name)
    model = krohn.compile(program, length=1000, dtype="float64")
    found = model.summary()
    return {
        "program": name,
        "T = 1000, float64": found["verdict"],
        "depth": found["depth"],
        "layers": found["layers"],
        "width": found["d_model"],
        "parameters": found["parameters"],
        **{dtype: greatest(program, dtype) for dtype in LONGEST},
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the table, made anew."""
    return measure(printed["program"])


AGAIN = {TITLE: again}


def main() -> None:
    """Compile and prove, and print the table."""
    chosen = parser(__doc__).parse_args()
    note = (
        "A format's column is the greatest T, looked for up to "
        + ", ".join(f"{n} in {dtype}" for dtype, n in LONGEST.items())
        + "."
    )
    publish([Table(TITLE, each(measure, list(CATALOGUE)), note)], chosen)


if __name__ == "__main__":
    main()
