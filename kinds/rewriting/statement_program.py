"""The Program that writes the text of a rewriting system, token by token.

Theorem 5k of docs/proofs/rewriting.md: fed back, it writes the text of every line. While
a line is written it reads the line before at a distance that is constant up to the place
that a rule rewrites, and constant again behind it. So nothing is counted from the start of
the text, and nothing is fetched from further back than a line is long.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from krohn.kinds.rewriting.statement import (
    Computed,
    Rewriting,
)
from krohn.program.domains import MOST, joint
from krohn.program.errors import demand
from krohn.program.expressions import Expression, argument, rectify
from krohn.program.functions import Row, Select, Table, table
from krohn.program.operations.base import Operation
from krohn.program.operations.latest import Latest
from krohn.program.operations.map import Map
from krohn.program.operations.position import Position
from krohn.program.operations.shift_by import ShiftBy
from krohn.program.operations.token import Token
from krohn.program.piecewise import Piecewise
from krohn.program.program import Program

BITS = (0, 1)
Alive = frozenset[int]
"""Rules that fit all places of a window that were read."""


def program_of(source: Rewriting, length: int) -> Program:
    """The Program whose greedy continuation of ``x =`` is the text of the line x.

    Args:
        source: The rewriting system.
        length: T: so many tokens are read at most.

    Raises:
        Refused: If the tables of all its rules have too many rows.
    """
    made = _Channels(source, length)
    made.lines()
    made.handle()
    made.carry_line_facts()
    made.next()
    return Program(
        letters=source.tokens,
        states=len(source.tokens),
        length=length,
        operations=made.operations,
        outputs=("next",),
        decode={(token,): token for token in range(len(source.tokens))},
        near=source.longest,
    )


@dataclass
class _Channels:
    """The channels under construction.

    Attributes:
        source: The rewriting system.
        length: T.
        operations: The channels.
        listed: How many rows, and rules that fit in them, tables have so far.
    """

    source: Rewriting
    length: int
    operations: dict[str, Operation] = field(default_factory=dict)
    listed: int = 0

    def count(self, rows: int) -> None:
        """Note rows before they are listed: few rules can need more than memory holds.

        Raises:
            Refused: If all tables together have too many.
        """
        self.listed += rows
        demand(self.listed <= MOST, f"its rules need tables of more than {MOST:,} rows")

    def table(
        self,
        name: str,
        inputs: tuple[str, ...],
        says: Callable[..., int],
        *values: Iterable[int],
    ) -> str:
        """A channel that is a function of others, with the values that these can have."""
        rows = {row: int(says(*row)) for row in product(*values)}
        self.operations[name] = Map(table(rows), inputs)
        return name

    def of_token(self, name: str, of: Sequence[int]) -> str:
        """A function of the token; BOS has the value of a line's end."""
        every = (*of, of[self.source.end])
        return self.table(name, ("token",), every.__getitem__, range(len(every)))

    def ago(self, name: str, by: int) -> str:
        """A channel so many positions before.

        As with `back`, so that no position needs a code that grows with the length.
        """
        if not by:
            return name
        self.operations.setdefault(f"by{by}", Position((by,) * (self.length + 1)))
        self.operations[f"{name}.{by}"] = ShiftBy(name, f"by{by}")
        return f"{name}.{by}"

    def piecewise(self, name: str, inputs: tuple[str, ...], e: Expression) -> None:
        """A channel that an expression says."""
        self.operations[name] = Map(Piecewise(e), inputs)

    @property
    def tokens(self) -> range:
        """The tokens."""
        return range(len(self.source.tokens))

    @property
    def numbers(self) -> range:
        """The numbers of the rules from 1 on; 0 is none."""
        return range(len(self.source.rules) + 1)

    def lines(self) -> None:
        """The end of a line that was last: ``begin`` up to here, ``before`` before."""
        end, t = self.source.end, range(self.length + 1)
        self.operations["token"] = Token()
        self.of_token("letter", self.tokens)
        self.of_token("ends", [int(a == end) for a in self.tokens])
        self.operations["position"] = Position(tuple(t))
        self.operations["previous"] = Position(tuple(max(i - 1, 0) for i in t))
        self.operations["begin"] = Latest("position", "ends")
        self.operations["before"] = Latest("previous", self.ago("ends", 1))

    def window(self, name: str, ago: int, flag: bool) -> None:
        """Which rule applies in a window that ended ``ago`` positions before, else 0.

        Places are read one after the other, the first ones first, and which rules fit is
        remembered. If ``ago`` is −1, the last place is the end of a line.

        Args:
            name: Of the channel.
            ago: How many positions before.
            flag: Whether only is asked if one applies.
        """
        inputs: tuple[str, ...] = ()
        alive = [frozenset(range(len(self.source.rules)))]
        for back in reversed(range(self.source.widest)):
            kinds, read = self._place(back, ago)
            self.count(len(kinds) * sum(len(fits) + 1 for fits in alive))
            both: dict[Row, Alive] = {
                (*(i for _ in inputs), *(j for _ in read)): fits & kind
                for i, fits in enumerate(alive)
                for j, kind in enumerate(kinds)
            }
            alive = sorted(set(both.values()), key=sorted)
            codes = {fits: i for i, fits in enumerate(alive)}
            if not back:
                first = {fits: min(fits) + 1 if fits else 0 for fits in alive}
                codes = {x: min(r, 1) if flag else r for x, r in first.items()}
            rows = {row: codes[fits] for row, fits in both.items()}
            at = f"{name}{back or ''}"
            if inputs or read:
                self.operations[at] = Map(table(rows), inputs + read)
            else:  # a window of one place, and that no letter
                self.of_token(at, [0 for _ in self.tokens])
            inputs = (at,)

    def _place(self, back: int, ago: int) -> tuple[list[Alive], tuple[str, ...]]:
        """Which rules a place of a window leaves, and the channel that says it, if any."""
        fits = [
            frozenset(
                r
                for r, rule in enumerate(self.source.rules)
                if back >= len(rule.window) or token in rule.window[-1 - back]
            )
            for token in self.tokens
        ]
        if back + ago < 0:
            return [fits[self.source.end]], ()
        kinds = sorted(set(fits), key=sorted)
        read = self.of_token(f"kind{back}", [kinds.index(kind) for kind in fits])
        return kinds, (self.ago(read, back + ago),)

    def handle(self) -> None:
        """The first window of a line in which a rule applies, by the position of its end.

        It is marked, and so is the first position of each line, so that what is fetched
        from the last marked one is about the own line. There ``room`` is 0 if no rule
        applies, else n + 2 less the place of the first letter that is replaced.
        """
        n, p = self.source.longest, argument
        self.window("found", 0, False)
        self.window("earlier", 1, True)
        before = ("earlier", "ends.1")
        self.table("was", before, lambda f, e: f > e, BITS, BITS)
        self.table("event", before, lambda f, e: f | e, BITS, BITS)
        self.operations["seen"] = Latest("was", "event")
        both = ("found", "seen")
        self.table("rule", both, lambda r, s: r * (1 - s), self.numbers, BITS)
        self.table(
            "mark", ("rule", "ends.1"), lambda r, e: r > 0 or e, self.numbers, BITS
        )
        self.table("reach", ("rule",), self._reach, self.numbers)
        room, letters = p(0) - p(1) + p(2), p(1) - p(0) - 1
        self.piecewise("room", ("before", "position", "reach"), clamp(room, n + 1))
        self.piecewise("letters", ("before", "position"), clamp(letters, n))

    def _reach(self, number: int) -> int:
        """How far the end of a window is behind the first letter replaced, and n + 2."""
        if not number:
            return 0
        rule = self.source.rules[number - 1]
        return self.source.longest + 1 + len(rule.window) - rule.start

    @property
    def most(self) -> int:
        """How many letters a rule writes at most."""
        return max(len(rule.writes) for rule in self.source.rules)

    def replacement_letter(self, k: int) -> str:
        """The k-th letter that the rule writes whose window ends here, if it does."""
        letters: list[int | Computed] = [0]
        for rule in self.source.rules:
            letter = rule.writes[k] if k < len(rule.writes) else 0
            if isinstance(letter, Computed):
                back = (len(rule.window) - 1 - place for place in letter.places)
                letter = Computed(letter.function, tuple(back))
            letters.append(letter)
        sources = list(
            dict.fromkeys(x if isinstance(x, Computed) else 0 for x in letters[1:])
        )
        fixed = [0 if isinstance(x, Computed) else x for x in letters]
        constant = f"constant{k}"
        channels = [
            self.function_of_letters(x)
            if isinstance(x, Computed)
            else self.table(constant, ("found",), fixed.__getitem__, self.numbers)
            for x in sources
        ]
        if len(channels) == 1:
            return channels[0]
        which = [
            sources.index(x if isinstance(x, Computed) else 0) for x in letters[1:]
        ]
        name = self.table(
            f"which{k}", ("found",), [0, *which].__getitem__, self.numbers
        )
        self.operations[f"written{k}"] = Map(Select(), (name, *channels))
        return f"written{k}"

    def function_of_letters(self, asked: Computed) -> str:
        """A function of letters, each a fixed number of positions back."""
        function, inputs = self.source.functions[asked.function], list[str]()
        name = f"function{asked.function}({','.join(map(str, asked.places))})"
        columns = [np.unique(column) for column in function.rows.T]
        for i, (back, column) in enumerate(zip(asked.places, columns, strict=True)):
            of = [token if token in column else int(column[0]) for token in self.tokens]
            inputs.append(
                self.ago(self.of_token(f"letter{asked.function}.{i}", of), back)
            )
        self.count(prod(map(len, columns)))
        rows = joint(columns)
        at = function.place(list(rows.T))
        values = np.where(at < 0, function.values.min(), function.values[at])
        self.operations[name] = Map(Table(rows, values), tuple(inputs))
        return name

    def carry_line_facts(self) -> None:
        """Carry the facts known at a line's end to each position of the next line."""
        known = {"room": "room", "rule": "rule"}
        known |= {f"write{k}": self.replacement_letter(k) for k in range(self.most)}
        for name, read in known.items():
            self.operations[f"{name}.line"] = Latest(read, "mark")
        self.piecewise("room.copy", ("room.line",), rectify(argument(0)))
        carried = {name: f"{name}.line" for name in known}
        carried |= {"room": "room.copy", "letters": "letters"}
        for name, read in carried.items():
            self.operations[f"{name}.last"] = Latest(read, "ends")

    def next(self) -> None:
        """The next token: a letter that is written, or one of the line before.

        ``place`` counts the letters from the first one that is written on, which is 1.
        """
        p, most, rules = argument, self.most, self.source.rules
        size = [0, *(len(rule.writes) for rule in rules)]
        less = [0, *(r.stop - r.start - len(r.writes) for r in rules)]
        place = p(0) - p(1) + p(2) - self.source.longest
        self.piecewise(
            "place", ("position", "begin", "room.last"), clamp(place, most + 1)
        )
        here, values = ("place", "rule.last"), (range(most + 2), self.numbers)
        self.table("gone", here, lambda i, r: less[r] * (i > size[r]), *values)
        self.table("asked", here, lambda i, r: i * (i <= size[r]), *values)
        self.piecewise("back", ("letters.last", "gone"), rectify(p(0) - p(1)))
        self.operations["fetched"] = ShiftBy("letter", "back")
        self.window("following", -1, True)
        self.table(
            "so-far", ("found", "seen"), lambda r, s: r > 0 or s, self.numbers, BITS
        )
        now = ("so-far", "ends", "following")
        self.table("more", now, lambda s, e, f: f or s > e, BITS, BITS, BITS)
        end = self.source.end
        self.table(
            "copied",
            ("fetched", "more"),
            lambda a, more: a + 1 - more if a == end else a,
            self.tokens,
            BITS,
        )
        writes = (f"write{k}.last" for k in range(most))
        self.operations["next"] = Map(Select(), ("asked", "copied", *writes))


def clamp(e: Expression, most: int) -> Expression:
    """min(max(e, 0), most)."""
    return rectify(e) - rectify(e - most)
