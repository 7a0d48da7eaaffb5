"""Sets of texts: an independent reader solves every line of them again."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from slices_here import needs

from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.measures.accuracy import text_scores
from krohn.instruments.compare.models import Gpt
from krohn.instruments.compare.tasks.public_texts import Expressions
from krohn.instruments.compare.tasks.text_sets import TextSet, write_texts
from krohn.instruments.compare.tasks.texts import Steps, Texts, TextTask
from krohn.instruments.compare.training import Recipe, train

Checks = Callable[[str, list[str]], None]


# An independent reader: what each text must be, from its prompt.


def check_edit_distance(boundary: int, local: bool = False) -> Checks:
    def check(prompt: str, text: list[str]) -> None:
        first, second = (half.split() for half in prompt.split("|"))
        table = {(j, k): boundary * (j + k) for j in range(30) for k in range(30)}
        wanted = list[str]()
        for j, x in enumerate(first):
            if local:
                wanted += [*first[j + 1 :], *first[: j + 1], *second]
            for k, y in enumerate(second):
                ways = [table[j, k + 1] + 2, table[j + 1, k] + 2, table[j, k]]
                table[j + 1, k + 1] = min(*ways[:2], ways[2] + (0 if x == y else 3))
                wanted.append(str(table[j + 1, k + 1]))
            wanted.append(",")
        answer = table[len(first), len(second)]
        assert text == [*wanted, "<sep>", str(answer)]

    return check


def longest_below(numbers: Sequence[int], top: float) -> int:
    """The longest increasing subsequence with all numbers below one, by sorting piles."""
    piles = list[int]()
    for x in (x for x in numbers if x < top):
        at = next((i for i, pile in enumerate(piles) if pile >= x), len(piles))
        piles[at : at + 1] = [x]
    return len(piles)


def check_short_subsequence(prompt: str, text: list[str]) -> None:
    numbers = [int(x) for x in prompt.split()]
    ends = [1 + longest_below(numbers[:i], x) for i, x in enumerate(numbers)]
    best = longest_below(numbers, float("inf"))
    assert text == [*map(str, ends), "<sep>", str(best)]


def check_subsequence_steps(prompt: str, text: list[str]) -> None:
    numbers = [int(x) for x in prompt.split()]
    wanted = list[str]()
    for j, x in enumerate(numbers):
        row = [1 + longest_below(numbers[:k], x) for k in range(j + 1)]
        best = longest_below(numbers[: j + 1], float("inf"))
        wanted += [*map(str, [*row, best]), ","]
    best = longest_below(numbers, float("inf"))
    assert text == [*wanted, "<sep>", str(best)]


class Expression:
    """An expression read by recursive descent: its value, and what can be done first."""

    def __init__(self, tokens: list[str], prime: int) -> None:
        self.tokens, self.prime, self.at = tokens, prime, 0
        self.handles = list[tuple[int, int, int]]()
        self.value = self.weak()[0]
        assert self.at == len(tokens), tokens

    def weak(self) -> tuple[int, bool, int]:
        return self.chain(("+", "-"), lambda: self.chain(("*", "/"), self.factor))

    def chain(
        self, signs: tuple[str, ...], inner: Callable[[], tuple[int, bool, int]]
    ) -> tuple[int, bool, int]:
        value, plain, start = inner()
        while self.at < len(self.tokens) and self.tokens[self.at] in signs:
            sign = self.tokens[self.at]
            self.at += 1
            right, other, _ = inner()
            assert not (sign == "/" and right == 0), self.tokens
            inverse = pow(right, -1, self.prime) if sign == "/" else 0
            value = {
                "+": value + right,
                "-": value - right,
                "*": value * right,
                "/": value * inverse,
            }[sign] % self.prime
            if plain and other:
                self.handles.append((start, self.at, value))
            plain = False
        return value, plain, start

    def factor(self) -> tuple[int, bool, int]:
        start = self.at
        self.at += 1
        if self.tokens[start] != "(":
            return int(self.tokens[start]), True, start
        value, plain, _ = self.weak()
        assert self.tokens[self.at] == ")", self.tokens
        assert not plain, self.tokens
        self.at += 1
        return value, False, start

    def after(self) -> list[list[str]]:
        """The lines after each handle, the leftmost one first."""
        lines = []
        for start, stop, value in sorted(self.handles, key=lambda handle: handle[1]):
            left, right = self.tokens[:start], self.tokens[stop:]
            if left[-1:] == ["("] and right[:1] == [")"]:
                left, right = left[:-1], right[1:]
            lines.append([*left, str(value), *right])
        return lines


def check_arithmetic(prime: int, leftmost: bool) -> Checks:
    def check(prompt: str, text: list[str]) -> None:
        lines = [line.split() for line in [prompt, *" ".join(text).split(" = ")]]
        values = {Expression(line, prime).value for line in lines}
        assert len(values) == 1
        assert lines[-1] == [str(values.pop())]
        for line, following in pairwise(lines):
            ways = Expression(line, prime).after()
            assert following in (ways[:1] if leftmost else ways)

    return check


CASES: dict[tuple[str, str], Checks] = {
    ("EditDistance4,5", "krohn"): check_edit_distance(2),
    ("EditDistance4,5:boundary=1", "krohn"): check_edit_distance(1),
    ("EditDistance6", "feng"): check_edit_distance(1),
    ("EditDistance6:boundary=2", "feng"): check_edit_distance(2),
    ("LocalEditDistance5", "feng"): check_edit_distance(1, local=True),
    ("ShortLIS9", "krohn"): check_short_subsequence,
    ("ShortLIS20", "feng"): check_short_subsequence,
    ("LIS12", "feng"): check_subsequence_steps,
    ("Arithmetic4,11", "krohn"): check_arithmetic(11, leftmost=True),
    ("Arithmetic4,7:handles=random", "krohn"): check_arithmetic(7, leftmost=False),
    ("Arithmetic5", "feng"): check_arithmetic(11, leftmost=False),
    ("Arithmetic5,11:handles=leftmost", "feng"): check_arithmetic(11, leftmost=True),
}


def read(folder: Path, part: str) -> Iterator[tuple[str, list[str], str]]:
    """Prompts without their separator, texts without their end, and answers."""
    form = json.loads((folder / "texts.json").read_text())["format"]
    if form == "krohn":
        for line in (folder / f"{part}.jsonl").read_text().splitlines():
            told = json.loads(line)
            prompt, separator = told["prompt"].rsplit(" ", 1)
            assert separator in ("<sep>", "=")
            assert told["text"].endswith(" <eos>")
            yield prompt, told["text"].split()[:-1], told["answer"]
        return
    whole = (folder / f"chain/{part}_data.txt").read_text().splitlines()
    short = (folder / f"decoder/{part}_data.txt").read_text().splitlines()
    for chain, direct in zip(whole, short, strict=True):
        assert chain.endswith(" ")
        prompt, answer = re.split(r" (?:<sep>|=) ", direct)
        assert chain.startswith(prompt)
        yield prompt, chain[len(prompt) :].split()[1:], answer


def check_all(folder: Path, check: Checks, sizes: tuple[int, int]) -> None:
    """Read every line of a set, and solve it again."""
    prompts = list[str]()
    for part, size in zip(("train", "test"), sizes, strict=True):
        lines = list(read(folder, part))
        assert len(lines) == size
        prompts += [prompt for prompt, _, _ in lines]
        for prompt, text, answer in lines:
            if text:
                check(prompt, text)
                assert text[-1] == answer
    assert len(set(prompts)) == sum(sizes)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("source", "form"), CASES)
def test_every_text_is_what_an_independent_solver_says(
    source: str, form: str, tmp_path: Path
) -> None:
    write_texts(TextSet(source, form, 60, 20), tmp_path / "texts")
    check_all(tmp_path / "texts", CASES[source, form], (60, 20))


@pytest.mark.slow
@needs("kinds.rewriting")
def test_random_handles_are_often_not_the_leftmost(tmp_path: Path) -> None:
    """Each of two that can be done is as likely, so about half of such steps differ."""
    write_texts(TextSet("Arithmetic6", "feng", 200, 0), tmp_path / "t")
    choices = first = 0
    for prompt, text, _ in read(tmp_path / "t", "train"):
        lines = [line.split() for line in [prompt, *" ".join(text).split(" = ")]]
        for line, following in pairwise(lines):
            ways = Expression(line, 11).after()
            if len(ways) == 2:
                choices, first = choices + 1, first + (following == ways[0])
    assert choices > 100
    assert abs(first - choices / 2) < 3 * choices**0.5 / 2


@needs("kinds.rewriting")
def test_public_tests_of_arithmetic_are_prompts_with_answers_apart(
    tmp_path: Path,
) -> None:
    write_texts(TextSet("Arithmetic3", "feng", 5, 40), tmp_path / "t")
    prompts = (tmp_path / "t/chain/test_data.txt").read_text().splitlines()
    answers = (tmp_path / "t/chain/test_ans.txt").read_text().splitlines()
    assert len(prompts) == len(answers) == 40
    for prompt, answer in zip(prompts, answers, strict=True):
        assert prompt.endswith(" = ")
        assert Expression(prompt.split()[:-1], 11).value == int(answer)


@needs("kinds.rewriting")
def test_fewer_operators_are_a_share_of_training(tmp_path: Path) -> None:
    texts = TextSet("Arithmetic4", "feng", 200, 50, fewer=True)
    write_texts(texts, tmp_path / "t")
    counts = {
        part: [
            sum(map("+-*/".count, prompt))
            for prompt, _, _ in read(tmp_path / "t", part)
        ]
        for part in ("train", "test")
    }
    assert set(counts["test"]) == {4}
    assert len(counts["train"]) == 200
    for k in (1, 2, 3):
        assert 0.8 * 20 * k <= counts["train"].count(k) <= 20 * k


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "form"), [("EditDistance3,3", "krohn"), ("Arithmetic3", "feng")]
)
def test_a_seed_says_all_bytes(source: str, form: str, tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        write_texts(TextSet(source, form, 30, 10, seed), tmp_path / name)
    one, same, other = (folder_bytes(tmp_path / name) for name in "abc")
    assert one == same != other


def test_all_prompts_can_be_asked_for(tmp_path: Path) -> None:
    """4 letters of 2 in the prompt: 16 texts, and no 17th."""
    write_texts(TextSet("EditDistance2,2:letters=2", "krohn", 12, 4), tmp_path / "t")
    check_all(tmp_path / "t", check_edit_distance(2), (12, 4))
    with pytest.raises(KrohnError, match="has 16 prompts, and 13"):
        TextSet("EditDistance2,2:letters=2", "krohn", 13, 4)


REFUSALS = [
    ("LIS3 --format latex", "--format takes krohn or feng"),
    ("Arithmetic1,2 -n 400", "no more than 14 different prompts"),
    ("EditDistance6,7 --format feng", "a size is one number"),
    ("LCS4,4 --format feng", "there are EditDistance, LocalEditDistance"),
    ("EditDistance6:boundary=3 --format feng", "a boundary is 1 or 2"),
    ("Arithmetic4:handles=last", "leftmost or random, not last"),
    ("Arithmetic4:depth=3 --format feng", "there is no option 'depth'"),
    ("LIS200 --format feng", "3 to 128"),
    ("Mess3", "there are no texts of 'Mess3'"),
    ("LIS20 -n 20000000", "too many"),
    ("LIS20 -n 5 --fewer-operators", "is for arithmetic"),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("arguments", "why"), REFUSALS)
def test_refusals_write_nothing(
    arguments: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["texts", *arguments.split(), "-o", str(tmp_path / "t")]) == 2
    assert why in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for folder, why in (("full", "not empty"), ("no/t", "there is no directory")):
        asked = ["texts", "LIS3", "-n", "2", "-o", str(tmp_path / folder)]
        assert cli.run(asked) == 2
        assert why in capsys.readouterr().err


def test_an_interruption_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = TextSet.draw

    def interrupted(asked: TextSet) -> Iterator[object]:
        yield next(drawn(asked))
        raise KeyboardInterrupt

    monkeypatch.setattr(TextSet, "draw", interrupted)
    assert cli.run(["texts", "LIS3", "-n", "9", "-o", str(tmp_path / "t")]) == 2
    assert "nothing was written" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_command_says_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "t"
    asked = ["texts", "ShortLIS5", "-n", "30", "-o", str(folder), "--json"]
    assert cli.run(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("schema")
    assert told == json.loads((folder / "texts.json").read_text())
    assert (told["train"], told["test"], told["longest"]) == (30, 3, 14)
    assert told["files"] == ["test.jsonl", "train.jsonl"]
    check_all(folder, check_short_subsequence, (30, 3))


@pytest.mark.slow
@needs("kinds.rewriting")
@pytest.mark.parametrize("handles", ["own", "random", "leftmost"])
def test_a_network_learns_what_to_do_with_arithmetic(handles: str) -> None:
    """Its loss falls on texts of several lengths, whose answer is before their end."""
    own = handles == "own"
    texts: Texts = Steps("Arithmetic2,3") if own else Expressions(2, 3, handles)
    task = TextTask(texts)
    shape = Gpt(1, 16, 2, 32, positions="learned")
    run = train(task, shape, Recipe(60, 32, task.length, 1e-2, 5, every=30), 0)
    first, last = (each.loss for each in run.history)
    assert last < 0.7 * first
    scores = text_scores(run.network, task, np.random.default_rng(1), 20)
    assert 0 <= scores.texts <= scores.answers <= 20
    drawn = texts.draw(np.random.default_rng(2), 20)
    names = [[texts.tokens[i] for i in row] for row in drawn.tolist()]
    answers = [texts.tokens[i] for i in task.answers(drawn)]
    for row, answer in zip(names, answers, strict=True):
        prompt = row[: row.index("=")]
        assert Expression(prompt, 3).value == int(answer)
        assert set(row[row.index("<eos>") + 1 :]) <= {"<pad>"}
