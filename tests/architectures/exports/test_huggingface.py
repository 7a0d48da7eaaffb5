"""Hugging Face's automatic classes read a network, and it is the same network."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import krohn
from krohn.architectures.exports.circuit import circuit
from krohn.architectures.exports.destinations import (
    Destination,
    destination,
)
from krohn.network import ExportError
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.word_texts import join_letters

transformers = pytest.importorskip("transformers")


@cache  # its modules are imported when a test wants them
def place() -> Destination:
    return destination("huggingface")


@pytest.fixture(scope="module")
def machine() -> ModelFile:
    """Not strict: its blocks overwrite dimensions."""
    return krohn.compile("S3", length=12).file


@pytest.fixture(scope="module")
def exported(machine: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("machine")
    place().write(machine, directory)
    return directory


@pytest.fixture(scope="module")
def opened(exported: Path) -> tuple[Any, Any]:
    model = transformers.AutoModelForCausalLM.from_pretrained(exported)
    return model, transformers.AutoTokenizer.from_pretrained(exported)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("program")
    place().write(krohn.compile("LCS3,3").file, directory)
    return directory


def test_answers_have_names(opened: tuple[Any, Any], machine: ModelFile) -> None:
    model, tokenizer = opened
    word = list(Model(machine).letters) * 2
    logits = model(**tokenizer(" ".join(word), return_tensors="pt")).logits
    said = [model.config.id2label[i] for i in logits[0].argmax(dim=-1).tolist()]
    assert said == Model(machine).run(word)
    assert tokenizer.decode(tokenizer(" ".join(word)).input_ids) == " ".join(word)


@pytest.mark.sample(1)
@pytest.mark.parametrize("sign", ["\u00a0", "\x1c", "\u2028", "\x0b", " ", ",", "\n"])
def test_a_name_is_one_letter_whatever_signs_it_holds(
    sign: str, machine: ModelFile, tmp_path: Path
) -> None:
    """Signs that Python takes for white space, too: other letters stand around them."""
    header = machine.header["machine"]
    names = ["a", "b", f"a{sign}b", *header["letters"][3:]]
    header = {**machine.header, "machine": {**header, "letters": names}}
    place().write(replace(machine, header=header), tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    word = [0, 2, 1, 2, 2, 0, 1][: 2 * len(names)]
    word = [letter % len(names) for letter in word]
    text = join_letters([names[letter] for letter in word])
    assert tokenizer(text).input_ids == word
    assert tokenizer.decode(word) == text


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("S3", {"length": 12, "dtype": "bfloat16"}),
        ("C2", {"length": 12, "activation": "sine"}),
        ("C2", {"arch": "lstm"}),
        ("C2", {"arch": "rnn"}),
        ("C2", {"arch": "ssm", "length": 9}),
        ("LCS2,2", {"attention": "linear", "dtype": "float64"}),
        ("program:reverse", {"length": 9}),
    ],
)
def test_every_kind_of_network_goes_there_unchanged(
    source: str, options: dict[str, Any], tmp_path: Path
) -> None:
    file = krohn.compile(source, **options).file
    place().write(file, tmp_path)
    model, rng = Model(file), np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(len(model.letters), size=(20, 9)))
    with torch.inference_mode():
        assert torch.equal(model(words), place().open(tmp_path)(words))
    assert place().read(file, tmp_path).file == file


@pytest.mark.slow
def test_each_class_is_found_by_name(tmp_path: Path) -> None:
    """Several states that show the same are several classes of one name."""
    file = krohn.compile("regex:(ab)*", 8, observe=None).file
    place().write(file, tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    classes, found = config.id2label, config.label2id
    assert len(set(classes.values())) < len(classes)
    assert {found[name] for name in found} == set(classes)
    assert all(classes[found[name]] == name for name in classes.values())
    assert all(
        name.partition(", state: ")[0] == classes[i] for name, i in found.items()
    )
    states = [name.partition(", state: ")[2] for name in found]
    assert set(config.states) < {*states, *classes.values()}


def test_saving_what_was_read_gives_the_same_files(
    opened: tuple[Any, Any], exported: Path, tmp_path: Path
) -> None:
    for part in opened:
        part.save_pretrained(tmp_path)
    for name in ("config.json", "model.safetensors", "letters.json"):
        assert (tmp_path / name).read_bytes() == (exported / name).read_bytes()


def test_hidden_states_are_the_snapshots(
    opened: tuple[Any, Any], machine: ModelFile
) -> None:
    words = torch.tensor([[0, 1, 1, 0, 1]])
    network = Model(machine).network
    hidden = opened[0](words, output_hidden_states=True).hidden_states
    for ours, theirs in zip(network.snapshots(words), hidden, strict=True):
        assert torch.equal(ours[:, 1:], theirs)


def test_variables_lie_where_the_card_says(
    opened: tuple[Any, Any], machine: ModelFile
) -> None:
    said = place().streams.replace("\n", " ")
    assert re.findall(
        r"number (\S+(?: . 1| . 2)?) is `blocks\..\.hook_(\w+)`", said
    ) == [
        ("0", "resid_pre"),
        ("2b + 1", "resid_mid"),
        ("2b + 2", "resid_post"),
    ]
    model, words = Model(machine), torch.tensor([[0, 1, 1, 0, 1]])
    hidden = opened[0](words, output_hidden_states=True).hidden_states
    for variable in circuit(machine)["variables"]:
        for hook in (variable["hook"], variable["until"]):
            _, block, where = hook.split(".")
            number = {"pre": 0, "mid": 2 * int(block) + 1, "post": 2 * int(block) + 2}
            lies = hidden[number[where.removeprefix("hook_resid_")]]
            name = variable["variable"]
            right = model.read(words, name)[:, 1:]
            assert torch.equal(model.places()[name].read(lies), right)


BLOCKED = """\
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "krohn":
            raise ModuleNotFoundError("Krohn is not here", name=name)

sys.meta_path.insert(0, Blocked())
from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

own = {"trust_remote_code": True}
"""
"""The beginning of a program that runs where Krohn is not installed."""


def elsewhere(program: str, cache: Path) -> list[str]:
    """The lines that a program prints where Krohn is not installed."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + program],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HOME": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_it_runs_where_krohn_is_not_installed(
    exported: Path, machine: ModelFile, tmp_path: Path
) -> None:
    """Also after it was saved there and read again; what is no letter is refused."""
    word = list(Model(machine).letters) * 2
    lines = elsewhere(
        f"""
at, again, text = {str(exported)!r}, {str(tmp_path / "again")!r}, {" ".join(word)!r}
for place in (at, again):
    say = pipeline("token-classification", model=place, ignore_labels=[], **own)
    print(*(each["entity"] for each in say(text)))
    print(*(len(each) for each in say([text, {word[0]!r}], batch_size=2)))
    say.save_pretrained(again)
try:
    say({word[0]!r} + " nothing")
except ValueError as error:
    print(error)
try:
    say.model(say.model.dummy_inputs["input_ids"] * 0 - 1)
except ValueError as error:
    print(error)
""",
        tmp_path,
    )
    said = " ".join(Model(machine).run(word))
    assert lines[:4] == [said, f"{len(word)} 1", said, f"{len(word)} 1"]
    letters = ", ".join(Model(machine).letters)
    assert (
        lines[4] == f"'nothing' is not a letter (letter 2); the letters are {letters}"
    )
    assert lines[5].startswith("-1 is not a letter: letters are 0 to ")
    for path in exported.glob("*.py"):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_text_is_written_where_krohn_is_not_installed(
    program: Path, tmp_path: Path
) -> None:
    lines = elsewhere(
        f"""
words = AutoTokenizer.from_pretrained({str(program)!r}, **own)
model = AutoModelForCausalLM.from_pretrained({str(program)!r}, **own)
prompts = ["a b a | a a b <sep>", "c c d | d c a <sep>"]
found = model.generate(**words(prompts, return_tensors="pt"))
print(*words.batch_decode(found), sep="\\n")
print(words.pad_token_id, words.eos_token_id, words.eos_token)
print(model.config.pad_token_id, model.config.eos_token_id)
write = pipeline("text-generation", model={str(program)!r}, **own)
print(write(prompts[0])[0]["generated_text"].replace(" ", ""))
""",
        tmp_path,
    )
    assert lines == [
        "a b a | a a b <sep> 1 1 1 , 1 1 2 , 1 2 2 , <sep> 2 <eos>",
        "c c d | d c a <sep> 0 1 1 , 0 1 1 , 1 1 1 , <sep> 1 <eos>",
        "12 11 <eos>",
        "12 11",
        "aba|aab<sep>111,112,122,<sep>2",
    ]


@pytest.mark.slow
def test_recurrent_networks_carry_their_code(tmp_path: Path) -> None:
    word, wanted = list("01101"), []
    for arch in ("rnn", "lstm", "gru", "ssm"):
        length = 9 if arch == "ssm" else None
        file = krohn.compile("C2", length, arch=arch).file
        place().write(file, tmp_path / arch)
        wanted.append(" ".join(Model(file).run(word)))
    lines = elsewhere(
        f"""
for arch in ("rnn", "lstm", "gru", "ssm"):
    own["model"] = {str(tmp_path)!r} + "/" + arch
    say = pipeline("token-classification", ignore_labels=[], **own)
    print(*(each["entity"] for each in say({" ".join(word)!r})))
""",
        tmp_path,
    )
    assert lines == wanted


@pytest.mark.slow
def test_what_krohn_saves_carries_its_code(
    opened: tuple[Any, Any], exported: Path, tmp_path: Path
) -> None:
    for part in opened:
        part.save_pretrained(tmp_path)
    carried = sorted(path.name for path in exported.glob("*.py"))
    assert len(carried) > 10
    for name in carried:
        assert (tmp_path / name).read_bytes() == (exported / name).read_bytes()


def test_changed_code_is_seen(machine: ModelFile, tmp_path: Path) -> None:
    place().write(machine, tmp_path)
    changed = tmp_path / "krohn_network_meaning_forward.py"
    changed.write_text(changed.read_text() + "\n")
    with pytest.raises(ExportError, match="krohn_network_meaning_forward"):
        place().read(machine, tmp_path)


def test_labels_are_the_classes_after_each_letter(opened: tuple[Any, Any]) -> None:
    words = torch.tensor([[0, 1, 1, 0, 1]])
    logits = opened[0](words).logits
    right = logits.argmax(dim=-1)
    wanted = -logits.log_softmax(dim=-1).gather(-1, right[..., None]).mean()
    torch.testing.assert_close(opened[0](words, labels=right).loss, wanted)


def test_padding_does_not_count(opened: tuple[Any, Any]) -> None:
    model, tokenizer = opened
    letters = list(model.config.letters)
    texts = [" ".join(letters[:1] * n) for n in (2, 4)]
    found = tokenizer(texts, padding=True, return_tensors="pt")
    mask = found["attention_mask"].bool()
    assert mask.sum(1).tolist() == [2, 4]
    labels = torch.ones_like(found["input_ids"])
    said = model(**found, labels=labels)
    rows = said.logits[mask]
    wanted = torch.nn.functional.cross_entropy(rows, labels[mask])
    torch.testing.assert_close(said.loss, wanted)


@pytest.mark.slow
def test_a_dynamic_program_writes_its_text(program: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(program)
    tokenizer = transformers.AutoTokenizer.from_pretrained(program)
    prompts = ["a b a | a a b <sep>", "c c d | d c a <sep>"]
    found = model.generate(**tokenizer(prompts, return_tensors="pt"), use_cache=True)
    assert tokenizer.batch_decode(found) == [
        "a b a | a a b <sep> 1 1 1 , 1 1 2 , 1 2 2 , <sep> 2 <eos>",
        "c c d | d c a <sep> 0 1 1 , 0 1 1 , 1 1 1 , <sep> 1 <eos>",
    ]
    read, labels = found[:, :-1], found[:, :-1].clone()
    labels[:, :8] = -100  # the prompts
    said = model(read).logits[:, 7:-1]
    wanted = torch.nn.functional.cross_entropy(
        said.flatten(0, 1), read[:, 8:].flatten()
    )
    torch.testing.assert_close(model(read, labels=labels).loss, wanted)
    with pytest.raises(ValueError, match="words of up to 22 letters"):
        model(found)


def test_what_makes_no_sense_is_refused(opened: tuple[Any, Any]) -> None:
    model, tokenizer = opened
    words = torch.tensor([[0, 1, 1]])
    with pytest.raises(ValueError, match="writes no text"):
        model.generate(words)
    with pytest.raises(ValueError, match="pad behind words"):
        model(words, attention_mask=torch.tensor([[0, 1, 1]]))
    assert model(words, attention_mask=torch.tensor([[1, 1, 0]])).logits.shape[1] == 3
    with pytest.raises(ValueError, match="is not a letter"):
        tokenizer("nothing")


def test_one_bit_that_is_not_as_in_the_file_is_seen(
    machine: ModelFile, tmp_path: Path
) -> None:
    damaged = {n: t.copy() for n, t in machine.tensors.items()}
    damaged["unembed.weight"].flat[-1] += 2.0**-12
    place().write(replace(machine, tensors=damaged), tmp_path)
    with pytest.raises(ExportError, match="'weight'"):
        place().read(machine, tmp_path)


BESIDE = "beside the tensors is not what the file says"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "said",
    [
        {"dtype": "float16"},
        {"model_type": "gpt2"},
        {"quantization_config": {"quant_method": "bitsandbytes"}},
        {"states": ["x"]},
        {"claim": {"length": 2**20}},
        {"digest": "0" * 64},
        {"label2id": {}},
        {"auto_map": {"AutoModelForCausalLM": "other.Model"}},
    ],
    ids=lambda said: "".join(said),
)
def test_a_configuration_that_says_anything_else_is_refused(
    said: dict[str, Any], machine: ModelFile, tmp_path: Path
) -> None:
    """The library computes what it says: in another format, if that is what it says."""
    place().write(machine, tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    with pytest.raises(ExportError, match=BESIDE):
        place().read(machine, tmp_path)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("config.json", "[]", BESIDE),
        ("config.json", "{", "cannot be read back"),
        ("letters.json", '["x"]', BESIDE),
        ("letters.json", "", "cannot be read back"),
        ("model.safetensors", "", "cannot be read back"),
    ],
)
def test_what_is_damaged_is_refused(
    name: str, text: str, reason: str, machine: ModelFile, tmp_path: Path
) -> None:
    place().write(machine, tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(ExportError, match=reason):
        place().read(machine, tmp_path)


def test_tensors_of_other_names_are_refused(machine: ModelFile, tmp_path: Path) -> None:
    place().write(machine, tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    for there in (tensors | {"network.x": torch.ones(1)}, dict([*tensors.items()][1:])):
        save_file(there, path)
        with pytest.raises(ExportError, match="there is no or another tensor network"):
            place().read(machine, tmp_path)


@pytest.mark.slow
def test_a_file_that_nobody_wrote_is_refused(
    machine: ModelFile, tmp_path: Path
) -> None:
    place().write(machine, tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ExportError, match=r"nothing is known .*adapter_config\.json"):
        place().read(machine, tmp_path)


@pytest.mark.slow
def test_another_way_to_write_a_text_is_refused(tmp_path: Path) -> None:
    file = krohn.compile("LCS2,2", proof=False).file
    place().write(file, tmp_path)
    place().read(file, tmp_path)
    path = tmp_path / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"do_sample": True}))
    with pytest.raises(ExportError, match=BESIDE):
        place().read(file, tmp_path)


@pytest.mark.slow  # a process that imports transformers
def test_registering_lets_the_automatic_classes_open_it(exported: Path) -> None:
    script = (
        "import krohn; from transformers import AutoModelForCausalLM as A; "
        "krohn.huggingface.register(); "
        f"print(type(A.from_pretrained({str(exported)!r})).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Krohn")


def test_importing_krohn_imports_no_library_and_leaves_finders_alone() -> None:
    script = (
        "import sys; a = [*sys.meta_path]; import krohn; "
        "print(a == sys.meta_path, {'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "set()"]
