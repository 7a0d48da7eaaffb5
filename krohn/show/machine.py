"""Printing results about machines: decompositions, comparisons, learned machines."""

from typing import Any

from krohn.algebra.wording import count, cut, listed
from krohn.show.tables import (
    Table,
    Terminal,
    console,
    cut_short,
    new_table,
    print_table,
)

# A decomposition: components by level, what they mean, and the proof.


SHOWN_STATES = 12
SHOWN_VALUES = 8
SHOWN_CONTEXTS = 3
SHOWN_READS = 5
MOST_SAID = 120


def decomposition(facts: dict[str, Any]) -> None:
    """A cascade: its components by level, what they mean, and the proof."""
    out = console()
    rows = [row for level in facts["levels"] for row in level]
    out.print(
        f"{facts['machine']}: {count(facts['states'], 'state')}, "
        f"{count(facts['letters'], 'letter')}, decomposed into "
        f"{count(len(rows), 'component')} on {count(len(facts['levels']), 'level')} "
        f"(method {facts['method']})"
    )
    if rows:
        out.print()
        print_table(_components(facts["levels"]), whole=True)
        out.print()
        out.print("The states that are still possible, for each value of a component:")
        for row in sorted(rows, key=lambda row: row["component"]):
            most = SHOWN_CONTEXTS if len(rows) <= 10 else 1
            for line in _meaning(row, facts["states"], most):
                out.print(line)
    out.print()
    _proof(out, facts)


def _components(levels: list[list[dict[str, Any]]]) -> Table:
    columns = (" level", " no", "what it is", " values", "group", " order")
    table = new_table(*columns, "reads", " nodes")
    for number, level in enumerate(levels, start=1):
        for row in level:
            table.add_row(
                *(str(number), str(row["component"]), cut(row["kind"], 32)),
                *(f"{row['states']:,}", cut(row["group"], 14), _short(row["order"])),
                *(_reads(row["reads"]), f"{row['nodes']:,}"),
            )
    return table


def _reads(numbers: list[int]) -> str:
    if len(numbers) > SHOWN_READS:
        return f"letter and {len(numbers)} components"
    return ", ".join(["letter", *map(str, numbers)])


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.1e}"


def _meaning(row: dict[str, Any], every: int, most: int) -> list[str]:
    """Lines on what the values of one component say.

    Args:
        row: The component.
        every: How many states the machine has.
        most: How many contexts are shown.
    """
    meaning = row["meaning"]
    head = f"  {row['component']}: {row['kind']}"
    if not meaning["contexts"]:
        return [f"{head}; none of its values alone rules out a state"]
    if meaning["same_everywhere"]:
        (reading,) = meaning["readings"]
        if len(reading["possible"]) < every:
            head += f", given {_state_set(reading['possible'])}"
        return [head, *_values(reading, "    ")]
    lines = [head]
    for reading in meaning["readings"][:most]:
        lines += [
            f"    given {_state_set(reading['possible'])}"
            + (f", {cut(reading['when'], MOST_SAID)}" if reading["when"] else ""),
            *_values(reading, "      "),
        ]
    hidden = meaning["contexts"] - len(meaning["readings"][:most])
    return [*lines, f"    … {count(hidden, 'more context')}"] if hidden else lines


def _values(reading: dict[str, Any], indent: str) -> list[str]:
    shown = list(reading["leaves"].items())[:SHOWN_VALUES]
    lines = [f"{indent}{value} → {_state_set(states)}" for value, states in shown]
    hidden = len(reading["leaves"]) - len(shown)
    return [*lines, f"{indent}… {count(hidden, 'more value')}"] if hidden else lines


def _state_set(states: list[str]) -> str:
    if not states:
        return "does not occur"
    return f"{{{listed(states, SHOWN_STATES)}}}"


def _proof(out: Terminal, facts: dict[str, Any]) -> None:
    out.print(
        "Proved: the cascade follows the machine on words of every length, from each of "
        f"its {count(facts['coordinates'], 'coordinate')}, values of all components "
        f"together (Theorem 2 of docs/proofs/decomposition.md, checked in all "
        f"{facts['triples']:,} cases of the wiring; `krohn verify` does not rest on it)."
    )
    start = facts["start"]
    coordinates = ", ".join(map(str, start["coordinates"]))
    out.print(f"The start {start['state']} has the coordinates ({coordinates}).")
    if facts["tried"]:
        out.print("Methods that were tried:")
    for row in facts["tried"]:
        if "reason" in row:
            out.print(f"  {row['method']}: {row['reason']}")
        else:
            out.print(
                f"  {row['method']}: depth {row['depth']} as a network, "
                f"{count(row['values'], 'value')}, "
                f"{count(row['nodes'], 'node')} of wiring"
            )
    out.print(f"Chosen: {facts['why']}.")
    cut_short(out, facts)


# Counting programs, and whether two accept the same words.
