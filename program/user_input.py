"""Input of users: texts in files, arrays from Python, labels."""

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand
from krohn.program.files import Unreadable, read_bytes


def read_text(path: str | Path, most: int | None = None) -> str:
    """The text of such a file in UTF-8.

    Raises:
        Unreadable: As `read_bytes` does; or if it is not UTF-8, or begins as files do
            that are something else.
    """
    from krohn.program.known_files import recognise  # many patterns

    data = read_bytes(path, most)
    text = decode_utf8(data, path)
    if (known := recognise(data, by_looks=False)) is not None:
        raise Unreadable(f"{path}: {known}")
    return text


def decode_utf8(data: bytes, path: str | Path) -> str:
    """A text from its bytes in UTF-8.

    Raises:
        Unreadable: If they are not UTF-8; the message says what they are if that is
            known, and has the line if not.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        from krohn.program.known_files import recognise

        if (known := recognise(data, texts=False)) is not None:
            raise Unreadable(f"{path}: {known}") from None
        line = data[: error.start].count(b"\n") + 1
        raise Unreadable(
            f"{path}:{line}: not UTF-8 text; save the file as UTF-8"
        ) from None


def name_of(given: object) -> Any:
    """A letter as Python gives it, by its name: the letter 3 is called ``"3"``."""
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    return str(given) if whole else given


def real_array(values: Any, what: str) -> FloatArray:
    """An array of real numbers from Python: of numpy, of torch, or in lists.

    Args:
        values: Any array; true and false are 1 and 0.
        what: The name of the array, for messages.

    Raises:
        Refused: If it is no array of numbers, an imaginary part would be lost, or float64
            would have to round a whole number.
    """
    try:
        array = np.asarray(values)
        imaginary = array.dtype.kind == "c"
        numbers = array if imaginary else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise Refused(f"{what} is no array of numbers") from None
    demand(array.dtype.kind in "biufcO", f"{what} is no array of numbers")
    demand(
        not imaginary,
        f"{what} has complex numbers, and real ones are needed; say .real or abs() of "
        "them, whichever is meant",
    )
    if array.dtype.kind in "iu":
        exact = numbers.astype(array.dtype) == array
        demand(exact, f"{what} has a whole number that float64 would round")
    return numbers


def find_wrong_letter(
    names: Iterable[object],
    is_letter: Callable[[str], object],
    letters: Iterable[str],
    of: str = "",
    bits: int = 0,
) -> str:
    """What is said of the first name that is no letter; empty if all are letters.

    Args:
        names: A word, by name.
        is_letter: Whether a name is a letter.
        letters: All letters.
        of: Which word it is.
        bits: Of how many input bits a letter is; 0 where letters have names.
    """
    from krohn.program.quoting import cut, listed
    from krohn.program.word_texts import write_letter

    for at, name in enumerate(names, start=1):
        if not isinstance(name, str) or not is_letter(name):
            written = list(map(write_letter, letters))
            known = f"the letters are {listed(written)}"
            if any(len(letter) > 1 for letter in written):
                known += "; a text has blanks between them"
            if bits:
                known = f"a letter is {bits} input bits, 0 or 1"
            return f"{cut(repr(name), 40)} is not a letter (letter {at}{of}); {known}"
    return ""


EPSILON = "<eps>"
"""As OpenFst itself writes it."""
EPSILONS = frozenset(
    {EPSILON, "<epsilon>", "@0@", "@_EPSILON_SYMBOL_@", "@epsilon", "ε", "ϵ", "ɛ"}
)
LIKE_EPSILON = frozenset(
    {"λ", "Λ", "eps", "epsilon", "lambda", r"\epsilon", r"\varepsilon", r"\lambda"}
    | {r"$\epsilon$", r"$\varepsilon$", r"$\lambda$", "''", '""'}
    | {"𝜀", "𝜖", "є", "∈", r"\u03b5", "None", "null", "NULL"}
)
"""What drawings have for it, too, although it may be the name of a letter."""
_NUMBER = re.compile(r"\d+")


def may_be_epsilon(labels: Collection[str]) -> bool:
    """Whether 0 is a label and all are numbers: then it is epsilon, or a letter's name."""
    return "0" in labels and all(map(_NUMBER.fullmatch, labels))
