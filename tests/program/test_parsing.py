"""Small languages: trees, messages, and texts that are made to be slow or deep."""

import pytest
from work import calls_at_most

from krohn.program.parsing import DEEPEST, Language, Misread, Node

GRAMMAR = r"""
start: (sum? _NL)*
?sum: value | sum "+" value -> plus
?value: NUMBER -> number | "-" value -> negative | "(" sum ["," sum] ")" -> pair
NUMBER: /\d+/
_NL: "\n"
%ignore " "
"""


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Language:
    grammar = tmp_path_factory.mktemp("sums") / "sums.lark"
    grammar.write_text(GRAMMAR)
    return Language(
        grammar,
        phrases={"a value": ("NUMBER", "MINUS", "LPAR")},
        hints={
            ("NUMBER", "PLUS"): "; numbers are joined by +",
            ("*", ""): "; no products",
        },
    )


def test_a_tree_has_kinds_words_and_lines(sums: Language) -> None:
    tree = sums.parse("1 + 2\n\n(3,\n4)\n(5)\n")
    plus, pair, single = tree.parts
    assert [part.line for part in tree.parts] == [1, 3, 5]
    assert plus.kind == "plus"
    assert plus.parts == (
        Node("number", ("1",), 1, 1, 1),
        Node("number", ("2",), 1, 5, 1),
    )
    assert [part.parts for part in pair.parts] == [("3",), ("4",)]
    assert single.parts[1] is None
    assert type(plus.parts[0].parts[0]) is str
    assert (tree.deep, plus.deep) == (3, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2 +\n", "line 2, column 4: expected a value, found the end of the line"),
        (
            "1 2\n",
            "line 1, column 3: expected '+' or the end of the line, found '2'; numbers "
            "are joined by +",
        ),
        (
            "1\n 2 * 3\n",
            "line 2, column 4: '* 3' is nothing of the language; no products",
        ),
        ("1 + (2\n", "line 1, column 5: the '(' stays open"),
        (
            "((1)\n+ +\n",
            "line 2, column 3: expected a value, found '+'; the '(' of line 1 is still "
            "open",
        ),
        ("1)\n", "line 1, column 2: expected '+' or the end of the line, found ')'"),
        (
            "1",
            "line 1, column 1: expected '+' or the end of the line, found the end of",
        ),
    ],
)
def test_messages_say_where_and_what_is_expected(
    sums: Language, text: str, message: str
) -> None:
    with pytest.raises(Misread) as wrong:
        sums.parse(text)
    assert str(wrong.value).startswith(message)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1) + "\n",
        "-" * 50_000 + "1\n",
        "1" + "+1" * 25_000 + "\n",
    ],
)
def test_what_is_deep_is_refused_and_costs_little(sums: Language, text: str) -> None:
    with (
        calls_at_most(5_000_000),
        pytest.raises(Misread, match="line 1: nested too deep"),
    ):
        sums.parse(text)


@pytest.mark.slow
def test_time_grows_as_the_text(sums: Language) -> None:
    sums.parse("1 + (2, 3)\n")  # the first text makes the parser
    counts = []
    for lines in (500, 1000, 2000):
        with calls_at_most(5_000_000) as calls:
            sums.parse("1 + (2, 3)\n" * lines)
        counts.append(calls[0])
    assert counts[2] - counts[1] < 2.2 * (counts[1] - counts[0])
