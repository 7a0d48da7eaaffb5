"""State space models: proved, damaged, and run (docs/architectures/state_space.md)."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.architectures.state_space import check as state_space, find as finding
from krohn.architectures.state_space.check_layers import (
    Affine,
    Layer,
    Reached,
    Recurrence,
    finite,
    open_layers,
    round_to_format,
    step,
    sums,
)
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import PRECISIONS
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.network import recheck
from krohn.verify.proof import prove
from krohn.verify.search.exact_walk import walk
from krohn.verify.search.find import find, model_of

ROUNDING, SIGNS, SELECTIVE = "rounding", "signs", "selective"
EVERY_LENGTH = [
    (ROUNDING, ("FlipFlop", "Memory5", "Dyck4,2", "Grid9", "Adder", "FFL2")),
    (SELECTIVE, ("FlipFlop", "Memory5", "C2", "C4", "C2xC2", "D8", "Q8", "abab")),
]
BOUNDED = ("C2", "C5", "C2xC2", "S4", "D6", "abab")

torch.set_num_threads(1)


@cache
def flip_flop() -> tuple[ModelFile, dict[str, Any]]:
    """A file, and the evidence of its proof."""
    file = file_of("FlipFlop", ROUNDING)
    return file, find(pack(file.header, file.tensors))


def file_of(
    name: str, form: str, length: int | None = None, dtype: str = "float32"
) -> ModelFile:
    how: dict[str, Any] = {"arch": "ssm", "dtype": dtype, "proof": False}
    return krohn.compile(name, length, form, **how).file


def reached(layer: Layer, length: int | None, dtype: str = "float32") -> Reached:
    """The hidden states that words lead to."""
    net = Recurrence(FORMATS[dtype], layer, layer.start)
    found = walk(
        finding.Hidden(net, net.values), net.machine, finding.LAYER, length, last=False
    )
    return Reached(found.nodes, found.edges, 0)


def machine_of(name: str) -> Automaton:
    return replace(krohn.read(name), output=None)


def agrees(file: ModelFile, machine: Automaton, length: int) -> bool:
    """On random words, by the network as it runs."""
    rng = np.random.default_rng(0)
    words = rng.integers(len(machine.letters), size=(20, length))
    said = Model(file)(torch.from_numpy(words)).argmax(dim=-1).numpy()
    right = machine.semiautomaton.trace(words, machine.start)
    return bool(np.array_equal(said, right))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("form", "name", "dtype"),
    [
        (form, name, dtype)
        for form, names in EVERY_LENGTH
        for name, dtype in zip(names, 2 * list(FORMATS), strict=False)
    ],
)
def test_every_length(form: str, name: str, dtype: str) -> None:
    file, machine = file_of(name, form, dtype=dtype), machine_of(name)
    proof = prove(file, machine)
    assert (proof.verdict, proof.length) == ("verified", None), proof.reason
    assert agrees(file, machine, 400)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "dtype"), list(zip(BOUNDED, 2 * list(FORMATS), strict=False))
)
def test_counters_up_to_a_length(name: str, dtype: str) -> None:
    file, machine = file_of(name, ROUNDING, 70, dtype), machine_of(name)
    proof = prove(file, machine)
    assert (proof.verdict, proof.length) == ("verified", 70), proof.reason
    assert agrees(file, machine, 70)


def claims(file: ModelFile, length: int) -> ModelFile:
    """The same network, claimed for another length."""
    claim = {**file.header["claim"], "length": length}
    return replace(file, header={**file.header, "claim": claim})


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "form", "dtype", "longest", "wrong"),
    [
        ("C2", ROUNDING, "bfloat16", 509, 510),
        ("C3", ROUNDING, "bfloat16", 256, 257),
        ("C2", ROUNDING, "float16", 4093, 4094),
        ("FlipFlop", SIGNS, "bfloat16", 64, 68),
        ("FlipFlop", SIGNS, "float32", 26, 31),
        ("FlipFlop", SIGNS, "float64", 93, 99),
    ],
)
def test_the_longest_word_and_the_first_that_is_wrong(
    name: str, form: str, dtype: str, longest: int, wrong: int
) -> None:
    """Between the two a number is subnormal, which some machines flush to 0."""
    file, machine = file_of(name, form, longest, dtype), machine_of(name)
    assert prove(file, machine).verdict == "verified"
    proof = prove(claims(file, wrong), machine)
    assert proof.verdict == "refuted"
    assert proof.word is not None
    assert len(proof.word) == wrong
    for length in range(longest + 1, wrong):
        assert prove(claims(file, length), machine).verdict == "undecided"
    logits = Model(claims(file, wrong))(torch.tensor([proof.word]))[0].double().numpy()
    right = machine.semiautomaton.trace(np.array([proof.word]), machine.start)[0]
    best = logits.max(axis=1)
    ahead = (logits[np.arange(wrong), right] == best) & (
        (logits == best[:, None]).sum(1) == 1
    )
    assert ahead[:-1].all()
    assert not ahead[-1]


def test_over_the_reals_a_latch_forgets_and_a_sign_does_not() -> None:
    """Theorems D2 and D4, in rational numbers, on a word of 200 idle letters."""
    for form, remembers in ((ROUNDING, False), (SIGNS, True)):
        length = None if form == ROUNDING else 9
        t = file_of("FlipFlop", form, length).tensors
        a = Fraction(float(t["layers.0.decay"][0]))
        b = [Fraction(float(x)) for x in t["layers.0.input"][:, 0]]
        ends = []
        for written in (1, 2):
            h = Fraction(float(t["layers.0.start"][0]))
            for letter in (written, *[0] * 200):
                h = a * h + b[letter]
            ends.append(h)
        weight, bias = t["layers.0.decode.0.weight"], t["layers.0.decode.0.bias"]
        read = [
            [
                Fraction(float(w)) * h + Fraction(float(c)) > 0
                for w, c in zip(weight[0], bias, strict=True)
            ]
            for h in ends
        ]
        assert (read[0] != read[1]) == remembers


@pytest.mark.parametrize(
    ("name", "form", "alike"),
    [("C5", ROUNDING, True), ("Q8", SELECTIVE, True), ("FlipFlop", ROUNDING, False)],
)
def test_a_parallel_scan_adds_alike_but_rounds_otherwise(
    name: str, form: str, alike: bool
) -> None:
    """Theorem D6: nothing is claimed of it."""
    file = file_of(name, form, 100 if name == "C5" else None)
    machine, network = machine_of(name), Model(file).network
    words = np.random.default_rng(0).integers(len(machine.letters), size=(20, 100))
    said = network.parallel(torch.from_numpy(words)).argmax(dim=-1).numpy()  # type: ignore[operator, union-attr]
    right = machine.semiautomaton.trace(words, machine.start)
    assert np.array_equal(said, right) == alike


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_step_is_as_torch_rounds_it(dtype: str) -> None:
    """Lemma D7: of any numbers; where it is sure, one rounding gives the same."""
    rng, form = np.random.default_rng(0), FORMATS[dtype]
    precision, kind = PRECISIONS[dtype], getattr(torch, dtype)
    h, a, b = (
        precision.round(rng.normal(size=4000) * 2.0 ** rng.integers(-3, 4, size=4000))
        for _ in range(3)
    )
    a[::4] = 0.5
    b[::3] = -precision.round(precision.round(a[::3] * h[::3]) * 1.01)
    b[5::50] = -precision.round(a[5::50] * h[5::50])
    found = step(h, a, b, form)
    x, y, z = (torch.from_numpy(v).to(kind) for v in (h, a, b))
    assert np.array_equal(found.after, (y * x + z).double().numpy())
    sure = np.flatnonzero(found.sure)[:500]
    assert len(sure) > 100
    assert not found.sure.all()
    for i in sure:
        exact = Fraction(h[i]) * Fraction(a[i]) + Fraction(b[i])
        assert found.after[i] == nearest(exact, form.digits)


def nearest(x: Fraction, digits: int) -> float:
    """The number with so many binary digits, ties to even."""
    if x == 0:
        return 0.0
    size = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    by = digits - size - (abs(x) >= Fraction(2) ** size)
    return float(Fraction(round(x * Fraction(2) ** by)) / Fraction(2) ** by)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", FORMATS)
def test_a_step_with_a_decay_of_0_or_more_keeps_the_order(dtype: str) -> None:
    """Theorem D1: what it rests on."""
    rng, form = np.random.default_rng(1), FORMATS[dtype]
    draw = PRECISIONS[dtype].round
    for _ in range(60):
        h = np.sort(draw(rng.normal(size=50) * 2.0 ** rng.integers(0, 8)))
        a, b = draw(abs(rng.normal(size=1))), draw(rng.normal(size=1) * 16)
        assert (np.diff(step(h, a, b, form).after) >= 0).all()
        assert (np.diff(step(h, -a, b, form).after) <= 0).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", FORMATS)
def test_sums_that_are_sure_are_exact(dtype: str) -> None:
    """Lemma D8: against rational numbers, and by torch."""
    rng, form, kind = np.random.default_rng(2), FORMATS[dtype], getattr(torch, dtype)
    surely = 0
    for trial in range(120):
        wide = 2 ** rng.integers(1, form.digits + 2)
        x = round_to_format(1.0 * rng.integers(-wide, wide, size=(1, 3)), form)
        w = 2.0 ** rng.integers(-1, 2, size=(3, 2)) * rng.integers(-1, 2, size=(3, 2))
        b = round_to_format(
            1.0 * rng.integers(-wide, wide, size=2) * (trial % 3 > 0), form
        )
        relu = bool(trial % 2)
        found, sure = Affine(w, b).of(x, form, relu)
        if not sure:
            continue
        surely += 1
        exact = [
            sum(
                (Fraction(p) * Fraction(q) for p, q in zip(x[0], column, strict=True)),
                Fraction(c),
            )
            for column, c in zip(w.T, b, strict=True)
        ]
        exact = [max(e, Fraction(0)) if relu else e for e in exact]
        assert [Fraction(v) for v in found[0]] == exact
        t = [torch.from_numpy(v).to(kind) for v in (x, w, b)]
        said = (t[0] @ t[1] + t[2]).relu() if relu else t[0] @ t[1] + t[2]
        assert np.array_equal(said.double().numpy(), found)
    assert 20 < surely < 120


def checked(header: Any, tensors: Any, evidence: Any) -> None:
    """Write and check a file."""
    data = pack(header, tensors)
    told = {**evidence, "model": sha256(data).hexdigest()}
    recheck(data, dumps(told).encode())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda h, t: h["architecture"].update(outputs=3), "other outputs"),
        (lambda h, t: h["architecture"].update(layers=[]), "no layers"),
        (lambda h, t: h["architecture"].update(layers={"a": 1}), "is no list"),
        (lambda h, t: t["layers.0.decay"].put(0, 2.0**100), "out of the nodes"),
        (lambda h, t: t["layers.0.decay"].put(0, 0.875), "out of the nodes"),
        (lambda h, t: t["layers.0.decay"].put(0, 1.0), "out of the nodes"),
    ],
)
def test_damaged_files_are_refused(change: Any, reason: str) -> None:
    file, evidence = flip_flop()
    header = {k: dict(v) if isinstance(v, dict) else v for k, v in file.header.items()}
    tensors = {n: t.copy() for n, t in file.tensors.items()}
    change(header, tensors)
    with pytest.raises(Refused, match=reason):
        checked(header, tensors, evidence)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "form", "length", "reason"),
    [
        ("C2", ROUNDING, None, "at most 8,388,60"),
        ("C3", SELECTIVE, None, "up to a length only"),
        ("A5", ROUNDING, 5, "not solvable"),
        ("Memory5", SIGNS, 5, "one of two states"),
        ("FlipFlop", SIGNS, None, "at most 26"),
        ("C2", "scan", 5, "takes rounding or selective or signs"),
    ],
)
def test_what_a_form_does_not_hold_is_refused(
    name: str, form: str, length: int | None, reason: str
) -> None:
    with pytest.raises(KrohnError, match=reason):
        file_of(name, form, length)


def test_outputs_are_said_and_words_read_letter_by_letter() -> None:
    built = krohn.compile("S3", 40, arch="ssm", observe="first-chair")
    assert built.proof is not None
    assert built.proof.verdict == "verified"
    report = krohn.verify(file_of("Dyck3,1", ROUNDING), exhaustive=7, length=7)
    assert (report.verdict, report.length) == ("verified", 7)


def test_a_machine_of_one_state_has_a_layer() -> None:
    one = krohn.automaton({"a": {"x": "a", "y": "a"}})
    for form in (ROUNDING, SELECTIVE):
        built = krohn.compile(one, None, form, arch="ssm")
        assert built.model.run("xyx") == ["a", "a", "a"]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "form", "length"),
    [("C4", SELECTIVE, None), ("C5", ROUNDING, 9), ("Memory3", ROUNDING, None)],
)
def test_every_start_state(name: str, form: str, length: int | None) -> None:
    for start in machine_of(name).states:
        built = krohn.compile(name, length, form, arch="ssm", start=start)
        assert built.proof is not None
        assert built.proof.verdict == "verified"


@pytest.mark.parametrize(
    ("name", "form", "dtype"),
    [("Dyck3,1", ROUNDING, "bfloat16"), ("D8", SELECTIVE, "float32")],
)
def test_the_documented_reader_says_the_same(name: str, form: str, dtype: str) -> None:
    text = (Path(__file__).parents[3] / "docs/model-format.md").read_text()
    code = next(b for b in text.split("```python\n") if b.startswith("def state_space"))
    space: dict[str, Any] = {"np": np}
    exec(code.split("```")[0], space)
    file, word = file_of(name, form, dtype=dtype), [0, 1, 0, 0, 1, 1, 0, 0]
    said = space["state_space"](file.header, file.tensors, word).astype(np.float64)
    assert np.array_equal(said, Model(file)(torch.tensor([word]))[0].double().numpy())


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "fixed", "chosen"),
    [
        ("Dyck3,1", True, True),
        ("Q8", False, True),
        ("C6", False, False),
        ("A5", False, False),
        ("clock", True, True),
    ],
)
def test_what_holds_at_every_length(name: str, fixed: bool, chosen: bool) -> None:
    """Theorems D1, D2, D5."""
    clock = {q: {"x": r, "y": r} for q, r in (("a", "b"), ("b", "a"))}
    facts = krohn.explain(clock if name == "clock" else name, arch="ssm")
    assert facts["every_length_by_fixed_decays"] is fixed
    assert facts["every_length_by_chosen_decays"] is chosen
    rows = {(row["form"], row["dtype"]): row["right_for"] for row in facts["networks"]}
    if name == "C6":
        assert rows[ROUNDING, "bfloat16"] == "up to 101 letters"
    with pytest.raises(KrohnError, match="length= has no effect on facts"):
        krohn.explain("C2", 5, arch="ssm")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "scale"), [("C2", 1), ("C5", 1), ("C5", 2), ("C3", 0.5)]
)
def test_sums_are_all_that_words_reach_or_more(name: str, scale: float) -> None:
    """Theorem D9: the same numbers lead to the same numbers."""
    model = model_of(file_of(name, ROUNDING, 40))
    (layer,), form = open_layers(model), model.format
    layer = layer._replace(addend=layer.addend * scale)
    more, known = sums(layer, form, 40), reached(layer, 40)
    assert more is not None
    at = {h: i for i, h in enumerate(more.values[:, 0])}
    assert {*known.values[:, 0]} <= {*at}
    assert (len(at) == len(known.values)) == (scale != 2)
    assert more.values[more.start] == known.values[known.start]
    for h, moves in zip(known.values[:, 0], known.moves, strict=True):
        if (moves >= 0).all():
            found = more.values[more.moves[at[h]], 0]
            assert np.array_equal(found, known.values[moves, 0])
    assert sums(layer, form, None) is None
    assert sums(layer, form, 2**25) is None


@pytest.mark.slow
def test_a_parity_of_a_million_letters() -> None:
    proof = prove(file_of("C2", ROUNDING, 10**6), machine_of("C2"))
    assert (proof.verdict, proof.length) == ("verified", 10**6)


def test_what_vanishes_does_not_make_a_sum_negative() -> None:
    """Lemma D8: products below the least number are 0, or flushed, and others are not.

    A unit that is less than 0 over the reals says the least number, which the next ones
    make 1: the network answers as if the bit were set.
    """
    file = file_of("FlipFlop", ROUNDING)
    tiny = 2.0**-100 * np.array([1, 7 / 16, 7 / 16, 7 / 16])
    second = np.zeros((5, 2))
    second[0, 0], second[1:, 1] = 1, 2.0**-49 * np.array([1, -1, -1, -1])
    stages = [
        (np.ones((1, 1)), np.array([-8388616.0])),
        (np.array([[1.0, 0, 0, 0, 0]]), np.array([0, *tiny])),
        (second, np.zeros(2)),
        (np.diag([1, 2.0**127]), np.zeros(2)),
        (np.array([[1.0], [2.0**22]]), np.zeros(1)),
    ]
    tensors = dict(file.tensors)
    for i, stage in enumerate(stages):
        for part, tensor in zip(("weight", "bias"), stage, strict=True):
            tensors[f"layers.0.decode.{i}.{part}"] = tensor
    shape = {**file.header["architecture"]}
    shape["layers"] = [{**shape["layers"][0], "decode": [1, 5, 2, 2, 1]}]
    file = replace(file, header={**file.header, "architecture": shape}, tensors=tensors)
    machine = machine_of("FlipFlop")
    assert not agrees(file, machine, 9)
    assert prove(file, machine).verdict != "verified"


def test_a_fused_step_may_be_rounded_to_the_digits_of_sums_before() -> None:
    """Lemma D7: as kernels do that widen 16 bits, add, and store once."""
    form, tried = FORMATS["float16"], 0
    for h in range(1025, 1400, 2):
        a = 513 * pow(h, -1, 2048) % 2048  # just above the middle of two numbers
        if not (a >= 1024 and h * a < 2**21):
            continue
        tried += 1
        x, y, z = (np.array([v]) for v in (4.0 * h, a / 1024, -(2**-8 - 2**-18)))
        found = step(x, y, z, form)
        t = [torch.from_numpy(v).float() for v in (x, y, z)]
        stored = (t[0] * t[1] + t[2]).half().item()
        exact = Fraction(x[0]) * Fraction(y[0]) + Fraction(z[0])
        assert found.after[0] == nearest(exact, form.digits) != stored
        assert not found.sure[0]
    assert tried > 9


@pytest.mark.parametrize("dtype", FORMATS)
def test_what_is_rounded_up_to_the_least_number_may_be_flushed(dtype: str) -> None:
    """Lemma D7: some machines flush what is subnormal before it is rounded."""
    form = FORMATS[dtype]
    below = 2.0 - 2.0 ** (2 - form.digits)
    h, a = np.array([form.smallest * 2**20 * below]), np.array([2.0**-21])
    assert step(2 * h, a, np.zeros(1), form).sure[0]
    odd = a * (1 + 2.0 ** (1 - form.digits))
    assert not step(h, odd, np.zeros(1), form).sure[0]


def test_hidden_states_are_followed_at_a_bounded_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A letter costs as much as a hidden state: neither may be many of the other."""
    known = finding.LAYER
    few = known._replace(nodes=2**6, letters=2**5)
    none = Affine(np.ones((65, 1)), np.zeros(1))
    ones = np.ones((64, 1))
    layer = Layer(ones[:1], ones, ones, (), none, none)
    for limits, reason in (
        (few._replace(letters=2**9), "too many hidden states"),
        (few, "come after 32 letters"),
        (known._replace(work=2**14), "too many hidden states"),
    ):
        net = Recurrence(FORMATS["float32"], layer, layer.start)
        with pytest.raises(Refused, match=reason):
            walk(finding.Hidden(net, net.values), net.machine, limits, None, last=False)


@pytest.mark.parametrize(
    ("module", "bound", "value"),
    [
        (state_space, "MOST_TERMS", 8),
        (finding, "TUPLES", finding.TUPLES._replace(work=8)),
    ],
)
def test_all_layers_together_have_a_bounded_cost(
    module: Any, bound: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, machine = file_of("C2xC2", ROUNDING, 20), machine_of("C2xC2")
    monkeypatch.setattr(module, bound, value)
    proof = prove(file, machine)
    assert proof.verdict == "undecided"
    assert proof.reason is not None
    assert "together" in proof.reason


@pytest.mark.slow
def test_a_long_chain_of_small_layers_costs_what_it_takes() -> None:
    """A number that is looked at takes longer than a term of a product."""
    one = Affine(np.ones((1, 1)), np.zeros(1))
    ones, table = np.ones((1, 1)), Affine(np.ones((2, 1)), np.zeros(1))
    layer, form = (
        Layer(ones, ones, ones, (one,) * 1000, table, one),
        FORMATS["float64"],
    )
    with pytest.raises(Refused, match="too large to be followed"):
        finite(layer, form, sums(layer, form, 2**22), True)  # type: ignore[arg-type]
    assert finite(layer, form, sums(layer, form, 2**4), True).values == 16  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("decay", "reason"), [(2.0**100, "can overflow"), (1.0, "come after 30 letters")]
)
def test_nothing_is_found_of_damaged_layers(
    decay: float, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer that counts without end is followed for few letters."""
    monkeypatch.setattr(finding, "LAYER", finding.LAYER._replace(letters=30))
    file, name = flip_flop()[0], "layers.0.decay"
    tensor = file.tensors[name].copy()
    tensor.put(0, decay)
    file = replace(file, tensors={**file.tensors, name: tensor})
    proof = prove(file, machine_of("FlipFlop"))
    assert proof.verdict == "undecided"
    assert reason in proof.reason


def test_letters_that_lead_on_one_by_one_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many layers that are followed for many letters: no array is large."""
    monkeypatch.setattr(finding, "LAYER", finding.LAYER._replace(letters=30))
    file = file_of("C2xC2", ROUNDING, 20, "float64")
    starts = {n: t + 2.0**-40 for n, t in file.tensors.items() if n.endswith("start")}
    file = replace(file, tensors={**file.tensors, **starts})  # no sums that are known
    proof = prove(file, machine_of("C2xC2"))
    assert proof.verdict == "undecided"
    assert "come after 11 letters" in proof.reason


@pytest.mark.parametrize("said", [1, 0, None, "true"])
def test_whether_letters_choose_decays_is_said(said: Any) -> None:
    file = krohn.compile("C2", 4, arch="ssm").file
    shape = {**file.header["architecture"], "selective": said}
    damaged = replace(file, header={**file.header, "architecture": shape})
    with pytest.raises(Refused, match="'selective' is"):
        state_space.check_claim(model_of(damaged), {}, None)
