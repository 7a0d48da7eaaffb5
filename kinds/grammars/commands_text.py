"""The text about a grammar on a terminal."""

from typing import TYPE_CHECKING, Any

from krohn.algebra.wording import count
from krohn.program.word_texts import join_letters

if TYPE_CHECKING:
    pass
from krohn.show.tables import new_table, print_table


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
