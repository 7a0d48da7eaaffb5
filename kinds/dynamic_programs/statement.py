"""Chains of thought: texts that are computed token by token from the tokens before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from krohn.program.domains import LARGEST, IntArray
from krohn.program.errors import Refused, demand
from krohn.program.expressions import Bounds, Expression, Interval, read_expression

MOST_STEPS, MOST_RULES, MOST_ATOMS = 2**16, 64, 2**20
"""Steps, rules, and atoms of the rules of all steps together."""


class Argument(NamedTuple):
    """An argument of a step: a constant plus the content of the token at a place.

    Attributes:
        place: 1 for the first token of the text; 0 for nothing, whose content is 0.
        constant: What is added, 0 or more.
    """

    place: int
    constant: int


class Step(NamedTuple):
    """How one token is found.

    Attributes:
        token: The token, if it is always the same; else None.
        rule: Else the expression that says the number.
        reads: The arguments of the rule.
    """

    token: int | None
    rule: int
    reads: tuple[Argument, ...]


@dataclass(frozen=True)
class ChainOfThought:
    """A family of texts: a prompt of a fixed form, and how it is continued.

    The tokens ``0..numbers-1`` are these numbers. Dynamic programs of a fixed size are
    chains of thought: each cell is a step (Feng et al. 2023; Yang et al. 2024, App. B).

    Attributes:
        name: What it is called.
        tokens: The name of each token; those of numbers ascend by 1, the first one is
            that of the number that is told apart as 0, which may be negative.
        contents: What each token counts where it is read: a number itself.
        numbers: How many tokens are numbers.
        prompt: The first and the last token that may stand at each place of the prompt.
        rules: Expressions of the arguments of a step.
        steps: How each token after the prompt is found.
        answer: The place of the token that is the answer.
    """

    name: str
    tokens: tuple[str, ...]
    contents: tuple[int, ...]
    numbers: int
    prompt: tuple[Interval, ...]
    rules: tuple[Expression, ...]
    steps: tuple[Step, ...]
    answer: int

    def __post_init__(self) -> None:
        """Refuse a malformed chain of thought.

        Raises:
            Refused: With the step or the place that is wrong.
        """
        count, n = len(self.tokens), len(self.prompt)
        demand(len(set(self.tokens)) == count, "two tokens have the same name")
        demand(0 < self.numbers <= count, "there are no tokens that are numbers")
        first = self.tokens[0].removeprefix("-")
        least = int(self.tokens[0]) if first.isdecimal() else 0
        right = [str(least + number) for number in range(self.numbers)]
        named = list(self.tokens[: self.numbers]) == right
        demand(named, "a number has the name of another one, or of none")
        demand(len(self.contents) == count, "a token has no content")
        own = self.contents[: self.numbers] == tuple(range(self.numbers))
        demand(own, "the content of a number is not that number")
        demand(min(self.contents) >= 0, "the content of a token is negative")
        demand(n > 0, "there is no prompt, and no network says what stands first")
        for low, high in self.prompt:
            demand(
                0 <= low <= high < count, "no token may stand at a place of the prompt"
            )
        for i, step in enumerate(self.steps):
            self._check(i, step)
        inside = n < self.answer <= self.length
        demand(inside, "the answer is no token after the prompt")

    def _check(self, i: int, step: Step) -> None:
        at = len(self.prompt) + 1 + i
        if step.token is not None:
            demand(0 <= step.token < len(self.tokens), f"step {i}: no such token")
            return
        demand(0 <= step.rule < len(self.rules), f"step {i}: no such rule")
        needed = max(self.rules[step.rule].arguments, default=-1) + 1
        demand(len(step.reads) >= needed, f"step {i}: an argument is missing")
        for place, constant in step.reads:
            demand(
                0 <= place < at, f"step {i} reads a token that comes later ({place})"
            )
            demand(constant >= 0, f"step {i} adds a negative constant")

    @property
    def length(self) -> int:
        """How many tokens a whole text has."""
        return len(self.prompt) + len(self.steps)

    @property
    def locality(self) -> int:
        """How far back a step reads at most, inputs included (Yang et al. 2024, 5.3)."""
        first = len(self.prompt) + 1
        back = (
            first + i - read.place
            for i, step in enumerate(self.steps)
            for read in step.reads
            if read.place
        )
        return max(back, default=0)

    def boxes(self) -> list[Interval]:
        """The least and the largest content at each place, over all texts; place 0 holds 0.

        Raises:
            Refused: If a number can be negative or larger than all tokens, or there is too
                much to be bounded.
        """
        sizes = [self.rules[s.rule].size for s in self.steps if s.token is None]
        demand(sum(sizes) <= MOST_ATOMS, "the rules of all steps are too long")
        boxes: list[Interval] = [(0, 0)]
        for low, high in self.prompt:
            contents = self.contents[low : high + 1]
            boxes.append((min(contents), max(contents)))
        for i, step in enumerate(self.steps):
            if step.token is not None:
                boxes.append((self.contents[step.token],) * 2)
                continue
            box = {}
            for k, (place, constant) in enumerate(step.reads):
                low, high = boxes[place]
                box[k] = (low + constant, high + constant)
            low, high = Bounds(box).of(self.rules[step.rule])
            demand(
                0 <= low <= high < self.numbers,
                f"step {i}: the number can be {low} or {high}, and there are tokens for "
                f"0 to {self.numbers - 1}",
            )
            boxes.append((low, high))
        return boxes

    def continue_prompts(self, prompts: IntArray) -> IntArray:
        """The whole texts, ``(batch, length)``, from prompts ``(batch, prompt)``.

        Raises:
            Refused: If a prompt has a token where it may not stand.
        """
        low, high = np.array(self.prompt).reshape(-1, 2).T
        fits = prompts.shape[1] == len(low) and ((low <= prompts) & (prompts <= high))
        demand(fits, "the prompt is not of the form that the chain of thought is for")
        text = np.zeros((len(prompts), self.length), np.int64)
        text[:, : len(low)] = prompts
        content = np.zeros((len(prompts), self.length + 1), np.int64)
        contents = np.array(self.contents)
        content[:, 1 : len(low) + 1] = contents[prompts]
        for at, step in enumerate(self.steps, len(low)):
            if step.token is not None:
                text[:, at] = step.token
            else:
                read = [content[:, place] + constant for place, constant in step.reads]
                text[:, at] = self.rules[step.rule](read)
                small = (text[:, at] >= 0) & (text[:, at] < self.numbers)
                demand(small, f"step {at - len(low)}: there is no token for a number")
            content[:, at + 1] = contents[text[:, at]]
        return text

    def to_wire(self) -> dict[str, Any]:
        """As a model file states it."""
        steps = [
            step.token
            if step.token is not None
            else [step.rule, *map(list, step.reads)]
            for step in self.steps
        ]
        return {
            "name": self.name,
            "letters": list(self.tokens),
            "contents": list(self.contents),
            "numbers": self.numbers,
            "prompt": [list(ends) for ends in self.prompt],
            "rules": [rule.to_wire() for rule in self.rules],
            "steps": steps,
            "answer": self.answer,
        }

    @classmethod
    def from_wire(cls, told: Mapping[str, Any]) -> Self:
        """A chain of thought from its description in a model file, read strictly.

        Raises:
            Refused: If it is malformed.
            LookupError: If something is missing.
            TypeError: If something is of another type.
        """
        names, listed, rules = told["letters"], told["steps"], told["rules"]
        demand(type(names) is list and all(type(n) is str for n in names), "no names")
        demand(type(listed) is list and len(listed) <= MOST_STEPS, "too many steps")
        demand(type(rules) is list and len(rules) <= MOST_RULES, "too many rules")
        steps = tuple(_step(one) for one in listed)
        most = max((len(step.reads) for step in steps), default=0)
        _check_sizes(told.get("written"))
        return cls(
            str(told["name"]),
            tuple(names),
            tuple(map(_number, told["contents"])),
            _number(told["numbers"]),
            tuple(_pair(ends) for ends in told["prompt"]),
            tuple(read_expression(rule, most) for rule in rules),
            steps,
            _number(told["answer"]),
        )


def _check_sizes(written: Any) -> None:
    """The sizes of a text that says the steps are numbers, though only they are read."""
    if written is not None:
        sizes = written.get("given") if isinstance(written, Mapping) else None
        if not isinstance(sizes, Mapping):
            raise Refused("it does not say the sizes of its text")
        for size in sizes.values():
            whole = type(size) is int and abs(size) < LARGEST
            demand(whole, "a size of its text is no number, or too large")


def _step(told: Any) -> Step:
    if type(told) is int:
        return Step(_number(told), 0, ())
    rule, *reads = told
    return Step(None, _number(rule), tuple(Argument(*_pair(each)) for each in reads))


def _pair(told: Sequence[Any]) -> tuple[int, int]:
    low, high = told
    return _number(low), _number(high)


def _number(told: Any) -> int:
    if type(told) is not int or not 0 <= told < LARGEST:
        raise Refused(f"{str(told)[:40]!r} is no number from 0 on")
    return told
