"""Classes of input vectors, held against the product terms one by one."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn import cli
from krohn.algebra.automaton import Automaton, Inputs
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.formats import json_format, kiss2, read, write
from krohn.compilation import explain
from krohn.decomposition import decompose

BITS = 9
VECTORS = ["".join(bits) for bits in itertools.product("01", repeat=BITS)]
STATES = ("p", "q", "r")
Terms = list[tuple[str, str, str, str]]


def cube(fixed: dict[int, str]) -> str:
    return "".join(fixed.get(i, "-") for i in range(BITS))


CUBES = st.dictionaries(st.integers(0, BITS - 1), st.sampled_from("01"), max_size=5)
TERM = st.tuples(
    CUBES.map(cube),
    st.sampled_from((*STATES, "*")),
    st.sampled_from((*STATES, "*", "-")),
    st.sampled_from("01-"),
)


def text(terms: Terms, width: int = BITS) -> str:
    return f".i {width}\n.o 1\n" + "".join(" ".join(t) + "\n" for t in terms)


def said(terms: Terms, state: str, vector: str) -> tuple[set[str], set[str]]:
    """All next states and outputs that the terms give."""
    fit = [
        (target, output)
        for cube, source, target, output in terms
        if source in (state, "*")
        and all(c in ("-", v) for c, v in zip(cube, vector, strict=True))
    ]
    outputs = {o for _, o in fit} - {"-"} or ({"0"} if fit else {"undefined"})
    return {t for t, _ in fit} - {"*", "-"}, outputs


@pytest.mark.slow
@given(st.lists(TERM, min_size=1, max_size=6))
@settings(max_examples=15)
def test_classes_do_what_the_terms_say(terms: Terms) -> None:
    states = {t[i] for t in terms for i in (1, 2)} - {"*", "-"}
    if not states:
        return
    wanted = {(q, v): said(terms, q, v) for q in states for v in VECTORS}
    clash = any(len(found) > 1 for pair in wanted.values() for found in pair)
    if clash:
        with pytest.raises(MachineError, match="keep one of them"):
            kiss2.read(text(terms), "x", "stay")
        return
    machine = kiss2.read(text(terms), "x", "stay")
    letters = machine.encode(VECTORS)
    for (state, vector), (targets, outputs) in wanted.items():
        q, a = machine.states.index(state), letters[VECTORS.index(vector)]
        assert machine.states[machine.transitions[a, q]] == max(targets, default=state)
        assert machine.output.names[machine.output.table[a, q]] == max(outputs)


@pytest.fixture
def circuit(tmp_path: Path) -> Path:
    """Twenty bits, of which three matter, one of them in one state only."""
    terms = [
        ("1" + "-" * 19, "p", "q", "1"),
        ("0" + "-" * 19, "p", "p", "0"),
        ("-" * 18 + "01", "q", "p", "1"),
        ("-" * 18 + "00", "q", "q", "0"),
        ("-" * 18 + "1-", "q", "*", "1"),
    ]
    path = tmp_path / "circuit.kiss2"
    path.write_text(text(terms, 20))
    return path


def vectors(*ends: str) -> list[str]:
    """Twenty bits from the first one and the last two."""
    return [f"{end[0]}{'01' * 8}0{end[1:]}" for end in ends]


WORD = vectors("100", "000", "001", "111", "010")


def test_letters_of_many_bits_are_classes(circuit: Path) -> None:
    machine = read(circuit, "stay")
    assert len(machine.letters) == 6
    assert machine.run(WORD) == ("1", "0", "1", "1", "1")
    assert machine.letter(WORD[0]) == "1-----------------00"
    assert machine.letter(WORD[0][1:]) is None
    with pytest.raises(MachineError, match="is not a letter"):
        machine.run(["1"])


@pytest.mark.slow
def test_machines_of_many_bits_are_explained_and_taken_apart(circuit: Path) -> None:
    machine = read(circuit, "stay")
    assert explain(machine, 8)["letters"] == 6
    assert decompose(machine).found.cascade.components


def test_open_next_states_are_missing_but_keep_their_outputs(circuit: Path) -> None:
    with pytest.raises(MachineError, match=r"2 of 12 transitions are missing"):
        read(circuit)
    sink = read(circuit, "sink")
    assert sink.run(vectors("100", "011", "100")) == ("1", "1", "undefined")
    given_elsewhere = text([("-" * 9, "p", "*", "1"), ("-" * 9, "*", "p", "-")])
    assert kiss2.read(given_elsewhere, "x").run(["0" * 9]) == ("1",)


@pytest.mark.parametrize("name", ["m.json", "m.kiss2"])
def test_classes_are_written_and_read_back(
    name: str, circuit: Path, tmp_path: Path
) -> None:
    machine = read(circuit, "stay")
    write(machine, tmp_path / name)
    again = read(tmp_path / name)
    assert again.inputs == machine.inputs
    assert again.run(WORD) == machine.run(WORD)
    assert json_format.to_object(again)["version"] == 2


def test_words_are_vectors_of_bits_everywhere(
    circuit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = read(circuit, "stay")
    model = tmp_path / "m.safetensors"
    krohn.compile(machine, 8).save(model)
    states = [machine.states[q] for q in trace(machine, WORD)]
    network = krohn.load(model)
    assert network.run(WORD, states=True) == states
    assert network.encode(WORD).tolist() == [machine.encode(WORD).tolist()]
    (tmp_path / "word").write_text("\n".join(WORD))
    streamed = ["run", str(model), "--stream", str(tmp_path / "word")]
    assert cli.run(streamed) == 0
    assert capsys.readouterr().out.split() == states
    expected = ["--expect", "--machine", str(circuit), "--complete", "stay"]
    assert cli.run(["run", str(model), *expected, "--", *WORD]) == 0
    assert cli.run(["run", str(model), WORD[0][1:]]) == 2
    assert "a letter is 20 input bits" in capsys.readouterr().err


def trace(machine: Automaton, word: list[str]) -> list[int]:
    found = machine.semiautomaton.trace(machine.encode(word), machine.start)
    return list(found.tolist())


def test_other_classes_are_another_machine(circuit: Path, tmp_path: Path) -> None:
    machine = read(circuit, "stay")
    model = tmp_path / "m.safetensors"
    krohn.compile(machine, 4).save(model)
    stated = json_format.to_object(machine)
    for node in stated["inputs"]["nodes"]:
        node[1:] = node[:0:-1]
    other = json_format.from_object(stated)
    assert krohn.verify(model, machine, exhaustive=4).verdict == "verified"
    with pytest.raises(KrohnError, match="vectors of input bits for different"):
        krohn.verify(model, other, exhaustive=2)


def test_too_many_letters_are_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kiss2, "MOST_WORK", 2**16)
    width = 30
    terms = [
        ("-" * i + "1" + "-" * (width - i - 1), f"s{i}", "s0", "0")
        for i in range(width)
    ]
    with pytest.raises(MachineError, match="makes too many letters"):
        kiss2.read(text(terms, width), "x", "stay")


@pytest.mark.parametrize(
    ("bits", "nodes", "message"),
    [
        (0, (), "0 input bits"),
        (65, (), "65 input bits"),
        (2, ((2, -1, -2),), "node 0 .* asks for no later bit"),
        (2, ((1, -1, -2), (1, 0, -1)), "node 1 .* asks for no later bit"),
        (2, ((0, 0, -2),), "node 0 .* leads to no earlier one"),
    ],
)
def test_diagrams_that_lead_nowhere_are_refused(
    bits: int, nodes: tuple[tuple[int, int, int], ...], message: str
) -> None:
    with pytest.raises(MachineError, match=message):
        Inputs(bits, nodes)


@pytest.mark.parametrize(
    "inputs",
    [{}, {"bits": "2", "nodes": []}, {"bits": 2, "nodes": [[1, -1]]}, {"bits": 2}, 7],
)
def test_damaged_classes_are_refused(inputs: object, circuit: Path) -> None:
    stated = json_format.to_object(read(circuit, "stay"))
    with pytest.raises(MachineError):
        json_format.from_object({**stated, "inputs": inputs})
