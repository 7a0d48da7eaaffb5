"""Rewriting systems as text, their unused rules, and random lines of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from krohn.kinds.rewriting.statement import (
    END,
    Computed,
    Line,
    Rewriting,
    Rule,
    check_rule,
)
from krohn.program.errors import Refused, demand, told_as
from krohn.program.functions import Table

USUAL_LONGEST, MOST_TEXT, MOST_LETTERS = 8, 100_000, 256
ARROW, OPENING, CLOSING = "->", "[", "]"
ALL = "any"


def read_text(text: str, name: str, longest: int | None = None) -> Rewriting:
    """The rewriting system of a text.

    Args:
        text: One statement a line: ``letters a b``, ``set vowel = a e``, ``longest 12``,
            ``rule x:vowel [ b ] -> x``. ``#`` begins a comment.
        name: What it is called.
        longest: How many letters a line has at most; None for what the text says.

    Raises:
        Refused: With the line that is wrong.
    """
    demand(len(text) <= MOST_TEXT, f"a text of rules has at most {MOST_TEXT:,} letters")
    made, lines = _Reading(), list[int]()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        with told_as(Refused, f"line {number}: "):
            known = words[0] in _STATEMENTS
            demand(known, f"a line begins with {', '.join(_STATEMENTS)}")
            _STATEMENTS[words[0]](made, words[1:])
        lines += [number] * (len(made.rules) - len(lines))
    demand(bool(made.rules), "no line says a rule, as in: rule b a -> a b")
    most = longest or made.longest
    rules, functions = tuple(made.rules), tuple(made.functions)
    return Rewriting(name, tuple(made.letters), rules, functions, most, tuple(lines))


@dataclass
class _Reading:
    """The part of a text that was read so far.

    Attributes:
        letters: The names of the letters.
        sets: Letters by the name of a set.
        rules: The rules.
        functions: Copies of letters, one for each set that some are copied from.
        longest: How many letters a line has at most.
    """

    letters: list[str] = field(default_factory=list)
    sets: dict[str, tuple[int, ...]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    functions: list[Table] = field(default_factory=list)
    longest: int = USUAL_LONGEST

    def add_letters(self, words: list[str]) -> None:
        """``letters a b 0..9``."""
        demand(not self.letters, "letters are said once, before all rules")
        self.letters = [letter for word in words for letter in _range(word)]
        demand(len(self.letters) <= MOST_LETTERS, "there are too many letters")
        twice = next((x for x in self.letters if self.letters.count(x) > 1), "")
        demand(not twice, f"the letter {twice} is said twice")
        wrong = next((x for x in self.letters if x in (END, ALL, ARROW)), "")
        demand(not wrong, f"a letter cannot be called {wrong}")

    def add_set(self, words: list[str]) -> None:
        """``set digit = 0..9``."""
        demand(len(words) > 2 and words[1] == "=", "a set is said as: set NAME = a b c")
        free = words[0] not in (*self.letters, *self.sets, ALL)
        demand(free, f"{words[0]} has a meaning already")
        names = [letter for word in words[2:] for letter in _range(word)]
        self.sets[words[0]] = tuple(sorted({self.letter(name) for name in names}))

    def add_longest(self, words: list[str]) -> None:
        """``longest 12``."""
        number = words[0] if len(words) == 1 else ""
        demand(number.isdecimal() and len(number) < 6, "longest takes one number")
        self.longest = int(number)

    def add_rule(self, words: list[str]) -> None:
        """``rule b a -> a b``, or with what stands around ``rule a [ b ] -> c``.

        Without brackets an ``=`` at an end stands around, and may be said on the right.
        """
        demand(words.count(ARROW) == 1, "a rule is said as: rule a b -> c")
        at = words.index(ARROW)
        for read in self.alike(words[:at]):
            self.add_window(read, words[at + 1 :])

    def alike(self, read: list[str]) -> list[list[str]]:
        """The left sides that a left side means which says a name again: ``x:bit x``."""
        places = [(i, w) for i, w in enumerate(read) if w not in self.letters]
        named = {word.rpartition(":")[0]: i for i, word in reversed(places)}
        for at, word in enumerate(read):
            first = named.get(word, at)
            if word and word not in self.letters and first < at:
                _, known = self.place(read[first])
                demand(len(self.letters) not in known, f"{END} is read twice as {word}")
                sides = []
                for letter in (self.letters[x] for x in known):
                    side = [letter if w == word else w for w in read]
                    side[first] = f"{word}:{letter}"
                    sides += self.alike(side)
                return sides
        return [read]

    def add_window(self, read: list[str], written: list[str]) -> None:
        """A rule whose left side is a window, with what is written."""
        marked = OPENING in read and OPENING not in self.letters
        start = read.index(OPENING) if marked else 0
        stop = read.index(CLOSING) - 1 if marked and CLOSING in read else len(read)
        if not marked and len(read) > 1:
            start, stop = int(read[0] == END), len(read) - (read[-1] == END)
            written = _within(read, written)
        items = [w for w in read if not marked or w not in (OPENING, CLOSING)]
        whole = not marked or (read.count(OPENING), read.count(CLOSING)) == (1, 1)
        demand(whole, "the replaced letters stand between one [ and one ]")
        names, window = zip(*map(self.place, items), strict=True) if items else ((), ())
        writes = tuple(self.output(w, names, window) for w in written)
        rule = Rule(window, start, stop, writes)
        with told_as(Refused, "the rule "):
            check_rule(rule, self.letters, self.functions)
        self.rules.append(rule)

    def place(self, word: str) -> tuple[str, tuple[int, ...]]:
        """The name of a place, and the letters that it may hold: ``x:digit``, ``a|b|=``."""
        name, colon, description = word.rpartition(":")
        if word in self.letters or not colon or not name:
            name, description = "", word
        demand(name not in self.letters, f"{name} is a letter")
        parts = [description] if description in self.letters else description.split("|")
        letters = {letter for part in parts for letter in self.resolve_letters(part)}
        return name, tuple(sorted(letters))

    def resolve_letters(self, part: str) -> tuple[int, ...]:
        """A letter, all of a set, or the end of a line."""
        if part == END:
            return (len(self.letters),)
        if part == ALL:
            return tuple(range(len(self.letters)))
        return self.sets[part] if part in self.sets else (self.letter(part),)

    def letter(self, name: str) -> int:
        """The number of a letter."""
        demand(name in self.letters, f"{name} is no letter")
        return self.letters.index(name)

    def output(
        self, word: str, names: tuple[str, ...], window: tuple[tuple[int, ...], ...]
    ) -> int | Computed:
        """A letter that is written, or one that was read by a name."""
        if word not in names:
            return self.letter(word)
        demand(names.count(word) == 1, f"{word} is read twice")
        place = names.index(word)
        column = np.array(window[place])
        copy = Table(column[:, None], column)
        if copy not in self.functions:
            self.functions.append(copy)
        return Computed(self.functions.index(copy), (place,))


_STATEMENTS = {
    "letters": _Reading.add_letters,
    "set": _Reading.add_set,
    "longest": _Reading.add_longest,
    "rule": _Reading.add_rule,
}


def _within(read: list[str], written: list[str]) -> list[str]:
    """The right side of a rule without the ends of a line that stand on both sides."""
    if written[:1] == read[:1] == [END]:
        written = written[1:]
    if written[-1:] == read[-1:] == [END]:
        written = written[:-1]
    return written


def _range(word: str) -> list[str]:
    """``0..9`` or ``a..z``; another word is a letter itself."""
    low, dots, high = word.partition("..")
    if not dots or not low or not high:
        return [word]
    if low.isdecimal() and high.isdecimal() and len(low + high) < 8:
        return [str(x) for x in range(int(low), int(high) + 1)]
    demand(len(low) == len(high) == 1, f"{word} is no range of letters")
    return [chr(x) for x in range(ord(low), ord(high) + 1)]


# Rules of rewriting systems that no line is ever changed by.


MOST_WORK = 2**20
"""Windows that are held against others, for all rules; then nothing is said of a rule."""
Window = Sequence[frozenset[int]]


def find_unused_rules(system: Rewriting) -> list[int]:
    """The numbers of the rules that never apply, the first one 1, whatever the line is.

    Wherever such a rule fits, a window of another rule ends sooner, or at the same place
    and stands before it in the list; or no line is as long as its window. A rule that is
    not in the list may have no line, too: which letters come together is not looked at.
    """
    work = MOST_WORK // len(system.rules)
    return [
        i
        for i, rule in enumerate(system.rules, 1)
        if len(rule.window) > system.longest + 2
        or _is_covered(_sets(rule), _sooner(system.rules, i - 1), work)
    ]


def _sets(rule: Rule) -> list[frozenset[int]]:
    return [frozenset(letters) for letters in rule.window]


def _sooner(rules: Sequence[Rule], at: int) -> Iterator[tuple[int, Window]]:
    """Windows that lie in that of a rule and are taken before it, and where they begin."""
    size = len(rules[at].window)
    for i, other in enumerate(rules):
        own = len(other.window)
        for first in range(size - own + (i < at)):
            yield first, _sets(other)


def _is_covered(
    window: Window, covers: Iterator[tuple[int, Window]], work: int
) -> bool:
    """Whether all that fits a window is shown to fit one of those in it."""
    parts = [list(window)]
    for first, cover in covers:
        work -= len(parts)
        if work < 0:
            return False
        left = []
        for part in parts:
            rest = list(part)
            for place, letters in enumerate(cover, first):
                if outside := rest[place] - letters:
                    left.append([*rest[:place], outside, *rest[place + 1 :]])
                rest[place] &= letters
                if not rest[place]:
                    break
        parts = left
    return not parts


# Random lines of a rewriting system, and texts in which any place that fits is taken.


MOST_TRIES = 50


def random_line(system: Rewriting, rng: np.random.Generator, steps: int) -> Line:
    """A line made by rules backwards from a letter that one writes, if any does.

    Feng et al. (2023) take a number, and replace numbers by operations with this value.

    Args:
        system: The rewriting system.
        rng: Where chance comes from.
        steps: How often a rule is applied backwards, if one can be.
    """
    line: Line = (int(rng.choice(_letters_written(system) or range(system.end))),)
    for _ in range(steps):
        for _ in range(MOST_TRIES):
            rule = system.rules[rng.integers(len(system.rules))]
            at = int(rng.integers(-rule.start, len(line) + 1))
            earlier = _before(system, line, rule, at, rng)
            if earlier is not None and len(earlier) <= system.longest:
                line = earlier
                break
    return line


def random_lines(system: Rewriting, rng: np.random.Generator, count: int) -> list[Line]:
    """Lines, of which half are made by rules backwards, half of random letters."""
    lines: list[Line] = []
    for i in range(count):
        if i % 2:
            size = int(rng.integers(1, system.longest + 1))
            lines.append(tuple(rng.integers(system.end, size=size).tolist()))
        else:
            steps = int(rng.integers(system.longest + 1))
            lines.append(random_line(system, rng, steps))
    return lines


def _letters_written(system: Rewriting) -> list[int]:
    """The letters that rules write."""
    letters = set[int]()
    for written in (w for rule in system.rules for w in rule.writes):
        if isinstance(written, Computed):
            letters |= set(system.functions[written.function].values.tolist())
        else:
            letters.add(written)
    return sorted(letters)


def _before(
    system: Rewriting, line: Line, rule: Rule, at: int, rng: np.random.Generator
) -> Line | None:
    """A line that a rule could have changed at a place into this one, if there is one."""
    around = (system.end, *line, system.end)
    start, after = at + 1 + rule.start, at + 1 + rule.start + len(rule.writes)
    rest = len(rule.window) - rule.stop
    if start - rule.start < 0 or after + rest > len(around) or after >= len(around):
        return None
    window = [x[rng.integers(len(x))] for x in rule.window]
    window[: rule.start] = around[start - rule.start : start]
    window[rule.stop :] = around[after : after + rest]
    for written, letter in zip(rule.writes, around[start:after], strict=True):
        if isinstance(written, Computed):
            function = system.functions[written.function]
            rows = function.rows[function.values == letter]
            kept = [
                np.isin(column, rule.window[place])
                for column, place in zip(rows.T, written.places, strict=True)
            ]
            rows = rows[np.all(kept, axis=0)]
            if not len(rows):
                return None
            for place, value in zip(written.places, rng.choice(rows), strict=True):
                window[place] = int(value)
        elif written != letter:
            return None
    fits = all(x in letters for x, letters in zip(window, rule.window, strict=True))
    if not fits or start == 0:
        return None
    changed = window[rule.start : rule.stop]
    return (*around[1:start], *changed, *around[after:-1])
