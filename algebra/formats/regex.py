r"""Regular expressions: acceptors of the words that match from end to end.

The syntax is that of automata-lib: ``|`` or, ``*`` ``+`` ``?`` ``{2,3}`` repetition,
``()`` groups, ``[a-c]`` ``[^a]`` classes, ``.`` any letter of the pattern, ``&`` and,
``^`` shuffle, ``\d`` ``\w`` ``\s`` printable ASCII classes, ``\*`` a sign itself.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import Choices, acceptor
from krohn.algebra.formats.regex_reading import (
    TOKEN,
    pattern_error,
    read_signs,
    to_pattern,
)

if TYPE_CHECKING:
    from automata.fa.nfa import NFA

MAX_LENGTH = 2_000
"""The longest pattern, in characters."""

MAX_REPEATS = 2_000
"""The largest product of the numbers in braces."""

MAX_PARTS = 20_000
"""The most states of the automaton with choices that stands for a pattern."""


def from_regex(pattern: str, formal: bool = False) -> Automaton:
    """The smallest complete acceptor of a regular expression.

    It shows ``"accept"`` after each prefix that matches as a whole, else ``"reject"``.
    The letters are the characters of the pattern, sorted; the states are ``"0"``,
    ``"1"``, … in the order of a breadth-first search from the start.

    Args:
        pattern: The expression; the machine's remark says how signs in it are read that
            mean something else elsewhere.
        formal: Whether it is in mathematicians' notation (`formal_regex`).

    Raises:
        MachineError: If the pattern is malformed, has no letters, or needs more states,
            transitions or steps than `krohn.algebra.formats.acceptors` allows.
    """
    if len(pattern) > MAX_LENGTH:
        raise _pattern_error(pattern, f"longer than {MAX_LENGTH} characters")
    plain, remark = (to_pattern(pattern), "") if formal else read_signs(pattern)
    nfa = _nfa(plain)
    choices = Choices(
        sorted(nfa.input_symbols), nfa.initial_state, nfa.transitions, nfa.final_states
    )
    machine = acceptor(choices, "pattern", partial(_pattern_error, pattern))
    return replace(machine, remark=remark)


def _letters(pattern: str) -> set[str]:
    """The letters that stand for themselves; the library adds classes and escapes.

    Left to itself, it would take the numbers and commas of repetitions for letters.
    """
    tokens = list(TOKEN.finditer(pattern))
    repeats = [int(n) for t in tokens for n in re.findall(r"\d+", t["repeat"] or "")]
    if math.prod(max(n, 1) for n in repeats) > MAX_REPEATS:
        raise _pattern_error(pattern, f"repeats over {MAX_REPEATS} times in all")
    if _parts([token[0] for token in tokens]) > MAX_PARTS:
        raise _pattern_error(
            pattern,
            f"its shuffles, intersections and repeats need more than {MAX_PARTS} states",
        )
    letters = {token["letter"] for token in tokens if token["letter"]}
    unpaired = {
        *letters & set("[]{}\\"),
        *_unpaired_parenthesis([t["sign"] for t in tokens]),
    }
    if unpaired:
        sign = min(unpaired)
        raise _pattern_error(
            pattern, f"{sign!r} has no counterpart; write \\{sign} for the sign itself"
        )
    return letters


def _unpaired_parenthesis(signs: Iterable[str | None]) -> str:
    """The first parenthesis that has no counterpart; empty if there is none."""
    depth = 0
    for sign in signs:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return ")"
    return "(" * (depth > 0)


def _parts(tokens: list[str]) -> int:
    """At least as many states as the library makes for a pattern.

    Two for each sign; shuffles and intersections multiply, all else adds up. ``|``, ``&``
    and ``^`` bind equally, from the left.
    """
    # Of every open group: the size left of its last sign, the sign, and a list of terms.
    groups: list[tuple[int, str, list[int]]] = [(0, "|", [])]
    for token in tokens:
        left, sign, terms = groups[-1]
        if token == "(":
            groups.append((0, "|", []))
        elif token in ("|", "&", "^"):
            groups[-1] = _joint_size(left, sign, terms), token, []
        elif token == ")" and len(groups) > 1:
            groups.pop()
            groups[-1][2].append(_joint_size(left, sign, terms))
        elif token[0] in "*+?{" and terms:
            times = max([1, *map(int, re.findall(r"\d+", token))])
            terms[-1] = (terms[-1] + 1) * times
        else:
            terms.append(2)
    return _joint_size(*groups[-1])


def _joint_size(left: int, sign: str, terms: list[int]) -> int:
    right = sum(terms) or 1
    if sign == "|":
        return left + right + bool(left)
    return left * right


def _nfa(pattern: str) -> "NFA":
    # Imported here, for it takes a while and most machines need no pattern.
    from automata.base.exceptions import RegexException
    from automata.fa.nfa import NFA

    letters = _letters(pattern)
    try:
        nfa = NFA.from_regex(pattern, input_symbols=letters)
    except RegexException as error:
        raise _pattern_error(pattern, str(error).rstrip(".")) from error
    except RecursionError as error:
        raise _pattern_error(pattern, "nested too deeply") from error
    except Exception as error:
        # Inside of a library anything may fail on a pattern that nobody foresaw.
        raise _pattern_error(
            pattern, f"not understood ({type(error).__name__})"
        ) from error
    if not nfa.input_symbols:
        raise _pattern_error(pattern, "no letters in it")
    return nfa


def _pattern_error(pattern: str, reason: str) -> MachineError:
    # The library shows its own objects where the user knows signs.
    reason = re.sub(r"'<\w+: (.*?)>'", r"'\1'", " ".join(reason.split()))
    return pattern_error(pattern, reason)
