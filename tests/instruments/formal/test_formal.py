"""Theorems for Coq: terms are those of the file, and Coq accepts what is right alone."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import refused, said

import krohn
from krohn.compiled_model import CompiledModel
from krohn.instruments.formal import commands as formal
from krohn.instruments.formal.comparing import (
    Different,
    _machine,
    _written_block,
    compare,
    main,
)
from krohn.instruments.formal.coq import (
    LIBRARY,
    PROGRAMS,
    compile_modules,
    coqc,
    machine_term,
)
from krohn.instruments.formal.development import development
from krohn.instruments.formal.programs import (
    OnePart,
    write_development,
)
from krohn.instruments.formal.transformers import (
    Layout,
    network_term,
)
from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.net import Net
from krohn.network.modelfile import pack
from krohn.program.architectures.transformer import Transformer
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.program.statement import parse
from krohn.verify.checker.model_file import read

with_coq = pytest.mark.skipif(not shutil.which("coqc"), reason="there is no coqc")
REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""What Coq's real numbers rest on."""


def rnn(machine: str, dtype: str = "float32") -> bytes:
    return data(krohn.compile(machine, arch="rnn", dtype=dtype))


def transformer(machine: str, length: int = 16, dtype: str = "float32") -> bytes:
    return data(krohn.compile(machine, length, dtype=dtype))


def data(model: CompiledModel) -> bytes:
    return pack(model.file.header, model.file.tensors)


PATTERN = "regex:(a|b)*abb"
TURNSTILE = str(Path(__file__).parents[3] / "examples" / "turnstile.dot")
FILES = {
    "rnn": lambda: rnn("C3"),
    "rnn in bfloat16": lambda: rnn("FlipFlop", "bfloat16"),
    "sums in float16": lambda: transformer("C2", 8, "float16"),
    "positions": lambda: transformer("Grid4", 64),
    "latest": lambda: transformer("FlipFlop"),
    "sums": lambda: transformer("S3", 8),
    "sums and matches": lambda: transformer("Grid4", 6),
    "window": lambda: transformer(PATTERN, 8),
    "earliest": lambda: transformer("Dyck1,2", 8),
    "listed positions": lambda: transformer("regex:(ab)*", 8),
}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> bytes:
    return FILES[request.param]()


@pytest.mark.sample(2)
def test_terms_are_those_of_the_file(file: bytes) -> None:
    compare(file, development(file).text)


@pytest.mark.sample(1)
def test_every_other_number_is_noticed(file: bytes) -> None:
    text = development(file).text
    whole = "program_of_file.*layout" if "Definition layout" in text else "invariant"
    evidence = re.search(rf"Definition (nodes|{whole})[^.]*\.", text, re.DOTALL)
    assert evidence
    claims = [text[: evidence.start()], text[evidence.end() :]]
    generator = np.random.default_rng(0)
    for i, part in enumerate(claims):
        numbers = list(re.finditer(r"(?<![\w.])\d+", part))
        for at in generator.choice(len(numbers), min(len(numbers), 40), replace=False):
            low, high = numbers[at].span()
            changed = f"{part[:low]}{int(part[low:high]) + 1}{part[high:]}"
            whole = list(claims)
            whole[i] = changed
            with pytest.raises((Different, LookupError)):
                compare(file, evidence.group().join(whole))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "more", ["Axiom absurd : False.", "Admitted.", "Unset Guard Checking.", "(* *) x."]
)
def test_nothing_else_may_stand_there(file: bytes, more: str) -> None:
    remark, whole = development(file).text.split("*)\n", 1)
    sentences = whole.split(".\n")
    for i in range(len(sentences)):
        text = ".\n".join([*sentences[:i], more.removesuffix("."), *sentences[i:]])
        text = f"{remark}*)\n{text}"
        with pytest.raises(Different):
            compare(file, text)


def test_rows_are_as_many_and_as_long_as_in_the_file() -> None:
    """Coq leaves out what is beyond a row, and takes missing rows for zeros."""
    file = rnn("C2")
    text = development(file).text
    rows = "[[(0,1);(1,1)];\n  [(0,1);(1,1)];"
    joined = "[[(0,1);(1,1);(1,1);(1,1)];"
    assert text.count(rows) == 1
    with pytest.raises(Different, match="number of rows"):
        compare(file, text.replace(rows, joined))
    with pytest.raises(Different, match="too long"):
        compare(file, text.replace(rows, "[[(0,1);(1,1);(1,1);(1,1)];[];"))
    with pytest.raises(Different, match="too long"):
        compare(file, text.replace("[[(0,1);(1,1)];", "[[(0,1);(1,1);(-1,0)];"))


def test_what_is_no_machine_or_no_mask_is_refused() -> None:
    machine = json.loads(json.dumps(krohn.compile("C2", 4).file.header))
    machine["machine"]["transitions"] = [[], []]
    with pytest.raises(Different, match="not complete"):
        _machine(machine)
    with pytest.raises(Different, match="mask"):
        _written_block(([], 0, 0, [], [1, 2]), "blocks.0.", 2)
    file = krohn.compile("C2", 4).file
    mask = "blocks.0.mlp.residual"
    other = file.tensors | {mask: 1.5 * file.tensors[mask] + 0.5}
    with pytest.raises(Refused, match="other entries"):
        network_term(read(pack(file.header, other)))


def test_numbers_that_grow_without_end_are_refused() -> None:
    file = krohn.compile("C2", arch="rnn").file
    grown = file.tensors | {"hidden.weight": 2.0**60 * file.tensors["hidden.weight"]}
    with pytest.raises(Refused, match="without a bound"):
        development(pack(file.header, grown))


def test_another_file_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m").write_bytes(rnn("C3"))
    (tmp_path / "t.v").write_text(development(rnn("C2")).text)
    assert main(str(tmp_path / "m"), str(tmp_path / "t.v")) == 2
    assert "is not about" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (lambda: krohn.compile("C2", arch="lstm"), "RNNs with ReLUs"),
        (lambda: krohn.compile("Mess3", 4), "about a source"),
        (lambda: krohn.compile(TURNSTILE, 16), "no rule covers"),
    ],
)
def test_others_are_refused(model: Callable[[], CompiledModel], why: str) -> None:
    with pytest.raises(Refused, match=why):
        development(data(model()))


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("machine", "asked", "what"),
    [
        ("FlipFlop", {}, "the logit of what the machine shows is above"),
        ("Memory3", {"dtype": "float64"}, "in float64, in whatever order"),
        ("C2", {}, "the logit of what the machine shows is above"),
        ("S3", {}, "the logit of what the machine shows is above"),
        ("C2", {"dtype": "float16"}, "the Program of the file says"),
        ("Grid4", {"length": 64}, "the Program of the file says"),
        ("FlipFlop", {"length": 200}, "the Program of the file says"),
        ("FlipFlop", {"dtype": "bfloat16"}, "the Program of the file says"),
    ],
)
def test_which_theorem_it_is(machine: str, asked: dict[str, Any], what: str) -> None:
    found = development(data(krohn.compile(machine, **{"length": 6} | asked)))
    assert what in found.says


def test_scores_that_lead_by_little_leave_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Layout, "_measure_scores", lambda *asked: (1, 1, 0, 0))
    assert "the Program of the file says" in development(transformer("FlipFlop")).says


def test_the_command_writes_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m").write_bytes(rnn("C2"))
    found = said("formal", tmp_path / "m", "-o", tmp_path / "out")
    assert found["proved"] is None
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "theorem.v",
        "Makefile",
        "Arithmetic.v",
    }
    refused("exists and is not empty", "formal", tmp_path / "m", "-o", tmp_path / "out")
    monkeypatch.setattr(formal.shutil, "which", lambda name: None)
    refused(
        "coqc is not installed",
        "formal",
        tmp_path / "m",
        "-o",
        tmp_path / "p",
        "--prove",
    )
    assert not (tmp_path / "p").exists()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coq")
    compile_modules(folder)
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules for Programs alone, which Coq proves in seconds."""
    folder = tmp_path_factory.mktemp("programs")
    compile_modules(folder, PROGRAMS)
    return folder


def asked(library: Path, text: str) -> str:
    """What Coq prints of a file that it accepts."""
    (library / "asked.v").write_text(text)
    ran = coqc(library, "asked")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_nothing_is_admitted() -> None:
    for path in LIBRARY.glob("*.v"):
        words = re.findall(r"\w+", path.read_text())
        assert not {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"} & set(
            words
        )


@pytest.mark.slow
@with_coq
def test_what_the_theorems_rest_on(library: Path) -> None:
    for module in ("RecurrentSound", "TransformerSound"):
        told = asked(library, assumptions(module))
        assert set(re.findall(r"^(\S+)", told, re.M)) - {"Axioms:", ":"} == REALS


def assumptions(module: str) -> str:
    """Asks Coq what a checker's soundness rests on."""
    return f"From Krohn Require {module}.\nPrint Assumptions {module}.check_sound."


@with_coq
def test_the_theorem_about_a_program_rests_on_nothing(programs: Path) -> None:
    told = asked(programs, assumptions("InvariantSound"))
    assert told.strip() == "Closed under the global context"
    asked(programs, development(FILES["sums in float16"]()).text)


@pytest.mark.slow
@with_coq
def test_coq_proves_it(library: Path, file: bytes) -> None:
    asked(library, development(file).text)


def checked(library: Path, texts: list[str], of: str) -> list[bool]:
    """The answer of Coq's checker, which is proved sound, about several developments."""
    head, parts = "", list[str]()
    for i, text in enumerate(texts):
        head, rest = text.split("Definition machine_of_file", 1)
        body = rest.split("\nTheorem", 1)[0]
        ask = f"Eval vm_compute in {of}."
        parts.append(
            f"Module M{i}.\nDefinition machine_of_file{body}\n{ask}\nEnd M{i}."
        )
    out = asked(library, head + "\n".join(parts))
    found = re.findall(r"= (true|false)", out)
    assert len(found) == len(texts)
    return [answer == "true" for answer in found]


def mutated_networks(count: int) -> Iterator[bytes]:
    """RNNs with one weight, or two units, or one transition, of another value."""
    generator = np.random.default_rng(0)
    for i in range(count):
        file = krohn.compile(("C3", "FlipFlop", "S3")[i % 3], arch="rnn").file
        header, tensors = deepcopy(file.header), dict(file.tensors)
        name = sorted(tensors)[generator.integers(len(tensors))]
        changed = tensors[name].copy()
        at = tuple(int(generator.integers(n)) for n in changed.shape)
        if i % 4 == 3:
            row = header["machine"]["transitions"][0]
            row[0] = (row[0] + 1) % len(row)
        elif i % 4 == 2 and changed.ndim == 2:
            changed[:, [0, -1]] = changed[:, [-1, 0]]
        else:
            changed[at] += generator.choice([-1.0, -0.25, 0.25, 1.0])
        yield pack(header, tensors | {name: changed})


def network_is_right(data: bytes, length: int) -> bool:
    """Whether the network is right on all words of so many letters, in exact numbers."""
    model = read(data)
    t, machine = model.tensors, model.machine
    h, q = t["hidden.start"][None], np.array([machine.start])
    for _ in range(length):
        driven = (h @ t["hidden.weight"] + t["hidden.bias"])[:, None] + t[
            "input.weight"
        ]
        h = np.maximum(driven, 0).reshape(-1, h.shape[1])
        q = machine.transitions[:, q].T.reshape(-1)
        logits = h @ t["unembed.weight"] + t["unembed.bias"]
        right = machine.shows[q]
        own = logits[np.arange(len(q)), right].copy()
        logits[np.arange(len(q)), right] = -np.inf
        if (own <= logits.max(axis=1)).any():
            return False
    return True


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize("count", [24, pytest.param(300, marks=pytest.mark.slow)])
def test_no_wrong_network_is_accepted(library: Path, count: int) -> None:
    files, texts = list[bytes](), list[str]()
    for mutant in mutated_networks(count):
        try:
            texts.append(development(mutant).text)
        except Refused:  # it remembers too much
            continue
        files.append(mutant)
    ask = "check float32 network_of_file machine_of_file nodes"
    answers = checked(library, texts, ask)
    right = [network_is_right(mutant, 7) for mutant in files]
    assert not [i for i, a in enumerate(answers) if a and not right[i]]
    assert 0 < sum(answers) < len(answers)


@np.errstate(invalid="ignore", over="ignore")  # of mutants, whose answers are wrong
def transformer_is_right(data: bytes, length: int) -> bool:
    """Whether a Transformer is right on all words of so many letters, in float32."""
    model = read(data)
    machine, shape = model.machine, Transformer.of(model.header["architecture"])
    words = np.array(list(product(range(len(machine.transitions)), repeat=length)))
    net = Net.of(shape, model.tensors).each(lambda x: x.astype(np.float32))
    logits = whole(net, Arrays(), words)
    q = np.full(len(words), machine.start)
    for i in range(length):
        q = machine.transitions[words[:, i], q]
        shown = np.arange(len(q)), machine.shows[q]
        own = logits[:, i][shown].copy()
        logits[:, i][shown] = -np.inf
        if not (own > logits[:, i].max(axis=1)).all():
            return False
    return True


def mutated_transformers(count: int) -> Iterator[tuple[bytes, str]]:
    """Transformers of another weight, columns or transition, with unchanged evidence."""
    generator = np.random.default_rng(2)
    names = ("FlipFlop", "C2", PATTERN, "C3", "Dyck1,2", "S3")
    files = [krohn.compile(name, 5).file for name in names]
    texts = [development(pack(file.header, file.tensors)).text for file in files]
    for i in range(count):
        file, text = files[i % len(files)], texts[i % len(files)]
        header, tensors = deepcopy(file.header), dict(file.tensors)
        used = [name for name in sorted(tensors) if tensors[name].any()]
        name = used[generator.integers(len(used))]
        changed = tensors[name].copy()
        if i % 11 == 7:
            row = header["machine"]["transitions"][0]
            row[0] = (row[0] + 1) % len(header["machine"]["states"])
        elif i % 11 == 6:
            changed[..., [0, -1]] = changed[..., [-1, 0]]
        else:
            at = tuple(generator.choice(np.argwhere(changed)))
            by = generator.choice([0, -1, 0.5, 2, 1.03125, 0.96875])
            changed[at] *= 0 if name.endswith("residual") else by
        mutant = pack(header, tensors | {name: changed})
        model, scope = read(mutant), "Open Scope nat_scope."
        head, rest = text.split("Definition machine_of_file")
        terms = machine_term(model.machine) + network_term(model)
        yield mutant, f"{head}{terms}\n{scope}{rest.split(scope)[1]}"


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize("count", [24, pytest.param(500, marks=pytest.mark.slow)])
def test_no_wrong_transformer_is_accepted(library: Path, count: int) -> None:
    mutants = list(mutated_transformers(count))
    program = "Invariant.check machine_of_file program_of_file decode_of_file invariant"
    network = (
        "TransformerCheck.check float32 network_of_file machine_of_file 5 "
        "program_of_file outputs_of_file decode_of_file layout"
    )
    ask = f"andb ({program}) ({network})"
    answers = checked(library, [text for _, text in mutants], ask)
    right = [transformer_is_right(mutant, 5) for mutant, _ in mutants]
    assert not [i for i, a in enumerate(answers) if a and not right[i]]
    assert 0 < sum(answers) < len(answers)


def mutated_programs(count: int) -> Iterator[tuple[bytes, str]]:
    """Transformers of which one number of the Program is another one, and the theorem."""
    generator = np.random.default_rng(1)
    files = [transformer(name, 6) for name in ("C3", "FlipFlop", "Dyck1,2", "S3")]
    models = [read(file) for file in files]
    for i in range(count):
        model = models[i % len(models)]
        machine = model.machine
        program = parse(model.header["program"], len(machine.transitions), 6)
        part = OnePart(program, machine).alone()["parts"][0]
        header = deepcopy(model.header)
        tables = [c for c in header["program"]["channels"] if "rows" in c]
        if i % 3 == 2:
            part = json.loads(json.dumps(part))
            row = part["follow"][int(generator.integers(len(part["follow"])))]
            row[0] = int(generator.integers(len(part["follow"])))
        elif i % 3 == 1:
            pair = header["program"]["decode"][0]
            pair[1] = (pair[1] + 1) % len(machine.shows)
        else:
            rows = tables[int(generator.integers(len(tables)))]["rows"]
            row = rows[int(generator.integers(len(rows)))]
            row[-1] = max(0, row[-1] + int(generator.choice([-1, 1])))
        changed = replace(model, header=header)
        yield pack(header, model.tensors), write_development(changed, part).text


def program_is_right(data: bytes) -> bool:
    """Whether the Program is right on all words of its length."""
    model = read(data)
    machine = model.machine
    letters, length = len(machine.transitions), 6
    words = np.array(list(product(range(letters), repeat=length)))
    try:
        program = parse(model.header["program"], letters, length)
        found = interpret(program, words)
    except (Refused, LookupError, ValueError):
        return False
    outputs = np.stack([found[name] for name in program.outputs], -1)[:, 1:]
    q = np.full(len(words), machine.start)
    for t in range(length):
        q = machine.transitions[words[:, t], q]
        said = [program.decode.get(tuple(row)) for row in outputs[:, t].tolist()]
        if said != machine.shows[q].tolist():
            return False
    return True


@with_coq
@pytest.mark.parametrize("count", [24, pytest.param(200, marks=pytest.mark.slow)])
def test_no_wrong_program_is_accepted(programs: Path, count: int) -> None:
    mutants = list(mutated_programs(count))
    ask = "check machine_of_file program_of_file decode_of_file invariant"
    answers = checked(programs, [text for _, text in mutants], ask)
    wrong = [
        i
        for i, (file, _) in enumerate(mutants)
        if answers[i] and not program_is_right(file)
    ]
    assert not wrong
    assert 0 < sum(answers) < len(answers)


@with_coq
@pytest.mark.slow
@pytest.mark.parametrize("network", [rnn, transformer])
def test_the_small_checker_of_coq_agrees(
    tmp_path: Path, network: Callable[[str], bytes]
) -> None:
    (tmp_path / "m").write_bytes(network("C2"))
    formal.write(tmp_path / "m", tmp_path / "out", prove=True)
    ran = subprocess.run(
        ["make", "-s", "-C", str(tmp_path / "out"), "check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
