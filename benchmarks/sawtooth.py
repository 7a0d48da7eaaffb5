"""How many positions a parity may select: a sawtooth of k ReLUs beside steps of 2k.

For each format the largest k, by bisection, at which the parity of the last k of T letters
is proved in the form that is asked for (docs/constructions.md).
"""

from itertools import product

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra import zoo
from krohn.compiler import CompileError

LENGTHS = (100, 400)
FORMATS = ("float64", "float32", "float16", "bfloat16")
FORMS = {"sawtooth": "parity-sawtooth", "steps": "parity-selected"}


def proved(length: int, marked: int, form: str, dtype: str) -> bool:
    """Whether the parity of the last letters is proved in a format."""
    support = ",".join(str(t) for t in range(length - marked + 1, length + 1))
    machine = zoo.machine(f"Parity{length}@{support}")
    try:
        krohn.compile(machine, length, form, dtype=dtype, observe="outputs")
    except CompileError:
        return False
    return True


def largest(length: int, form: str, dtype: str) -> int:
    """The most positions, at least 0; none more than there are letters."""
    low, high = 0, length + 1
    while low + 1 < high:
        middle = (low + high) // 2 if low else min(16, (low + high) // 2)
        if proved(length, middle, form, dtype):
            low = middle
        else:
            high = middle
    return low


def measure(job: tuple[int, str]) -> Row:
    """The row of a length and a format."""
    length, dtype = job
    row: Row = {"letters": length, "format": dtype}
    return row | {name: largest(length, form, dtype) for name, form in FORMS.items()}


def again(shown: dict[str, str]) -> Row:
    """A row, made anew."""
    return measure((int(shown["letters"]), shown["format"]))


TITLE = "most positions that a parity selects"
AGAIN = {TITLE: again}


def main() -> None:
    """Measure, and print the table."""
    options = parser(__doc__).parse_args()
    jobs = list(product(LENGTHS, FORMATS))
    note = "The largest k that is proved, the last k letters being those that count."
    publish([Table(TITLE, each(measure, jobs), note)], options)


if __name__ == "__main__":
    main()
