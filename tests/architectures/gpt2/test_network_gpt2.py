"""An unmodified GPT-2 of Hugging Face's library answers as the machine does."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

import krohn
from krohn.architectures.exports.circuit import circuit
from krohn.architectures.gpt2.export import (
    DESTINATION,
    open_logits,
    write,
)
from krohn.network import ExportError
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile

transformers = pytest.importorskip("transformers")


def answers(file: ModelFile, words: torch.Tensor) -> np.ndarray:
    """``(words, time)``: the states of the machine."""
    machine = file.header["machine"]
    moves = np.array(machine["transitions"])
    state = np.full(len(words), machine["states"].index(machine["start"]))
    found = [state := moves[letter, state] for letter in words.numpy().T]
    return np.array(found).T


def every(letters: int, length: int) -> torch.Tensor:
    return torch.tensor(list(product(range(letters), repeat=length)))


CASES = [
    *(("FlipFlop", "float32"), ("FlipFlop", "bfloat16"), ("C2", "float32")),
    *(("D6", "float32"), ("Grid4", "float32"), ("Adder", "float64")),
    *(("A5", "float32"), ("A5", "bfloat16")),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_every_answer_is_right(name: str, dtype: str, tmp_path: Path) -> None:
    """On all short words, and on random ones of 32 letters."""
    file = krohn.compile(name, length=32, strict=True, dtype=dtype).file
    write(file, tmp_path)
    logits = open_logits(tmp_path)
    letters = file.header["architecture"]["vocabulary"] - 1
    rng = np.random.default_rng(0)
    longer = torch.from_numpy(rng.integers(letters, size=(100, 32)))
    for words in (every(letters, int(math.log(800, letters))), longer):
        said = logits(words).argmax(-1).numpy()
        assert np.array_equal(said, answers(file, words))


@pytest.fixture(scope="module")
def flip_flop() -> ModelFile:
    return krohn.compile("FlipFlop", length=32, strict=True).file


@pytest.mark.sample(1)
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_new"])
def test_every_activation_serves(
    flip_flop: ModelFile, activation: str, tmp_path: Path
) -> None:
    write(flip_flop, tmp_path, activation=activation)
    words = every(3, 6)
    said = open_logits(tmp_path)(words).argmax(-1).numpy()
    assert np.array_equal(said, answers(flip_flop, words))


def test_it_speaks_by_name(flip_flop: ModelFile, tmp_path: Path) -> None:
    """The tokenizer puts BOS in front, and the one token that follows is the state's."""
    write(flip_flop, tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert type(model).__name__ == "GPT2LMHeadModel"
    letters = flip_flop.header["machine"]["letters"]
    for word in product(range(3), repeat=3):
        text = " ".join(letters[a] for a in word)
        said = model.generate(**tokenizer(text, return_tensors="pt"))[0]
        (state,) = answers(flip_flop, torch.tensor([word]))[:, -1]
        name = flip_flop.header["machine"]["states"][state]
        assert tokenizer.decode(said) == f"<no letter> {text} state: {name}"


@pytest.fixture(scope="module")
def opened(flip_flop: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("opened")
    write(flip_flop, directory)
    return directory


@pytest.mark.parametrize("text", ["1 x 2", "1 <no letter>", "state: 1", "<no token>"])
def test_what_is_no_letter_is_refused(opened: Path, text: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(opened)
    with pytest.raises(Exception, match="Missing"):
        tokenizer(text)


def test_words_of_several_lengths_are_padded(opened: Path) -> None:
    """Behind them for logits; in front of them where the library writes on."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(opened)
    model = transformers.AutoModelForCausalLM.from_pretrained(opened)
    words = ["1", "2 ⊥ 1 2", "⊥ ⊥ 2"]
    ones = [model(**tokenizer(w, return_tensors="pt")).logits[0] for w in words]
    batch = tokenizer(words, return_tensors="pt", padding=True)
    rows = zip(model(**batch).logits, batch.attention_mask, strict=True)
    for alone, (row, mask) in zip(ones, rows, strict=True):
        assert torch.equal(row[mask.bool()].argmax(-1), alone.argmax(-1))
    tokenizer.padding_side = "left"
    batch = tokenizer(words, return_tensors="pt", padding=True)
    last = model.generate(**batch)[:, -1]
    assert last.tolist() == [int(alone[-1].argmax()) for alone in ones]


@pytest.mark.slow
def test_variables_lie_where_the_card_says(tmp_path: Path) -> None:
    said = DESTINATION.streams.replace("\n", " ")
    assert "number 0 is `blocks.0.hook_resid_pre`" in said
    assert "number b + 1 is `blocks.b.hook_resid_post`" in said
    assert (
        "`blocks.b.hook_resid_mid` is what `model.transformer.h[b].ln_2` gets" in said
    )
    file = krohn.compile("D6", length=8, strict=True).file
    write(file, tmp_path)
    network, tokens = Model(file), torch.tensor([[0, 1, 1, 0, 1]])
    there = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    middle = dict[str, torch.Tensor]()
    for b, block in enumerate(there.transformer.h):
        block.ln_2.register_forward_pre_hook(
            lambda _, given, b=b: middle.update(
                {f"blocks.{b}.hook_resid_mid": given[0]}
            )
        )
    start = torch.full((1, 1), len(network.letters))
    ids = torch.cat([start, tokens], dim=1)
    hidden = there(ids, output_hidden_states=True).hidden_states
    found = {"blocks.0.hook_resid_pre": hidden[0], **middle}
    found |= {f"blocks.{b}.hook_resid_post": x for b, x in enumerate(hidden[1:])}
    for variable in circuit(file)["variables"]:
        name = variable["variable"]
        for hook in (variable["hook"], variable["until"]):
            values = network.places()[name].read(found[hook])
            assert torch.equal(values, network.read(tokens, name))


def test_what_is_saved_again_is_the_same_network(opened: Path, tmp_path: Path) -> None:
    for kind in (transformers.AutoModelForCausalLM, transformers.AutoTokenizer):
        kind.from_pretrained(opened).save_pretrained(tmp_path)
    one, two = (p / "model.safetensors" for p in (opened, tmp_path))
    assert one.read_bytes() == two.read_bytes()
    one, two = (
        json.loads((p / "tokenizer.json").read_text()) for p in (opened, tmp_path)
    )
    assert one == two
    assert krohn.verify(tmp_path).verdict == "verified"
    assert krohn.verify(tmp_path, "FlipFlop").verdict == "verified"


def test_transformer_lens_opens_the_model(flip_flop: ModelFile, opened: Path) -> None:
    sources = pytest.importorskip("transformer_lens.model_bridge.sources")
    model = transformers.AutoModelForCausalLM.from_pretrained(opened)
    made = sources.build_bridge_from_module(
        model, "GPT2LMHeadModel", hf_config=model.config
    )
    words = every(3, 5)
    front = words.new_full((len(words), 1), 3)
    with torch.inference_mode():
        said = made(torch.cat([front, words], dim=1), return_type="logits")
    said = said[:, 1:].argmax(-1).numpy() - 4
    assert np.array_equal(said, answers(flip_flop, words))


def test_the_same_network_gives_the_same_bytes(
    flip_flop: ModelFile, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(flip_flop, tmp_path / name)
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert one == two
    assert json.loads(one["config.json"])["activation_function"] == "gelu_new"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("S3", {"strict": False}, "strict=True"),
        (
            "S3",
            {"strict": True, "activation": "gelu"},
            "not about 'gelu units'; .* activation='relu'",
        ),
        ("S3", {"arch": "rnn", "length": None}, "strict=True"),
    ],
)
def test_what_gpt2_lacks_is_said(
    name: str, options: dict, reason: str, tmp_path: Path
) -> None:
    file = krohn.compile(name, **{"length": 8, **options}, proof=False).file
    with pytest.raises(ExportError, match=reason):
        write(file, tmp_path)
    assert not list(tmp_path.iterdir())
