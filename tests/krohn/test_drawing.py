"""Pictures of machines and models: drawn, saved, the same every time."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.architectures.recurrent.build import compile_rnn
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.pipeline import Options
from krohn.drawing import DrawingError, draw_machine, draw_model, save
from krohn.drawing.arrows import SAMPLES, Labels, at, bow, join
from krohn.drawing.canvas import Canvas
from krohn.drawing.residual_stream import stream
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS

FLOAT32 = PRECISIONS["float32"]
SMALL = [name for name in zoo.names() if len(zoo.machine(name).states) <= 40]
MODELS = [
    ("C2", 20, "counter", False),
    ("FlipFlop", 20, "memory", False),
    ("C2xC2xC2", 12, "product", False),
    ("S5", 100, "scan", False),
    ("S4", 16, "scan", True),
    ("Grid4", 20, "sequential", False),
    ("Dyck4,2", 8, "scan", False),
]


def texts(path: Path) -> list[str]:
    """Every text of an SVG file, as a reader sees it."""
    root = ElementTree.parse(path).getroot()
    found = root.iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in found]


def transformer(name: str, length: int, construction: str, strict: bool) -> ModelFile:
    machine = zoo.machine(name)
    compiled = compile_transformer(
        machine, length, construction, Options(FLOAT32, strict)
    )
    header = {
        "architecture": compiled.network.architecture,
        "machine": json_format.claimed_machine(machine),
        "claim": {"length": length, "start": machine.states[machine.start]},
        "program": compiled.program,
        "construction": construction,
    }
    return ModelFile(header, dict(compiled.network.tensors), FLOAT32)


def rnn(name: str) -> ModelFile:
    machine = zoo.machine(name)
    network = compile_rnn(machine, FLOAT32).network
    header = {
        "architecture": network.architecture,
        "machine": json_format.claimed_machine(machine),
        "claim": {"length": None, "start": machine.states[machine.start]},
    }
    return ModelFile(header, dict(network.tensors), FLOAT32)


def small(
    letters: tuple[str, ...] = ("a", "b"),
    states: tuple[str, ...] = ("p", "q"),
    table: Sequence[Sequence[int]] = ((1, 0), (0, 1)),
    output: Output | None = None,
) -> Automaton:
    return Automaton(
        Semiautomaton(np.array(table), letters, states), output=output, name="tiny"
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SMALL)
def test_names_of_states_and_drawn_letters_stand_in_the_picture(
    name: str, tmp_path: Path
) -> None:
    machine = zoo.machine(name)
    save(draw_machine(machine), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    assert set(machine.states) <= set(shown)
    assert any(letter in text for letter in machine.letters for text in shown)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["C2", "D8", "Dyck4,2"])
def test_pictures_may_be_pixels(name: str, tmp_path: Path) -> None:
    save(draw_machine(zoo.machine(name)), tmp_path / "m.png")
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["C60", "Dyck5,2", "D60"])
def test_large_machines_are_drawn_without_names(name: str, tmp_path: Path) -> None:
    machine = zoo.machine(name)
    save(draw_machine(machine), tmp_path / "m.svg")
    assert "Names and loops are not drawn." in texts(tmp_path / "m.svg")


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "fact", "cycles"),
    [
        ("A5", "the group A5 of order 60, acting on 5 points", "(1 2 3)"),
        ("S5", "the group S5 of order 120, acting on 5 points", "(1 2 3 4 5)"),
        ("S6", "the group S6 of order 720, acting on 6 points", "(1 2 3 4 5 6)"),
    ],
)
def test_a_tangle_that_permutes_few_points_is_drawn_by_what_letters_do_to_them(
    name: str, fact: str, cycles: str, tmp_path: Path
) -> None:
    machine = zoo.machine(name)
    save(draw_machine(machine), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    assert any(fact in text for text in shown)
    assert {*machine.letters, cycles} <= set(shown)
    assert shown.count("1") == len(machine.letters)


def test_maps_of_points_that_are_no_permutations_are_listed(tmp_path: Path) -> None:
    rows = np.roll(np.arange(300), -1), np.zeros(300, dtype=int)
    machine = Automaton(
        Semiautomaton(np.array(rows), ("up", "back"), tuple(map(str, range(300)))),
        action=((1, 2, 0), (0, 0, 2)),
    )
    save(draw_machine(machine), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    assert {"(1 2 3)", "1 1 3"} <= set(shown)
    assert any("acting on 3 points" in text for text in shown)
    assert not any("group" in text for text in shown)


@pytest.mark.slow
def test_another_tangle_is_drawn_as_its_table(tmp_path: Path) -> None:
    machine = zoo.machine("Rubik")
    save(draw_machine(machine), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    targets = machine.transitions.flatten().tolist()
    for state, name in enumerate(machine.states):
        assert shown.count(name) == 1 + targets.count(state)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["states", "transitions"])
def test_tables_name_outputs_and_go_on_beside(on: Any, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    table = generator.integers(0, 120, (20, 120))
    shape = 120 if on == "states" else (20, 120)
    machine = small(
        letters=tuple(f"letter{a}" for a in range(20)),
        states=tuple(f"q{p}" for p in range(120)),
        table=table.tolist(),
        output=Output(on, generator.integers(0, 2, shape), ("low", "high")),
    )
    output = machine.output
    assert output is not None
    save(draw_machine(machine), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    assert shown.count("state") == 3
    assert "Only the first 16 of 20 letters are shown." in shown
    if on == "states":
        assert f"q7: {output.names[output.table[7]]}" in shown
    else:
        assert f"q{table[3, 7]}/{output.names[output.table[3, 7]]}" in shown


def test_a_machine_too_large_is_refused_with_advice() -> None:
    with pytest.raises(KrohnError, match=r"C300 has 300 states.*up to 200.*minimise"):
        draw_machine(zoo.machine("C300"))


def test_many_letters_are_cut_to_those_that_reach_as_much(tmp_path: Path) -> None:
    save(draw_machine(zoo.machine("C12")), tmp_path / "m.svg")
    assert any("1 of 12 letters" in text for text in texts(tmp_path / "m.svg"))


@pytest.mark.slow
def test_the_sink_of_a_tree_is_told_instead_of_drawn(tmp_path: Path) -> None:
    save(draw_machine(zoo.machine("Dyck4,2")), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    assert "Transitions that are not drawn lead to error." in shown


def test_mealy_labels_name_letter_and_output(tmp_path: Path) -> None:
    output = Output("transitions", np.array([[0, 1], [1, 1]]), ("x", "y"))
    save(draw_machine(small(output=output)), tmp_path / "m.svg")
    assert {"a/x", "a/y", "b/y"} <= set(texts(tmp_path / "m.svg"))


def test_moore_outputs_stand_under_the_names(tmp_path: Path) -> None:
    output = Output("states", np.array([0, 1]), ("low", "high"))
    save(draw_machine(small(output=output)), tmp_path / "m.svg")
    assert {"p", "q", "low", "high"} <= set(texts(tmp_path / "m.svg"))


def test_accepting_states_have_a_second_circle_and_no_word(tmp_path: Path) -> None:
    output = Output("states", np.array([0, 1]), ("reject", "accept"))
    plain, acceptor = draw_machine(small()), draw_machine(small(output=output))
    circles = [
        sum(type(patch).__name__ == "Circle" for patch in figure.axes[0].patches)
        for figure in (plain, acceptor)
    ]
    assert circles == [2, 3]
    save(acceptor, tmp_path / "m.svg")
    assert "accept" not in texts(tmp_path / "m.svg")


def test_equal_transitions_both_ways_make_one_arrow() -> None:
    two_ways = small(letters=("a",), table=((1, 0),))
    one_way = small(letters=("a",), table=((1, 1),))
    counts = [len(draw_machine(m).axes[0].patches) for m in (two_ways, one_way)]
    assert counts[0] < counts[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [("$x$", "_{2}"), ("<&>", '"'), ("\x00\n", "\ud800"), ("語", "字" * 50)]
)
def test_any_name_can_be_drawn(names: tuple[str, str], tmp_path: Path) -> None:
    figure = draw_machine(small(letters=names, states=names))
    for suffix in ("svg", "png", "pdf"):
        save(figure, tmp_path / f"m.{suffix}")
    assert texts(tmp_path / "m.svg")


def test_machines_with_one_state_or_without_links(tmp_path: Path) -> None:
    single = small(states=("only",), table=((0,), (0,)))
    apart = small(states=tuple("pqrs"), table=(range(4), range(4)))
    for machine in (single, apart):
        save(draw_machine(machine), tmp_path / "m.svg")
        assert set(machine.states) <= set(texts(tmp_path / "m.svg"))


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (("a",), "a"),
        (("a", "b"), "a, b"),
        (tuple("abcdefghijkl"), "a, b, … (12)"),
        (("button/coffee", "coin/beep"), "button/coffee\ncoin/beep"),
    ],
)
def test_labels_are_joined_and_cut(labels: tuple[str, ...], shown: str) -> None:
    assert join(labels) == shown


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "length", "construction", "strict"), MODELS)
def test_transformers(
    name: str, length: int, construction: str, strict: bool, tmp_path: Path
) -> None:
    file = transformer(name, length, construction, strict)
    figure = draw_model(file)
    save(figure, tmp_path / "m.svg")
    save(figure, tmp_path / "m.png")
    shown = texts(tmp_path / "m.svg")
    assert f"{name} as Transformer" in shown
    assert any(construction in text and f"T = {length}" in text for text in shown)
    (features,) = (text for text in shown if text.startswith("position: "))
    assert all(name in features for name in file.header["program"]["features"])


@pytest.mark.slow
def test_heads_say_what_they_do_and_neighbours_are_merged(tmp_path: Path) -> None:
    save(draw_model(transformer("S5", 100, "scan", False)), tmp_path / "m.svg")
    shown = texts(tmp_path / "m.svg")
    assert {"1 back", "64 back", "[0..4]"} <= set(shown)
    assert any("from 64 letters before" in text for text in shown)


@pytest.mark.parametrize(
    ("name", "construction"),
    [("FFL2", "cascade"), ("Grid4", "gridworld"), ("Dyck2,2", "dyck"), ("S3", "scan")],
)
def test_the_legend_says_what_heads_bring(
    name: str, construction: str, tmp_path: Path
) -> None:
    file = transformer(name, 12, construction, False)
    save(draw_model(file), tmp_path / "m.svg")
    shown, seen = " ".join(texts(tmp_path / "m.svg")), 0
    for bar in stream(file).bars:
        if bar.brings and not bar.note.startswith("sum"):
            told = f"“{bar.note}”: " in shown and bar.brings in shown
            assert told or bar.note.endswith("back"), bar.note
            seen += 1
    assert seen


@pytest.mark.slow
def test_deep_models_are_elided(tmp_path: Path) -> None:
    save(draw_model(transformer("Grid4", 20, "sequential", False)), tmp_path / "m.svg")
    assert "Blocks 3 to 17 are not shown." in texts(tmp_path / "m.svg")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["C2", "Dyck4,2"])
def test_rnns(name: str, tmp_path: Path) -> None:
    figure = draw_model(rnn(name))
    save(figure, tmp_path / "m.svg")
    save(figure, tmp_path / "m.png")
    shown = texts(tmp_path / "m.svg")
    assert f"{name} as RNN" in shown
    assert ("0·1" in shown) == (name == "C2")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_picture_gives_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    drawn = []
    for i in range(2):
        path = tmp_path / f"{i}.{suffix}"
        save(draw_machine(zoo.machine("D8")), path)
        save(draw_model(rnn("C2")), tmp_path / f"m{i}.{suffix}")
        drawn.append((path.read_bytes(), (tmp_path / f"m{i}.{suffix}").read_bytes()))
    assert drawn[0] == drawn[1]


def test_a_model_without_a_program_is_refused() -> None:
    file = transformer("C2", 5, "counter", False)
    header = {key: value for key, value in file.header.items() if key != "program"}
    with pytest.raises(DrawingError, match="no Program"):
        draw_model(ModelFile(header, file.tensors, file.precision))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "change",
    [
        {"channels": [{"name": "x", "op": "map", "dims": [0, 1]}]},
        {"channels": [{"name": "x", "op": "shift", "dims": "ab", "snapshots": [0, 1]}]},
        {"channels": ["x"]},
        {"features": {"one": [0, 99]}},
        {"features": {"one": [0, 0.5]}},
        {"features": None},
        {"outputs": 3},
    ],
)
def test_a_damaged_program_is_refused(change: dict[str, Any]) -> None:
    file = transformer("C2", 5, "counter", False)
    header = {**file.header, "program": {**file.header["program"], **change}}
    with pytest.raises(DrawingError, match="damaged"):
        draw_model(ModelFile(header, file.tensors, file.precision))


@pytest.mark.parametrize("name", ["m.jpg", "m", "m.svg.gz"])
def test_unknown_picture_formats_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(DrawingError, match=r"\.svg, \.png, \.pdf"):
        save(draw_machine(small()), tmp_path / name)
    assert not list(tmp_path.iterdir())


FAR = np.array([[-9.0, 0.0], [9.0, 0.0]])


def test_a_label_does_not_hide_an_arrow_that_crosses_its_own() -> None:
    own = bow(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), 0.0)
    other = at(bow(np.array([0.0, -1.0]), np.array([0.0, 1.0]), 0.0), SAMPLES)
    labels = Labels(FAR, 0.2, np.concatenate([at(own, SAMPLES), other]), [])
    box = labels.beside(own, "a")
    assert box is not None
    assert box.holds(at(own, SAMPLES))
    assert not box.holds(other)


def test_labels_of_one_line_stand_apart() -> None:
    own = bow(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), 0.0)
    labels = Labels(FAR, 0.2, at(own, SAMPLES), [])
    first, second = labels.beside(own, "a, b"), labels.beside(own, "c")
    assert first is not None
    assert second is not None
    assert not first.meets(second)


@pytest.mark.slow
def test_the_zoo_is_drawn_on_one_sheet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "zoo.svg"
    assert cli.run(["zoo", "-o", str(sheet)]) == 0
    assert texts(sheet) == list(zoo.names())
    assert "FlipFlop" in capsys.readouterr().out
    assert cli.run(["zoo", "-o", str(tmp_path / "zoo.txt")]) == 2
    assert "choose a name that ends in" in capsys.readouterr().err


@pytest.mark.slow
def test_each_arrow_of_a_network_starts_in_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No two start one above the other, where one hides at which bar the other does."""
    curves = list[tuple[float, float]]()
    real = Canvas.curve

    def keep(canvas: Canvas, points: Any, **style: Any) -> None:
        curves.append(tuple(points[0]))
        real(canvas, points, **style)

    monkeypatch.setattr(Canvas, "curve", keep)
    draw_model(krohn.compile("examples/turnstile.dot", 64, proof=False).file)
    lanes = [round(x, 6) for x, _ in curves]
    assert len(set(lanes)) == len(lanes) > 8


ROOT = Path(__file__).parents[2]
GALLERY = (ROOT / "docs/gallery.md").read_text("utf-8")
QUICK = ("compile", "decompose", "draw", "zoo")
"""Commands of the gallery that are run again."""


@pytest.mark.slow
def test_pictures_of_the_gallery_are_what_its_commands_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = re.search(
        r"^matplotlib==(.*)$", (ROOT / "constraints.txt").read_text(), re.M
    )
    if pinned is None or pinned[1] != matplotlib.__version__:
        pytest.skip("another version of matplotlib places text elsewhere")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    shown = {Path(name).name for name in re.findall(r"\((images/[^)]*)\)", GALLERY)}
    drawn = 0
    for line in re.findall(r"^    krohn (.*)$", GALLERY, re.M):
        asked = shlex.split(line)
        if asked[0] not in QUICK or asked[:2] == ["draw", "set"]:
            continue
        assert cli.run(asked) == 0
        name = asked[-1]
        if name in shown:
            assert (
                Path(name).read_bytes() == (ROOT / "docs/images" / name).read_bytes()
            ), name
            drawn += 1
    assert drawn >= 4


IMAGES = sorted((ROOT / "docs/images").iterdir())
WHITE = re.compile(r'id="patch_1">\s*<path d="[^"]*" style="fill: #ffffff"')
"""The background of a picture, as matplotlib writes it."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_pictures_of_pages_can_be_read_on_dark_ones(path: Path) -> None:
    if path.suffix == ".svg":
        assert WHITE.search(path.read_text("utf-8"))
    else:
        pixels = imread(path)
        assert pixels.shape[2] == 3 or (pixels[:, :, 3] == 1).all()


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture_that_is_saved_has_a_background(suffix: str, tmp_path: Path) -> None:
    figure = Figure(facecolor="none")
    save(figure, path := tmp_path / f"m.{suffix}")
    if suffix == "svg":
        assert WHITE.search(path.read_text("utf-8"))
    else:
        assert (imread(path)[:, :, 3] == 1).all()
