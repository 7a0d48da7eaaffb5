"""A grammar cut at a depth, and how far its law is from that of the whole one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from krohn.kinds.grammars.source_grammar import (
    END,
    Grammar,
    solve_fixed_points,
)
from krohn.kinds.grammars.source_words import (
    Words,
    floats,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, demand, told_as
from krohn.program.word_texts import join_letters

# A grammar cut at a depth: with a bounded stack it is a hidden Markov model.
#
# A derivation replaces the leftmost symbol. What is left of a rule while one of its
# symbols is replaced waits on a stack, but nothing waits for the last symbol of a
# rule: that one takes the place of the rule. The depth of a derivation is the greatest
# number of rules that wait while a symbol is replaced. So ``S -> ( S ) S`` waits once
# for each open bracket, and a right-recursive rule never; a left-recursive one waits
# at each step.


MOST_STACKS, DEEPEST = 1024, 64
Rest = tuple[str, ...]
Stack = tuple[Rest, ...]
"""The ends of rules that wait, the last to be done first; none of them is empty."""
Moves = dict[tuple[str, Stack], Fraction]
Shares = dict[tuple[str, int], Fraction]


@dataclass(frozen=True)
class Depths:
    """How likely derivations from each symbol are to stay within depths 0, 1, …, D.

    Attributes:
        grammar: The grammar.
        within: By the depth, by the symbol.
    """

    grammar: Grammar
    within: tuple[dict[str, Fraction], ...]

    @property
    def sentences(self) -> tuple[Fraction, ...]:
        """How likely a sentence's derivation is to stay within each depth."""
        return tuple(each[self.grammar.start] for each in self.within)

    def symbol(self, name: str, depth: int) -> Fraction:
        """How likely a symbol's derivation is to stay within a depth; letters have none."""
        if name not in self.grammar.of:
            return Fraction(1)
        return self.within[depth][name] if depth >= 0 else Fraction()

    def rest(self, rest: Rest, depth: int) -> Fraction:
        """How likely the end of a rule is to stay within a depth."""
        probability = self.symbol(rest[-1], depth)
        for name in rest[:-1]:
            probability *= self.symbol(name, depth - 1)
        return probability

    def stack(self, stack: Stack) -> Fraction:
        """How likely it is for all that waits."""
        probability, most = Fraction(1), len(self.within) - 1
        for below, rest in enumerate(stack):
            probability *= self.rest(rest, most - below)
        return probability


def depths(grammar: Grammar, most: int) -> Depths:
    """How likely derivations are to stay within each depth up to ``most``, exactly.

    Last symbols keep the depth, so these are linear equations for each depth, whose other
    factors are of the depth before.

    Raises:
        Refused: If the depth is out of range.
    """
    demand(0 <= most <= DEEPEST, f"a depth is from 0 to {DEEPEST}, not {most}")
    heads, levels = list(grammar.of), list[dict[str, Fraction]]()
    number = {head: i for i, head in enumerate(heads)}
    for depth in range(most + 1):
        known = Depths(grammar, tuple(levels))
        constant = [Fraction() for _ in heads]
        matrix = [[Fraction() for _ in heads] for _ in heads]
        for rule in grammar.rules:
            weight, at = rule.weight, number[rule.head]
            for name in rule.body[:-1]:
                weight *= known.symbol(name, depth - 1)
            if rule.body and rule.body[-1] in number:
                matrix[at][number[rule.body[-1]]] += weight
            else:
                constant[at] += weight
        solution = solve_fixed_points(matrix, [constant])
        assert (
            solution is not None
        )  # its entries are no larger than those of a tight grammar
        levels.append(dict(zip(heads, solution[0], strict=True)))
    return Depths(grammar, tuple(levels))


def moves(grammar: Grammar, stack: Stack, depth: int, counts: bool = False) -> Moves:
    """Which letter comes next, and what waits then, with their probabilities.

    With ``counts``, in how many ways that is.

    Raises:
        Refused: If rules lead back to where they were without a letter.
    """
    shares, waiting = Moves(), {stack: Fraction(1)}
    steps = 0
    while waiting:
        now, share = waiting.popitem()
        steps += 1
        demand(
            steps <= MOST_STACKS * len(grammar.rules),
            f"{grammar.name} replaces symbols for ever before a letter comes",
        )
        if not now:
            key = END, _first(grammar)
            shares[key] = shares.get(key, Fraction()) + share
            continue
        name, *more = now[-1]
        below = now[:-1] + ((tuple(more),) if more else ())
        if name not in grammar.of:
            shares[name, below] = shares.get((name, below), Fraction()) + share
        elif len(below) <= depth:
            for rule in grammar.of[name]:
                after = below + ((rule.body,) if rule.body else ())
                weight = Fraction(1) if counts else rule.weight
                waiting[after] = waiting.get(after, Fraction()) + share * weight
    return shares


def _first(grammar: Grammar) -> Stack:
    return ((grammar.start,),)


def cut(grammar: Grammar, depth: int) -> HiddenMarkovModel:
    """The sentences of up to a depth, one after the other, each ended by `END`.

    A state is what waits after a letter. The law is that of the grammar's derivations on
    condition that they stay within the depth: each move is weighed by how likely that is
    from where it leads, relative to where it starts (Doob's transform).

    Raises:
        Refused: If no derivation is so shallow, or there are too many stacks.
    """
    return _model(grammar, depth, *transitions(grammar, depth))


def transitions(grammar: Grammar, depth: int) -> tuple[list[Stack], list[Shares]]:
    """The stacks of `cut`, and from each how likely which letter and stack are, exactly.

    Raises:
        Refused: If no derivation is so shallow, or there are too many stacks.
    """
    known, stacks, reached = _reach_stacks(grammar, depth, False)
    rows = list[Shares]()
    for here, next_moves in zip(stacks, reached, strict=True):
        own, row = known.stack(here), Shares()
        for (letter, after), share in next_moves.items():
            later = Fraction(1) if letter == END else known.stack(after)
            row[letter, stacks[after]] = share * later / own
        rows.append(row)
    return list(stacks), rows


def derivations(grammar: Grammar, depth: int) -> HiddenMarkovModel:
    """The weighted automaton that gives a sentence the number of its derivations.

    Only those within the depth are counted. The vector after the first letters of a
    sentence counts, for each stack, the ways that lead to it.

    Raises:
        Refused: If no derivation is so shallow, or there are too many stacks.
    """
    _, stacks, reached = _reach_stacks(grammar, depth, True)
    size = len(stacks)
    matrices = {letter: np.zeros((size, size)) for letter in grammar.letters}
    final = np.zeros(size)
    for source, row in enumerate(reached):
        for (letter, after), ways in row.items():
            if letter == END:
                final[source] = float(ways)
            else:
                matrices[letter][source, stacks[after]] = float(ways)
    name = f"{grammar.name}:depth={depth}:derivations"
    start = np.eye(size)[0]
    return HiddenMarkovModel.weighted(name, start, matrices, final, _names(stacks))


def _reach_stacks(
    grammar: Grammar, depth: int, counts: bool
) -> tuple[Depths, dict[Stack, int], list[Moves]]:
    """The stacks from which a derivation can end within the depth, and their moves.

    Raises:
        Refused: If there are none, or too many.
    """
    known = depths(grammar, depth)
    demand(
        known.sentences[depth] > 0,
        f"no sentence of {grammar.name} has depth {depth}; take a greater depth",
    )
    stacks, rows = {_first(grammar): 0}, list[Moves]()
    while len(rows) < len(stacks):
        every = moves(grammar, list(stacks)[len(rows)], depth, counts)
        rows.append(
            {k: x for k, x in every.items() if k[0] == END or known.stack(k[1])}
        )
        for _, after in rows[-1]:
            stacks.setdefault(after, len(stacks))
        demand(
            len(stacks) <= MOST_STACKS,
            f"{grammar.name} has more than {MOST_STACKS:,} stacks of depth {depth}; take "
            "a smaller depth",
        )
    return known, stacks, rows


def _names(stacks: Iterable[Stack]) -> tuple[str, ...]:
    """Symbols that wait on a stack, the next first."""
    waiting = [tuple(reversed(stack)) for stack in stacks]
    names = [join_letters([x for rest in stack for x in rest]) for stack in waiting]
    if len(set(names)) < len(names):
        names = [" | ".join(map(join_letters, stack)) for stack in waiting]
    return tuple(name or "(end)" for name in names)


def _model(
    grammar: Grammar,
    depth: int,
    stacks: Sequence[Stack],
    rows: Sequence[Shares],
) -> HiddenMarkovModel:
    letters = (*grammar.letters, END)
    number = {letter: i for i, letter in enumerate(letters)}
    operators = np.zeros((len(letters), len(stacks), len(stacks)))
    for source, row in enumerate(rows):
        for (letter, target), share in row.items():
            operators[number[letter], target, source] = float(share)
    start = np.zeros(len(stacks))
    start[0] = 1.0
    with told_as(Refused, f"{grammar.name} cut at depth {depth}: "):
        return HiddenMarkovModel(
            f"{grammar.name}:depth={depth}",
            _names(stacks),
            letters,
            operators,
            start,
            remark=grammar.remark,
        )


# How far the law of the next letter of a cut grammar is from that of the whole one.


MOST_WORDS = 50_000
SMALL = 1e-14
"""A prefix that is less likely comes of rounding alone: no sentence begins so."""


class Row(NamedTuple):
    """Prefixes of one length of a sentence.

    Attributes:
        length: How many letters.
        prefixes: How many there are.
        reached: How likely a sentence of the grammar has so many letters or more.
        beyond: Of these, the part that begins as no sentence within the depth does.
        variation: The mean total variation between the two laws of the next letter, over
            prefixes of the grammar; 1 for those that the cut never says.
        divergence: What letters of this length add to D(cut ‖ grammar), in nats: the mean
            over prefixes of the cut.
    """

    length: int
    prefixes: int
    reached: float
    beyond: float
    variation: float
    divergence: float


@dataclass(frozen=True)
class _Level:
    """All prefixes of one length, ``(prefixes, length)``, and how likely they are."""

    words: IntArray
    own: FloatArray
    cut: FloatArray


def compare_laws(grammar: Grammar, model: HiddenMarkovModel, length: int) -> list[Row]:
    """The two laws after all prefixes of up to some length.

    Args:
        grammar: The whole grammar.
        model: The same, `cut`.
        length: The longest prefixes.

    Raises:
        Refused: If there are too many prefixes.
    """
    asked, rows = Words(grammar), list[Row]()
    level = _Level(np.zeros((1, 0), np.int64), np.ones(1), np.ones(1))
    for at in range(length + 1):
        own = floats(asked.following(level.words))
        cut = _following(model, level.words)
        law = own / own.sum(axis=1, keepdims=True)
        possible = cut.sum(axis=1) > 0
        apart = np.where(possible, np.abs(law - cut).sum(axis=1) / 2, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(cut > 0, cut * np.log(cut / law), 0.0).sum(axis=1)
        reached = float(level.own.sum())
        beyond = float(level.own[~possible].sum())
        rows.append(
            Row(
                at,
                len(level.words),
                reached,
                beyond / reached,
                float(level.own @ apart) / reached,
                float(level.cut @ gain),
            )
        )
        level = _longer(level, own, cut)
        if not len(level.words):
            break
        demand(
            len(level.words) <= MOST_WORDS or at == length,
            f"there are more than {MOST_WORDS:,} prefixes of {at + 1} letters; ask for "
            f"{at} letters",
        )
    return rows


def _following(model: HiddenMarkovModel, words: IntArray) -> FloatArray:
    """``(words, letters)``: the law of the next letter; 0 after what it never says."""
    if not words.shape[1]:
        return np.tile(model.predict(model.start), (len(words), 1))
    beliefs = model.filter(words)[0][:, -1]
    return np.nan_to_num(model.predict(beliefs))


def _longer(level: _Level, own: FloatArray, cut: FloatArray) -> _Level:
    """All prefixes with one more letter."""
    row, letter = np.nonzero(own[:, :-1] > SMALL)
    words = np.hstack([level.words[row], letter[:, None]])
    return _Level(words, own[row, letter], level.cut[row] * cut[row, letter])
