"""The sources beside machines, with exact reference interpreters."""

from collections.abc import Callable, Iterable
from pathlib import Path


def texts(module: str, suffix: str) -> dict[str, Path]:
    """The files of the folder ``catalogue`` beside a module, by name."""
    home = Path(module).parent / "catalogue"
    return {path.stem: path for path in sorted(home.glob(f"*{suffix}"))}


def first_line(path: Path) -> str:
    """The first line, which is a comment, without its mark."""
    text = path.read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("# ")


# Letters as a person writes them, of whatever source.


BETWEEN = ","
"""The sign that may stand between letters beside blanks, where it is no letter."""


def split_letters(
    words: Iterable[str], is_letter: Callable[[str], bool], alphabet: Iterable[str]
) -> list[str]:
    """The names that a person wrote, one for each letter; the caller checks them.

    Letters have blanks or commas between them. Where all letters are single characters,
    a word may be spelled without. So may each of several words, unless it is a number:
    who writes ``17 2`` means seventeen.

    Args:
        words: What a person wrote.
        is_letter: Whether a name is a letter.
        alphabet: All letters; and signs, as ``<sep>``, which nobody has to write.
    """
    text = " ".join(words).strip()
    parts = [text] if is_letter(text) else _parts(text, is_letter)
    if any(len(letter) > 1 and not _is_sign(letter) for letter in alphabet):
        return parts
    alone = len(parts) == 1
    found = list[str]()
    for part in parts:
        spelled = alone or (all(map(is_letter, part)) and not part.isdecimal())
        found += part if spelled and not is_letter(part) else [part]
    return found


def _is_sign(letter: str) -> bool:
    return letter.startswith("<") and letter.endswith(">")


def _parts(text: str, is_letter: Callable[[str], bool]) -> list[str]:
    """The parts between blanks and commas."""
    found = list[str]()
    for part in text.split():
        whole = is_letter(part) or is_letter(BETWEEN)
        found += [part] if whole else filter(None, part.split(BETWEEN))
    return found
