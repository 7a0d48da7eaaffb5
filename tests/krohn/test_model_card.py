"""README.md of an export: its claim, and its program, which is run as it stands there."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import krohn
from krohn.model_card import NAME

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
