"""What is printed of counting programs and of whether two accept the same words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krohn.equivalence.models import Twins
    from krohn.equivalence.question import Answer


def equivalence(found: "Answer") -> None:
    """Whether two sources accept the same words, and of which lengths that is known."""
    print(_sentence(found))
    if found.word is not None:
        print(f"  a shortest word: {' '.join(found.word)}")
        print(f"  {_side(found)} accepts it, and the other does not")
    if found.invariant:
        print("  z3 found an invariant, and each letter was checked to keep it")


def _side(found: "Answer") -> str:
    """The one that accepts the word, by its name if that tells the two apart."""
    if found.left == found.right:
        return "the first" if found.accepts == "left" else "the second"
    return found.left if found.accepts == "left" else found.right


def twins(found: "Twins") -> None:
    """Whether two networks are one function, and what of their tensors is the same."""
    bound = (
        "of every length"
        if found.length is None
        else f"of up to {found.length} letters"
    )
    if found.says is not None and found.word is not None:
        print(f"refuted: {found.left} and {found.right} are two functions")
        print(f"  a shortest word on which they part: {' '.join(found.word)}")
        for name, said in zip((found.left, found.right), found.says, strict=True):
            print(f"  {name} says {said}")
    elif found.verdict == "verified":
        print(
            f"verified for words {bound}: {found.left} and {found.right} say the same"
        )
        print("  each was proved to compute its machine, and the machines never differ")
    else:
        print(f"undecided: {found.reason}")
    every = len(found.shared) + found.others
    print(f"  {len(found.shared)} of {every} tensors are the same, byte by byte")
    for name in found.shared:
        print(f"    {name}")
    if found.random:
        print("  both are masks of one random network")


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
