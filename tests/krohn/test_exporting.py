"""``krohn export``: what is written is read back and run before it is there."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

import krohn
from krohn import exporting
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.model_card import NAME
from krohn.network.exports import Destination, destination
from krohn.network.modelfile import ModelFile

pytest.importorskip("transformer_lens")
WEATHER = Path(__file__).parents[2] / "examples/weather.json"
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


@pytest.mark.parametrize("letters", [1, 16])
def test_a_wrong_answer_leaves_nothing(
    letters: int, model: CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "destination", lambda to: wrong_after(letters))
    with pytest.raises(KrohnError, match="so nothing was written") as caught:
        krohn.export(model, to="transformer-lens", directory=tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


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
    pytest.importorskip("onnxruntime")
    compiled = krohn.compile(source, **options)
    found = krohn.export(compiled, to="onnx", directory=tmp_path / "out", sample=64)
    assert found.ran.against == against
    assert found.ran.words == 64
    assert found.ran.deviation < 1e-5


@pytest.mark.parametrize("source", ["LCS2,2", "program:reverse"])
def test_their_wrong_answers_are_seen(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    real = destination("onnx")
    wrong = replace(real, open=lambda at: lambda tokens: -real.open(at)(tokens))
    monkeypatch.setattr(exporting, "destination", lambda to: wrong)
    length = None if source.startswith("LCS") else 9
    compiled = krohn.compile(source, length=length)
    with pytest.raises(KrohnError, match=r"another text|nothing was written"):
        krohn.export(compiled, to="onnx", directory=tmp_path / "out", sample=64)
    assert list(tmp_path.iterdir()) == []


def test_who_learns_from_prompts_is_given_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
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


for library in ("transformers", "transformer_lens", "onnxruntime"):
    pytest.importorskip(library)
TURNSTILE = Path(__file__).parents[2] / "examples/turnstile.dot"


def written(place: Path, to: str, source: object, **how: object) -> str:
    """The card of a small network that was exported."""
    model = krohn.compile(source, **{"length": 4, **how})  # type: ignore[arg-type]
    krohn.export(model, to=to, directory=place, sample=4)
    return (place / NAME).read_text("utf-8")


def program(text: str) -> str:
    (found,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(found)


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """The output of a program that is run beside the export."""

    def run(text: str) -> str:
        capsys.readouterr()
        monkeypatch.chdir(tmp_path / "out")
        exec(compile(text, "README.md", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out

    return run


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("to", ["gpt2", "huggingface", "transformer-lens", "onnx"])
def test_its_program_prints_what_it_says(
    to: str, tmp_path: Path, printed: Callable[[str], str]
) -> None:
    how = {"strict": True, "observation": "outputs"}
    text = written(tmp_path / "out", to, TURNSTILE, **how)
    lines = [line for line in program(text).splitlines() if line]
    assert len(lines) <= 5
    answer = lines[-1].partition("  # ")[2]
    # coin, card, push: what the machine itself shows.
    right = krohn.automaton(TURNSTILE).run(["coin", "card", "push"])
    assert answer.endswith(" ".join(right[-1:] if to == "gpt2" else right))
    assert printed(program(text)) == f"{answer}\n"


def test_the_program_of_a_dynamic_program_writes_its_text(
    tmp_path: Path, printed: Callable[[str], str]
) -> None:
    text = written(tmp_path / "out", "huggingface", "LCS2,2", length=None)
    assert printed(program(text)).endswith("<eos>\n")


def test_it_says_the_claim_and_what_is_proved(tmp_path: Path) -> None:
    text = written(tmp_path / "out", "gpt2", "regex:(ab)*", strict=True)
    assert "In float32, after every letter of every word of up to 4 letters" in text
    assert "2 letters: `a`, `b`" in text
    assert "`accept`, `reject`" in text
    assert "Proved in float32: right on all words of up to 4 letters" in text
    assert krohn.verify(tmp_path / "out").verdict == "verified"


def test_outputs_that_are_numbers_are_claimed_within_an_error(tmp_path: Path) -> None:
    weather = TURNSTILE.with_name("weather.json")
    text = written(tmp_path / "out", "onnx", weather, within=0.1)
    assert re.search(r"each output is within \S+ of that of the source", text)
