"""What is printed of counting programs and of whether two accept the same words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krohn.equivalence.question import Answer


def equivalence(found: "Answer") -> None:
    """Whether two sources accept the same words, and of which lengths that is known."""
    print(_sentence(found))
    if found.word is not None:
        print(f"  a shortest word: {' '.join(found.word)}")
    if found.invariant:
        print("  z3 found an invariant, and each letter was checked to keep it")


def counting_program(
    text: str, depth: int, found: "Answer", output: str | None
) -> None:
    """The program of a language, or the file that it was written to."""
    print(text if output is None else f"wrote {output}")
    print(f"counts are nested {depth} deep")
    equivalence(found)


def _sentence(found: "Answer") -> str:
    if found.word is not None:
        verb = "is not in" if found.relation == "included" else "are not equal:"
        if found.relation == "included":
            return f"refuted: a word of {found.left} {verb} {found.right}"
        return f"refuted: {found.left} and {found.right} {verb} one accepts a word"
    about = (
        f"every word of {found.left} is one of {found.right}"
        if found.relation == "included"
        else f"{found.left} and {found.right} accept the same words"
    )
    if found.verdict == "undecided":
        return (
            f"undecided for every length; for words of up to {found.explored} letters: "
            f"{about}"
        )
    words = (
        "of every length"
        if found.length is None
        else f"of up to {found.length} letters"
    )
    return f"verified for words {words}: {about}"
