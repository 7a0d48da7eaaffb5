"""The explanations that `krohn explain` gives of machines, small and large."""

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from slices_here import here, needs
from work import calls_at_most

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import EFFORTS
from krohn.algebra.errors import KrohnError
from krohn.compilation import explain
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import MOST_CHOSEN, planning
from krohn.compiler.search import FRONT
from krohn.decomposition import decompose
from krohn.network import modelfile
from krohn.network.precision import PRECISIONS
from krohn.program.slices import source_examples
from krohn.show import explanation as show
from krohn.show.explanation import lines
from krohn.show.tables import Terminal, cut_short
from krohn.source_kinds import KINDS, describe
from krohn.source_kinds.kind import EXPLAINED


def machine_of(table: IntArray) -> Automaton:
    rows = np.asarray(table)
    letters = tuple(f"a{i}" for i in range(rows.shape[0]))
    states = tuple(f"q{i}" for i in range(rows.shape[1]))
    return Automaton(Semiautomaton(rows, letters, states))


def printed(facts: dict, capsys: pytest.CaptureFixture[str]) -> str:
    show.explanation(facts)
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "aperiodic", "solvable", "groups"),
    [
        ("Grid4", 18, True, True, set()),
        ("Dyck4,2", 1246, True, True, set()),
        ("PermReset4", 48, False, True, {"S4"}),
        ("C12", 12, False, True, {"C12"}),
        ("S5", 120, False, False, {"S5"}),
        ("regex:(ab)*", 6, True, True, set()),
    ],
)
def test_monoids_and_groups(
    name: str,
    size: int,
    aperiodic: bool,
    solvable: bool,
    groups: set[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = explain(name, 16)
    assert facts["monoid_size"] == facts["monoid_at_least"] == size
    assert (facts["aperiodic"], facts["solvable"]) == (aperiodic, solvable)
    assert {g["name"] for g in facts["groups"]} - {"1"} == groups
    assert json.loads(json.dumps(facts))["properties"]
    text = printed(facts, capsys)
    assert f"{facts['semigroup_size']:,} transformations" in text
    language = list(lines(facts["language"]))
    assert len(language) <= 8
    assert len(text.splitlines()) - len(language) - 1 <= 50


@pytest.mark.sample(1, at=3)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "Grid9",
            ["memories that steer other memories", "AC⁰", "Theorem 11", "Theorem 10"],
        ),
        ("C6", ["counters, of depth 1", "ACC⁰", "Theorem 11", "Theorem 10"]),
        ("D8", ["the group is solvable", "Theorem 11"]),
        ("Memory4", ["one memory, of depth 1, is enough"]),
        ("PermReset3", ["the last reset", "Theorem 11"]),
        ("A5", ["unless TC⁰ = NC¹", "Theorem 13", "Theorem 10"]),
        (
            "regex:(a|b)*a(a|b)",
            ["heads that look back by fixed distances", "last 2 letters"],
        ),
        ("regex:ab(a|b)*", ["heads that look at the first letters"]),
        (
            "regex:(a|b|c)*a(a|b|c)*b(a|b|c)*",
            ["the short subsequences that have occurred decide"],
        ),
    ],
)
def test_what_it_means_for_depth(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(explain(name, 16), capsys)
    for word in words:
        assert word in text


@pytest.mark.slow
def test_refutations_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(explain("S5", 16), capsys)
    assert "generate A5" in text
    assert "Not aperiodic: “21345” leads 12345 → 21345 → 12345." in text
    assert "Synchronising: “L L L” leads all states to one." in printed(
        explain("Grid4", 9), capsys
    )


def test_theory_is_of_all_states_and_depth_of_those_that_are_reached(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A group that no word reaches from the start is in T(A), and in no network."""
    facts = explain(machine_of(np.array([[0, 2, 1], [0, 1, 2]])), 8)
    assert (facts["reachable"], facts["semigroup_size"]) == (1, 2)
    assert not facts["aperiodic"]
    assert "star-free" in " ".join(facts["depth"])
    text = printed(facts, capsys)
    assert "2 transformations of all 3 states" in text
    assert "For the depth of networks, which need what q0 reaches only:" in text


def generated(maps: list[list[int]]) -> int:
    """The number of maps that some maps generate, by composing until nothing is new."""
    found, waiting = {tuple(m) for m in maps}, [tuple(m) for m in maps]
    for each in waiting:
        for m in maps:
            longer = tuple(m[q] for q in each)
            if longer not in found:
                found.add(longer)
                waiting.append(longer)
    return len(found)


IDEMPOTENTS = [
    *([1, 1, 1, 1, 1, 1], [1, 6, 3, 6, 5, 6], [3, 3, 3, 3, 3, 3], [1, 3, 3, 1, 3, 3]),
    *([1, 1, 5, 1, 5, 1], [1, 5, 3, 4, 5, 6], [6, 6, 6, 6, 6, 6], [4, 4, 4, 4, 4, 4]),
    [4, 4, 3, 4, 4, 4],
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("text", "size", "states"),
    [
        (
            "t := Semigroup([ Transformation([1,3,2]), Transformation([1,2,3,3]) ]);",
            6,
            4,
        ),
        (
            f"Semigroup({', '.join(f'Transformation({m})' for m in IDEMPOTENTS)});",
            28,
            6,
        ),
        ("[ [1,2](3), [2,1](3) ]", 5, 4),
        ("Semigroup(PartialPerm([1, 2], [2, 3]), PartialPerm([2, 3], [1, 2]))", 14, 4),
        ("Group((2,3,4), (2,3))", 6, 4),
    ],
)
def test_semigroups_of_gap_are_of_all_points(
    text: str, size: int, states: int, tmp_path: Path
) -> None:
    path = tmp_path / "points.g"
    path.write_text(text)
    facts = explain(path, 4)
    maps = krohn.read(path).transitions.tolist()
    assert facts["states"] == states
    assert facts["semigroup_size"] == size == generated(maps)


@pytest.mark.slow
def test_semigroups_of_any_maps_are_of_all_points() -> None:
    random = np.random.default_rng(0)
    for _ in range(3):
        table = random.integers(0, 4, (2, 4))
        facts = explain(machine_of(table), 1)
        assert facts["semigroup_size"] == generated(table.tolist())


def corridor(n: int) -> IntArray:
    cells = np.arange(n)
    return np.array([np.maximum(cells - 1, 0), np.minimum(cells + 1, n - 1)])


def blocks(random: np.random.Generator, n: int, size: int) -> IntArray:
    order = random.permutation(n // size) * size
    return np.concatenate([i + random.permutation(size) for i in order])


def slow_to_reset(n: int) -> IntArray:
    return np.array([(np.arange(n) + 1) % n, np.maximum(np.arange(n), 1)])


LARGE: dict[str, tuple[Callable[[np.random.Generator], IntArray], int]] = {
    "random": (lambda random: random.integers(1000, size=(50, 1000)), 2),
    "random, 2 letters": (lambda random: random.integers(1000, size=(2, 1000)), 10),
    "all permutations": (
        lambda random: np.stack([random.permutation(1000) for _ in range(50)]),
        3,
    ),
    "permutations of blocks": (
        lambda random: np.stack([blocks(random, 1000, 10) for _ in range(3)]),
        8,
    ),
    "permutations of small blocks": (
        lambda random: np.stack([blocks(random, 48, 3) for _ in range(3)]),
        120,
    ),
    "a corridor": (lambda _: corridor(1000), 37),
    "slow to reset": (lambda _: slow_to_reset(1000), 35),
    "a counter": (lambda _: (np.arange(1000) + np.arange(50)[:, None]) % 1000, 4),
    "the last bits": (
        lambda _: (2 * np.arange(1024) + np.arange(2)[:, None]) % 1024,
        19,
    ),
    "never back": (
        lambda random: random.integers(np.arange(800), 800, size=(9, 800)),
        4,
    ),
    "enough to compile": (lambda random: random.integers(64, size=(50, 64)), 100),
}
"""Machines, and how many million calls explain them: half more than were counted."""


QUICK = ("random",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in LARGE],
)
def test_large_machines_are_explained_with_bounded_work(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table, millions = LARGE[kind]
    machine = machine_of(table(np.random.default_rng(0)))
    with calls_at_most(millions * 10**6):
        facts = explain(machine, 128)
    json.dumps(facts)
    assert len(printed(facts, capsys).splitlines()) <= 50


@pytest.mark.slow
def test_large_answers() -> None:
    points = np.arange(200)
    swap = np.append([1, 0], points[2:])
    facts = explain(machine_of(np.stack([np.roll(points, 1), swap])), 8)
    assert (facts["solvable"], facts["groups"][0]["name"]) == (False, "S200")
    assert facts["monoid_size"] is None
    assert facts["monoid_at_least"] == 10**100
    bits = (2 * np.arange(256) + np.arange(2)[:, None]) % 256
    assert "last 8 letters" in explain(machine_of(bits), 8)["depth"][0]


@pytest.mark.slow
def test_constructions_that_are_far_too_large_are_not_tried() -> None:
    facts = explain("C200", 32, "float64")
    reasons = {row["name"]: row["reason"] for row in facts["unavailable"]}
    assert facts["chosen"] is None
    assert all("parameters" in reasons[name] for name in ("counter", "scan"))
    assert "rows each" in reasons["sequential"]


@pytest.mark.slow
def test_the_forecast_is_the_one_of_the_planner() -> None:
    small, large = explain("C40", 16), explain("C160", 16)
    names = [row["name"] for row in small["constructions"]]
    assert {"product", "counter", "scan", "sequential"} <= set(names)
    options = Options(PRECISIONS["float32"], False)
    planned = planning(zoo.machine("C40"), 16, options)
    first = next(planned.best_first())
    assert names[0] == small["chosen"] == first.construction
    assert {c.name for c in planned.candidates() if c.bound is not None} == set(names)
    assert large["chosen"] == "counter"
    assert "scan" in {row["name"] for row in large["unavailable"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["C5", "S4", "Grid4", "FlipFlop", "D8", "Q8"])
def test_the_chosen_network_has_the_least_product_of_all_that_may_be_chosen(
    name: str,
) -> None:
    """And a scan of higher radix with a smaller one is named, with its product."""
    facts = explain(name, 100)
    (chosen,) = [row for row in facts["front"] if row["chosen"]]
    product = chosen["parameters"] * chosen["layers"] ** 2
    for row in facts["constructions"]:
        other = row["parameters"] * row["layers"] ** 2
        if row["exact"] and other < product:
            assert row["name"].removeprefix("scan").isdecimal()
            assert (
                "not counting scans that compose more than two windows" in facts["why"]
            )
    assert f"{product:,}" in facts["why"]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "length"), [("S4", 27), ("D4", 24), ("C3", 16)])
def test_alternatives_are_what_another_choice_compiles(
    source: str, length: int
) -> None:
    facts = explain(source, length)
    (chosen,) = (row for row in facts["front"] if row["chosen"])
    sizes = [row["minimise"] for row in facts["also"]]
    assert sizes == [
        size
        for size in FRONT
        if min(row[size] for row in facts["front"]) < chosen[size]
    ]
    for row in facts["also"]:
        assert row[row["minimise"]] < chosen[row["minimise"]]
        model = krohn.compile(source, length, minimise=row["minimise"], proof=False)
        told = model.summary()
        assert model.construction == row["name"]
        names = "depth", "layers", "parameters"
        assert [told[n] for n in names] == [row[n] for n in names]


@pytest.mark.slow
def test_the_front_counts_what_compiled_files_hold() -> None:
    for row in explain("C3", 16)["front"]:
        model = krohn.compile("C3", 16, row["name"], minimise="depth", proof=False)
        told = model.summary()
        if told["parameters"] == row["parameters"]:
            assert told["nonzero"] == row["nonzero"]


@pytest.mark.slow
def test_the_front_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "front.svg"
    assert cli.run(["explain", "S4", "-T", "20", "-o", str(path)]) == 0
    text = path.read_text()
    assert all(row["name"] in text for row in explain("S4", 20)["front"])
    assert cli.run(["explain", "HMM:none", "-o", str(tmp_path / "x.svg")]) == 2
    assert cli.run(["explain", "S4", "-o", str(tmp_path / "x.gif")]) == 2


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("states", [280, 400])
def test_a_machine_that_is_too_large_is_offered_an_rnn(states: int) -> None:
    rng = np.random.default_rng(0)
    large = machine_of([rng.permutation(states) for _ in range(2)])
    with pytest.raises(KrohnError, match="arch='rnn'"):
        krohn.compile(large, 128)
    assert krohn.compile(large, arch="rnn").summary()["parameters"] < MOST_CHOSEN


LEFT_OUT = "entries of the wiring that never matter were not made alike"


@pytest.mark.parametrize(
    ("what", "more"),
    [
        (LEFT_OUT, "A smaller network may exist (--effort high)."),
        ("kept (more than 5 things)", "may exist, but no --effort finds it."),
    ],
)
def test_effort_is_advised_where_it_changes_the_limit(what: str, more: str) -> None:
    out = StringIO()
    cut_short(Terminal(out), {"effort": 300_000, "cut_short": [what]})
    assert out.getvalue().startswith(f"The search hit a limit: {what}. ")
    assert more in out.getvalue()


@pytest.mark.slow
def test_files_say_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m.safetensors")
    asked = ["compile", "Grid4", "-T", "6", "--construction", "cascade", "-o", path]
    assert cli.run([*asked, "--effort", "3,000"]) == 0
    said = capsys.readouterr().out
    assert f"limit: {LEFT_OUT}. A smaller network may exist (--effort low)." in said
    found = {"effort": 3000, "cut_short": [LEFT_OUT]}
    assert modelfile.read(path).header["search"] == found
    assert krohn.verify(path).verdict == "verified"
    assert cli.run([*asked, "--effort", "3000", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {key: result[key] for key in found} == found
    assert cli.run(asked) == 0
    assert "hit a limit" not in capsys.readouterr().out
    assert modelfile.read(path).header["search"] == {
        "effort": EFFORTS["normal"],
        "cut_short": [],
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "length", "said"),
    [
        (
            "S3",
            128,
            r"; 68,618 of its 123,321 .* MLP of block 1, which computes n\.count0$",
        ),
        ("C3", 8, r"^it has the least parameters × layers², [\d,]+; [^;]*$"),
    ],
)
def test_large_networks_say_where_their_parameters_are(
    machine: str, length: int, said: str
) -> None:
    assert re.search(said, krohn.explain(machine, length)["why"])


@pytest.mark.slow
def test_explanations_say_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    facts = explain("Grid4", 6, effort=400)
    assert facts["effort"] == 400
    assert any(what.startswith("derived: stopped") for what in facts["cut_short"])
    assert cli.run(["explain", "Grid4", "-T", "6", "--effort", "400"]) == 0
    assert "hit a limit: " in capsys.readouterr().out
    assert explain("Grid4", 6, effort="unlimited")["cut_short"] == []


def test_decompositions_say_what_was_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    effort = 4 * decompose("Grid4", "derived").budget.spent // 5
    asked = ["decompose", "Grid4", "--method", "derived", "--effort", str(effort)]
    assert cli.run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["effort"] == effort
    assert LEFT_OUT in found["cut_short"]
    assert cli.run(asked) == 0
    assert f"hit a limit: {LEFT_OUT}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "how", [{"construction": "scan", "length": 8}, {"arch": "rnn"}], ids=str
)
def test_an_effort_that_changes_nothing_is_refused(how: dict[str, object]) -> None:
    with pytest.raises(KrohnError, match="effort= is for"):
        krohn.compile("C2", effort="high", **how)
    assert "search" not in krohn.compile("C2", **how).file.header


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "source", ["C2", pytest.param("Mess3", marks=needs("kinds.hidden_markov"))]
)
def test_it_prints_as_the_command_does(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["explain", source, "-T", "8"]) == 0
    said = capsys.readouterr().out
    facts = explain(source, 8)
    assert isinstance(facts, dict)
    assert f"{facts}\n".replace("within=", "--within") == said


@pytest.mark.slow
def test_every_name_of_the_list_says_what_it_is() -> None:
    """And so do other sizes of its family, and functions that the list only names."""
    names = [*zoo.names(), *(n for kind in KINDS for n in source_examples(kind))]
    for name in names:
        assert describe(name)[0], name
    assert describe("S3")[0] == "all permutations of 3 points"
    assert describe("regex:(ab)*") == ("", "")
    if here("kinds.dynamic_programs"):
        assert "insert 2, delete 2, replace 3" in describe("EditDistance")[0]
        assert "insert 2, delete 2, replace 3" in describe("EditDistance3,3")[0]
    if here("kinds.sequence_functions"):
        from krohn.kinds.sequence_functions.source_catalogue import FUNCTIONS

        for name in FUNCTIONS:
            assert describe(f"program:{name}")[0], name


def test_a_file_of_a_name_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("S3").write_text("a machine of somebody")
    assert describe("S3") == ("", "")


@needs("kinds.counting")
def test_a_counting_program_is_shown_with_what_it_answers() -> None:
    told = str(krohn.explain("crasp:Dyck1", 4))
    assert "What it is: balanced brackets of one kind, at any depth." in told
    assert "open := #[j <= i] Q_(" in told
    assert "1 where the last formula holds" in told


@pytest.mark.slow
def test_a_model_file_is_explained_for_its_own_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "f.safetensors")
    krohn.compile("C2", 9).save(path)
    assert krohn.explain(path)["length"] == 9
    for more, length in ([], 9), (["-T", "5"], 5):
        assert cli.run(["explain", path, *more, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["length"] == length
    assert cli.run(["explain", "C2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["length"] == EXPLAINED
    assert {KINDS[kind].explained for kind in KINDS} <= {None, EXPLAINED}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    [
        "C4",
        "S3",
        "Grid4",
        "FlipFlop",
        "Adder",
        "PermReset3",
        "D6",
        "abab",
        "regex:(ab)*",
    ],
)
def test_why_a_construction_does_not_apply_is_said_without_its_name(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = krohn.explain(name, 8, effort="low")
    show.explanation(facts)
    _, _, told = capsys.readouterr().out.partition("that do not apply, and why:\n")
    told, *_ = told.split("\n\n")
    for line in filter(None, told.splitlines()):
        names, why = line.strip().split(": ", 1)
        assert not re.match(rf"{re.escape(name)}\b", why)
        assert f"no {names.split(', ')[0]}" not in why
