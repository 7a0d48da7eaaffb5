"""What is said of variables is true: how they are computed, and what their values mean.

The first tables hold a machine of every construction, and a network of every kind.
"""

import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from every_construction import SERVED
from every_kind import NETWORKS, compiled

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network.stated_program import meanings_of, stated_program
from krohn.network.transformer import Transformer
from krohn.open_model import Model
from krohn.program.claim import Sense
from krohn.program.interpreter import decoded_outputs, interpret
from krohn.program.meanings import BRINGS, SENTENCES
from krohn.program.operations import operation_modules, operation_named
from krohn.program.operations.base import LookBack
from krohn.program.operations.sibling_latest import SiblingLatest
from krohn.program.slices import slices
from krohn.program.statement import cone
from krohn.program.value_names import NUMBERS, SHOWN, ValueNames, possible_answers
from krohn.program.word_texts import write_letter

EACH = pytest.mark.parametrize("construction", SERVED)


@cache
def networks(construction: str) -> list[Model]:
    """Networks of each machine that a construction serves, of its states and outputs."""
    found = list[Model]()
    for source, length in SERVED[construction].items():
        shown: list[dict[str, Any]] = [{}]
        shown += [{"observe": "outputs"}] if krohn.read(source).output else []
        for how in shown:
            how |= {"construction": construction, "proof": False}
            found.append(krohn.compile(source, length, **how).model)
    return found


def some_words(net: Model) -> np.ndarray[Any, Any]:
    assert net.length is not None
    rng = np.random.default_rng(0)
    return rng.integers(len(net.letters), size=(200, net.length))


def test_every_operation_has_a_sentence() -> None:
    brought = {name for each in slices().values() for name in each.operations}
    maps = {"table", "select", "sum", "piecewise"}
    assert set(SENTENCES) == (set(operation_modules()) - brought - {"map"}) | maps


def test_of_every_head_it_is_said_what_it_brings() -> None:
    known = {
        name: operation_named(name) for name in SENTENCES.keys() & operation_modules()
    }
    assert {n for n, each in known.items() if each.is_attention} == set(BRINGS)


def is_number(net: Model, name: str) -> bool:
    """Whether the values of a variable are numbers, or it copies one."""
    program = net.variables.program
    if program.channels[name].op in NUMBERS:
        return True
    source = getattr(program.operations[name], "source", None)
    return source is not None and is_number(net, source)


@pytest.mark.sample(1)
@EACH
def test_each_value_of_each_variable_has_a_name(construction: str) -> None:
    for net in networks(construction):
        for name, channel in net.variables.program.channels.items():
            meaning = net.variables.meaning(name)
            assert meaning.says
            named = set(meaning.values) == set(channel.domain.tolist())
            assert named or is_number(net, name), (construction, name)
            assert all(meaning.values.values())
            assert bool(meaning.values) == bool(meaning.named_by)


@pytest.mark.sample(6)
@EACH
def test_answers_are_among_those_that_are_possible(construction: str) -> None:
    for net in networks(construction):
        program, words = net.variables.program, some_words(net)
        values = interpret(program, words)
        answers = decoded_outputs(program.outputs, program.decode, values)
        sets = possible_answers(program, len(net.classes))
        assert set(program.outputs) <= set(sets)
        for name, possible in sets.items():
            at = program.channels[name].place(values[name][:, 1:])
            assert possible[at, answers].all(), (construction, name)


@pytest.mark.sample(1)
@EACH
def test_names_by_answer_and_by_letter_are_those(construction: str) -> None:
    for net in networks(construction):
        program, words = net.variables.program, some_words(net)
        values = interpret(program, words)
        answers = decoded_outputs(program.outputs, program.decode, values)
        meanings = net.variables.meanings
        for name, meaning in meanings.items():
            told = meaning.values
            if meaning.named_by == "answer" and name in program.outputs:
                said = np.vectorize(told.get)(values[name][:, 1:])
                assert (said == np.array(net.classes)[answers]).all()
            channel = program.channels[name]
            read = channel.inputs[1:] if channel.op == "select" else (name,)
            told_by = {meanings[n].says for n in read}
            if meaning.named_by == "letter" and told_by == {"a number for each letter"}:
                for letter, v in zip(words[:, 0], values[name][:, 1], strict=True):
                    all_of = re.split(", | or ", told[v])
                    written = net.letters[letter] in all_of
                    assert written or told[v] == "any letter" or "more" in told[v]


@pytest.mark.sample(1)
@EACH
def test_what_is_fetched_has_the_answers_of_where_it_is_fetched_from(
    construction: str,
) -> None:
    """Names of copies, and of what is copied where it counts, are of that position."""
    seen = 0
    for net in networks(construction):
        program, words = net.variables.program, some_words(net)
        values, classes = interpret(program, words), net.classes
        answers = decoded_outputs(program.outputs, program.decode, values)
        meanings = net.variables.meanings
        for name, meaning in meanings.items():
            operation = program.operations[name]
            if not isinstance(operation, LookBack):
                continue
            # Copies of what is named by letters may be named by answers all the same.
            named_by = {n: meanings[n].named_by for n in (name, operation.source)}
            copied = named_by == {name: "possible answers", operation.source: "letter"}
            if named_by[operation.source] != "possible answers" and not copied:
                continue
            seen += 1
            t = np.arange(words.shape[1] + 1)
            read = [values[n] for n in operation.reads[1:]]
            at = np.broadcast_to(operation.position(read, t), values[name].shape)
            for row, position in zip(*np.nonzero(at), strict=True):
                told = meaning.values[int(values[name][row, position])]
                said = write_letter(classes[answers[row, at[row, position] - 1]])
                known = re.split(", | or ", told)
                assert said in known or re.search("more|any|all but", told), name
    assert seen or construction not in ("cascade", "krohn-rhodes")


@pytest.mark.parametrize("construction", ["scan", "scan3", "scan5", "scan10"])
def test_windows_of_composed_maps_are_the_letters_that_are_said(
    construction: str,
) -> None:
    for net in networks(construction):
        program, words = net.variables.program, some_words(net)
        values, meanings = interpret(program, words), net.variables.meanings
        whose = re.compile(r"where (?:this|the last (\d+)) letters? takes? (.*)")
        first = {
            found[2]: name
            for name, meaning in meanings.items()
            if (found := whose.fullmatch(meaning.says)) and not found[1]
        }
        steps = [values[name] for name in first.values()]  # (points, batch, T + 1)
        seen = 0
        for name, meaning in meanings.items():
            if (found := whose.fullmatch(meaning.says)) is None:
                continue
            seen += 1
            point = np.full(len(words), [*first].index(found[2]))
            for t in range(max(net.length - int(found[1] or 1), 0), net.length):
                point = np.array(steps)[point, range(len(words)), t + 1]
            assert np.array_equal(point, values[name][:, -1]), name
        assert seen > len(first) > 1


@EACH
def test_what_the_letter_decides_is_named_by_letters(construction: str) -> None:
    """Unless it is an answer, or a point, or there are too many letters to name."""
    for net in networks(construction):
        program = net.variables.program
        of_letter = ValueNames(program, net.letters, net.classes).of_letter
        for name, values in of_letter.items():
            meaning, sizes = net.variables.meaning(name), Counter(values.tolist())
            if meaning.named_by == "possible answers":
                assert max(sizes.values()) > SHOWN, (construction, name)
            else:
                assert meaning.named_by in ("letter", "answer", "point"), name


@EACH
def test_lists_of_answers_are_not_quoted_in_rows(construction: str) -> None:
    for net in networks(construction):
        meanings = net.variables.meanings.items()
        kinds = {
            text: meaning.named_by
            for name, meaning in meanings
            for text in meaning.values.values()
        }
        for name, meaning in meanings:
            if meaning.named_by in ("input", "use"):
                for cell in re.findall(r'[(, ]"([^"]*,[^"]*)"', str(meaning.short)):
                    assert kinds.get(cell) != "possible answers", (name, cell)


@pytest.mark.sample(8)
@EACH
def test_values_that_differ_have_names_that_differ(construction: str) -> None:
    for net in networks(construction):
        for name, meaning in net.variables.meanings.items():
            for texts in (meaning.values, meaning.short):
                alike = len({*texts.values()}) < len(texts)
                cut_off = "more" in "".join(texts.values())
                assert not alike or cut_off or meaning.named_by == "answer", name


def test_names_in_full_say_all_that_gives_a_value() -> None:
    """The steps of a counter are said with the inputs that give them, each of them."""
    net = krohn.compile("S4", 10, "cascade", proof=False).model
    places, names = net.places(), net.variables.program.channels
    for name in ("increment2", "increment3", "node2.0"):
        values, short = places[name].values, net.variables.meaning(name).short
        assert not any("more" in text for text in values.values())
        rows = sum(text.count("(") for text in values.values())
        leads = sum(text.count(") is (") for text in values.values())
        assert rows - leads >= len(names[name].table.rows) - 1  # but for that of BOS
        printed, hint = repr(net.select(name)), f"model.places()[{name!r}].values"
        assert (hint in printed) == (values != short)
    assert "adds 1 to sum2, where (node2.0, before1) is (1, 1)" in repr(
        net.select("increment2")
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", ["examples/turnstile.dot", "D6", "FFL2", "Grid4"])
def test_a_unit_vector_has_the_names_of_its_value(source: str) -> None:
    net = krohn.compile(source, 12, "cascade", strict=True, proof=False).model
    meanings, seen = net.variables.meanings, 0
    for name, meaning in meanings.items():
        value = meanings.get(name.removesuffix(".one-hot"))
        if value is not None and value is not meaning:
            seen += 1
            assert (value.values, value.named_by) == (meaning.values, meaning.named_by)
    assert seen


@pytest.mark.sample(1)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("source", ["examples/turnstile.dot", "FFL2", "Grid4"])
def test_what_is_not_found_in_blocks_is_not_there(source: str, strict: bool) -> None:
    """A value that says that no letter was found stands where there is none to find."""
    net = krohn.compile(source, 12, "cascade", strict=strict, proof=False).model
    program, words = net.variables.program, some_words(net)
    values, t, seen = interpret(program, words), np.arange(words.shape[1] + 1), set()
    for name, meaning in net.variables.meanings.items():
        flags = [
            program.operations[n].where  # type: ignore[attr-defined]
            for n in cone(program, name, ())
            if isinstance(program.operations[n], SiblingLatest)
            and n.partition("@")[0] == re.split("[@.]", name)[0]
        ]
        texts = {
            v: [*re.finditer(said, text)]
            for v, text in meaning.values.items()
            for said in NOT_FOUND
            if re.search(said, text) and "where" not in text
        }
        for value, (found,) in texts.items():
            seen.add(found.re.pattern)
            block, inner = (int(n or 0) for n in (*found.groups(), 0, 0)[:2])
            if found.re.pattern == NOT_FOUND[0]:
                level = program.operations[name].level  # type: ignore[attr-defined]
                block, inner = 2 ** (level + 1), 2**level
            start = t // block * block if block else 0 * t
            end = t // inner * inner if inner else t
            marked = values[flags[0]] == 1
            marked[:, 0] = False
            inside = (t >= start[:, None]) & (t < end[:, None])
            none = ~(marked[:, None] & inside).any(axis=2)
            assert np.array_equal(values[name] == value, none), (name, value)
    assert len(seen) > 2


NOT_FOUND = (
    "first half of its stretch or no such letter in that half",
    r"before this one in its stretch of (\d+)",
    r"in its stretch of (\d+) before that of (\d+)",
    "before this one$",
)
"""What is said of a value that stands where no letter is found in blocks."""


@pytest.mark.sample(2)
@EACH
def test_a_variable_that_is_stored_nowhere_is_read_as_its_readers_compute_it(
    construction: str,
) -> None:
    for net in networks(construction):
        words = some_words(net)[:20]
        right = interpret(net.variables.program, words)
        for name in net.variables.program.channels:
            read = net.read(torch.from_numpy(words), name)
            assert np.array_equal(read, right[name]), (construction, name)
            if name not in net.places():
                with pytest.raises(KrohnError, match="is stored nowhere"):
                    net.variables.place(name)


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", NETWORKS)
def test_variables_of_every_kind_have_a_meaning(kind: str) -> None:
    file = compiled(kind).file
    if "channels" not in file.header.get("program", {}):
        return
    program = stated_program(file)
    for name, meaning in meanings_of(file, program).items():
        assert meaning.says, name
        assert "{" not in meaning.says, name
        domain = set(program.channels[name].domain.tolist())
        assert set(meaning.values) in (domain, set())


@pytest.mark.sample(1)
@EACH
def test_what_is_stored_nowhere_is_explained_where_it_is_named(
    construction: str,
) -> None:
    for net in networks(construction):
        program, places = net.variables.program, net.places()
        for name, place in places.items():
            explained = [
                part.partition(" is ")[0] for part in place.meaning.split("; ")[1:]
            ]
            for read in program.channels[name].inputs:
                named = re.search(
                    rf"(?<![\w.]){re.escape(read)}(?![\w.])", place.meaning
                )
                assert not named or read in places or read in explained, (name, read)


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_answer_of_every_kind_that_has_names_is_named(kind: str) -> None:
    net = compiled(kind).model
    if not net.places() or net.file.claim.sense is Sense.WITHIN:
        return
    outputs, decode = net.variables.program.outputs, net.variables.program.decode
    if len(outputs) == 1 and decode:
        meaning = net.variables.meaning(outputs[0])
        assert meaning.named_by == "answer"
        named = {row[0]: net.classes[q] for row, q in decode.items()}
        assert all(named[v] == told for v, told in meaning.values.items())


def test_a_network_without_a_program_has_no_variables() -> None:
    net = krohn.compile("C3", arch="rnn").model
    assert not isinstance(net.network, Transformer)
    with pytest.raises(KrohnError, match="has no variables"):
        net.read(["1"], "sum")
