"""Numbers in digits: held against Python's whole numbers, and their networks."""

from itertools import product

import numpy as np
import pytest

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source import read_text
from krohn.program.domains import IntArray
from krohn.program.errors import Refused

KIND = ChainsOfThought()
HEAD = "digits {base}\ninput x[1..3] of 0..{most}\ninput y[1..2] of 0..{few}\n"
EXPRESSIONS = [
    "x[1] + x[2] + x[3]",
    "max(0, x[1] - x[2])",
    "max(0, x[1] - 2 * x[2] + y[1] - 7)",
    "min(x[1] + 3, x[2], x[3] + x[1])",
    "max(x[1], x[2], y[1] - 5)",
    "if x[1] < x[2] then x[3] else x[1] + y[1]",
    "(x[1] == x[2]) + 2 * (x[1] != x[3]) + 4 * (x[1] <= x[2]) + 8 * (x[2] > x[3])",
    "max(0, -3 * x[1] + 2 * x[2])",
    "min(x[1], x[k] + y[1] for k in 2..3 if x[k] > y[2])",
    "max(y[1], x[k] - y[1] for k in 1..3 if x[k] < x[1] or x[k] == x[2])",
    "x[1] * y[1] + x[2] * y[2]",
    "y[1] * y[2] * x[1] + 17",
    "sum(x[k] for k in 1..3 if y[1] == k)",
    "12345",
    "x[1] // 7",
    "x[1] % 7 + x[2] % 32",
    "max(0, (x[1] - x[2]) // 12 + x[3])",
    "(x[1] - x[2]) % 12",
    "(x[1] + x[2]) // 100 + (x[3] - x[2]) % 360",
    "(x[1] * y[1] + x[2]) // 60",
    "if y[1] == 1 then 900 else 5",
]
MEANT = {
    "min(x[1], x[k]": lambda x, y: min(
        [x[1], *(x[k] + y[1] for k in (2, 3) if x[k] > y[2])]
    ),
    "max(y[1], x[k]": lambda x, y: max(
        [y[1], *(a - y[1] for a in x[1:] if a < x[1] or a == x[2])]
    ),
    "sum(x[k] for": lambda x, y: sum(x[k] for k in (1, 2, 3) if y[1] == k),
}


def meant(said: str, x: list[int], y: list[int]) -> int:
    """What an expression is in Python."""
    for start, function in MEANT.items():
        if said.startswith(start):
            return function(x, y)
    if said.startswith("if "):
        condition, rest = said[3:].split(" then ")
        one, zero = rest.split(" else ")
        said = f"({one}) if ({condition}) else ({zero})"
    return int(eval(said, {"x": x, "y": y, "min": min, "max": max}))


def prompts_of(base: int, count: int, rng: np.random.Generator) -> IntArray:
    """Three numbers of so many digits, and two of one; the ends often."""
    numbers = rng.integers(0, base, size=(60, 3 * count + 2))
    numbers[:10] = (base - 1) * rng.integers(0, 2, size=(10, 3 * count + 2))
    numbers[10:20, count : 2 * count] = numbers[10:20, :count]
    numbers[:, -2:] %= min(base, 4)
    return numbers


@pytest.mark.sample(2)
@pytest.mark.parametrize("base", [2, 3, 10, 64])
@pytest.mark.parametrize("said", EXPRESSIONS)
def test_digits_say_what_whole_numbers_are(said: str, base: int) -> None:
    count, few = (3, min(base, 4) - 1)
    head = HEAD.format(base=base, most=base**count - 1, few=few)
    chain = read_text(f"{head}answer {said}", "test").chain_of_thought
    low, high = np.array(chain.boxes()[1:]).T
    numbers = prompts_of(base, count, np.random.default_rng(0))
    names = np.array(chain.tokens)
    bar, end = (names.tolist().index(sign) for sign in ("|", "<sep>"))
    first = names.tolist().index("0")
    rows = [
        [*(first + row[: 3 * count]), bar, *(first + row[3 * count :]), end]
        for row in numbers
    ]
    texts = chain.continue_prompts(np.array(rows))
    content = np.array(chain.contents)[texts]
    assert ((low <= content) & (content <= high)).all()
    weights = base ** np.arange(count)[::-1]
    for row, text in zip(numbers, texts, strict=True):
        x = [0, *(row[: 3 * count].reshape(3, count) @ weights).tolist()]
        wanted = meant(said, x, [0, *row[3 * count :].tolist()])
        value = 0
        for token in text[chain.answer - 1 : -1]:
            value = value * base + int(names[token])
        assert value == wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("digits 65", "line 1: digits have a base from 2 to 64"),
        ("digits 1", "line 1: digits have a base from 2 to 64"),
        ("digits 10\ndigits 10", "line 2: digits are said twice"),
        ("input x[1..2] of 0..1\ndigits 10", "line 2: digits are said before inputs"),
        (
            "digits 10\ninput x[1..2] of 0..50\nanswer x[1]",
            "line 2: numbers of an input that stand in digits go from 0 to 99",
        ),
        (
            "digits 10\ninput x[1..2] of 1..99\nanswer x[1]",
            "line 2: numbers of an input that stand in digits go from 0 to 99",
        ),
        (
            "digits 10\ninput x[1..2] of 0..99\nanswer x[1] - x[2]",
            "line 3: the answer can be -99, and has digits; add a number to it",
        ),
        (
            "digits 10\ninput x[1..2] of 0..99\nanswer x[1] % 74",
            "line 3: a number in digits is divided by products of numbers up to 32, and 37",
        ),
        (
            "digits 10\ninput x[1..2] of 0..99\nanswer x[1] * (x[2] - 5)",
            "a factor of a product in digits can be negative",
        ),
        (
            "digits 10\ninput x[1..2] of 0..99\ntable A[i in 1..1] in 0..150\n"
            "A[i] = x[1] + x[2]\nanswer A[1]",
            "line 4: A[1]: it can be 0 to 198, and the table says 0..150",
        ),
    ],
)
def test_what_has_no_digits_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        _ = read_text(text, "test").chain_of_thought
    assert reason in str(refused.value)


@pytest.mark.slow
def test_a_network_says_weekdays_of_numbers_of_9_digits() -> None:
    said = "x[1] // 86400 + x[1] % 7"
    text = f"digits 10\ninput x[1..1] of 0..999999999\nanswer {said}"
    model = krohn.compile(read_text(text, "days"))
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    asked = ("000000000", "999999999", "123456789", "000086399", "000086400")
    texts = model.write([" ".join(number) for number in asked])
    for number, text_ in zip(asked, texts, strict=True):
        wanted = int(number) // 86400 + int(number) % 7
        assert int(text_.answer.replace(" ", "")) == wanted


@pytest.mark.slow
def test_a_network_adds_and_compares_numbers_of_9_digits() -> None:
    """Float32: no number of the network is larger than a few times the base."""
    text = "digits 10\ninput x[1..3] of 0..999999999\nanswer max(x[1] + x[2], x[3])"
    model = krohn.compile(read_text(text, "nine"))
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    ends = ("0" * 9, "9" * 9, "123456789")
    prompts = [" ".join("".join(way)) for way in product(ends, repeat=3)]
    for prompt, text_ in zip(prompts, model.write(prompts), strict=True):
        digits = prompt.replace(" ", "")
        a, b, c = (int(digits[i : i + 9]) for i in (0, 9, 18))
        assert int(text_.answer.replace(" ", "")) == max(a + b, c)
