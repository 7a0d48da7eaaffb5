"""Learning machines back from networks, by their answers alone."""

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn import cli
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import train
from krohn.instruments.learning.lstar import (
    Answers,
    Spent,
)
from krohn.verify.testing.examination import BlackBox, black_box

Function = Callable[[Any], Any]


def says(machine: Automaton, until: int | None = None, then: int = 0) -> Function:
    """A function that says the machine's states, and ``then`` after ``until`` letters."""

    def reads(words: Any) -> Any:
        states = machine.semiautomaton.trace(words, machine.start)
        if until is not None:
            states[:, until:] = then
        return states

    return reads


def check_isomorphism(found: krohn.Learned, shows: bool = True) -> None:
    """The bijection keeps start, letters and what is shown, and leaves nothing out."""
    one, other = found.machine, found.wanted
    assert other is not None
    assert found.states is not None
    assert one.output is not None
    assert other.output is not None
    place = {q: other.states.index(r) for q, r in found.states.items()}
    image = np.array([place[q] for q in one.states])
    assert sorted(image) == list(range(len(other.states)))
    assert image[one.start] == other.start
    for a, letter in enumerate(one.letters):
        b = other.letters.index(letter)
        assert (image[one.transitions[a]] == other.transitions[b, image]).all()
        if one.output.on == "transitions":
            said = [one.output.names[i] for i in one.output.table[a]]
            assert said == [other.output.names[i] for i in other.output.table[b, image]]
    if one.output.on == "states" and shows:
        said = [one.output.names[i] for i in one.output.table]
        assert said == [other.output.names[i] for i in other.output.table[image]]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "states"),
    [("FlipFlop", 2), ("S3", 6), ("Grid4", 4), ("S5", 120), ("regex:(ab|ba)*a", 4)],
)
def test_a_compiled_network_gives_its_machine_back(source: str, states: int) -> None:
    how: dict[str, Any] = {"observe": "outputs"} if "regex" in source else {}
    found = krohn.learn(krohn.compile(source, 32, **how))
    assert found.verdict == "isomorphic"
    assert len(found.machine.states) == states
    assert found.parted.word is None
    check_isomorphism(found)


@pytest.mark.slow
def test_a_mealy_machine_is_smaller_than_the_states_that_say_the_same() -> None:
    model = krohn.compile("examples/turnstile.dot", 16, observe="outputs")
    moore, mealy = krohn.learn(model), krohn.learn(model, form="mealy")
    check_isomorphism(moore)
    check_isomorphism(mealy)
    assert len(mealy.machine.states) == len(krohn.read("examples/turnstile.dot").states)
    assert len(mealy.machine.states) < len(moore.machine.states)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["moore", "mealy"])
@pytest.mark.parametrize("seed", range(12))
def test_of_random_machines(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    letters, states = int(rng.integers(1, 4)), int(rng.integers(1, 9))
    moves = {
        q: {str(a): int(rng.integers(states)) for a in range(letters)}
        for q in range(states)
    }
    shown = {q: str(rng.integers(2)) for q in range(states)}
    machine = krohn.automaton(moves, 0, outputs=shown)
    assert machine.output is not None
    table = machine.output.table

    def reads(words: Any) -> Any:
        return table[machine.semiautomaton.trace(words, machine.start)]

    found = krohn.learn(reads, machine, observe="outputs", length=20, form=kind)
    assert found.verdict == "isomorphic"
    assert kind == "mealy" or len(found.machine.states) == len(minimise(machine).states)
    check_isomorphism(found)


def test_the_first_word_at_which_they_part_is_found() -> None:
    machine = krohn.zoo("C3")
    found = krohn.learn(says(machine, until=7), machine, length=5)
    assert found.verdict == "isomorphic"
    assert found.right >= 5
    word = found.parted.word
    assert word is not None
    assert word.least
    assert len(word.found.word) == 8
    assert word.found.actual[-1] != word.found.expected[-1]


def test_what_parts_within_the_length_is_learned() -> None:
    """A counter that stops after 3 letters is a machine, and another one."""
    machine = krohn.zoo("C3")
    found = krohn.learn(says(machine, until=3), machine, length=8)
    assert found.verdict == "different"
    assert found.right == 8
    assert found.parted.word is None
    # After 3 letters at 0 all is as it is for ever.
    assert len(found.machine.states) == 1 + 3 + 3 + 3
    for word in product("012", repeat=5):
        right = machine.run(word)
        assert found.machine.run(word) == (*right[:3], "0", "0")
    assert found.differs is not None
    assert len(found.differs) == 4


def test_a_start_of_which_nothing_is_said_is_another_state() -> None:
    machine = krohn.zoo("S3")
    box = BlackBox(says(machine), machine.letters, machine.states)
    found = krohn.learn(box, length=10)
    assert found.verdict == "unnamed"
    assert len(found.machine.states) == 6
    assert found.chow == 7


def test_a_start_that_is_no_other_state_stays() -> None:
    """After ``a`` or ``b``, and never again at the start."""
    moves = {
        "s": {"a": "p", "b": "q"},
        "p": {"a": "p", "b": "p"},
        "q": {"a": "q", "b": "p"},
    }
    machine = krohn.automaton(moves, "s")
    box = BlackBox(says(machine), machine.letters, machine.states)
    assert len(krohn.learn(box, length=6).machine.states) == 3


def test_more_words_than_may_be_asked() -> None:
    machine = krohn.zoo("S4")
    with pytest.raises(
        KrohnError,
        match="the learner needed more than 50 words",
    ):
        krohn.learn(says(machine), machine, length=10, queries=50)
    dyck = krohn.compile("crasp:Dyck1", 40, dtype="float64")
    found = krohn.learn(dyck, length=40, queries=40)
    assert found.spent is not None
    assert "--queries" in found.spent
    assert found.parted.word is not None
    assert found.parted.word.least
    assert found.right == len(found.parted.word.found.word) - 1


@pytest.mark.slow
def test_what_counts_is_followed_as_deep_as_words_go() -> None:
    """Brackets of any depth: what 2n letters tell of is n deep."""
    dyck = krohn.compile("crasp:Dyck1", 40, dtype="float64")
    for length in (6, 8):
        found = krohn.learn(dyck, length=length)
        assert len(found.machine.states) == length // 2 + 2
        word = found.parted.word
        assert word is not None
        assert word.least
        half = length // 2 + 1
        assert word.found.word == ("(",) * half + (")",) * half


@pytest.mark.slow
@pytest.mark.parametrize("source", ["C3", "FlipFlop"])
def test_rpni_reads_words(source: str) -> None:
    found = krohn.learn(krohn.compile(source, 16), method="rpni")
    assert found.verdict == "isomorphic"
    assert found.rounds == 1
    check_isomorphism(found)


def test_answers_are_remembered() -> None:
    machine = krohn.zoo("C3")
    run: list[int] = []

    def reads(words: Any) -> Any:
        run.append(len(words))
        return says(machine)(words)

    answers = Answers(black_box(reads, machine), "0", most=5)
    answers.ask([(0, 1, 2), (0, 1), (0,), (1, 1), (1, 1)])
    assert run == [2]
    assert answers.query((0, 1, 2)) == ["0", "1", "0"]
    assert answers.query(()) == ["0"]
    assert answers.query((1,)) == ["1"]
    assert answers.asked == 2
    with pytest.raises(Spent):
        answers.ask([(2, a, b) for a in range(3) for b in range(3)])
    assert run == [2]


def test_all_words_of_a_row_are_run_at_once() -> None:
    machine, run = krohn.zoo("S5"), []

    def reads(words: Any) -> Any:
        run.append(len(words))
        return says(machine)(words)

    found = krohn.learn(reads, machine, length=12, exhaustive_words=8, sample=1)
    assert found.verdict == "isomorphic"
    assert found.queries > 500
    assert len(run) < 100


def test_an_answer_that_depends_on_what_follows() -> None:
    machine = krohn.zoo("C2")

    def reads(words: Any) -> Any:
        return np.broadcast_to(words.sum(axis=1, keepdims=True) % 2, words.shape)

    with pytest.raises(KrohnError, match="depend on later letters"):
        krohn.learn(reads, machine)


def test_no_answer_is_no_machine() -> None:
    machine = krohn.zoo("C2")
    with pytest.raises(KrohnError, match="no answer to 0:"):
        krohn.learn(lambda words: np.zeros((*words.shape, 2)), machine)


def test_answers_by_chance() -> None:
    machine, rng = krohn.zoo("C2"), np.random.default_rng(0)
    with pytest.raises(KrohnError):
        krohn.learn(lambda words: rng.integers(2, size=words.shape), machine)


def trained(folder: Path) -> Path:
    """An LSTM that has hardly learned anything."""
    recipe = Recipe(steps=2, batch=4, length=8, longest=30, every=2, probe=8)
    train(task("C3"), Lstm(4, 6), recipe, 0, folder)
    return folder


@pytest.mark.slow
def test_a_trained_network_is_followed_up_to_the_first_word(tmp_path: Path) -> None:
    folder = trained(tmp_path / "run")
    found = krohn.learn(folder, queries=3000)
    assert found.wanted is not None
    assert found.verdict == "different"
    net = compare_load(folder / "weights.safetensors")
    for length in range(1, min(found.right, 5) + 1):
        words = np.array(list(product(range(3), repeat=length)))
        with torch.no_grad():
            said = net(torch.from_numpy(words)).argmax(-1)[:, -1].tolist()
        letters = [[found.machine.letters[a] for a in word] for word in words]
        assert [found.machine.run(w)[-1] for w in letters] == [str(q) for q in said]
    by_name = krohn.learn(folder / "weights.safetensors", "C3", queries=3000)
    assert by_name.machine == found.machine
    nameless = krohn.learn(folder / "weights.safetensors", queries=3000)
    assert nameless.verdict == "unnamed"


def compare_load(path: Path) -> Any:
    from krohn.instruments.compare.models.files import load

    return load(path)


def test_a_run_that_is_not_finished(tmp_path: Path) -> None:
    folder = trained(tmp_path / "run")
    (folder / "weights.safetensors").unlink()
    with pytest.raises(KrohnError, match="not finished"):
        krohn.learn(folder)


def test_a_transformer_of_a_module() -> None:
    net = train(task("FlipFlop"), Gpt(1, 8, 2, 8), Recipe(steps=1, length=8), 0).network
    found = krohn.learn(net, "FlipFlop", length=3, queries=500)
    assert found.right == 3 or found.spent


class Plain(torch.nn.Module):
    """One recurrent layer and a linear read-out."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.LSTM(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        one_hot = torch.nn.functional.one_hot(letters, 2).float()
        logits: torch.Tensor = self.head(self.layer(one_hot)[0])
        return logits


def same(one: krohn.Learned, other: krohn.Learned) -> bool:
    return one.machine == other.machine and one.right == other.right


@pytest.mark.slow
def test_a_state_dict_is_a_network_whose_letters_are_numbers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, path = Plain(), tmp_path / "net.pt"
    torch.save(net.state_dict(), path)
    by_file = krohn.learn(path, length=8, queries=2000)
    assert by_file.verdict == "unnamed"
    assert by_file.machine.letters == ("0", "1")
    assert same(by_file, krohn.learn(net, length=8, queries=2000))
    assert same(by_file, krohn.learn(net.state_dict(), length=8, queries=2000))
    for word in product("01", repeat=4):
        letters = torch.tensor([[int(a) for a in word]])
        with torch.no_grad():
            said = [str(int(c)) for c in net(letters).argmax(-1)[0]]
        assert list(by_file.machine.run(word)) == said
    named = krohn.learn(path, "C2", length=8, queries=2000)
    assert named.wanted is not None
    with pytest.raises(KrohnError, match="C3 has 3"):
        krohn.learn(path, "C3")
    assert krohn.verify(path, "C2").verdict == krohn.verify(net, "C2").verdict


def test_a_module_that_was_saved_whole_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.pt"
    torch.save(Plain(), path)
    for command in (["learn"], ["verify", "--machine", "C2"]):
        assert cli.run([*command, str(path)]) == 2
        assert "save net.state_dict()" in capsys.readouterr().err
    path.write_bytes(b"no file of torch's")
    with pytest.raises(KrohnError, match="is damaged"):
        krohn.learn(path)
    torch.save([1, 2], path)
    with pytest.raises(KrohnError, match="no state dict"):
        krohn.learn(path)
    torch.save({"a.weight": torch.zeros(2, 2)}, path)
    with pytest.raises(KrohnError, match="recurrent layers"):
        krohn.learn(path)


def test_modules_without_a_machine() -> None:
    """A table of transitions as a module: S3, by number."""
    machine = krohn.zoo("S3")
    reads = says(machine)

    class Net(torch.nn.Module):
        def forward(self, letters: torch.Tensor) -> torch.Tensor:
            states = torch.from_numpy(reads(letters.numpy()))
            return torch.nn.functional.one_hot(states, 6).float()

    found = krohn.learn(Net(), vocabulary=len(machine.letters), length=10)
    assert len(found.machine.states) == 6
    assert found.machine.letters == tuple(map(str, range(len(machine.letters))))
    with pytest.raises(KrohnError, match="say vocabulary="):
        krohn.learn(Net())
    with pytest.raises(KrohnError, match="the network reads"):
        krohn.learn(Net(), machine, vocabulary=7)
    with pytest.raises(KrohnError, match="must give logits"):
        krohn.learn(lambda words: words, vocabulary=2)
    with pytest.raises(KrohnError, match="at most 1,000"):
        krohn.learn(Net(), vocabulary=5000)


def test_a_model_of_hugging_face_without_a_machine() -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=3, n_positions=12, n_embd=8, n_layer=1, n_head=1
    )
    net = transformers.GPT2LMHeadModel(config)
    found = krohn.learn(net, length=3, queries=500)
    assert found.machine.letters == ("0", "1", "2")
    assert found.right >= 3
    assert found.parted.searched <= 12
    assert len(krohn.learn(net, length=3, vocabulary=2).machine.letters) == 2


@pytest.mark.slow
@pytest.mark.parametrize("home", ["huggingface", "gpt2"])
def test_an_export_gives_the_machine_back(home: str, tmp_path: Path) -> None:
    model = krohn.compile("FlipFlop", 12, strict=True)
    krohn.export(model, to=home, directory=tmp_path / "there", sample=4)
    found = krohn.learn(tmp_path / "there", "FlipFlop")
    assert found.verdict == "isomorphic"
    assert found.length == 12


@pytest.mark.slow
def test_networks_that_say_something_else(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile("program:reverse", 4).save(path)
    with pytest.raises(KrohnError, match="later letters"):
        krohn.learn(path)
    krohn.compile("RanHMM3,2@1", 4, dtype="float64").save(path)
    with pytest.raises(KrohnError, match="krohn decompile"):
        krohn.learn(path)
    with pytest.raises(KrohnError, match="laws"):
        krohn.learn(krohn.compile_generator("Dyck2,2", 6))
    with pytest.raises(KrohnError, match="not a network or a function"):
        krohn.learn(3, "C2")
    with pytest.raises(KrohnError, match="or machine=, which names"):
        krohn.learn(lambda words: words)
    with pytest.raises(KrohnError, match="the network reads"):
        krohn.learn(krohn.compile("C2", 5), "S3")
    with pytest.raises(KrohnError, match="up to 5 letters"):
        krohn.learn(krohn.compile("C2", 5), length=6)
    with pytest.raises(KrohnError, match="method= takes lstar, rpni"):
        krohn.learn(krohn.compile("C2", 5), method="kv")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "m.safetensors"), tmp_path / "machine.dot"
    krohn.compile("C2", 8).save(path)
    assert cli.run(["learn", path, "-o", str(out)]) == 0
    assert "isomorphic to the minimal machine of C2" in capsys.readouterr().out
    assert len(krohn.read(out).states) == 2
    assert cli.run(["learn", path, "-o", str(tmp_path / "machine.svg"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bijection"] == {"[]": "0", "[1]": "1"}
    assert told["machine"] == {**told["machine"], "letters": ["0", "1"]}
    assert (tmp_path / "machine.svg").read_text().startswith("<?xml")
    # The option of the learner is not --as, which is of machine files.
    assert cli.run(["learn", path, "--form", "mealy"]) == 0
    assert cli.run(["learn", path, "--as", "mealy"]) == 2
    assert cli.run(["learn", path, "--machine", "FlipFlop"]) == 2
    assert cli.run(["learn", path, "-o", str(tmp_path / "m.txt")]) == 2
    assert cli.run(["learn", path, "--start", "1"]) == 2
    assert cli.run(["learn", path, "--machine", "C2", "--start", "1"]) == 1


@pytest.mark.slow
def test_without_the_library(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['aalpy'] = None; from krohn.cli import run; "
        "sys.exit(run(['learn', 'nothing.safetensors']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "needs aalpy" in done.stderr
    assert "[learn]" in done.stderr
