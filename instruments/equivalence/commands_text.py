"""Whether two things mean the same, on a terminal."""

from typing import TYPE_CHECKING

from krohn.kinds.counting.commands_text import print_words
from krohn.network.architecture import is_index
from krohn.program.quoting import listed, on_a_terminal
from krohn.program.word_texts import join_letters
from krohn.program.wording import at_most

if TYPE_CHECKING:
    from krohn.instruments.equivalence.models import Twins
    from krohn.kinds.counting.commands_words import Answer


MOST_PAIRS = 6


def equivalence(found: "Answer") -> None:
    """Whether two sources are the same, and for which words that is known."""
    if found.notion == "accept":
        print_words(found)
    else:
        print(_same_output(found))
        _print_notion(found)
        if found.word is not None:
            print(f"  a shortest word: {join_letters(found.word)}")
            _says(found)
    _print_renaming(found)


def twins(found: "Twins") -> None:
    """Whether two networks are one function, and what of their tensors is the same."""
    bound = (
        "of every length"
        if found.length is None
        else f"of up to {found.length} letters"
    )
    both = f"{found.left} and {found.right}"
    if found.word is not None:
        print(f"refuted: {both} {_describe_difference(found)}")
        print(f"  a shortest word on which they differ: {join_letters(found.word)}")
        _says(found)
    elif found.verdict == "verified" and found.inputs:
        apart = "the same"
        if found.within is not None:
            apart = f"at most {at_most(found.within)} apart"
        print(f"verified for {found.inputs}: answers of {both} are {apart}")
    elif found.verdict == "verified":
        names = ", up to names" * bool(found.renamed)
        print(f"verified for words {bound}: {both} give the same answers{names}")
        print(
            "  each network was proved to compute its machine, and the machines give "
            "the same answers"
        )
    else:
        print(f"undecided: {found.reason}")
    _print_notion(found)
    _print_renaming(found)
    for name, claim in zip((found.left, found.right), found.about, strict=True):
        about, answers = claim.lines()
        print(f"  {name}: {about}; {answers.rsplit('; ')[-1]}")
    every = len(found.shared) + found.others
    print(f"  {len(found.shared)} of {every} tensors are the same, byte by byte")
    for name in found.matrices:
        print(f"    {name}, a random matrix")
    for name in found.shared:
        if name.rpartition(".")[0] not in found.matrices and not is_index(name):
            print(f"    {name}")
    if found.random:
        print("  both are masks of one random network")


def _print_notion(found: "Twins | Answer") -> None:
    from krohn.instruments.equivalence.question import (
        SAID,  # torch, which --help does without
    )

    print(f"  compared: {SAID[found.notion]}")


def _describe_difference(found: "Twins | Answer") -> str:
    """That two are not the same, by what was compared: not two functions, if one."""
    if found.renamed is not None:
        return "compute the same function up to names, and their names differ"
    return "compute different functions"


def _says(found: "Twins | Answer") -> None:
    assert found.says is not None
    for name, answer in zip((found.left, found.right), found.says, strict=True):
        print(f"  {name} says {on_a_terminal(answer)}")


def _print_renaming(found: "Twins | Answer") -> None:
    if not found.renamed:
        return
    pairs = [f"{on_a_terminal(a)} is {on_a_terminal(b)}" for a, b in found.renamed]
    print(f"  renamed: {listed(pairs, MOST_PAIRS)}")


def _same_output(found: "Answer") -> str:
    both = f"{found.left} and {found.right}"
    if found.word is not None:
        return f"refuted: {both} {_describe_difference(found)}"
    names = ", up to names" * bool(found.renamed)
    return f"verified for words of every length: {both} show the same{names}"
