"""Words as texts: how a person writes letters, and how messages do.

One rule for arguments, standard input, files of words, tokenizers and messages. Letters
have blanks or commas between them. A letter that holds a blank, a comma or a quote is
written in double quotes, as JSON writes a string; a JSON list of letters is a word, too.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence

BLANK = -1
"""The token in a text where a network is to write one."""
BETWEEN = ","
"""The sign that may stand between letters beside blanks, where it is no letter."""
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"(?![^\s,])|[^\s,]++')
"""What stands between blanks and commas; those in quotes are part of it."""
_WITH_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*+"(?!\S)|\S++')
"""The same where the comma is a letter, and stands between none."""


class WordText(str):
    """A whole word, as a line or a string of Python; a plain text may be a letter."""

    __slots__ = ()


def letters_by_name(
    words: Sequence[str], is_letter: Callable[[str], bool]
) -> list[str] | None:
    """Words that are letters by name, whatever is in them; None if they are texts."""
    named = all(is_letter(w) and not isinstance(w, WordText) for w in words)
    return list(words) if named else None


def split_letters(
    words: Iterable[str], is_letter: Callable[[str], bool], alphabet: Iterable[str]
) -> list[str]:
    """The names that a person wrote, one for each letter; the caller checks them.

    A word in quotes, or in a JSON list, is read so if all that it names are letters.
    Where all letters are single characters, a word may be spelled without anything
    between them. So may each of several words, unless it is a number: who writes ``17 2``
    means seventeen. A text whose parts are no letters may be one letter with blanks.

    Args:
        words: What a person wrote.
        is_letter: Whether a name is a letter.
        alphabet: All letters; and signs, as ``<sep>``, which nobody has to write.
    """
    text = " ".join(words).strip()
    long = any(len(letter) > 1 and not _is_sign(letter) for letter in alphabet)
    for parts in filter(
        None, (_read_json_list(text), _split_quoted(text, is_letter(BETWEEN)))
    ):
        letters = parts if long else _spell_out(parts, is_letter)
        if all(map(is_letter, letters)):
            return letters
    parts = _parts(text, is_letter)
    if is_letter(text) and not all(map(is_letter, parts)):
        return [text]
    return parts if long else _spell_out(parts, is_letter)


def join_letters(word: Sequence[str]) -> str:
    """A word as a text, which `split_letters` reads back, whatever its letters are."""
    return " ".join(map(write_letter, word))


def write_letter(letter: str) -> str:
    """A letter as a text writes it: in quotes if it would not be read as one."""
    plain = letter.isprintable() and _TOKENS.fullmatch(letter) and '"' not in letter
    if plain or letter == BETWEEN:
        return letter
    return json.dumps(letter, ensure_ascii=not letter.isprintable())


def whole_part(text: str) -> int:
    """How much of a text ends with a blank or a comma that is in no quotes."""
    end = 0
    for token in _TOKENS.finditer(text):
        if token.end() == len(text) or _is_open(token[0]):
            break
        end = token.end() + 1
    return end


def _is_open(token: str) -> bool:
    """Whether it begins with a quote and has no end."""
    return token.startswith('"') and _TOKENS.fullmatch(token + '"') is not None


def _is_sign(letter: str) -> bool:
    return letter.startswith("<") and letter.endswith(">")


def _read_json_list(text: str) -> list[str] | None:
    """The strings of a JSON list without blanks at its ends; None of other texts."""
    if not (text.startswith('["') and text.endswith('"]')):
        return None
    try:
        entries = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return entries if all(isinstance(each, str) for each in entries) else None


def _split_quoted(text: str, commas: bool) -> list[str] | None:
    """The parts between blanks and commas, in or without quotes; None if none has any."""
    if '"' not in text:
        return None
    parts = (_WITH_COMMAS if commas else _TOKENS).findall(text)
    try:
        return [json.loads(p, strict=False) if p[0] == '"' else p for p in parts]
    except ValueError:
        return None


def _parts(text: str, is_letter: Callable[[str], bool]) -> list[str]:
    """The parts between blanks and commas."""
    parts = list[str]()
    for part in text.split():
        whole = is_letter(part) or is_letter(BETWEEN)
        parts += [part] if whole else filter(None, part.split(BETWEEN))
    return parts


def _spell_out(parts: list[str], is_letter: Callable[[str], bool]) -> list[str]:
    """The letters of parts that may be words without anything between letters."""
    alone, letters = len(parts) == 1, list[str]()
    for part in parts:
        spelled = alone or (all(map(is_letter, part)) and not part.isdecimal())
        letters += part if spelled and not is_letter(part) else [part]
    return letters
