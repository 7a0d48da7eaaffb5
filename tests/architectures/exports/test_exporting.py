"""``krohn export``: what is written is read back and run before it is there."""

import ast
import copy
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from every_kind import NETWORKS, compiled
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from slices_here import here, needs

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.architectures.exports import commands as exporting
from krohn.architectures.exports.commands_card import (
    NAME,
    run_program,
)
from krohn.architectures.exports.destinations import (
    Destination,
    destination,
)
from krohn.compiled_model import CompiledModel
from krohn.network import ExportError, ModelFileError, modelfile
from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.net import Net
from krohn.network.meaning.rewrites import divide_scores
from krohn.network.modelfile import ModelFile
from krohn.program.slices import slice_exports
from krohn.verify.proof import prove

PLACES = ("transformers", "transformer_lens", "onnxruntime")
pytestmark = pytest.mark.skipif(
    None in map(find_spec, PLACES), reason=f"needs {', '.join(PLACES)}"
)
ROOT = Path(__file__).parents[3]
WEATHER = ROOT / "examples/weather.json"
(LICENCE,) = re.findall(r"^license: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
Call = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return krohn.compile("C3", length=16, strict=True)


def test_a_network_is_written_read_back_and_run(
    model: CompiledModel, tmp_path: Path
) -> None:
    told: list[tuple[str, int, int]] = []
    found = krohn.export(
        model,
        to="transformer-lens",
        directory=tmp_path / "out",
        sample=400,
        progress=lambda *done: told.append(done),
    )
    assert found.ran.words == 400
    assert found.ran.length == 16
    assert found.ran.deviation == 0.0
    assert found.ran.against == "the machine"
    assert told[-1] == ("running words", 400, 400)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "circuit.json").exists()


def test_the_command_says_it_as_json(
    model: CompiledModel, tmp_path: Path, call: Call
) -> None:
    model.save(tmp_path / "m.safetensors")
    where = ("--to", "transformer-lens", "-o", tmp_path / "out")
    code, told = call("export", tmp_path / "m.safetensors", *where, "--sample", 40)
    assert code == 0
    assert told["words"] == 40
    assert told["wrong"] == 0
    code, told = call("export", tmp_path / "m.safetensors", *where)
    assert code == 2
    assert "exists and is not empty" in told["error"]


def wrong_after(letters: int) -> Destination:
    """A place where a network says something else after so many letters."""
    real = destination("transformer-lens")

    def open_wrong(directory: Path) -> object:
        logits = real.open(directory)

        def changed(tokens: torch.Tensor) -> torch.Tensor:
            found = logits(tokens)
            found[:, letters - 1 :] = found[:, letters - 1 :].flip(-1)
            return found

        return changed

    return replace(real, open=open_wrong)


@pytest.mark.sample(1)
@pytest.mark.parametrize("letters", [1, 16])
def test_a_wrong_answer_leaves_nothing(
    letters: int, model: CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "destination", lambda to: wrong_after(letters))
    with pytest.raises(KrohnError, match="so nothing was written") as caught:
        krohn.export(model, to="transformer-lens", directory=tmp_path / "out")
    assert "the file itself" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_file_is_blamed_itself(model: CompiledModel, tmp_path: Path) -> None:
    path = tmp_path / "wrong.safetensors"
    model.save(path)
    file = modelfile.read(path)
    file.tensors["unembed.weight"][...] = file.tensors["unembed.weight"][:, ::-1]
    modelfile.write(path, file.header, file.tensors)
    said = (
        r"^the file itself answers .* is right, so nothing was written; `krohn verify`"
    )
    with pytest.raises(KrohnError, match=said):
        krohn.export(path, to="transformer-lens", directory=tmp_path / "out")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "options", "against"),
    [
        ("LCS2,2", {}, "the source"),
        ("program:reverse", {"length": 9}, "the network"),
        (str(WEATHER), {"length": 8, "within": 0.05}, "nothing"),
        ("C2", {"arch": "lstm"}, "the machine"),
    ],
)
def test_other_sources_are_held_against_what_they_have(
    source: str, options: dict[str, Any], against: str, tmp_path: Path
) -> None:
    compiled = krohn.compile(source, **options)
    found = krohn.export(compiled, to="onnx", directory=tmp_path / "out", sample=64)
    assert found.ran.against == against
    assert found.ran.words == 64
    assert found.ran.deviation < 1e-5


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", ["LCS2,2", "program:reverse"])
def test_their_wrong_answers_are_seen(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = destination("onnx")
    wrong = replace(real, open=lambda at: lambda tokens: -real.open(at)(tokens))
    monkeypatch.setattr(exporting, "destination", lambda to: wrong)
    length = None if source.startswith("LCS") else 9
    compiled = krohn.compile(source, length=length)
    with pytest.raises(KrohnError, match=r"another text|nothing was written"):
        krohn.export(compiled, to="onnx", directory=tmp_path / "out", sample=64)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_who_learns_from_prompts_is_given_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = destination("onnx")
    seen: list[torch.Tensor] = []

    def open_seen(directory: Path) -> Any:
        logits = real.open(directory)
        return lambda tokens: seen.append(found := logits(tokens)) or found

    watched = replace(real, open=open_seen)
    monkeypatch.setattr(exporting, "destination", lambda to: watched)
    compiled = krohn.compile("InContext2,2")
    found = krohn.export(compiled, to="onnx", directory=tmp_path / "out", sample=16)
    assert found.ran.deviation < 1e-9
    assert sum(len(x) for x in seen) == 16
    said = torch.cat(seen)[:, -1].abs().sum(dim=-1)
    assert int((said > 0.5).sum()) > 12  # laws; a letter that was never shown has none


def test_a_full_disk_is_one_line(
    model: CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: ModelFile, directory: Path, states: bool) -> None:
        (directory / "half").write_text("half")
        raise SafetensorError("no space left on device")

    real = destination("transformer-lens")
    monkeypatch.setattr(exporting, "destination", lambda to: replace(real, write=full))
    with pytest.raises(KrohnError, match=r"cannot write .*: no space left"):
        krohn.export(model, to="transformer-lens", directory=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


DESTINATIONS = tuple(slice_exports())
TURNSTILE = WEATHER.with_name("turnstile.dot")
STRICT = {"strict": True}
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "strict states": ("C3", {"length": 8, **STRICT}),
    "strict outputs": (
        str(TURNSTILE),
        {"length": 8, "observe": "outputs", **STRICT},
    ),
    "strict beliefs": (str(WEATHER), {"length": 8, "within": 0.05, **STRICT}),
    "float64": ("FlipFlop", {"length": 8, "dtype": "float64", **STRICT}),
    "bfloat16": ("FlipFlop", {"length": 8, "dtype": "bfloat16", **STRICT}),
    "disguised": ("C2", {"length": 8, "disguise": "rotate,dense", **STRICT}),
}
"""Networks that go to more places than those of `every_kind`."""


@cache
def network(kind: str) -> CompiledModel:
    if kind not in MORE:
        return compiled(kind)
    if kind == "strict beliefs" and not here("kinds.hidden_markov"):
        pytest.skip("without models to filter")
    source, how = MORE[kind]
    return krohn.compile(source, **how)


def line_of_verdict(card: str) -> str:
    """The first line after the title of a card."""
    _, _, body = card.split("---\n", 2)
    title, line = [line for line in body.splitlines() if line][:2]
    assert title.startswith("# ")
    return line


def program(card: str) -> str:
    (found,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    return str(found)


@pytest.mark.sample(3)
@pytest.mark.parametrize("to", DESTINATIONS)
@pytest.mark.parametrize("kind", [*NETWORKS, *MORE, "generator"])
def test_what_goes_somewhere_is_proved_there(
    kind: str, to: str, tmp_path: Path
) -> None:
    """The card says what the checker has shown of what was written, or why it has not."""
    model = network(kind)
    try:
        found = krohn.export(model, to=to, directory=tmp_path / "out", sample=4)
    except ModelFileError:
        assert list(tmp_path.iterdir()) == []
        return
    proof = prove(model.file, None)
    assert proof.verdict == "verified"
    assert proof.bounds is not None
    card = (tmp_path / "out" / NAME).read_text("utf-8")
    line = line_of_verdict(card)
    elsewhere = "**The network is proved: "  # and not what runs it
    assert line.startswith(elsewhere if to == "onnx" else "**Proved: ")
    assert not found.warning
    assert (found.verdict == "verified") == (to != "onnx")
    assert str(proof.proved) in re.sub(r"\\(.)", r"\1", line)
    shown = re.findall(r"within ([\d.e-]+[\d]) of", line)
    assert bool(shown) == (model.file.header["claim"].get("kind") == "within")
    assert all(float(error) >= proof.bounds.error for error in shown)
    assert "  # [" in program(card)
    if to != "gpt2":  # which is proved from these files
        with pytest.raises(
            KrohnError, match=r"is an export for .*`krohn verify F` proves"
        ):
            krohn.verify(tmp_path / "out")


def front_matter(card: str) -> dict[str, Any]:
    """What the Hub of Hugging Face reads of a card, which it keeps as it is."""
    from huggingface_hub import ModelCard

    read: dict[str, Any] = ModelCard(card).data.to_dict()
    return read


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", DESTINATIONS)
@pytest.mark.parametrize(
    "kind", ["strict states", "lstm", "chain-of-thought", "hidden-markov rnn"]
)
def test_cards_begin_with_facts(kind: str, to: str, tmp_path: Path) -> None:
    """The pipeline that is named is one that runs the network."""
    model = network(kind)
    try:
        found = krohn.export(model, to=to, directory=tmp_path / "out", sample=4)
    except ModelFileError:
        return
    card = (tmp_path / "out" / NAME).read_text("utf-8")
    facts = front_matter(card)
    assert facts["license"] == LICENCE.lower()
    own = facts["krohn"]
    assert own["verdict"] == found.verdict
    assert (own["length"], own["dtype"]) == (model.file.claim.length, "float32")
    assert f" --digest {own['digest']}" in card
    if to == "gpt2":
        assert (
            krohn.verify(tmp_path / "out", digest=own["digest"]).verdict == "verified"
        )
    else:
        assert own["digest"] == model.file.claim.digest
    pipelines = {
        ("huggingface", "exact"): "token-classification",
        ("gpt2", "exact"): "text-generation",
        ("huggingface", "generates"): "text-generation",
    }
    wanted = pipelines.get((to, str(model.file.claim.sense)))
    assert facts.get("pipeline_tag") == wanted
    assert ("`circuit.csv`" in card) == (tmp_path / "out" / "circuit.csv").exists()
    assert ("Krohn must be installed" in card) == ("from krohn" in card)
    assert ("BOS" in card) == ("d_vocab - 1" in card)


@needs("architectures.gpt2")
def test_the_proof_of_another_claim_is_none_of_this_one(tmp_path: Path) -> None:
    """A GPT-2 says by itself what it claims: here to be right on shorter words."""
    file, other = (
        krohn.compile("C2", length=n, strict=True, proof=False).file for n in (8, 5)
    )
    home = destination("gpt2")
    home.write(other, tmp_path, False)
    assert exporting.proof_of(other, home, tmp_path).proved
    with pytest.raises(ExportError, match="claims something else than the file"):
        exporting.proof_of(file, home, tmp_path)


@pytest.mark.slow
def test_the_program_of_another_machine_refutes_nothing(tmp_path: Path) -> None:
    """Right answers stay right, whatever the file says of them."""
    file = krohn.compile("C2", length=8, strict=True, proof=False).file
    header = copy.deepcopy(file.header)
    decode = header["program"]["decode"]
    header["program"]["decode"] = [[said, 1 - state] for said, state in decode]
    other = replace(file, header=header)
    assert prove(other, None).verdict == "refuted"
    home = destination("transformer-lens")
    home.write(other, tmp_path, False)
    assert exporting.run(other, home, tmp_path, None, 0, lambda *_: None).words
    proof = exporting.proof_of(other, home, tmp_path)
    assert (proof.verdict, proof.word) == ("undecided", None)
    assert "or its Program, says another class after the letters (0,)" in proof.reason


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", DESTINATIONS)
@pytest.mark.parametrize("kind", ["strict states", "strict beliefs", "float64"])
def test_a_network_that_is_not_proved_says_so_first(
    kind: str, to: str, tmp_path: Path, call: Call
) -> None:
    """A position that is right on the words that are run, and that no proof reaches."""
    file = network(kind).file
    tensors = {name: values.copy() for name, values in file.tensors.items()}
    tensors["unembed.weight"][0] += 2.0**-30  # a dimension of the first letter
    spoilt = replace(file, tensors=tensors)
    if prove(spoilt, None).verdict == "verified":
        tensors["embed.token"][:, 0] += 2.0**-30
    assert prove(spoilt, None).verdict != "verified"
    try:
        found = krohn.export(spoilt, to=to, directory=tmp_path / "out", sample=4)
    except ModelFileError:
        return
    assert found.verdict != "verified"
    assert found.proved.startswith("not proved: ")
    assert found.warning == f"{tmp_path / 'out'} is {found.proved}"
    card = (tmp_path / "out" / NAME).read_text("utf-8")
    assert line_of_verdict(card).startswith("**Not proved: ")
    assert "roved: " not in card.replace("Not proved: ", "")


def late(file: ModelFile) -> ModelFile:
    """The network, whose scores overflow where they are multiplied by 8.

    A feature of positions, that of the last alone, is read by queries, and no key reads
    what they say.
    """
    tensors = {name: values.copy() for name, values in file.tensors.items()}
    header = copy.deepcopy(file.header)

    def widen(name: str, axis: int, count: int = 1) -> None:
        widths = [(0, 0)] * tensors[name].ndim
        widths[axis] = (0, count)
        tensors[name] = np.pad(tensors[name], widths)

    d = header["architecture"]["d_model"]
    for name in tensors:
        if name.startswith("embed") or name == "unembed.weight":
            widen(name, int(name.startswith("embed")))
        elif "attention" in name:
            widen(name, 2 if name.endswith("out") else 1)
    for part in ("query", "key"):
        widen(f"blocks.0.attention.{part}", 2, 16)
    tensors["blocks.0.attention.query"][0, d, 1] = 2.0**63
    tensors["embed.position"][-1, d] = 1.5 * 2.0**62
    header["architecture"]["d_model"] = d + 1
    header["architecture"]["blocks"][0]["d_qk"] += 16
    header["program"]["features"]["late"] = [d, d + 1]
    return replace(file, header=header, tensors=tensors)


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", DESTINATIONS)
def test_scores_are_those_of_the_place(to: str, tmp_path: Path) -> None:
    """Queries that fit in the file may not fit where they are 2^k times larger."""
    file = late(krohn.compile("FlipFlop", length=60, strict=True).file)
    assert prove(file, None).verdict == "verified"
    home, place = destination(to), tmp_path / "out"
    place.mkdir()
    home.write(file, place, False)
    proof = exporting.proof_of(file, home, place)
    proved_there = {"huggingface"}
    assert (proof.verdict == "verified") == (to in proved_there)
    assert (proof.reason == "a sum can overflow") == (to == "transformer-lens")
    words = torch.full((1, 60), 1)
    with torch.inference_mode():
        finite = bool(home.open(place)(words).isfinite().all())
    assert finite or to not in proved_there


@pytest.mark.sample(1, at=1)
@pytest.mark.parametrize(
    ("name", "at", "number", "verdict"),
    [
        ("unembed.bias", (0,), 0.125, "verified"),
        ("unembed.bias", (0,), 4.0, "undecided"),
        ("blocks.0.attn.o.weight", (0, -1), 2.0**-20, "undecided"),
        ("blocks.0.mlp.in.weight", (-1, 0), 0.5, "undecided"),
    ],
)
def test_the_verdict_is_that_of_what_stands_there(
    name: str, at: tuple[int, ...], number: float, verdict: str, tmp_path: Path
) -> None:
    """Not that of the file: it may be right, and another network stand in a directory."""
    file, home = network("strict outputs").file, destination("transformer-lens")
    home.write(file, tmp_path, False)
    assert exporting.proof_of(file, home, tmp_path).verdict == "verified"
    tensors = load_file(tmp_path / "model.safetensors")
    tensors[name][at] += number
    save_file(tensors, tmp_path / "model.safetensors")
    assert exporting.proof_of(file, home, tmp_path).verdict == verdict


def test_the_rewritten_network_says_why() -> None:
    """It is refused since it says nothing there, by any runtime."""
    file = late(krohn.compile("FlipFlop", length=60, strict=True, proof=False).file)
    net = Net.of(file.architecture, file.tensors).each(np.float32)
    words = np.ones((1, 60), np.int64)
    for factor, right in ((1.0, True), (8.0, False)):
        with np.errstate(all="ignore"):
            said = whole(divide_scores(net, factor), Arrays(), words)
        assert np.isfinite(said[:, :-1]).all()
        assert bool(np.isfinite(said[:, -1]).all()) == right


def outputs_of_none(header: dict[str, Any]) -> None:
    header["claim"]["shows"] = "outputs"


def head_of_nobody(header: dict[str, Any]) -> None:
    for channel in header["program"]["channels"]:
        if "head" in channel:
            channel["head"] = 7


@pytest.mark.sample(1)
@pytest.mark.parametrize("damage", [outputs_of_none, head_of_nobody])
@pytest.mark.parametrize("disguise", [None, "rotate"])
@pytest.mark.parametrize("to", DESTINATIONS)
def test_a_damaged_file_is_not_exported_or_not_proved(
    to: str, disguise: str | None, damage: Callable[[Any], None], tmp_path: Path
) -> None:
    """It ends in a message, and in no traceback."""
    model = krohn.compile("C2", 4, strict=True, disguise=disguise, dtype="float64")
    header = copy.deepcopy(model.file.header)
    damage(header)
    file = replace(model.file, header=header)
    try:
        found = krohn.export(file, to=to, directory=tmp_path / "out")
    except (KrohnError, ModelFileError):
        assert not list(tmp_path.iterdir())
    else:
        assert found.verdict != "verified"


def test_an_export_of_a_source_that_cannot_be_read_is_not_proved(
    tmp_path: Path,
) -> None:
    """Its beliefs are those of weights, and a model is made of probabilities."""
    file, home = compiled("hidden-markov rnn").file, destination("huggingface")
    start = [2 * weight for weight in file.header["source"]["start"]]
    source = {**file.header["source"], "start": start}
    file = replace(file, header={**file.header, "source": source})
    home.write(file, tmp_path, False)
    assert exporting.proof_of(file, home, tmp_path).verdict == "undecided"
    assert krohn.verify(file, proof=True).verdict == "undecided"


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", DESTINATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_logits_are_told_apart_by_the_program(
    to: str, dtype: str, tmp_path: Path
) -> None:
    """A softmax, or a number of 24 digits, takes them for equal."""
    file = krohn.compile("FlipFlop", length=8, strict=True, dtype=dtype).file
    tensors = {name: values.copy() for name, values in file.tensors.items()}
    small = 2.0 ** (-60 if dtype == "float32" else -30)
    tensors["unembed.weight"] *= small
    tensors["unembed.bias"] *= small
    tensors["unembed.bias"] += dtype == "float64"
    spoilt = replace(file, tensors=tensors)
    assert prove(spoilt, None).verdict == "verified"
    krohn.export(spoilt, to=to, directory=tmp_path / "out", sample=4)
    text = program((tmp_path / "out" / NAME).read_text("utf-8"))
    answers = ast.literal_eval(text.splitlines()[-1].partition("  # ")[2])
    assert [each.removeprefix("state: ") for each in answers] == ["1", "1", "2"]
    assert "pipeline" not in text
    assert "generate" not in text


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", DESTINATIONS)
@pytest.mark.parametrize(
    "line",
    [
        "print(['a', 'b', 'c'])",
        "1 / 0",
        "import that.is.not",
        "import warnings; warnings.warn('so it will not do')",
    ],
)
def test_a_program_that_does_not_print_what_the_card_says_leaves_nothing(
    to: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = destination(to)
    lines = f"{line}\nraise SystemExit(0)"
    wrong = replace(real, program=lines)
    monkeypatch.setattr(exporting, "destination", lambda to: wrong)
    monkeypatch.setattr(
        "krohn.architectures.exports.commands_card.run_program", run_program
    )
    with pytest.raises(KrohnError, match="nothing was written"):
        krohn.export(
            network("strict states"), to=to, directory=tmp_path / "o", sample=4
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("to", DESTINATIONS)
def test_its_program_prints_what_it_says(to: str, tmp_path: Path) -> None:
    """In a process of its own, which knows nothing of this one."""
    model = network("strict outputs")
    krohn.export(model, to=to, directory=tmp_path / "out", sample=4)
    text = program((tmp_path / "out" / NAME).read_text("utf-8"))
    answer = text.splitlines()[-1].partition("  # ")[2]
    # coin, card, push: what the machine itself shows.
    right = krohn.automaton(TURNSTILE).run(["coin", "card", "push"])
    said = tuple(x.removeprefix("output: ") for x in ast.literal_eval(answer))
    assert said == tuple(right)
    assert run_program(text, tmp_path / "out") == f"{answer}\n"


def test_what_only_krohn_runs_goes_nowhere(tmp_path: Path) -> None:
    for to in DESTINATIONS:
        with pytest.raises(ExportError, match="reads the vectors that it has written"):
            krohn.export(
                compiled("vectors-in-blocks"), to=to, directory=tmp_path / "out"
            )


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", ["onnx", "huggingface"])
def test_words_are_as_long_as_the_claim(to: str, tmp_path: Path) -> None:
    """A state space model reads longer ones, of which nothing is claimed."""
    found = krohn.compile("C2", 8, arch="ssm")
    done = krohn.export(found, to=to, directory=tmp_path / to, sample=20)
    assert done.ran.length == 8


@pytest.mark.slow
def test_an_export_of_states_names_the_way_to_outputs_of_transitions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only where the machine has some, and only where states were not asked for."""
    turnstile = Path(__file__).parents[3] / "examples" / "turnstile.dot"
    hint = "`krohn compile --observe outputs` makes them its outputs"
    for name, more, hinted in (
        (str(turnstile), [], True),
        ("C2", [], False),
        (str(turnstile), ["--states"], False),
    ):
        path = tmp_path / "f.safetensors"
        krohn.compile(name, 4).save(path)
        place = str(tmp_path / f"{Path(name).stem}{len(more)}")
        to = ["--to", "huggingface", "-o", place, "--sample", "4", *more]
        assert cli.run(["export", str(path), *to]) == 0
        told = capsys.readouterr().out
        assert "classes are the states of the machine" in told
        assert (hint in told) == hinted
