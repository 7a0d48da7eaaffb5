"""Probabilistic context-free grammars with rational probabilities, and their text form."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from krohn.program.errors import Refused, demand, told_as
from krohn.program.quoting import listed

END = "#"
"""The mark between sentences; no grammar has it as a letter."""
MOST_RULES, LONGEST_BODY = 1000, 16
"""A grammar is small: what is made of it grows with the square of its symbols."""
KEPT = Fraction(1, 10**5)
"""Rules that add up to 1 but for so much are rounded, and are divided by their sum."""
MOST_NAMED = 4
"""How many symbols a remark names."""


class Rule(NamedTuple):
    """A symbol becomes others, with a probability.

    Attributes:
        head: The symbol.
        body: What it becomes: symbols and letters; none if it vanishes.
        weight: How likely this rule is among those of its head.
    """

    head: str
    body: tuple[str, ...]
    weight: Fraction


@dataclass(frozen=True)
class Grammar:
    """A grammar whose derivations end, with a finite mean length.

    Attributes:
        name: What it is called.
        rules: Its rules. The first head is where derivations start.
        remark: What of its text can be read in another way, and how it was read.

    Raises:
        Refused: If the rules of a symbol do not add up to 1, a symbol is never used,
            derivations need not end, or whether a symbol vanishes depends on itself.
    """

    name: str
    rules: tuple[Rule, ...]
    remark: str = ""

    def __post_init__(self) -> None:
        demand(len(self.rules) > 0, f"{self.name} has no rules")
        demand(
            len(self.rules) <= MOST_RULES,
            f"{self.name} has more than {MOST_RULES} rules",
        )
        for head, rules in self.of.items():
            total = sum((rule.weight for rule in rules), Fraction())
            demand(total == 1, f"the rules of {head} add up to {total}, not to 1")
            for rule in rules:
                ever = rule.weight > 0
                demand(ever, f"a rule of {head} has probability 0; leave it out")
                short = len(rule.body) <= LONGEST_BODY
                demand(short, f"a rule of {head} has more than {LONGEST_BODY} parts")
        for mark in (END, "_"):
            remark = "; a remark has a line of its own" if mark == END else ""
            demand(mark not in self.letters, f"{mark} is a mark, and no letter{remark}")
        demand(len(self.letters) > 0, f"{self.name} has no letters")
        lost = set(self.of) - self._reachable(self.start)
        demand(not lost, self._unreachable(lost))
        lengths = self.sums([[Fraction(1)] * len(self.of)])
        sure = lengths is not None and min(lengths[0]) >= 1
        demand(sure, f"derivations of {self.name} have no finite mean length")
        _ = self.vanishing

    @cached_property
    def of(self) -> Mapping[str, tuple[Rule, ...]]:
        """The rules of each symbol, in their order."""
        by_head = dict[str, list[Rule]]()
        for rule in self.rules:
            by_head.setdefault(rule.head, []).append(rule)
        return {head: tuple(rules) for head, rules in by_head.items()}

    @property
    def start(self) -> str:
        """The symbol of sentences."""
        return self.rules[0].head

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters, in the order in which they are written first."""
        every = (x for rule in self.rules for x in rule.body if x not in self.of)
        return tuple(dict.fromkeys(every))

    def _unreachable(self, lost: set[str]) -> str:
        """Why symbols are never used, and which other start would use all."""
        whole = set(self.of)
        others = (h for h in self.of if h in lost and self._reachable(h) == whole)
        other = next(others, None)
        instead = (
            f"; if sentences are made of {other}, write a line %start {other}"
            if other
            else "; leave out what is never used"
        )
        return (
            f"{' '.join(sorted(lost))} cannot be reached from the start symbol "
            f"{self.start}{instead}"
        )

    def _reachable(self, start: str) -> set[str]:
        symbols, waiting = {start}, [start]
        while waiting:
            bodies = (rule.body for rule in self.of[waiting.pop()])
            new = {x for body in bodies for x in body if x in self.of} - symbols
            symbols |= new
            waiting += new
        return symbols

    def sums(self, rows: Iterable[list[Fraction]]) -> list[list[Fraction]] | None:
        """For each row r the x with x = r + M x; M[A, B] is how often A becomes B.

        With positive r there is an x ≥ r exactly if the spectral radius of M is below 1
        (Collatz and Wielandt): then the mean number of steps is finite, and derivations
        end with probability 1.
        """
        number = {head: i for i, head in enumerate(self.of)}
        means = [[Fraction()] * len(number) for _ in number]
        for rule in self.rules:
            for symbol in rule.body:
                if symbol in number:
                    means[number[rule.head]][number[symbol]] += rule.weight
        return solve_fixed_points(means, rows)

    @property
    def mean_length(self) -> Fraction:
        """How many letters a sentence has in the mean."""
        letters = [Fraction() for _ in self.of]
        for at, rules in enumerate(self.of.values()):
            for rule in rules:
                own = sum(symbol not in self.of for symbol in rule.body)
                letters[at] += rule.weight * own
        solution = self.sums([letters])
        assert solution is not None
        return solution[0][0]

    @cached_property
    def vanishing(self) -> Mapping[str, Fraction]:
        """How likely each symbol is to become the empty word.

        Raises:
            Refused: If that of a symbol depends on itself: it need not be rational then.
        """
        nullable = set[str]()
        while (
            new := {r.head for r in self.rules if nullable.issuperset(r.body)}
            - nullable
        ):
            nullable |= new
        probabilities = dict[str, Fraction]()
        while len(probabilities) < len(nullable):
            known = len(probabilities)
            for head in nullable - set(probabilities):
                rules = [r for r in self.of[head] if nullable.issuperset(r.body)]
                if all(x in probabilities for rule in rules for x in rule.body):
                    probabilities[head] = sum(
                        (
                            _product(r.weight, map(probabilities.get, r.body))
                            for r in rules
                        ),
                        Fraction(),
                    )
            if len(probabilities) == known:
                raise Refused(
                    f"whether {min(nullable - set(probabilities))} can be empty depends on "
                    "itself; write the grammar without this circle"
                )
        return {head: probabilities.get(head, Fraction()) for head in self.of}


def _product(first: Fraction, others: Iterable[Fraction | None]) -> Fraction:
    for each in others:
        assert each is not None
        first *= each
    return first


def solve_fixed_points(
    matrix: list[list[Fraction]], rows: Iterable[list[Fraction]]
) -> list[list[Fraction]] | None:
    """For each row r the x with x = r + matrix x, by elimination; None if there is none."""
    size = len(matrix)
    right = list(rows)
    work = [
        [Fraction(i == j) - matrix[i][j] for j in range(size)] + [r[i] for r in right]
        for i in range(size)
    ]
    for at in range(size):
        pivot = next((i for i in range(at, size) if work[i][at]), None)
        if pivot is None:
            return None
        work[at], work[pivot] = work[pivot], work[at]
        lead = work[at][at]
        work[at] = [x / lead for x in work[at]]
        for i in range(size):
            if i != at and (factor := work[i][at]):
                work[i] = [
                    x - factor * y for x, y in zip(work[i], work[at], strict=True)
                ]
    return [[work[i][size + k] for i in range(size)] for k in range(len(right))]


# The text form of grammars: ``S -> NP VP [0.7] | VP [0.3]``.


SUFFIX = ".pcfg"
MOST_TEXT = 1_000_000
_WORD = re.compile(
    r"""'([^']*)'(?=[\s|\[]|$) | "([^"]*)"(?=[\s|\[]|$)  # a letter in quotes
    | (->|\||\[[^\s\[\]|]*\]|\[+(?:(?!->)[^\s|\[])*|(?:(?!->)[^\s|\[])+)""",
    re.VERBOSE,
)
_BRACKETED = re.compile(r"\[[^\s\]]*\]")
_WEIGHT = re.compile(r"\[(\d{1,18}/\d{1,18}|\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})\]")
EMPTY = (("ε", False), ("eps", False), ("", True))
_START = "%start"
Symbol = tuple[str, bool]
"""A word of a line, and whether it was quoted."""


def parse(text: str, name: str) -> Grammar:
    """The grammar of a text: a line for each symbol, or more than one.

    A symbol becomes one of several bodies between ``|``, each with its probability in
    square brackets after it; if none has one, all are as likely. Those that add up to 1
    but for a rounding are divided by their sum. A remark says both. What has no rule is a
    letter; if it begins like a symbol, with a capital letter, or looks like a probability,
    ``[x]``, it is written in quotes. A line ``%start S`` says the symbol of sentences; it
    is that of the first rule if there is none. A line that ends in a backslash goes on in
    the next one.

    Raises:
        Refused: If the text is none; the message names the line.
    """
    demand(len(text) <= MOST_TEXT, f"{name} has more than {MOST_TEXT:,} characters")
    alternatives, start = list[tuple[int, str, list[Symbol], Fraction | None]](), ""
    for number, line in _lines(text):
        with told_as(Refused, f"{name}, line {number}: "):
            if line.startswith("%"):
                demand(not start, "a start symbol is there already")
                start = _start(line)
            else:
                alternatives += ((number, *part) for part in _alternatives(line))
    heads = {head for _, head, _, _ in alternatives}
    demand(not start or start in heads, f"{name}: the start symbol {start} has no rule")
    if start:
        alternatives.sort(key=lambda rule: rule[1] != start)
    for number, _, body, _ in alternatives:
        for word, quoted in body:
            clear = word in heads if not quoted else word not in heads
            letter = not word[0].isupper() and not quoted
            demand(
                clear or letter or (quoted and word not in heads),
                f"{name}, line {number}: {word} "
                + (
                    "is a symbol, not a letter"
                    if quoted
                    else f"has no rule; if it is a letter, write '{word}'"
                ),
            )
    rules, remarks = _weigh_rules(alternatives, name)
    return Grammar(name, rules, "; ".join(remarks))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are no remarks, with their numbers; what goes on in the next is one."""
    parts, last = list[str](), 0
    for last, line in enumerate(text.splitlines(), 1):
        part = line.strip()
        if not parts and part.startswith("#"):
            continue
        parts.append(part.removesuffix("\\"))
        if not part.endswith("\\"):
            if content := " ".join(parts).strip():
                yield last, content
            parts = []
    if any(parts):
        yield last, " ".join(parts)


def _start(line: str) -> str:
    words = line.split()
    demand(
        len(words) == 2 and words[0] == _START,
        "a line that begins with % is the start symbol: %start S",
    )
    return words[1]


def _alternatives(line: str) -> Iterator[tuple[str, list[Symbol], Fraction | None]]:
    words = [(m[1] or m[2] or m[3] or "", m[3] is None) for m in _WORD.finditer(line)]
    odd = next((w for w, quoted in words if not quoted and w[0] in "'\""), None)
    demand(odd is None, f"{odd} begins with a quote, and no letter in quotes ends")
    shaped = len(words) >= 2 and words[1] == ("->", False) and not words[0][1]
    demand(shaped, "a rule is written S -> A B [0.7] | c [0.3]")
    head, rest = words[0][0], [*words[2:], ("|", False)]
    while rest:
        end = rest.index(("|", False))
        body, rest = rest[:end], rest[end + 1 :]
        weight = None
        if body and _is_weight(body[-1]):
            weight, body = _fraction(body[-1][0]), body[:-1]
        if early := next((word for word, _ in filter(_is_weight, body)), None):
            raise Refused(
                f"{early} stands before the end of a body; a | ends it, and a letter is "
                f"written '{early}'"
            )
        yield head, [word for word in body if word not in EMPTY], weight


def _is_weight(symbol: Symbol) -> bool:
    """Whether a word is meant as a probability, right or wrong."""
    word, quoted = symbol
    return not quoted and _BRACKETED.fullmatch(word) is not None


def _fraction(word: str) -> Fraction:
    match = _WEIGHT.fullmatch(word)
    try:
        fraction = None if match is None else Fraction(match[1])
    except ZeroDivisionError:
        raise Refused(f"{word} divides by 0") from None
    if fraction is None or fraction > 1:
        raise Refused(
            f"{word} is no probability between 0 and 1, as [1/4] or [0.25] with up to 18 "
            f"digits; if it is a letter, write '{word}'"
        )
    return fraction


def _weigh_rules(
    found: list[tuple[int, str, list[Symbol], Fraction | None]], name: str
) -> tuple[tuple[Rule, ...], list[str]]:
    """Rules with their probabilities, and remarks: what is equal, and what was rounded."""
    given = dict[str, list[Fraction | None]]()
    for _, head, _, weight in found:
        given.setdefault(head, []).append(weight)
    equal = [
        head
        for head, stated in given.items()
        if stated[1:] and not _known_weights(stated)
    ]
    sums = {
        head: sum(_known_weights(stated), Fraction()) for head, stated in given.items()
    }
    rounded = [head for head, total in sums.items() if 0 < abs(total - 1) <= KEPT]
    rules = list[Rule]()
    for number, head, body, weight in found:
        count = len(given[head])
        demand(
            len(_known_weights(given[head])) in (0, count),
            f"{name}, line {number}: some rules of {head} have a probability, and some "
            "have none",
        )
        share = Fraction(1, count) if weight is None else weight
        share = share / sums[head] if head in rounded else share
        rules.append(Rule(head, tuple(word for word, _ in body), share))
    remarks = [(equal, "have no probabilities, and are taken as equally likely")]
    remarks += [(rounded, "do not quite add up to 1, and are divided by their sum")]
    return tuple(rules), [
        f"{name}: the rules of {listed(heads, MOST_NAMED)} {stated}"
        for heads, stated in remarks
        if heads
    ]


def _known_weights(said: list[Fraction | None]) -> list[Fraction]:
    return [weight for weight in said if weight is not None]
