"""Networks that Krohn did not compile are held against a machine all the same."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch
from foreign import FLIP_FLOP, flip_flop, trained
from slices_here import needs
from torch import Tensor, nn

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.algebra.observation import boundary
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile

EXAMPLE = Path(__file__).parents[2] / "examples" / "independent.py"


def states(words: IntArray) -> IntArray:
    return FLIP_FLOP.semiautomaton.trace(words, FLIP_FLOP.start)


class TestFiles:
    @needs("instruments.limits")
    def test_a_wrong_one_is_refuted_with_a_word_and_with_what_must_fail(self) -> None:
        report = krohn.verify(flip_flop(40, 0.9624), FLIP_FLOP)
        assert report.verdict == "refuted"
        assert report.counterexample is not None
        assert report.counterexample.word == ("2", *("⊥",) * 11)
        assert report.counterexample.actual[-2:] == ("2", "1")
        (head,) = report.heads
        assert head.first == 11

    def test_a_right_one_is_undecided_and_says_what_was_run(self) -> None:
        report = krohn.verify(flip_flop(40, 2.0), FLIP_FLOP)
        assert report.verdict == "undecided"
        assert "has no Program" in report.reason
        assert "all words of up to 8 letters are right" in report.reason
        assert "512 words of up to 40 letters are right" in report.reason
        assert report.proof is None

    def test_it_is_verified_if_every_word_was_run(self) -> None:
        for length, claim in ((8, {}), (40, {"length": 8})):
            file = flip_flop(length, 2.0)
            file = ModelFile(
                {**file.header, "claim": claim}, file.tensors, file.precision
            )
            report = krohn.verify(file, FLIP_FLOP)
            assert report.verdict == "verified"
            assert report.words == sum(3**n for n in range(1, 9))
            assert "all 3^8 words of length 8" in report.covers

    def test_a_shorter_length_may_be_asked_for(self) -> None:
        file = flip_flop(40, 0.9624)
        assert krohn.verify(file, FLIP_FLOP, length=8).verdict == "verified"
        assert krohn.verify(file, FLIP_FLOP, length=11).verdict == "undecided"
        assert krohn.verify(file, FLIP_FLOP, length=12).verdict == "refuted"
        beyond = krohn.verify(file, FLIP_FLOP, length=41)
        assert beyond.verdict == "out-of-range"

    def test_samples_alone_verify_nothing(self) -> None:
        file = flip_flop(40, 2.0)
        sampled = krohn.verify(file, FLIP_FLOP, sample=100)
        some = krohn.verify(file, FLIP_FLOP, exhaustive=5)
        both = krohn.verify(file, FLIP_FLOP, exhaustive=5, sample=100, length=20)
        assert [r.verdict for r in (sampled, some, both)] == ["undecided"] * 3
        assert [r.method for r in (sampled, some, both)] == [
            "sample",
            "exhaustive",
            "exhaustive+sample",
        ]
        assert "100 words of up to 20 letters" in both.reason
        everything = krohn.verify(file, FLIP_FLOP, exhaustive=6, length=6)
        assert everything.verdict == "verified"

    def test_a_claim_beyond_the_positions_is_out_of_range(self) -> None:
        file = flip_flop(10, 2.0)
        claims = {**file.header, "claim": {"length": 11}}
        far = ModelFile(claims, file.tensors, file.precision)
        assert krohn.verify(far, FLIP_FLOP).verdict == "out-of-range"
        assert krohn.verify(far, FLIP_FLOP, length=7).verdict == "verified"
        beyond = krohn.verify(file, FLIP_FLOP, exhaustive=11)
        assert beyond.verdict == "out-of-range"

    def test_a_proof_needs_a_program(self) -> None:
        report = krohn.verify(flip_flop(40, 2.0), FLIP_FLOP, proof=True)
        assert report.verdict == "undecided"
        assert report.proof is not None
        with pytest.raises(KrohnError, match="a proof is about all words"):
            krohn.verify(flip_flop(40, 2.0), FLIP_FLOP, proof=True, length=9)

    def test_names_may_be_left_out(self) -> None:
        file = flip_flop(40, 0.95)
        bare = ModelFile({**file.header, "machine": {}}, file.tensors, file.precision)
        report = krohn.verify(bare, FLIP_FLOP)
        assert report.verdict == "refuted"
        assert any("no letters; they are taken" in note for note in report.notes)
        assert any("no states; they are taken" in note for note in report.notes)
        with pytest.raises(KrohnError, match="3 letters without names, the machine 8"):
            krohn.verify(bare, "S5")

    def test_names_are_matched_by_name(self) -> None:
        file = flip_flop(40, 2.0)
        turned = dict(file.tensors)
        turned["embed.token"] = file.tensors["embed.token"][[2, 1, 0, 3]]
        stated = {"letters": ["2", "1", "⊥"], "states": ["1", "2"]}
        other = ModelFile({**file.header, "machine": stated}, turned, file.precision)
        assert krohn.verify(other, FLIP_FLOP, length=8).verdict == "verified"

    def test_the_machine_must_be_named(self) -> None:
        with pytest.raises(KrohnError, match="say machine="):
            krohn.verify(flip_flop(40, 2.0))

    def test_not_a_number_never_passes(self) -> None:
        file = flip_flop(6, 2.0)
        huge = {**file.tensors, "unembed.weight": np.full((5, 2), 1e308)}
        broken = ModelFile(file.header, huge, file.precision)
        assert krohn.verify(broken, FLIP_FLOP).verdict == "refuted"

    @needs("instruments.limits")
    def test_the_command_says_it_all(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "trained.safetensors"
        file = flip_flop(40, 0.9624)
        modelfile.write(path, file.header, file.tensors)
        assert cli.run(["verify", str(path), "--machine", "FlipFlop"]) == 1
        shown = capsys.readouterr().out
        assert "the network is wrong at letter 12" in shown
        assert (
            "cannot put half of its weight on the first letter beyond T = 11" in shown
        )
        replay = shown.partition("Replay it:\n")[2].splitlines()[0].split()
        assert cli.run([part.strip("'") for part in replay[1:]]) == 1
        capsys.readouterr()
        asked = ["verify", str(path), "--machine", "FlipFlop", "-T", "9", "--json"]
        assert cli.run(asked) == 2
        stated = json.loads(capsys.readouterr().out)
        assert stated["verdict"] == "undecided"
        assert stated["heads"][0]["half on the first letter"] == 11
        assert cli.run(["run", str(path), "2", "⊥", "1"]) == 0
        assert capsys.readouterr().out.split() == ["2", "2", "1"]


class Recurrent(nn.Module):
    """An LSTM that was trained on nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(3, 8)
        self.cell = nn.LSTM(8, 8, batch_first=True)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(8, 2)

    def forward(self, words: Tensor) -> Tensor:
        answer: Tensor = self.out(self.drop(self.cell(self.embed(words))[0]))
        return answer


class TestBlackBoxes:
    def test_what_is_right_is_verified_only_if_every_word_was_run(self) -> None:
        assert krohn.examine(states, FLIP_FLOP, 8).verdict == "verified"
        report = krohn.examine(states, FLIP_FLOP, 30, sample=64)
        assert report.verdict == "undecided"
        assert "64 words of up to 30 letters are right" in report.reason

    def test_an_untrained_network_gets_its_first_failing_word(self) -> None:
        torch.manual_seed(0)
        model = Recurrent().train()
        report = krohn.examine(model, "FlipFlop", 30)
        assert report.verdict == "refuted"
        assert report.minimal is not None
        assert report.minimal.least
        assert model.training
        assert model.drop.training

    def test_what_is_found_far_out_is_made_small(self) -> None:
        def forgets(words: IntArray) -> IntArray:
            found = states(words)
            found[:, 20:] = 0
            return found

        report = krohn.examine(forgets, FLIP_FLOP, 60, shorten=2000)
        assert report.verdict == "refuted"
        assert report.counterexample is not None
        assert len(report.counterexample.word) == 21
        assert "found by" in report.reason

    def test_outputs_may_be_what_it_says(self) -> None:
        grid = zoo.machine("Grid4")
        seen = boundary(grid)
        assert seen.output is not None
        table = seen.output.table

        def says(words: IntArray) -> IntArray:
            return table[grid.semiautomaton.trace(words, grid.start)]

        def denies(words: IntArray) -> IntArray:
            return 1 - says(words)

        right = krohn.examine(says, grid, 6, observe="boundary")
        wrong = krohn.examine(denies, grid, 6, observe="boundary")
        assert (right.verdict, wrong.verdict) == ("verified", "refuted")

    def test_compiled_networks_go_the_same_way(self) -> None:
        model = Model(krohn.compile("FlipFlop", 30).file)
        assert krohn.examine(model, FLIP_FLOP, 8).verdict == "verified"
        assert krohn.examine(model, FLIP_FLOP, 31).verdict == "out-of-range"

    def test_looking_ahead_is_seen(self) -> None:
        def peeks(words: IntArray) -> IntArray:
            found = states(words)
            found[:, 0] ^= (words[:, -1] == 2) & (words.shape[1] == 5)
            return found

        report = krohn.examine(peeks, FLIP_FLOP, 6)
        assert report.verdict == "refuted"
        assert (
            "letter 1 of this word, because it looks at later letters"
        ) in report.reason


@pytest.mark.slow
class TestTrained:
    """Networks that make no mistake on random words get their first failing word."""

    @staticmethod
    def wrong(answers: IntArray, words: IntArray) -> float:
        return float((answers != states(words)).mean())

    def test_a_trained_file(self, tmp_path: Path) -> None:
        file = trained(32, 400)
        words = np.random.default_rng(9).integers(3, size=(200, 32))
        answers = Model(file)(torch.from_numpy(words)).argmax(dim=-1).numpy()
        assert self.wrong(answers, words) < 0.01
        path = tmp_path / "trained.safetensors"
        modelfile.write(path, file.header, file.tensors)
        report = krohn.verify(path, FLIP_FLOP)
        assert report.verdict == "refuted"
        assert report.counterexample is not None
        assert len(report.heads) == 2
        assert all(head.first is not None for head in report.heads)

    def test_a_trained_lstm(self) -> None:
        spec = spec_from_file_location("independent", EXAMPLE)
        assert spec is not None
        assert spec.loader is not None
        example = module_from_spec(spec)
        spec.loader.exec_module(example)
        torch.manual_seed(0)
        model = example.Lstm()
        assert example.train(model, np.random.default_rng(0)) < 0.01
        report = krohn.examine(model, FLIP_FLOP, 200)
        assert report.verdict == "refuted"
        assert report.counterexample is not None
        word = FLIP_FLOP.semiautomaton.encode(report.counterexample.word)
        said = model(torch.from_numpy(word[None])).argmax(dim=-1).numpy()
        assert self.wrong(said, word[None]) > 0
