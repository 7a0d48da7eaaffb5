"""What the labels of arrows in a drawing say: letters, outputs, lists and conditions.

Where a label can be read in two ways, a remark says which one was taken.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice

from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import EMPTY, remark_on_epsilon
from krohn.algebra.formats.assembly import Transition
from krohn.algebra.formats.conditions import (
    Valuations,
    letters_of_columns,
    letters_of_conditions,
    parse_conditions,
)
from krohn.algebra.formats.dot_graph import Edge, label_text, plain
from krohn.algebra.formats.files import Kind, problem, quote
from krohn.program.errors import Refused
from krohn.program.user_input import EPSILONS, LIKE_EPSILON

MONA = "MONA_DFA"
"""What MONA and LTLf2DFA call their graphs."""
_CHANCE = r"((?:0|1)?\.\d*+|0|1|\d(?:\.\d++)?+[eE]-\d++|\d{1,3}+(?:\.\d*+)?+\s*+%)"
_PROBABILITY = re.compile(rf"(?:.*[:,;|=(\s])?{_CHANCE}(?:\s*+\))?+", re.S)
_FRACTION = re.compile(r"\s*+(\d{1,9}+)\s*+/\s*+(\d{1,9}+)\s*+")
_MATHEMATICS = re.compile(
    r"\s*+\$[^$\s]++[^$]*+\$(?:\s*+[,;|/:]?+\s*+\$[^$\s]++[^$]*+\$)*+\s*+"
)
_OF_STACK = re.compile(r"[^,\n]++,[^,;→>\n]++[;→>][^,\n]++")
_OF_TAPE = re.compile(r"[^,;→>\n]++[;→>][^,\n]++,\s*+[LRNS]\s*+")
_BREAK = re.compile(r"<\s*+br\s*+/?+\s*+>", re.I)
_FONT = re.compile(r"</?(?:[biuos]|su[bp]|font)\b[^<>]*+>", re.I)
_TAG = re.compile(r"<[^<>]*+>")
_WITH_OUTPUT = re.compile(r"\s*+[^/\s][^/]*+/.*", re.S)
_HEADLESS = re.compile(r"\s*+/\s*+\S.*", re.S)
_OF_PYFORMLANG = re.compile(r'".*" -> \[.*\]', re.S)
_GUARD = re.compile(r"\S\s++\[[^\[\]]*+\]\s*+(?:\Z|[|/,\n])")
_CONDITION = re.compile(r"[\w\s&|~!¬∧∨^⊕()]++")
_SURE_CONDITION = re.compile(r"[~!¬][\s(]*+\w|\w[\s)]*+(?:&|∧)")
_COLUMNS = re.compile(r"[01X](?:[ ,][01X])*+(?:\n[01X](?:[ ,][01X])*+)*+")
_SEVERAL = re.compile(
    r"\[[^\[\]]*+\]|(\w)\s?-\s?(\w)|(?:\w\s?)?+(?:\.{2,3}|…)(?:\s?\w)?+|Σ.*+|[*.]|\{[^,]*+,.*\}|\([^,|+]*+[,|+].*\)"
    r"|[^+]++\+[^+]++|.*[∪∨].*+|(?:not\s|[!¬~^≠])\s*+\w++"
    r"|.*\s(?:or|and|to)\s.*+|(?:if|when|unless|after)\s.*+|\w++[*+]"
    r"|\w++\s?(?:[<>!=]=?|[≤≥≠])\s?\w++"
    r"|(?:any|else|otherwise|others?|default)",
    re.S | re.I,
)
_LIKE_PAIR = re.compile(r"[^:]++:[^:]++|.*?(?:→|->).*+", re.S)
_UNREAD = re.compile(r"(?<!\\)(?:\\\\)*+\\[lrGNETHL]")
"""What Graphviz replaces by line breaks, and by names of what is drawn."""
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_SEPARATORS = {
    "\n": ("line breaks", re.compile(r"\n")),
    ",": ("commas", re.compile(r"[,()\[\]{}]")),
    ";": ("semicolons", re.compile(r"[;()\[\]{}]")),
    "|": ("bars", re.compile(r"[|()\[\]{}]")),
}
_Pairs = list[tuple[str, str | None]]
"""The letters of a label, each with its output; None where outputs lie elsewhere."""


@dataclass(frozen=True)
class Drawing:
    """What the rest of a drawing says about its labels.

    Attributes:
        name: What to call the file in messages.
        title: What the file calls the graph.
        one_letter: Whether each arrow has one letter, as LearnLib and AALpy draw them.
        accepts: Whether states are marked as accepting.
        kind: The kind of machine that was asked for.
        remarks: What was taken where labels can be read in two ways; added to.
    """

    name: str
    title: str
    one_letter: bool
    accepts: bool
    kind: Kind | None = None
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Labels:
    """The labels of a drawing.

    Attributes:
        drawing: The rest of the drawing.
        arrows: All arrows.
        first: The first arrow with each label, as it stands in the file.
        texts: The text of each label, but of those in ``pairs``.
        pairs: What labels like HTML with an output behind a line break say.
    """

    drawing: Drawing
    arrows: Sequence[Edge]
    first: Mapping[str, Edge]
    texts: dict[str, str]
    pairs: dict[str, _Pairs]

    def problem(self, raw: str, reason: str) -> MachineError:
        """The error for a label, at the first arrow that has it."""
        arrow = self.first[raw]
        between = f"{quote(arrow.source)} -> {quote(arrow.target)}"
        text = f"the arrow {between} {reason}"
        return problem(self.drawing.name, arrow.line, text)


def read_labels(
    arrows: Sequence[Edge], drawing: Drawing
) -> tuple[list[Transition], Sequence[str]]:
    """The transitions that arrows stand for: one for each letter of each.

    Beside them are letters to number first.

    Args:
        arrows: The arrows between states, at least one.
        drawing: The rest; remarks are added to its own.

    Raises:
        MachineError: If a label has no letter, a probability, or a condition that no
            letter can express; or some labels have outputs and others have none.
    """
    labels = _sort_labels(arrows, drawing)
    if not drawing.one_letter:
        _remark_backslashes(labels.texts, drawing)
        _leave_out_dollars(labels.texts, drawing)
    _check_deterministic_labels(labels)
    conditions = _pairs_of_conditions(labels)
    if conditions is not None:
        pairs, letters = conditions
        if not any(pairs.values()):
            raise problem(drawing.name, 0, "no letter meets any of its conditions")
        return _transitions(arrows, pairs), letters
    pairs = _with_empty_moves(labels, labels.pairs | _pairs_of_texts(labels))
    if not drawing.one_letter:
        _remark_alternatives(drawing, pairs)
    return _transitions(arrows, pairs), ()


def look_stochastic(texts: Iterable[str]) -> bool:
    """Whether all labels end in probabilities."""
    matches = [_PROBABILITY.fullmatch(text.strip()) for text in texts]
    return all(matches) and any(
        "." in match[1] or "%" in match[1] for match in matches if match
    )


def _remark(drawing: Drawing, said: str) -> None:
    """Add a remark once."""
    if said not in drawing.remarks:
        drawing.remarks.append(said)


def _transitions(
    arrows: Sequence[Edge], pairs: Mapping[str, _Pairs]
) -> list[Transition]:
    return [
        Transition(arrow.source, letter, arrow.target, output, arrow.line)
        for arrow in arrows
        for letter, output in pairs[arrow.label]
    ]


def _sort_labels(arrows: Sequence[Edge], drawing: Drawing) -> _Labels:
    first: dict[str, Edge] = {}
    for arrow in arrows:
        first.setdefault(arrow.label, arrow)
    texts, pairs = dict[str, str](), dict[str, _Pairs]()
    for raw in first:
        if not raw.startswith("<"):
            texts[raw] = label_text(raw).replace(" [internal]", "")
            if "&" in raw and texts[raw] != plain(raw):
                _remark(drawing, f"entities are read as signs: {quote(texts[raw])}")
            continue
        head, *rest = _BREAK.split(raw[1:-1], maxsplit=1)
        if "<table" in raw.lower():
            texts[raw] = _cell_text(raw[1:-1])
        elif rest and not _is_plain(head, rest[0]):
            listed = re.split(r"\s\|\s", _without_tags(head))
            pairs[raw] = [(part.strip(), _without_tags(rest[0])) for part in listed]
        else:
            texts[raw] = markup_text(raw)
            if texts[raw] == raw[1:-1]:
                shown = quote(texts[raw])
                remark = f"{quote(raw)} is read as markup, so the label is {shown}"
                _remark(drawing, remark)
    labels = _Labels(drawing, arrows, first, texts, pairs)
    for raw, pair in pairs.items():
        if not all(letter for letter, _ in pair):
            raise labels.problem(raw, "has no input in its label")
    return labels


def _remark_backslashes(texts: Mapping[str, str], drawing: Drawing) -> None:
    """Say which backslash is read as one that Graphviz reads as more."""
    for raw, text in texts.items():
        if "\\" in text and _UNREAD.search(raw) and text not in LIKE_EPSILON:
            _remark(drawing, f"the backslash in {quote(text)} is read as one")


def _leave_out_dollars(texts: dict[str, str], drawing: Drawing) -> None:
    """Leave out the dollars around what LaTeX (dot2tex) sets as mathematics."""
    for raw, text in texts.items():
        if _MATHEMATICS.fullmatch(text) and text not in LIKE_EPSILON:
            texts[raw] = text.replace("$", "")
            remark = "labels are read as LaTeX, without the dollars"
            _remark(drawing, remark)


def _is_plain(head: str, rest: str) -> bool:
    """Whether a line break in a label like HTML is one between any two lines.

    Else it is between letters and their output.
    """
    return "/" in _without_tags(head) or _without_tags(rest).startswith("[")


def markup_text(raw: str) -> str:
    """The text of a label like HTML, with a line for each of its own."""
    return "\n".join(map(_without_tags, _BREAK.split(raw[1:-1]))).strip()


def _without_tags(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", _FONT.sub("", markup))).strip()


def _cell_text(markup: str) -> str:
    """The text of a table, as python-statemachine draws it: events, and conditions.

    Its events begin with capitals, and blanks separate them.
    """
    text = markup_text(f"<{markup}>")
    return re.sub(r"(?<=\S) (?=[A-Z])", "\n", text)


def _check_deterministic_labels(labels: _Labels) -> None:
    if labels.texts and not labels.pairs and look_stochastic(labels.texts.values()):
        raw, text = next(iter(labels.texts.items()))
        raise problem(
            labels.drawing.name,
            labels.first[raw].line,
            f"stochastic: every label ends in a probability, as {quote(text)} "
            "does; only deterministic machines become networks",
        )
    if not labels.drawing.one_letter:
        _check_chances(labels)
        _check_stores(labels)
    for raw, text in labels.texts.items():
        if _OF_PYFORMLANG.fullmatch(text):
            raise labels.problem(
                raw,
                f"has the label {quote(text)} of a transducer of pyformlang, which may "
                "show several outputs; write letter/output",
            )
        if not labels.drawing.one_letter and _GUARD.search(text):
            raise labels.problem(
                raw,
                f"has a condition in its label, {quote(text)}: a network sees letters "
                "only; make two letters of it, one for each outcome",
            )


def _check_chances(labels: _Labels) -> None:
    """Refuse fractions that sum to 1 in each state: those of a Markov chain."""
    matches = {raw: _FRACTION.fullmatch(text) for raw, text in labels.texts.items()}
    fractions = {
        raw: Fraction(int(match[1]), int(match[2]))
        for raw, match in matches.items()
        if match and int(match[2])
    }
    if labels.pairs or len(fractions) < len(matches) or {*fractions.values()} <= {0, 1}:
        return
    sums: dict[str, Fraction] = {}
    for arrow in labels.arrows:
        sums[arrow.source] = sums.get(arrow.source, Fraction()) + fractions[arrow.label]
    if {*sums.values()} == {1}:
        raw = next(raw for raw, chance in fractions.items() if 0 < chance < 1)
        raise labels.problem(
            raw,
            f"has the label {quote(labels.texts[raw])}: stochastic, for the labels of each "
            "state sum to 1; only deterministic machines become networks",
        )


def _check_stores(labels: _Labels) -> None:
    """Refuse the labels of pushdown automata and of Turing machines."""
    lines = {raw: text.split("\n") for raw, text in labels.texts.items()}
    for form, store in ((_OF_STACK, "stack"), (_OF_TAPE, "tape")):
        every = [form.fullmatch(line) for each in lines.values() for line in each]
        if every and all(every) and not labels.pairs:
            raw, text = next(iter(labels.texts.items()))
            raise labels.problem(
                raw,
                f"has the label {quote(text)}, which works on a {store}; a machine has "
                f"none: draw an arrow for each letter, without the {store}",
            )


# Conditions on propositions, of LTLf2DFA and MONA.


def _pairs_of_conditions(
    labels: _Labels,
) -> tuple[dict[str, _Pairs], Sequence[str]] | None:
    """What conditions say, and all letters; None if the labels are no conditions."""
    drawing, texts = labels.drawing, labels.texts
    if drawing.one_letter or labels.pairs:
        return None
    heads: dict[str, tuple[str, str | None]]
    heads = {raw: (text.strip(), None) for raw, text in texts.items()}
    if all(map(_WITH_OUTPUT.fullmatch, texts.values())):
        heads = {raw: _divide(text) for raw, text in texts.items()}
    conditions = dict.fromkeys(head for head, _ in heads.values())
    try:
        valuations = _valuations(conditions, drawing)
    except Refused as refused:
        raise problem(drawing.name, 0, str(refused)) from None
    if valuations is None or not valuations.propositions:
        return None
    names = ", ".join(valuations.propositions)
    drawing.remarks.append(
        f"labels are read as conditions: a letter has a digit for each of {names}, 1 if "
        "it is true"
    )
    pairs = {
        raw: [(letter, output) for letter in valuations.of[head]]
        for raw, (head, output) in heads.items()
    }
    return pairs, valuations.letters


def _valuations(texts: Iterable[str], drawing: Drawing) -> Valuations | None:
    if drawing.title == MONA and all(map(_COLUMNS.fullmatch, texts)):
        lines = {text: text.split("\n") for text in texts}
        sizes = {text: {*map(len, rows)} for text, rows in lines.items()}
        counts = {len(rows) for rows in lines.values()}
        if len(counts) == 1 and all(len(size) == 1 for size in sizes.values()):
            cubes = {
                text: ["".join(column) for column in zip(*rows, strict=True)][::2]
                for text, rows in lines.items()
            }
            return letters_of_columns(cubes, counts.pop())
    sure = next(filter(_SURE_CONDITION.search, texts), None)
    if sure is None and drawing.title != MONA:
        return None
    trees = None
    if all(map(_CONDITION.fullmatch, texts)):
        trees = parse_conditions([*texts])
    if trees is None and sure is not None:
        _remark(drawing, f"{quote(sure)} is read as one letter, not as a condition")
    return None if trees is None else letters_of_conditions(trees)


# Letters, one or several, each with its output.


def _divide(text: str) -> tuple[str, str | None]:
    head, slash, tail = text.partition("/")
    return head.strip(), tail.strip() if slash else None


def _pairs_of_texts(labels: _Labels) -> dict[str, _Pairs]:
    outputs = _have_outputs(labels)
    pieces = {raw: [text.strip()] for raw, text in labels.texts.items()}
    for sign in _SEPARATORS:
        pieces = _split_labels(labels, pieces, sign, outputs)
    every = chain.from_iterable(pieces.values()) if outputs else ()
    for twice in (piece for piece in every if piece.count("/") > 1):
        letter, _ = _divide(twice)
        remark = f"in {quote(twice)} the letter is {quote(letter)}, up to the first '/'"
        labels.drawing.remarks.append(remark)
        break
    return {raw: _pairs(each, outputs) for raw, each in pieces.items()}


def _have_outputs(labels: _Labels) -> bool:
    """Whether labels have outputs behind a ``/``: all of them, or none."""
    drawing = labels.drawing
    bare = [r for r, t in labels.texts.items() if not _WITH_OUTPUT.fullmatch(t)]
    slashes = len(labels.texts) - len(bare) + len(labels.pairs)
    headless = [raw for raw in bare if _HEADLESS.fullmatch(labels.texts[raw])]
    if headless and not drawing.accepts:
        raise labels.problem(headless[0], "has no input in its label")
    if not slashes:
        return False
    if bare and drawing.accepts and not labels.pairs:
        example = next(t for t in labels.texts.values() if _WITH_OUTPUT.fullmatch(t))
        drawing.remarks.append(
            f"{quote(example)} is read as a letter, and '/' as a part of it"
        )
        return False
    if bare:
        text = labels.texts[bare[0]]
        if not text.strip():
            raise labels.problem(bare[0], "has no input in its label")
        raise labels.problem(
            bare[0],
            f"has the label {quote(text)} without an output, but others have "
            "input/output",
        )
    if drawing.accepts and drawing.kind is None:
        example = next(iter(labels.first))
        raise problem(
            drawing.name,
            labels.first[example].line,
            f"the label {quote(label_text(example))} reads as letter/output, but double "
            "circles mark accepting states, and a machine shows one of the two; say "
            "--as mealy to leave out which states are accepting, or --as acceptor to "
            "leave out the outputs",
        )
    return True


def _pairs(pieces: Sequence[str], outputs: bool) -> _Pairs:
    """Letters with their outputs: ``a, b/x`` has the output of b for a, too."""
    if not outputs:
        return [(piece, None) for piece in pieces]
    pairs, last = _Pairs(), None
    for piece in reversed(pieces):
        letter, output = _divide(piece)
        last = last if output is None else output
        pairs.insert(0, (letter, last))
    return pairs


def _split_labels(
    labels: _Labels, pieces: dict[str, list[str]], sign: str, outputs: bool
) -> dict[str, list[str]]:
    """The pieces, divided at a sign if it separates several letters."""
    split = {
        raw: list(chain.from_iterable(_parts(piece, sign) for piece in each))
        for raw, each in pieces.items()
        if any(sign in piece for piece in each)
    }
    split = {raw: each for raw, each in split.items() if len(each) > len(pieces[raw])}
    if not split:
        return pieces
    divided = pieces | split
    judge = _judge_outputs if outputs else _judge_letters
    verdict = judge(labels, split, sign, lambda: _is_decided(labels, divided, outputs))
    if verdict is None:
        return pieces
    called = _SEPARATORS[sign][0]
    example = quote(labels.texts[next(iter(split))])
    labels.drawing.remarks.append(
        f"{example} is read as several letters, which {called} separate"
        if verdict
        else f"{example} is read as one letter; draw an arrow for each if {called} "
        "separate several"
    )
    return divided if verdict else pieces


def _parts(text: str, sign: str) -> list[str]:
    """The parts of a label between signs outside of brackets."""
    if sign == "\n":
        parts = [line.strip().rstrip(",;|").strip() for line in text.split("\n")]
        return [part for part in parts if part]
    if text == sign:
        return [text]
    plain = [part.strip() for part in text.split(sign)]
    if not _BRACKETS.keys().isdisjoint(plain):
        return plain  # brackets are letters
    parts, begin, deep = list[str](), 0, 0
    for separator in _SEPARATORS[sign][1].finditer(text):
        deep += _BRACKETS.get(separator[0], 0)
        if separator[0] == sign and deep <= 0:
            parts.append(text[begin : separator.start()].strip())
            begin = separator.end()
    return [*parts, text[begin:].strip()]


def _judge_outputs(
    labels: _Labels,
    split: Mapping[str, list[str]],
    sign: str,
    decided: Callable[[], bool],
) -> bool | None:
    """Whether a sign separates letters; None if it is plainly inside of outputs."""
    shapes = [[bool(_WITH_OUTPUT.fullmatch(p)) for p in split[raw]] for raw in split]
    if not any(any(shape[1:]) for shape in shapes):
        return None
    whole = [all(shape) for shape in shapes]
    if labels.drawing.one_letter:
        return False
    if all(shape[-1] for shape in shapes) and all(map(all, split.values())):
        return all(whole) or decided()
    if any(whole):
        raw = next(
            raw for raw, shape in zip(split, shapes, strict=True) if not all(shape)
        )
        raise labels.problem(
            raw,
            f"has the label {quote(labels.texts[raw])}, whose parts are not all "
            "letter/output, as they are elsewhere; draw an arrow for each letter",
        )
    return False


def _judge_letters(
    labels: _Labels,
    split: Mapping[str, list[str]],
    sign: str,
    decided: Callable[[], bool],
) -> bool | None:
    """Whether a sign separates letters."""
    if labels.drawing.one_letter:
        return False
    gap = next((raw for raw, parts in split.items() if not all(parts)), None)
    if gap is not None and sign == ",":
        raise labels.problem(
            gap,
            f"has the label {quote(labels.texts[gap])}, in which ',' may be a letter or "
            "separate letters; draw an arrow for each letter",
        )
    return gap is None and (labels.drawing.accepts or decided())


def _is_decided(
    labels: _Labels, pieces: Mapping[str, Sequence[str]], outputs: bool
) -> bool:
    """Whether each letter leads from each state to one state, with one output."""
    pairs = {raw: _pairs(each, outputs) for raw, each in pieces.items()}
    seen: dict[tuple[str, str], tuple[str, str | None]] = {}
    return all(
        seen.setdefault((t.source, t.letter), (t.target, t.output))
        == (t.target, t.output)
        for t in _transitions(labels.arrows, pairs)
    )


# Labels that mean no letter, or look like several.


def _with_empty_moves(labels: _Labels, pairs: dict[str, _Pairs]) -> dict[str, _Pairs]:
    """The pairs, with moves that read no letter; only acceptors may have them."""
    drawing = labels.drawing
    outputs = any(output is not None for each in pairs.values() for _, output in each)
    may = drawing.accepts and (not outputs or drawing.kind == "acceptor")
    empty = set[str]()
    for raw, each in pairs.items():
        for letter, _ in each:
            if not letter and (raw == "" or not may or drawing.one_letter):
                raise labels.problem(raw, "has no input in its label")
            if letter in EPSILONS and not may:
                raise labels.problem(
                    raw,
                    f"has the label {quote(letter)}, which reads no letter; only "
                    "acceptors, whose accepting states have double circles, have such "
                    "moves",
                )
            if letter in EPSILONS or not letter:
                empty.add(letter)
            elif letter in LIKE_EPSILON:
                empty |= {letter} if may and not drawing.one_letter else set()
                _remark(drawing, remark_on_epsilon(letter, letter in empty))
    for letter in sorted(empty - LIKE_EPSILON):
        drawing.remarks.append(f"{quote(letter)} is read as a move without a letter")
    return {
        raw: [(EMPTY if a in empty else a, output) for a, output in each]
        for raw, each in pairs.items()
    }


def _remark_alternatives(drawing: Drawing, pairs: Mapping[str, _Pairs]) -> None:
    """Say which labels are read as one letter that look like more."""
    outputs = any(output is not None for each in pairs.values() for _, output in each)
    letters = dict.fromkeys(letter for each in pairs.values() for letter, _ in each)
    if not outputs and all(map(_LIKE_PAIR.fullmatch, letters)):
        first = quote(next(iter(letters)))
        _remark(drawing, f"{first} is read as one letter, without an output")
    signs = {letter for letter in letters if drawing.accepts and len(letter) == 1}
    words = (
        letter for letter in letters if len(letter) > 1 and signs.issuperset(letter)
    )
    for word in islice(words, 1):
        remark = f"{quote(word)} is read as one letter, not as one after the other"
        _remark(drawing, remark)
    for letter in letters:
        match = _SEVERAL.fullmatch(letter) if drawing.accepts else None
        ranges = match is not None and (match[1] or "a") <= (match[2] or "b")
        if ranges or (" " in letter and not letters.keys().isdisjoint(letter.split())):
            _remark(drawing, f"{quote(letter)} is read as one letter, not as several")
