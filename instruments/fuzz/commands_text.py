"""A fuzz on a terminal."""

from typing import TYPE_CHECKING

from krohn.algebra.wording import count
from krohn.program.quoting import on_a_terminal
from krohn.program.word_texts import join_letters
from krohn.show.tables import console, new_table, print_table

if TYPE_CHECKING:
    from krohn.instruments.fuzz.campaign import Fuzz


def fuzz(found: "Fuzz") -> None:
    """A line for each way, then what was left out, and answers that differ."""
    shown = new_table("engine", "way", " answers", " different")
    for (engine, way), answers in found.answers.items():
        different = found.different[engine, way]
        shown.add_row(engine, way, f"{answers:,}", f"{different:,}")
    print_table(shown)
    out = console()
    for name, why in found.left_out.items():
        out.print(f"left out: {name}: {why}")
    for each in found.differences:
        word = on_a_terminal(join_letters(each.word))
        both = on_a_terminal(f"{each.answer}, and {each.reference} by torch")
        out.print(f"{word}: {each.engine}, {each.way}: {both}")
    out.print(
        f"{sum(found.answers.values()):,} answers on words of up to {found.length:,} "
        f"letters; dimensions, units and heads in {found.orders:,} orders"
    )
    out.print(_conclude(found))


def _conclude(found: "Fuzz") -> str:
    """Whether answers depend on the way, and whether they are the machine's."""
    wrong = count(found.wrong, "answer")
    verb = "is" if found.wrong == 1 else "are"
    wrong = f"{wrong} of torch {verb} not the machine's (`krohn verify` says more)"
    if not any(found.different.values()):
        if found.wrong:
            return f"No answer differs from way to way, but {wrong}."
        return "No answer differs."
    different = count(sum(found.different.values()), "answer")
    verb = "differs" if different.startswith("1 ") else "differ"
    first = min(found.differences, key=lambda each: len(each.word))
    word = on_a_terminal(join_letters(first.word))
    more = f"; {wrong}" if found.wrong else ""
    return f"{different} {verb}, the first after {word}{more}."
