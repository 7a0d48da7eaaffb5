"""Counting programs as the text that is read again."""

from krohn.sources.counting.program import (
    Comparison,
    CountingProgram,
    Counts,
    Formula,
    Junction,
    Letter,
    Negation,
)


def written(program: CountingProgram) -> str:
    """A program as text that `parse` reads: a line for each formula.

    Letters are named where they are used; the other formulas are ``f0``, ``f1``, ….
    """
    names, lines = list[str](), [f"letters {' '.join(program.letters)}"]
    for formula in program.formulas:
        if isinstance(formula, Letter):
            names.append(f'Q_"{program.letters[formula.letter]}"')
            continue
        names.append(f"f{len(lines) - 1}")
        lines.append(f"{names[-1]} := {_right(formula, names)}")
    if isinstance(program.formulas[program.output], Letter):
        lines.append(f"f{len(lines) - 1} := {names[program.output]}")
    return "\n".join(lines) + "\n"


def _right(formula: Formula, names: list[str]) -> str:
    """What stands behind the sign of a definition."""
    match formula:
        case Negation(part):
            return f"not {names[part]}"
        case Junction(every, read):
            word = " and " if every else " or "
            return word.join(names[i] for i in read) or str(every).lower()
        case Comparison(counts, least, most):
            total = sum_text(counts, names)
            low = [] if least is None else [f"{total} >= {least}"]
            high = [] if most is None else [f"{total} <= {most}"]
            exact = [f"{total} = {least}"] if least == most else [*low, *high]
            return " and ".join(exact)
    raise AssertionError("a letter cannot be defined")


def sum_text(counts: Counts, names: list[str]) -> str:
    """A sum of counts, by the names of the formulas that are counted."""
    parts = [
        f"{'-' if k < 0 else '+'} {'' if abs(k) == 1 else f'{abs(k)} * '}"
        f"#[j <= i] {names[i]}"
        for i, k in counts
    ]
    return " ".join(parts).removeprefix("+ ")
