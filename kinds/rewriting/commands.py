"""Rewriting systems, arithmetic among them, in the commands."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiled_model import BY_NEED
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_program
from krohn.kinds.rewriting import source as rewriting
from krohn.kinds.rewriting.source import no_value
from krohn.kinds.rewriting.source_derivation import text_of
from krohn.kinds.rewriting.source_termination import (
    most_steps,
    order,
)
from krohn.kinds.rewriting.source_text import (
    find_unused_rules,
    random_lines,
)
from krohn.kinds.rewriting.statement import (
    KIND,
    LAST,
    Line,
    Rewriting,
)
from krohn.kinds.rewriting.statement_program import program_of
from krohn.network.modelfile import ModelFile
from krohn.program.attention import Sparse
from krohn.program.errors import told_as
from krohn.program.user_input import find_wrong_letter
from krohn.program.word_texts import join_letters
from krohn.schemas.parts import Dtype
from krohn.source_kinds.base import Built, sizes
from krohn.source_kinds.kind import Answers
from krohn.source_kinds.written_texts import (
    MOST_LINES,
    LineKind,
    Row,
    Writer,
    named_by,
    row_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTENTION = ("standard", "sparse")
MOST_TOKENS = 2**12
"""Tokens that are read for whole texts if nobody says how many."""


class RewritingFacts(TypedDict):
    """A rewriting system; sizes of the network where its texts have an end, or -T.

    Attributes:
        letters: The letters of lines.
        rules: The rules, counted.
        whole_texts: The most tokens of a text that are read; null if it is not known
            whether texts end.
        rules_that_never_apply: Rules that never apply, by number.
        lines_of_these_rules: Where these are written.
        places_read: The places that a rule reads.
        longest_line: The places of a line.
        sparse_window: How far back sparse attention must look.
        order: Weights of lines. Each rule makes one of them smaller, and none before it
            larger; empty if no such weights were found.
        steps: The most steps of a text, by this order; null without one.
        tokens: The tokens of the longest text.
    """

    name: str
    kind: Literal["rewriting"]
    claim: Literal["generates"]
    letters: str
    rules: int
    whole_texts: int | None
    rules_that_never_apply: NotRequired[list[int]]
    lines_of_these_rules: NotRequired[list[int]]
    places_read: int
    longest_line: int
    sparse_window: int
    order: list[str]
    steps: int | None
    tokens: int | str
    dtype: Dtype
    depth: NotRequired[int]
    layers: NotRequired[int]
    d_model: NotRequired[int]
    heads: NotRequired[int]
    mlp_width: NotRequired[int]
    parameters: NotRequired[int]
    proved: None


class StatedRule(TypedDict):
    """A rule of a rewriting system."""

    window: list[list[int]]
    replaces: tuple[int, int]
    writes: list[int | list[Any]]


class StatedRewriting(TypedDict):
    """A rewriting system."""

    kind: Literal["rewriting"]
    name: str
    letters: list[str]
    longest: int
    functions: list[list[list[int]]]
    rules: list[StatedRule]


class Rewritings(LineKind[Rewriting]):
    """Lines that are rewritten step by step, as text."""

    wire = KIND
    facts_types = (RewritingFacts,)
    stated_type = StatedRewriting
    source = Rewriting
    refusal = "{0}: {1}"
    of_name = staticmethod(rewriting.find_by_name)
    called = "a rewriting system"
    claim = "generates"
    formats = BY_NEED
    takes = frozenset({"strict", "keep", "activation", "attention"})

    def text_of(self, source: Rewriting, line: Sequence[int], most: int) -> list[int]:
        """The first tokens of the text of a line, by the reference."""
        return text_of(source, line, most)

    def build(self, source: Rewriting, asked: CompileOptions) -> Built:
        """The network for texts of which ``length`` tokens are read at most."""
        length = asked.length or _whole_texts(source)
        if length <= source.longest:
            raise CompileError(
                f"a line of {source.name} can have {source.longest} letters, and so many "
                f"tokens and more are read; say a larger length (-T {source.longest + 1})"
            )
        attention = asked.attention or "standard"
        if attention not in ATTENTION:
            known = " or ".join(ATTENTION)
            raise CompileError(
                f"of rewriting systems --attention takes {known}, not {attention!r}"
            )
        seen = Sparse(window(source), 1, 1) if attention == "sparse" else None
        with told_as(CompileError, f"{source.name}: "):
            program = program_of(source, length)
        built = compile_program(program, replace(asked.options, sparse=seen))
        return replace(built, construction=self.wire), {"length": length}

    def facts(self, source: Rewriting, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a rewriting system, and the size of its network."""
        weights, whole = order(source), rewriting.usual_length(source)
        length = asked.length or (whole if whole and whole <= MOST_TOKENS else None)
        facts: dict[str, Any] = {
            "letters": join_letters(source.letters),
            "rules": len(source.rules),
            **self.remarks(source),
            "places_read": source.widest,
            "longest_line": source.longest,
            "sparse_window": window(source),
            "order": [w.describe_weight(source.letters) for w in weights],
            "steps": most_steps(weights, source.longest) if weights else None,
            "tokens": length or "say -T",
            "dtype": asked.options.precision.name,
        }
        for dtype in asked.formats if length else ():
            try:
                built, _ = self.build(source, replace(asked, formats=(dtype,)))
            except CompileError:
                continue
            assert built.cost is not None
            return {**facts, "dtype": dtype, **sizes(built.cost)}
        return facts

    def remarks(self, source: Rewriting) -> dict[str, Any]:
        """How long texts can be, and rules that never apply, with their lines."""
        idle_rules = find_unused_rules(source)
        remarks: dict[str, Any] = {"whole_texts": rewriting.usual_length(source)}
        if idle_rules:
            remarks["rules_that_never_apply"] = idle_rules
        if idle_rules and source.lines:
            remarks["lines_of_these_rules"] = [source.lines[i - 1] for i in idle_rules]
        return remarks

    def text_splitter(self, file: ModelFile) -> Callable[[str], list[str]]:
        """A line may have blanks between its letters, or none."""
        return partial(split_line, self.of_file(file))

    def writer(self, file: ModelFile) -> Writer:
        """A line is asked for; the whole text is said."""
        source, length = self.of_file(file), file.claim.longest

        def row(words: Sequence[str]) -> Row:
            return row_of(source.end, line_in(source, words), length)

        def describe_text(row: Row, text: list[int]) -> Answers:
            line = row.index(source.end)
            return Answers(_text_result(source, text, line), range(line + 1, len(text)))

        return Writer(source.tokens, row, describe_text, end=source.end + 1)

    def interpreter(self, source: Rewriting) -> Callable[[list[str]], dict[str, Any]]:
        """Texts without a network."""
        return partial(self.interpret_prompt, source)

    def interpret_prompt(self, source: Rewriting, words: list[str]) -> dict[str, Any]:
        """The text by the reference interpreter: rules, no network."""
        line = line_in(source, words)
        length = rewriting.shrinking_length(source) or MOST_LINES
        return _text_result(source, text_of(source, line, length + 1), len(line))

    def draw_text(self, source: Rewriting | ModelFile, words: list[str]) -> "Figure":
        """Which token attends to which while a line is rewritten by a network."""
        from krohn.drawing import DrawingError, draw_rollout
        from krohn.kinds.rewriting.draw import of_lines

        if not isinstance(source, ModelFile):
            raise DrawingError("compile it, and draw the text of the model file")
        rules, length = self.of_file(source), source.claim.length
        row = self.writer(source).row(words)
        text = self.texts(source, [row])[0]
        if text[-1] != rules.end + 1:
            raise KrohnError(f"the text does not end within {length} tokens")
        return draw_rollout(
            of_lines(source, rules, row.index(rules.end), np.array(text))
        )

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> list[Line]:
        """Lines of both kinds of `random_lines`."""
        return random_lines(self.of_file(file), rng, count)

    def list_inputs(self, file: ModelFile, length: int) -> list[Line]:
        """Every line of up to so many letters."""
        source = self.of_file(file)
        if length > source.longest:
            raise KrohnError(
                f"lines of {source.name} have up to {source.longest} letters"
            )
        count = sum(source.end**n for n in range(1, length + 1))
        if count > MOST_LINES:
            raise KrohnError(
                f"there are {count:,} lines of up to {length} letters, too many to run; "
                "say --sample N"
            )
        letters = range(source.end)
        return [x for n in range(1, length + 1) for x in product(letters, repeat=n)]


def _whole_texts(source: Rewriting) -> int:
    """So many tokens are read for whole texts.

    Raises:
        CompileError: If it is not known whether texts end, or that is too much.
    """
    length = rewriting.usual_length(source)
    if length is None:
        raise CompileError(
            f"texts of {source.name} may go on for ever: lines do not get shorter, and no "
            "order was found by which they get smaller; say how many tokens are read (-T)"
        )
    if length > MOST_TOKENS:
        raise CompileError(
            f"texts of {source.name} end, within {length:,} tokens by the order that was "
            "found; say how many are read (-T), or shorter lines (longest)"
        )
    return length


def window(source: Rewriting) -> int:
    """How many of the last positions sparse heads must see: a line, and one place more.

    Yang et al. (2024, Proposition 5.1) need n + 2 for arithmetic; here the marks of lines
    stand behind their first letter, so that n + 1 are enough.
    """
    return max(source.longest, source.widest) + 1


def split_line(source: Rewriting, text: str) -> list[str]:
    """The letters of a line by name, with blanks between them or without.

    Of several letters that a text can begin with the longest one is read, and of digits
    all that follow each other, as in `krohn.program.word_texts.split_letters`. Who reads
    them checks them.
    """
    names = sorted(source.letters, key=len, reverse=True)
    line, rest = list[str](), text.strip()
    spelled = len(rest.split()) == 1 and max(map(len, names)) == 1
    while rest:
        number = None if spelled else re.match(r"\d+", rest)
        begins = (name for name in names if rest.startswith(name))
        line.append(number[0] if number else next(begins, rest[0]))
        rest = rest[len(line[-1]) :].lstrip()
    return line


def line_in(source: Rewriting, words: Sequence[str]) -> Line:
    """A line as a person writes it; what stands at its end may be written too.

    Raises:
        KrohnError: If it is no line of the source.
    """
    text = " ".join(words).removesuffix(source.tokens[source.end])
    names, letters = split_line(source, text), source.letters
    if wrong := find_wrong_letter(names, letters.__contains__, letters):
        raise KrohnError(wrong)
    if not 0 < len(names) <= source.longest:
        raise KrohnError(
            f"a line of {source.name} has 1 to {source.longest} letters, not {len(names)}"
        )
    return tuple(map(letters.index, names))


def _text_result(source: Rewriting, text: Sequence[int], prompt: int) -> dict[str, Any]:
    """A text, line by line; −1 is no answer.

    Raises:
        KrohnError: If it ends and has no value.
    """
    names = named_by(source.tokens, text)
    done = names[-1] == LAST
    lines: list[list[str]] = [[]]
    for name in names[: len(names) - done]:
        if name == source.tokens[source.end]:
            lines.append([])
        else:
            lines[-1].append(name)
    if done and (reason := no_value(source, lines[-1])):
        raise KrohnError(reason)
    steps = [
        {
            "token": " ".join(after),
            "is": f"line {k + 1}",
            "reads": {f"line {k}": " ".join(x)},
        }
        for k, (x, after) in enumerate(pairwise(lines), 1)
    ]
    shown = " ".join(names) + " …" * (not done)
    return {
        "prompt": names[:prompt],
        "text": names[prompt + 1 :],
        "answer": " ".join(lines[-1]) if done else None,
        "steps": steps,
        "shown": shown,
    }
