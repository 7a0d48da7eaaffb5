"""From the numbers of a dynamic program to a chain of thought."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from krohn.program.chain_of_thought import MOST_RULES, Argument, ChainOfThought, Step
from krohn.program.errors import Refused, demand
from krohn.program.expression_bounds import Bounds, Interval
from krohn.program.expressions import Expression, argument, read_expression
from krohn.sources.dynamic_programs.rules import Read, Rule, shape
from krohn.sources.dynamic_programs.terms import Term

BAR, COMMA, SEPARATOR, END = "|", ",", "<sep>", "<eos>"
MOST_NUMBERS = 2048


@dataclass(frozen=True)
class Input:
    """A part of the prompt.

    Attributes:
        name: What it is called.
        names: What each token is called.
        letters: Its letters; () if it holds numbers.
        ends: Of numbers the least and the greatest one.
    """

    name: str
    names: tuple[str, ...]
    letters: tuple[str, ...]
    ends: tuple[int, int]

    @property
    def count(self) -> int:
        """How many tokens it has."""
        return len(self.names)


class Number(NamedTuple):
    """A number of the text.

    Attributes:
        term: What it is computed as.
        name: What it is called.
        where: What messages say of its place in what the user wrote.
        limits: The least and the greatest number that there must be tokens for.
    """

    term: Term
    name: str
    where: str
    limits: Interval | None


class Comma(NamedTuple):
    """The end of a row."""


@dataclass(frozen=True)
class Way:
    """How one number is found: a rule with its arguments.

    Attributes:
        number: What is found.
        expression: The rule.
        reads: What each argument of it is.
    """

    number: Number
    expression: Expression
    reads: tuple[Read, ...]

    def moved(self, offset: int) -> "Way":
        """The same if the token of a number x is x + offset."""
        if not offset:
            return self
        numbers = [0 if plain else offset for _, plain in self.reads]
        moved = (
            self.expression.with_arguments(lambda i: argument(i) - numbers[i]) + offset
        )
        reads = [
            (
                cell if cell.place else cell._replace(constant=cell.constant + more),
                plain,
            )
            for (cell, plain), more in zip(self.reads, numbers, strict=True)
        ]
        return Way(self.number, moved, tuple(reads))

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the step."""
        return tuple(Argument(cell.place, cell.constant) for cell, _ in self.reads)


def assembled(
    name: str,
    inputs: Sequence[Input],
    written: Sequence[Number | Comma],
    final: Term,
) -> ChainOfThought:
    """The chain of thought of a prompt, of numbers, and of an answer.

    Raises:
        Refused: If a number leaves its limits, or there is too much.
    """
    said = [*written, Comma(), Number(final, "the answer", "", None), Comma()]
    ways = _ways([each for each in said if isinstance(each, Number)])
    alphabet = tuple(dict.fromkeys(x for i in inputs for x in i.letters))
    low, high = _range(inputs, alphabet, said, ways)
    commas = [COMMA] * any(isinstance(each, Comma) for each in written)
    signs = [*[BAR] * (len(inputs) > 1), *commas, SEPARATOR, END]
    names = (*map(str, range(low, high + 1)), *alphabet, *signs)
    twice = next((n for n in alphabet if names.count(n) > 1), None)
    demand(twice is None, f"the letter {twice!r} is also the name of another token")
    numbers = high - low + 1
    ways = [way.moved(-low) for way in ways]
    rules = tuple(dict.fromkeys(way.expression for way in ways))
    demand(len(rules) <= MOST_RULES, f"there are {len(rules)} rules, over {MOST_RULES}")
    at, steps = iter(ways), list[Step]()
    for each, sign in zip(
        said, [COMMA] * len(written) + [SEPARATOR, "", END], strict=True
    ):
        if isinstance(each, Comma):
            steps.append(Step(names.index(sign), 0, ()))
        else:
            way = next(at)
            steps.append(Step(None, rules.index(way.expression), way.arguments))
    prompt = _prompt(inputs, names, -low)
    return ChainOfThought(
        name=name,
        tokens=names,
        contents=(*range(numbers), *range(len(alphabet)), *[0] * len(signs)),
        numbers=numbers,
        prompt=prompt,
        rules=rules,
        steps=tuple(steps),
        answer=len(prompt) + len(steps) - 1,
    )


def _prompt(
    inputs: Sequence[Input], names: tuple[str, ...], offset: int
) -> tuple[Interval, ...]:
    """The tokens that may stand at each place of the prompt."""
    found = list[Interval]()
    for i, each in enumerate(inputs):
        ends = each.ends[0] + offset, each.ends[1] + offset
        if each.letters:
            ends = names.index(each.letters[0]), names.index(each.letters[-1])
        found += [ends] * each.count
        found.append((names.index(SEPARATOR if i == len(inputs) - 1 else BAR),) * 2)
    return tuple(found)


def _ways(numbers: Sequence[Number]) -> list[Way]:
    """How each number is found: one rule for all of one shape."""
    groups = dict[Hashable, list[int]]()
    for i, each in enumerate(numbers):
        groups.setdefault(shape(each.term), []).append(i)
    found = dict[int, Way]()
    for members in groups.values():
        try:
            rule = Rule([numbers[i].term for i in members])
            read_expression(rule.expression.to_wire(), len(rule.reads))
        except Refused as reason:
            first = numbers[members[0]]
            raise Refused(f"{first.where}{first.name}: {reason}") from None
        for k, i in enumerate(members):
            reads = tuple(column[k] for column in rule.reads)
            found[i] = Way(numbers[i], rule.expression, reads)
    return [found[i] for i in range(len(numbers))]


def _range(
    inputs: Sequence[Input],
    alphabet: tuple[str, ...],
    said: Sequence[Number | Comma],
    ways: Sequence[Way],
) -> Interval:
    """The least and the greatest number that needs a token; 0 is between them.

    Raises:
        Refused: If a number leaves its limits, or there are too many numbers.
    """
    boxes, low, high = [(0, 0)], 0, 0
    for one in inputs:
        ends = one.ends
        if one.letters:
            ends = alphabet.index(one.letters[0]), alphabet.index(one.letters[-1])
        else:
            low, high = min(low, ends[0]), max(high, ends[1])
        boxes += [*[ends] * one.count, (0, 0)]
    known, at = dict[tuple[Expression, tuple[Interval, ...]], Interval](), iter(ways)
    for each in said:
        if isinstance(each, Comma):
            boxes.append((0, 0))
            continue
        way = next(at)
        box = tuple(
            boxes[c.place] if c.place else (c.constant,) * 2 for c, _ in way.reads
        )
        key = way.expression, box
        if key not in known:
            known[key] = Bounds(dict(enumerate(box))).of(way.expression)
        boxes.append(_inside(each, known[key]))
        least, most = each.limits or boxes[-1]
        constants = (c.constant for c, plain in way.reads if not (plain or c.place))
        low, high = min(low, least, *constants), max(high, most)
        demand(
            high - low < MOST_NUMBERS,
            f"{each.where}{each.name} can be {boxes[-1][0]} to {boxes[-1][1]}; there are "
            f"at most {MOST_NUMBERS} numbers, each a token of its own; bound it by min or "
            "max",
        )
    return low, high


def _inside(number: Number, ends: Interval) -> Interval:
    """Bounds of a number, which must be within its limits."""
    least, most = number.limits or ends
    demand(
        least <= ends[0] and ends[1] <= most,
        f"{number.where}{number.name} can be {ends[0]} to {ends[1]}, and the table says "
        f"{least}..{most}",
    )
    return ends
