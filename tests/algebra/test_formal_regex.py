"""Mathematicians' notation means what Python's matcher says of the translated pattern."""

import random
import re

import pytest
from regexes import accepted, matched

from krohn.algebra.errors import MachineError
from krohn.algebra.formats.regex import from_regex

NOTHING = "(?!)"


class Expressions:
    """Random expressions: each in formal notation, and as Python writes it."""

    def __init__(self, seed: int, letters: str) -> None:
        self.random, self.letters = random.Random(seed), letters

    def space(self) -> str:
        return self.random.choice(["", "", " ", "  "])

    def draw(self, depth: int) -> tuple[str, str]:
        ways = [self.atom] if depth == 0 else [self.atom, self.union, self.product]
        ways += [self.power] * (depth > 0)
        return self.random.choice(ways)(depth - 1)

    def atom(self, _: int) -> tuple[str, str]:
        signs = {a: a for a in self.letters} | {"ε": "", "λ": "", "∅": NOTHING}
        signs["Σ"] = f"[{self.letters}]"
        weights = [6] * len(self.letters) + [1, 1, 1, 2]
        (sign,) = self.random.choices(list(signs), weights)
        return sign, f"(?:{signs[sign]})"

    def union(self, depth: int) -> tuple[str, str]:
        sign = self.random.choice(["+", "|", "∪"])
        (one, first), (other, second) = self.draw(depth), self.draw(depth)
        inner = f"{one}{self.space()}{sign}{self.space()}{other}"
        return f"({inner})", f"(?:{first}|{second})"

    def product(self, depth: int) -> tuple[str, str]:
        sign = self.random.choice(["", "", " ", "·", " . "])
        (one, first), (other, second) = self.draw(depth), self.draw(depth)
        return f"({one}{sign}{other})", f"(?:{first}{second})"

    def power(self, depth: int) -> tuple[str, str]:
        inner, same = self.draw(depth)
        signs = {"*": "*", "^*": "*", "∗": "*", "^{*}": "*", "^+": "+", "⁺": "+"}
        signs |= {"^2": "{2}", "^{3}": "{3}", "²": "{2}", " ^ { 0 }": "{0}"}
        sign = self.random.choice(list(signs))
        return f"({inner}){sign}", f"(?:{same}){signs[sign]}"


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(60))
def test_random_expressions_are_what_an_independent_matcher_says(seed: int) -> None:
    letters = "ab" if seed % 2 else "012"
    formal, same = Expressions(seed, letters).draw(4)
    # Every letter occurs, so that both are about the same words.
    formal, same = f"{formal} + {letters}", f"{same}|{letters}"
    assert accepted(from_regex(formal, formal=True)) == matched(same, letters)


@pytest.mark.parametrize(
    ("formal", "same"),
    [
        ("(ab)* + (bb)*", "(ab)*|(bb)*"),
        ("(ab)^* ∪ (bb)^*", "(ab)*|(bb)*"),
        ("(a + b)*a(a + b)", "[ab]*a[ab]"),
        ("a^+b", "a+b"),
        ("a⁺b³", "a+b{3}"),
        ("a + bb*", "a|bb*"),
        ("a^{2}^* b", "(aa)*b"),
        ("ab^2", "abb"),
        (r"a\+b", r"a\+b"),
        (r"a\ b", "a b"),
        (r"\λa", "λa"),
        ("∅*a + ∅b", "a"),
        ("()a", "a"),
        ("ɛ + a", "a?"),
        (r"a\-b + \φ", "a-b|φ"),
        ("(0 + 1)*#@%:", "[01]*#@%:"),
        ("Σ*ab", "[ab]*ab"),
        ("(a + b)*a ∩ b(a + b)*", "b[ab]*a"),
        ("Σ*aΣ* & Σ*bΣ* & (Σ^2)^*", "(?=.*a)(?=.*b)([ab]{2})*"),
        ("(Σ*a ∩ ΣΣ)*b", "([ab]a)*b"),
        ("(ε ∩ a*)b + (a ∩ ∅) + a", "a|b"),
    ],
)
def test_expressions_of_textbooks(formal: str, same: str) -> None:
    machine = from_regex(formal, formal=True)
    assert accepted(machine, 5) == matched(same, "".join(machine.letters), 5)
    assert machine.remark == ""


@pytest.mark.parametrize(
    ("formal", "says"),
    [
        ("(ab)+", "^+ is one or more"),
        ("(ab)+ + b", "^+ is one or more"),
        ("a^12", "put the power in braces: ^{12}"),
        ("a?", "write \\? for the sign itself"),
        ("[ab]", "write \\[ for the sign itself"),
        ("a^b", "write \\^ for the sign itself"),
        ("a{2}", "write \\{ for the sign itself"),
        ("a\\", "write \\\\ for the sign itself"),
        (r"a \cup b", "+ ∩ · ε ∅ Σ where LaTeX has words"),
        (r"\epsilon", "where LaTeX has words"),
        ("(a + b)* - b", "write \\- for the sign itself"),
        ("a = b", "write \\= for the sign itself"),
        ("a ∩ b + c", "say by parentheses which comes first"),
        ("a + b & c", "say by parentheses which comes first"),
        ("a ∩ ", "expected an expression"),
        ("a +", "'+' is or"),
        ("+ a", "'+' is or"),
        ("* a", "expected an expression, found '*'"),
        ("/ab/", "leave the slashes out"),
        ("(a", "the '(' stays open"),
        ("a)", "found ')'"),
        ("a | ", "found the end of the text"),
        ("ε", "no letters"),
        ("", "expected an expression"),
        ("(" * 200 + "a" + ")" * 200, "nested too deeply"),
        ("(a^{3000})^{3000}", "more than 100000 states and moves"),
        ("∩".join(["(aa+b)*ccccc"] * 5), "more than 100000 states and moves"),
        ("a" * 2001, "longer than"),
    ],
)
def test_what_is_no_expression_is_refused(formal: str, says: str) -> None:
    with pytest.raises(MachineError, match=re.escape(says)):
        from_regex(formal, formal=True)


@pytest.mark.parametrize("sign", "-~!'\",;=<>/_¬∖⋃∨⊕∥×•⋆★→∈ØφΦ₁")
def test_signs_that_mean_an_operation_to_somebody_are_no_letters(sign: str) -> None:
    with pytest.raises(MachineError, match=re.escape(f"write \\{sign} for the sign")):
        from_regex(f"a {sign} b", formal=True)
    escaped = from_regex(f"a \\{sign} b", formal=True)
    assert escaped.letters == tuple(sorted({"a", "b", sign}))


@pytest.mark.parametrize("formal", [True, False])
@pytest.mark.parametrize(
    ("pattern", "remark"),
    [
        ("(0U1)*", "'U' is read as a letter, not as or"),
        ("(epsilon|a)b", "'epsilon' is read letter by letter"),
        ("U|V", ""),
        ("US*", ""),
        ("steps|aeps", ""),
    ],
)
def test_letters_in_place_of_signs_are_remarked(
    formal: bool, pattern: str, remark: str
) -> None:
    said = from_regex(pattern, formal=formal).remark
    assert remark in said
    assert bool(remark) == bool(said)
