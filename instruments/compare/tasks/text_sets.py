"""Sets of texts for training and for testing, no prompt of which is in both."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.public_texts import (
    EditDistances,
    Expressions,
    Increasing,
    IncreasingSteps,
    LocalEditDistances,
)
from krohn.instruments.compare.tasks.texts import EOS, Steps, Texts
from krohn.program.writing import atomic_write, whole_directory
from krohn.report import Progress, silent

FORMATS = ("krohn", "feng")
MOST_TEXTS, MOST_TOKENS = 10**7, 2**32
MOST_NUMBERED = 2**24
"""So many prompts are numbered; of more, random ones are compared with those before."""
BATCH, PATIENCE, AT_LEAST = 1024, 20, 10_000
"""Texts drawn together; so often, and so often at least, a new prompt is looked for."""
INDEX = "texts.json"

_PUBLIC = re.compile(
    r"(?P<family>[A-Za-z]+?)(?P<size>\d{1,4})(?:,(?P<prime>\d{1,4}))?"
    r"(?::(?P<option>\w+)=(?P<value>\w+))?"
)
_WITH_OPTION: dict[str, str] = {
    "EditDistance": "boundary",
    "LocalEditDistance": "boundary",
    "Arithmetic": "handles",
}


@dataclass(frozen=True)
class TextSet:
    """Which texts are asked for.

    Attributes:
        source: The name of a dynamic program or a rewriting system.
        form: ``krohn``: texts as they are compiled, a line of JSON each. ``feng``: those of
            Feng et al. (2023), with their distributions, their signs and their files.
        train: How many texts there are for training.
        test: How many for testing.
        seed: Of all random choices.
        fewer: Whether training has expressions of fewer operators, too: of k operators a
            share that is proportional to k.

    Raises:
        KrohnError: If there are no such texts, or too many are asked for.
    """

    source: str
    form: str
    train: int
    test: int
    seed: int = 0
    fewer: bool = False

    def __post_init__(self) -> None:
        if self.form not in FORMATS:
            raise KrohnError(f"--format takes krohn or feng, not {self.form!r}")
        count = self.train + self.test
        if count > MOST_TEXTS or count * self.texts.longest > MOST_TOKENS:
            raise KrohnError(
                f"{count:,} texts of up to {self.texts.longest:,} tokens are too many; "
                f"up to {MOST_TEXTS:,} texts and {MOST_TOKENS:,} tokens are written"
            )
        if self.prompts is not None and count > self.prompts:
            raise KrohnError(
                f"{self.source} has {self.prompts:,} prompts, and {self.train:,} + "
                f"{self.test:,} are asked for; ask for fewer texts, or larger sizes"
            )
        if self.fewer and self.operators is None:
            raise KrohnError("--fewer-operators is for arithmetic")

    @cached_property
    def texts(self) -> Texts:
        """The distribution that they are drawn from."""
        return Steps(self.source) if self.form == "krohn" else public_texts(self.source)

    @property
    def prompts(self) -> int | None:
        """How many prompts there are, where that is known."""
        texts = self.texts
        return texts.chain.prompts if isinstance(texts, Steps) else None

    @property
    def operators(self) -> int | None:
        """How many operators expressions have; None of other texts."""
        match = re.match(r"Arithmetic(\d+)", self.source)
        return int(match[1]) if match else None

    def draw(self) -> Iterator[tuple[str, IntArray]]:
        """Texts ``(count, tokens)``, in parts, each for ``train`` or ``test``."""
        if self.prompts is not None and self.prompts <= MOST_NUMBERED:
            yield from self._draw_numbered(self.prompts)
            return
        seen, rng = set[bytes](), np.random.default_rng([self.seed, 1])
        left = self.train
        for texts, most in self._shorter_texts() if self.fewer else ():
            for rows in _distinct(texts, most, most, rng, seen):
                left -= len(rows)
                yield "train", rows
        for part, count in (("train", left), ("test", self.test)):
            patience = PATIENCE * count + AT_LEAST
            done = 0
            for rows in _distinct(self.texts, count, patience, rng, seen):
                done += len(rows)
                yield part, rows
            if done < count:
                raise KrohnError(
                    f"of {self.source} {patience:,} texts were drawn, and they have no "
                    f"more than {len(seen):,} different prompts; ask for fewer"
                )

    def _draw_numbered(self, prompts: int) -> Iterator[tuple[str, IntArray]]:
        texts, rng = self.texts, np.random.default_rng([self.seed, 0])
        assert isinstance(texts, Steps)
        numbers = rng.choice(prompts, self.train + self.test, replace=False)
        for part, chosen in zip(
            ("train", "test"), np.split(numbers, [self.train]), strict=True
        ):
            for at in range(0, len(chosen), BATCH):
                yield part, texts.texts_at(chosen[at : at + BATCH], rng)

    def _shorter_texts(self) -> Iterator[tuple[Texts, int]]:
        """Texts of fewer operators, and how many are drawn: of k operators ∝ k."""
        assert self.operators is not None
        whole = self.operators * (self.operators + 1) // 2
        for k in range(1, self.operators):
            shorter = re.sub(r"\d+", str(k), self.source, count=1)
            yield (
                replace(self, source=shorter, fewer=False).texts,
                self.train * k // whole,
            )


def public_texts(source: str) -> Texts:
    """The texts of Feng et al. of a source, by its size alone.

    Raises:
        KrohnError: If there are none of it.
    """
    match = _PUBLIC.fullmatch(source)
    makers: dict[str, Callable[..., Texts]] = {
        "EditDistance": EditDistances,
        "LocalEditDistance": LocalEditDistances,
        "ShortLIS": Increasing,
        "LIS": IncreasingSteps,
        "Arithmetic": Expressions,
    }
    make = makers.get(match["family"]) if match else None
    if match is None or make is None:
        raise KrohnError(
            f"in the format of Feng et al. there are {', '.join(makers)}, each with a size "
            f"(EditDistance6, Arithmetic6,11), and not {source!r}"
        )
    family, option, value = match["family"], match["option"], match["value"]
    if match["prime"] and family != "Arithmetic":
        raise KrohnError(f"{source}: in the format of Feng et al. a size is one number")
    if option not in (None, _WITH_OPTION.get(family)):
        raise KrohnError(f"{source}: there is no option {option!r}")
    given: dict[str, Any] = {"prime": int(match["prime"])} if match["prime"] else {}
    if option == "boundary" and value not in ("1", "2"):
        raise KrohnError(f"{source}: a boundary is 1 or 2, not {value}")
    if option is not None:
        given[option] = int(value) if option == "boundary" else value
    return make(int(match["size"]), **given)


def _distinct(
    texts: Texts,
    count: int,
    patience: int,
    rng: np.random.Generator,
    seen: set[bytes],
) -> Iterator[IntArray]:
    """Up to so many texts whose prompts were not seen, of so many that are drawn."""
    separator = texts.tokens.index(texts.separator)
    while count > 0 and patience > 0:
        size = min(patience, BATCH, max(64, count))
        drawn, chosen = texts.draw(rng, size), list[int]()
        ends = (drawn == separator).argmax(axis=1)
        for i, end in enumerate(ends.tolist()):
            prompt = drawn[i, :end].astype(np.int16).tobytes()
            if prompt not in seen and len(chosen) < count:
                seen.add(prompt)
                chosen.append(i)
        count, patience = count - len(chosen), patience - size
        yield drawn[chosen]


# The files.


@dataclass(frozen=True)
class Written:
    """The parts of a text by name.

    Attributes:
        prompt: With its separator.
        steps: All behind it, without `EOS`.
        answer: What stands behind the last separator.
    """

    prompt: Sequence[str]
    steps: Sequence[str]
    answer: Sequence[str]

    def lines(self, form: str, part: str, asks: bool) -> Iterator[tuple[str, str]]:
        """The files that it stands in, each with its line.

        Args:
            form: The format.
            part: ``train`` or ``test``.
            asks: Whether texts for testing are cut, and their answers apart.
        """
        if form == "krohn":
            named = {"prompt": self.prompt, "text": [*self.steps, EOS]}
            line = {k: " ".join(v) for k, v in {**named, "answer": self.answer}.items()}
            yield f"{part}.jsonl", json.dumps(line)
            return
        prompt, answer = " ".join(self.prompt), " ".join(self.answer)
        yield f"decoder/{part}_data.txt", f"{prompt} {answer}"
        if asks and part == "test":
            yield "chain/test_data.txt", f"{prompt} "
            yield "chain/test_ans.txt", answer
        else:
            yield f"chain/{part}_data.txt", f"{prompt} {' '.join(self.steps)} "


def write_texts(
    asked: TextSet, folder: Path, report: Progress = silent
) -> dict[str, Any]:
    """Write texts into a new folder, all of them or nothing.

    Returns:
        What `INDEX` in the folder says of them.

    Raises:
        KrohnError: If the folder is not empty, or there are not so many prompts.
    """
    texts, longest, done = asked.texts, 0, 0
    names = np.array([*texts.tokens])
    with whole_directory(folder) as made, ExitStack() as stack:
        files = dict[str, TextIO]()
        for part, rows in asked.draw():
            report("writing texts", done, asked.train + asked.test)
            done += len(rows)
            for row in rows:
                text = read_text(names[row].tolist(), texts.separator)
                longest = max(longest, len(text.prompt) + len(text.steps) + 1)
                for name, line in text.lines(asked.form, part, texts.separator == "="):
                    if name not in files:
                        (made / name).parent.mkdir(exist_ok=True)
                        files[name] = stack.enter_context(
                            open(made / name, "w", encoding="utf-8", newline="\n")
                        )
                    files[name].write(f"{line}\n")
        result = {
            "source": asked.source,
            "format": asked.form,
            "seed": asked.seed,
            "train": asked.train,
            "test": asked.test,
            "fewer_operators": asked.fewer,
            "tokens": list(texts.tokens),
            "longest": longest,
            "files": sorted(files),
        }
        atomic_write(made / INDEX, json.dumps(result, indent=1) + "\n")
    return result


def read_text(tokens: Sequence[str], separator: str) -> Written:
    """The parts of a text, whatever follows its end."""
    text = tokens[: tokens.index(EOS)]
    first = text.index(separator) + 1
    last = len(text) - text[::-1].index(separator)
    return Written(text[:first], text[first:], text[last:])
