"""Whether two counting programs or machines accept the same words, on a terminal."""

from dataclasses import replace

from krohn.kinds.counting.commands_words import BY_ACCEPTANCE, Answer
from krohn.program.word_texts import join_letters


def print_words(found: Answer) -> None:
    """Whether two sources accept the same words, and of which lengths that is known."""
    if found.left == found.right:
        found = replace(found, left="the first", right="the second")
    print(_sentence(found))
    print(f"  compared: {BY_ACCEPTANCE}")
    if found.word is not None:
        print(f"  a shortest word: {join_letters(found.word)}")
        accepts = found.left if found.accepts == "left" else found.right
        print(f"  {accepts} accepts it, and the other does not")
    if found.invariant:
        print("  z3 found an invariant, and each letter was checked to keep it")


def _sentence(found: Answer) -> str:
    pair = f"{found.left} and {found.right}"
    if found.word is not None and found.relation == "included":
        return f"refuted: a word of {found.left} is not in {found.right}"
    if found.word is not None:
        return f"refuted: {pair} are not equal: one rejects a word of the other"
    about = (
        f"every word of {found.left} is one of {found.right}"
        if found.relation == "included"
        else f"{pair} accept the same words"
    )
    if found.verdict == "undecided" and not found.explored:
        return "unproved: too much would be compared, even for words of one letter"
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
