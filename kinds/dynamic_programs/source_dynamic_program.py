"""A dynamic program as a user writes it: the numbers of a text, one after the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from string import ascii_lowercase
from typing import Any

from krohn.kinds.dynamic_programs.source_assembly import (
    Comma,
    Input,
    Number,
    assemble_chain,
)
from krohn.kinds.dynamic_programs.source_digits import (
    Lowering,
    count_digits,
    digits_of,
)
from krohn.kinds.dynamic_programs.source_terms import (
    Cell,
    Term,
    Value,
    choose,
    join_values,
    maximum,
    minimum,
    numbers,
    read,
)
from krohn.kinds.dynamic_programs.source_vectors import (
    continue_prompt,
    text_of,
    vectors_of,
)
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.program.domains import IntArray
from krohn.program.errors import Refused, demand
from krohn.program.expressions import Interval

MOST_TOKENS, MOST_NODES = 2**14, 2**20
"""Tokens of a text; nodes of all its terms."""
Index = int | tuple[int, ...]


@dataclass(eq=False)
class Table:
    """A table that is read and written by indices: ``D[j, k]``.

    Attributes:
        owner: The dynamic program.
        name: What it is called.
        limits: The least and the greatest number that it has tokens for, if that is said.
        cells: What is known of it.
    """

    owner: "DynamicProgram"
    name: str
    limits: tuple[int, int] | None = None
    cells: dict[tuple[int, ...], Term] = field(default_factory=dict)

    def __getitem__(self, index: Index) -> Term:
        at = _indices(index)
        demand(
            at in self.cells, f"{self.name_cell(at)} is not computed before it is read"
        )
        return self.cells[at]

    def __setitem__(self, index: Index, number: Value) -> None:
        at = _indices(index)
        demand(at not in self.cells, f"{self.name_cell(at)} is computed twice")
        self.cells[at] = self.owner.write(number, self.name_cell(at), self.limits)

    def name_cell(self, at: Sequence[int]) -> str:
        """The name of a cell."""
        return f"{self.name}[{', '.join(map(str, at))}]" if at else self.name


@dataclass(eq=False)
class DynamicProgram:
    """A text in the making: inputs, then numbers in the order in which they are said.

    A number that the input does not change, and a mere copy, need no token.

    Attributes:
        name: What it is called.
        text: The text that it was read from, if any.
        given: The sizes and options of that text.
        where: What messages say of the place in that text.
        idle_lines: The lines of that text that are about a cell, and define none.
        inputs: What the prompt holds.
        written: The numbers and commas so far.
        final: The answer: a number, or its digits, the most significant one first.
        base: The base of digits; 0 if each number is a token of its own.
    """

    name: str
    text: str = ""
    given: dict[str, int] = field(default_factory=dict)
    where: str = ""
    idle_lines: list[int] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    written: list[Number | Comma] = field(default_factory=list)
    final: tuple[Term, ...] = ()
    base: int = 0
    _nodes: int = 0
    minimum = staticmethod(minimum)
    maximum = staticmethod(maximum)
    choose = staticmethod(choose)

    def input(
        self,
        name: str,
        *sizes: int | range,
        letters: Iterable[str] = (),
        numbers: tuple[int, int] | None = None,
    ) -> Table:
        """A part of the prompt: letters, or numbers between two ends.

        Args:
            name: What it is called.
            sizes: Of each index the range, or the last one of 1, 2, …; without any it
                is one letter or number, and ``name[()]``.
            letters: The letters that may stand there, in the order of all letters.
            numbers: Or the least and the greatest number.

        Raises:
            Refused: If numbers were written before, or there is too much or nothing.
        """
        demand(not self.written, f"the input {name!r} comes after a number of a table")
        ranges = [s if isinstance(s, range) else range(1, s + 1) for s in sizes]
        count = 1
        for side in ranges:
            count *= len(side)
            demand(
                0 < count <= MOST_TOKENS,
                f"the input {name!r} has {count} tokens, not 1 to {MOST_TOKENS}",
            )
        each = tuple(letters)
        demand(bool(each) != (numbers is not None), "an input has letters, or numbers")
        first = 1 + sum(i.count + 1 for i in self.inputs)
        table = Table(self, name)
        if numbers is not None and self.base and numbers[1] >= self.base:
            return self._digit_input(table, list(product(*ranges)), first, numbers)
        names = tuple(map(table.name_cell, product(*ranges)))
        self.inputs.append(Input(name, names, each, numbers or (0, 0)))
        alphabet = self.alphabet
        for place, at in enumerate(product(*ranges), first):
            cell = Cell(table.name_cell(at), place)
            if numbers is not None:
                table.cells[at] = read(cell, *numbers)
                continue
            ends = alphabet.index(each[0]), alphabet.index(each[-1])
            whole = alphabet[ends[0] : ends[1] + 1] == each
            demand(
                whole, f"the letters of {name!r} do not follow one another among all"
            )
            table.cells[at] = Term("letter", (), *ends, cell=cell)
        return table

    def _digit_input(
        self, found: Table, cells: list[tuple[int, ...]], place: int, ends: Interval
    ) -> Table:
        """An input whose numbers stand in digits, the most significant one first."""
        low, high = ends
        count, last = count_digits(high, self.base), self.base - 1
        demand(
            low == 0 and high == self.base**count - 1,
            f"numbers of an input that stand in digits go from 0 to {self.base**2 - 1}, or "
            f"another power of {self.base} less 1",
        )
        names = tuple(
            f"{found.name_cell(at)} digit {k}"
            for at in cells
            for k in reversed(range(count))
        )
        demand(len(names) <= MOST_TOKENS, f"an input has over {MOST_TOKENS} tokens")
        self.inputs.append(Input(found.name, names, (), (0, last)))
        for at in cells:
            digits = [
                read(
                    Cell(f"{found.name_cell(at)} digit {k}", place + count - 1 - k),
                    0,
                    last,
                )
                for k in range(count)
            ]
            found.cells[at] = digits_of(digits, 0, high)
            place += count
        return found

    @property
    def alphabet(self) -> tuple[str, ...]:
        """All letters, in the order in which they came first."""
        return tuple(dict.fromkeys(x for i in self.inputs for x in i.letters))

    def letter(self, name: str) -> Term:
        """A letter, to be held against those of an input.

        Raises:
            Refused: If no input has it.
        """
        demand(name in self.alphabet, f"{name!r} is a letter of no input")
        at = self.alphabet.index(name)
        return Term("letter", (), at, at, cell=Cell(name, 0, at))

    def table(self, name: str, limits: tuple[int, int] | None = None) -> Table:
        """A table without numbers; with limits it has tokens for the numbers between."""
        return Table(self, name, limits)

    def write(
        self, number: Value, name: str, limits: tuple[int, int] | None = None
    ) -> Term:
        """Say a number, unless it is known or a copy, and give it back to be read."""
        (term,) = numbers(number)
        lowered_term = self._lower_term(term, name)
        if lowered_term.kind != "digits":
            return self._write_token(lowered_term, name, limits)
        least, most = limits or (lowered_term.low, lowered_term.high)
        demand(
            least <= lowered_term.low and lowered_term.high <= most,
            f"it can be {lowered_term.low} to {lowered_term.high}, and the table "
            f"says {least}..{most}",
        )
        return lowered_term

    def _lower_term(self, term: Term, name: str) -> Term:
        """The number itself, or its digits, which are written, if it has no token."""
        return self._lowering(name).lower_term(term) if self.base else term

    def _lowering(self, name: str) -> Lowering:
        return Lowering(self.base, partial(self._say, name))

    def _say(self, name: str, number: Value, called: str) -> Term:
        """Write a number of one token that a number in digits needs."""
        (term,) = numbers(number)
        return self._write_token(term, f"{name}{called}", None)

    def _write_token(self, term: Term, name: str, limits: Interval | None) -> Term:
        if term.kind == "number":
            self._last_so_far(name)
            return term
        if term.low == term.high:
            return read(Cell(name, 0, term.low), term.low, term.low)
        demand(len(self.written) < MOST_TOKENS, f"a text has over {MOST_TOKENS} tokens")
        self._nodes += term.size
        demand(self._nodes <= MOST_NODES, "the program has too many steps")
        place = 1 + sum(i.count + 1 for i in self.inputs) + len(self.written)
        self.written.append(Number(term, name, self.where, limits))
        return read(Cell(name, place), term.low, term.high)

    def _last_so_far(self, name: str) -> None:
        """Call the last number by a name if it is what was joined for that."""
        last = self.written[-1] if self.written else None
        if isinstance(last, Number) and last.name == so_far(name):
            self.written[-1] = last._replace(name=name)

    def chain(
        self, how: str, items: Iterable[Value | tuple[Value, Value]], name: str
    ) -> Value:
        """Join many numbers, two at a time; each result on the way is said.

        Args:
            how: ``"min"``, ``"max"`` or ``"sum"``.
            items: Numbers; or pairs of a number and a condition: it is left out where
                the condition does not hold. The first one is no pair.
            name: What the results are called.

        Raises:
            Refused: If there is nothing to join.
        """
        running_value: Value | None = None
        for item in items:
            new, condition = item if isinstance(item, tuple) else (item, 1)
            if running_value is None:
                demand(
                    isinstance(condition, int) and condition == 1,
                    f"{how} has no number where no condition holds; say one before all "
                    f"others, as in {how}({99 if how == 'min' else 0}, …)",
                )
                running_value = new
            elif not _idle(how, running_value, new):
                running_value = self.write(
                    join_values(how, self.write(running_value, name), new, condition),
                    name,
                )
        if running_value is None:
            raise Refused(
                f"{how} of an empty list; say a first number, as in {how}(0, …)"
            )
        return running_value

    def row(self) -> None:
        """End a row of a table by a comma, if there is a number in it."""
        if self.written and isinstance(self.written[-1], Number):
            self.written.append(Comma())

    def answer(self, number: Value) -> None:
        """Say which number is the answer.

        Raises:
            Refused: If there is one already.
        """
        demand(not self.final, "the answer is said twice")
        (term,) = numbers(number)
        term = self._lower_term(term, "answer")
        self.final = (term,)
        if term.kind == "digits":
            low = term.low
            demand(
                low >= 0, f"the answer can be {low}, and has digits; add a number to it"
            )
            self.final = self._lowering("answer").plain(term).inner[::-1]

    @cached_property
    def chain_of_thought(self) -> ChainOfThought:
        """The texts: the prompt, the numbers, ``<sep>``, the answer, ``<eos>``.

        Raises:
            Refused: If there is no input or no answer, or a number has no token.
        """
        demand(bool(self.inputs), "there is no input")
        demand(bool(self.final), "no line says the answer; add: answer EXPRESSION")
        return assemble_chain(self.name, self.inputs, self.written, self.final)

    def vectors(self, prompt: str) -> IntArray:
        """``(tokens, 4)``: the text after a prompt, as `vectors_of` makes it.

        Raises:
            Refused: If it is no prompt.
        """
        steps = self.chain_of_thought
        return vectors_of(steps, continue_prompt(steps, prompt))

    def read_vectors(self, vectors: IntArray) -> list[str]:
        """The tokens by name that such vectors stand for, as `text_of` finds them."""
        steps = self.chain_of_thought
        return [steps.tokens[token] for token in text_of(steps, vectors)]

    @property
    def names(self) -> list[str]:
        """The name of each token of a text; nothing for signs."""
        names = [n for each in self.inputs for n in (*each.names, "")]
        names += [w.name if isinstance(w, Number) else "" for w in self.written]
        return [*names, "", *["answer"] * len(self.final), ""]

    @property
    def divides(self) -> bool:
        """Whether there are ``//`` and ``%``, which numbers in digits do not have."""
        kinds = {node.kind for each in self._terms() for node in each.term.nodes()}
        return not kinds.isdisjoint(("quotient", "remainder"))

    @property
    def multiplies_products(self) -> bool:
        """Whether the input decides a factor of a product that is a product of such."""
        nodes = [node for each in self._terms() for node in each.term.nodes()]
        products = (node.inner for node in nodes if node.kind == "product")
        return any("product" == n.kind for p in products for f in p for n in f.nodes())

    @property
    def widest(self) -> str:
        """The number that can be most, on the way to one of the text, for messages."""
        spans = ((n.high - n.low, n, e) for e in self._terms() for n in e.term.nodes())
        _, node, each = max(spans, key=lambda one: one[0])
        place = f" in {each.where[:-2]}" * bool(each.where)
        return f"its widest number is {node.low} to {node.high}, for {each.name}{place}"

    def _terms(self) -> list[Number]:
        final = [Number(term, "the answer", "", None) for term in self.final]
        return [each for each in self.written if isinstance(each, Number)] + final


def so_far(name: str) -> str:
    """The name of a number that joins some of the numbers that a cell needs."""
    return f"{name} so far"


def _idle(how: str, found: Value, new: Value) -> bool:
    """Whether joining a new number changes nothing, whatever the input is."""
    one, other = numbers(found, new)
    if how == "sum":
        return other.low == other.high == 0
    return other.high <= one.low if how == "max" else other.low >= one.high


def letters(count: int) -> str:
    """The first letters from a to z.

    Raises:
        Refused: If there are not so many.
    """
    demand(1 <= count <= len(ascii_lowercase), "there are 1 to 26 letters from a to z")
    return ascii_lowercase[:count]


def _indices(index: Any) -> tuple[int, ...]:
    at = index if isinstance(index, tuple) else (index,)
    whole = all(isinstance(i, int) for i in at)
    demand(whole, "an index of a table depends on the input")
    return at
