"""Grammars: what the algorithms say of words, against all derivations one by one."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from krohn.kinds.dynamic_programs.source import find_by_name as dynamic_program
from krohn.kinds.grammars.source import (
    END,
    HIDDEN,
    Grammar,
    Words,
    cut,
    find_by_name,
    sentences,
)
from krohn.kinds.grammars.source_bounded import (
    compare_laws,
    depths,
)
from krohn.kinds.grammars.source_examples import CATALOGUE
from krohn.kinds.grammars.source_grammar import parse
from krohn.kinds.grammars.source_words import (
    letters_of,
    numbers_of,
)
from krohn.program.errors import Refused

SHORT_LAYERED = 17
"""The shortest sentence of Layered has 16 letters."""
LEFT_RECURSIVE = "Brackets"
MIXED = """
# one symbol alone, symbols that vanish, long bodies
S -> A B [1/3] | B [1/6] | A A A x [1/2]
A -> [1/4] | a [1/4] | B [1/2]
B -> b b [2/3] | 'X' [1/3]
"""


def grammar(name: str) -> Grammar:
    if name == "Mixed":
        return parse(MIXED, name)
    found = find_by_name(f"pcfg:{name}")
    assert found is not None
    return found


LARGE = pytest.param("Layered", marks=pytest.mark.slow)
NAMES = [*(LARGE if name == "Layered" else name for name in CATALOGUE), "Mixed"]


def least(source: Grammar) -> dict[str, int]:
    """How many letters each symbol becomes at least."""
    found = dict.fromkeys(source.letters, 1) | dict.fromkeys(source.of, 10**6)
    for _ in source.of:
        for rule in source.rules:
            found[rule.head] = min(found[rule.head], sum(map(found.get, rule.body)))
    return found


def derivations(
    source: Grammar, length: int
) -> Iterator[tuple[tuple[str, ...], Fraction, int]]:
    """All sentences of up to so many letters, one for each derivation, with its depth.

    What waits is a list of ends of rules, as the definition of the depth says.
    """
    short = least(source)
    waiting = [((), ((source.start,),), Fraction(1), 0)]
    while waiting:
        word, stack, weight, deep = waiting.pop()
        if len(word) + sum(short[x] for rest in stack for x in rest) > length:
            continue
        if not stack:
            yield word, weight, deep
            continue
        first, *rest = stack[-1]
        below = stack[:-1] + ((tuple(rest),) if rest else ())
        if first not in source.of:
            waiting.append(((*word, first), below, weight, deep))
            continue
        deeper = max(deep, len(below))
        waiting += (
            (word, below + ((r.body,) if r.body else ()), weight * r.weight, deeper)
            for r in source.of[first]
        )


def told(source: Grammar, length: int) -> dict[tuple[str, ...], Fraction]:
    """The probability of each sentence, by all derivations."""
    found = defaultdict[tuple[str, ...], Fraction](Fraction)
    for word, weight, _ in derivations(source, length):
        found[word] += weight
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_inside_is_the_sum_of_all_derivations_exactly(name: str) -> None:
    source = grammar(name)
    length = 4 if len(source.letters) < 5 else 2
    right, exact, rounded = told(source, length), Words(source, True), Words(source)
    for n in range(length + 1):
        words = list(product(source.letters, repeat=n))
        numbers = np.array([numbers_of(source, word) for word in words])
        found = exact.inside(exact.encode_words(numbers))
        assert [right.get(word, 0) for word in words] == found.tolist()
        near = rounded.inside(rounded.encode_words(numbers))
        assert np.abs(near - found.astype(float)).max() < 1e-15


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [n for n in NAMES if n != LEFT_RECURSIVE])
def test_prefixes_are_the_sum_of_all_that_derivations_begin_with(name: str) -> None:
    """Leftmost derivations up to the last letter of the prefix: the rest ends surely."""
    source = grammar(name)
    length = 3 if len(source.letters) < 5 else 2
    right = defaultdict[tuple[str, ...], Fraction](Fraction)
    waiting = [((), (source.start,), Fraction(1))]
    while waiting:
        word, rest, weight = waiting.pop()
        if len(word) == length:
            right[word] += weight
        elif rest and rest[0] in source.of:
            waiting += (
                (word, rule.body + rest[1:], weight * rule.weight)
                for rule in source.of[rest[0]]
            )
        elif rest:
            waiting.append(((*word, rest[0]), rest[1:], weight))
    exact = Words(source, exact=True)
    for word in product(source.letters, repeat=length):
        shown = exact.encode_words(numbers_of(source, word)[None])
        assert exact.begun(shown)[0] == right.get(word, 0), word


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_what_follows_a_prefix_adds_up_to_it_exactly(name: str) -> None:
    """Of left-recursive grammars, too, where infinitely many derivations begin alike."""
    source = grammar(name)
    exact = Words(source, exact=True)
    for n in range(3 if len(source.letters) < 5 else 2):
        words = list(product(source.letters, repeat=n))
        numbers = np.array([numbers_of(source, word) for word in words])
        begun = exact.begun(exact.encode_words(numbers))
        assert exact.following(numbers).sum(axis=1).tolist() == begun.tolist()
        assert begun.sum() <= 1


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NAMES)
def test_hidden_letters_have_the_law_of_all_sentences_that_fit(name: str) -> None:
    source = grammar(name)
    right = told(source, 4 if name != "Layered" else SHORT_LAYERED)
    sentence = max(right)
    word = [
        HIDDEN if i in (0, len(sentence) - 1) else x for i, x in enumerate(sentence)
    ]
    fits = [
        (other, share)
        for other, share in right.items()
        if len(other) == len(word)
        and all(x in (HIDDEN, y) for x, y in zip(word, other, strict=True))
    ]
    whole = sum(share for _, share in fits)
    for at, law in Words(source, exact=True).predict_hidden(word).items():
        for letter, share in zip(source.letters, law, strict=True):
            assert share == sum(s for o, s in fits if o[at] == letter) / whole


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_is_the_law_of_derivations_on_condition_of_their_depth(name: str) -> None:
    source, length = grammar(name), 6 if name != "Layered" else SHORT_LAYERED
    depth = 3
    mass = depths(source, depth).sentences[depth]
    model = cut(source, depth)
    right = defaultdict[tuple[str, ...], Fraction](Fraction)
    for word, weight, deep in derivations(source, length):
        if deep <= depth:
            right[word] += weight
    number = {letter: i for i, letter in enumerate(model.letters)}
    for word, share in right.items():
        letters = [number[x] for x in (*word, END)]
        likely = np.exp(model.filter([letters])[1].sum())
        assert likely == pytest.approx(float(share / mass), rel=1e-12), word


def test_depths_of_brackets_are_how_deep_they_are_nested() -> None:
    for word, depth in sentences(grammar("Dyck2"), 300, seed=1):
        heights = np.cumsum([1 if x in "([" else -1 for x in word])
        assert depth == max([0, *heights.tolist()])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_drawn_sentences_have_the_mean_length_and_the_depths_that_are_said(
    name: str,
) -> None:
    source, count = grammar(name), 4000
    drawn = list(sentences(source, count, seed=7))
    lengths = np.array([len(word) for word, _ in drawn])
    error = 5 * lengths.std() / count**0.5 + 1e-9
    assert abs(lengths.mean() - float(source.mean_length)) <= error
    for depth, mass in enumerate(depths(source, 5).sentences):
        share = np.mean([deep <= depth for _, deep in drawn])
        spread = (float(mass) * (1 - float(mass)) / count) ** 0.5
        assert abs(share - float(mass)) <= 5 * spread + 1e-9
    assert drawn == list(sentences(source, count, seed=7))


@pytest.mark.parametrize("depth", [1, 3])
def test_divergences_of_all_lengths_add_up_to_minus_log_of_the_mass(depth: int) -> None:
    """Chain rule: conditioning on an event of mass H diverges by −log H, if words tell."""
    source = grammar("AnBn")
    rows = compare_laws(source, cut(source, depth), 2 * depth + 4)
    mass = depths(source, depth).sentences[depth]
    total = sum(row.divergence for row in rows)
    assert total == pytest.approx(-np.log(float(mass)), rel=1e-12)


@pytest.mark.parametrize("name", ["Dyck2", "Brackets", "English", "Palindromes"])
def test_no_length_diverges_by_more_than_all_together(name: str) -> None:
    source = grammar(name)
    rows = compare_laws(source, cut(source, 3), 4)
    mass = float(depths(source, 3).sentences[3])
    assert 0 <= sum(row.divergence for row in rows) <= -np.log(mass) + 1e-12
    for row in rows:
        assert -1e-12 <= row.beyond <= row.variation <= 1


def test_a_finite_language_within_the_depth_is_not_changed() -> None:
    source = grammar("Layered")
    assert depths(source, 3).sentences[3] == 1
    rows = compare_laws(source, cut(source, 3), 6)
    assert max(row.variation for row in rows) < 1e-12


@pytest.mark.sample(2)
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_the_chain_of_thought_of_cyk_says_what_inside_has_weight(size: int) -> None:
    """Its answer is 1 exactly on the support of the grammar with the same rules."""
    source, found = grammar("Brackets"), dynamic_program(f"CYK{size}")
    assert found is not None
    chain, exact = found.chain_of_thought, Words(source, exact=True)
    low, high = np.array(chain.prompt).T
    every = np.indices(high - low + 1).reshape(len(low), -1).T + low
    texts = chain.continue_prompts(every)
    answers = [int(chain.tokens[text[chain.answer - 1]]) for text in texts]
    words = [[chain.tokens[t] for t in row if chain.tokens[t] in "()"] for row in every]
    numbers = np.array([numbers_of(source, word) for word in words])
    weights = exact.inside(exact.encode_words(numbers))
    assert len(words) == 2**size
    assert [int(w > 0) for w in weights] == answers


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("S -> a [0.5] | b [0.4]", "add up to 9/10"),
        ("S -> S S [0.6] | a [0.4]", "have no finite mean length"),
        ("S -> S S [0.5] | a [0.5]", "have no finite mean length"),
        ("S -> S S [0.3] | a [0.3] | [0.4]", "can be empty depends on itself"),
        ("S -> a B", "line 1: B has no rule"),
        ("S -> a\nT -> b", "T cannot be reached from the start symbol S; leave out"),
        ("T -> b\nS -> a T", "S cannot be reached .* write a line %start S$"),
        ("%start T\nS -> a", "the start symbol T has no rule"),
        ("%start S\n%start S\nS -> a", "line 2: a start symbol is there already"),
        ("%begin S\nS -> a", "line 1: a line that begins with % is the start symbol"),
        ("S -> 'a b", "line 1: 'a begins with a quote"),
        ("S -> a [0.4999] | b [0.5]", "add up to 9999/10000"),
        ("S -> a [0] | b", "some have none"),
        ("S -> a # the end", "# is a mark, .* a remark has a line of its own"),
        ("S -> a [0.5] | b", "some have none"),
        ("S a b", "line 1: a rule is written"),
        ("S -> 'S' [1]", "is a symbol, not a letter"),
        ("S -> a [1/0]", "divides by 0"),
        ("S -> a [0] | b [1]", "probability 0"),
        ("S -> eps", "has no letters"),
        ("S -> _", "is a mark"),
        ("", "has no rules$"),
        ("S -> a [x] | b [1/2]", r"line 1: \[x\] is no probability between 0 and 1"),
        ("S -> a\nS -> b [3/2]", r"line 2: \[3/2\] is no probability between"),
        ("S -> a [1/O]", r"line 1: \[1/O\] is no probability between 0 and 1"),
        ("S -> a [-1] | b [2]", r"\[-1\] is no probability between 0 and 1"),
        ("S -> a []", r"\[\] is no probability between 0 and 1"),
        ("S -> a [1/2] b [1/2]", r"line 1: \[1/2\] stands before the end"),
        ("S ->" + " a" * 17, "has more than 16 parts"),
        ("S -> a\n" * 1001, "has more than 1000 rules"),
    ],
)
def test_bad_texts_are_refused_with_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        parse(text, "own")


def test_probabilities_as_nltk_prints_them_are_divided_by_their_sum() -> None:
    thirds = " | ".join(f"{letter} [0.333333]" for letter in "bcd")
    source = parse(f"S -> A A\nA -> {thirds}", "own")
    assert [rule.weight for rule in source.rules[1:]] == [Fraction(1, 3)] * 3
    assert source.remark == (
        "own: the rules of A do not quite add up to 1, and are divided by their sum"
    )
    assert cut(source, 1).remark == source.remark
    assert not parse(MIXED, "own").remark


def test_rules_without_probabilities_are_remarked() -> None:
    source = parse("S -> A B C D\n" + "\n".join(f"{x} -> a | b" for x in "ABCD"), "own")
    assert source.remark.startswith(
        "own: the rules of A, B, C, D have no probabilities"
    )
    more = parse(
        "S -> A B C D E | a\n" + "\n".join(f"{x} -> a | b" for x in "ABCDE"), "own"
    )
    assert "rules of S, A, B, C, … (2 more) have" in more.remark


def test_letters_with_blanks_are_other_letters_than_their_parts() -> None:
    """Both kinds of quotes; parts of bodies have names of their own."""
    source = parse("""S -> 'the man' the man [1/2] | the man "it's me" [1/2]""", "own")
    assert source.letters == ("the man", "the", "man", "it's me")
    exact = Words(source, exact=True)
    words = [
        ["the man", "the", "man"],
        ["the", "man", "it's me"],
        ["the", "man", "the"],
    ]
    numbers = np.array([numbers_of(source, word) for word in words])
    assert exact.inside(exact.encode_words(numbers)).tolist() == [
        Fraction(1, 2)
    ] * 2 + [0]
    assert letters_of(source, ['"the man" the man']) == tuple(words[0])
    assert {'man "it\'s me"', "the man"} < set(cut(source, 0).states)


@pytest.mark.parametrize("empty", ["''", '""', "ε", "eps", ""])
def test_the_empty_word_is_no_letter_however_it_is_written(empty: str) -> None:
    source = parse(f"S -> a {empty} S b [1/4] | {empty} [3/4]", "own")
    assert source.letters == ("a", "b")
    assert [rule.body for rule in source.rules] == [("a", "S", "b"), ()]


@pytest.mark.parametrize(
    "text",
    [
        "%start S\nNP -> 'Mary'\n# a remark \\\nS -> NP VP [1.]\nVP -> 'ran' | 'sat'",
        "S->NP VP[1.0]\nNP->'Mary'[1]\nVP->'ran'[.5]|'sat'[0.5]",
        'S -> NP \\\n VP\nNP -> \'Mary\'\nVP -> "ran" [0.50] \\\n | "sat" [1/2] \\',
    ],
)
def test_a_grammar_is_read_as_nltk_writes_it(text: str) -> None:
    source = parse(text, "own")
    assert source.start == "S"
    rules = {(rule.head, rule.body): rule.weight for rule in source.rules}
    half = Fraction(1, 2)
    assert rules == {
        ("S", ("NP", "VP")): 1,
        ("NP", ("Mary",)): 1,
        ("VP", ("ran",)): half,
        ("VP", ("sat",)): half,
    }


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "sign", ["'", '"', "[", "]", "|", "-", ">", "\\", "#", "a", "%"]
)
def test_a_text_of_one_sign_is_read_in_linear_time(sign: str) -> None:
    for text in (
        f"S -> {sign * 10_000}",
        f"S -> {(sign + ' ') * 10_000}",
        sign * 10_000,
    ):
        with suppress(Refused):
            parse(text + "\n" + (sign + "\n") * 10_000, "own")


def test_brackets_are_letters_where_they_are_no_probability() -> None:
    source = parse("S -> [ S ] S [1/5] | '[x]' ] [1/5] | [3/5]", "own")
    assert source.letters == ("[", "]", "[x]")
    bodies = [("[", "S", "]", "S"), ("[x]", "]"), ()]
    weights = [Fraction(n, 5) for n in (1, 1, 3)]
    assert [rule.body for rule in source.rules] == bodies
    assert [rule.weight for rule in source.rules] == weights


def test_critical_and_deep_grammars_are_refused_to_be_cut_with_a_way_out() -> None:
    with pytest.raises(Refused, match="take a greater depth"):
        cut(grammar("English"), 1)
    with pytest.raises(Refused, match="take a smaller depth"):
        cut(grammar("Dyck2"), 12)
    with pytest.raises(Refused, match="for ever before a letter"):
        cut(parse("S -> T [1/2] | a [1/2]\nT -> S [1/2] | b [1/2]", "own"), 2)
