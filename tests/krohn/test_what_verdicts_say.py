"""The first lines of a verdict: why it is not decided, and what it was held against."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command import Done

import krohn
from krohn import cli
from krohn.network import modelfile

TURNSTILE = str(Path(__file__).parents[2] / "examples" / "turnstile.dot")


Command = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command as from a shell."""

    def call(*arguments: object) -> Done:
        code = cli.run([*map(str, arguments)])
        found = capsys.readouterr()
        return Done(code, found.out, found.err)

    return call


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with a network of the turnstile for words of up to 6 letters."""
    krohn.compile(TURNSTILE, 6).save(tmp_path / "t.safetensors")
    return tmp_path


def test_a_proof_that_fails_says_so_first(command: Command, shelf: Path) -> None:
    """Also where it stopped, and that the digest is not of the weights."""
    file = modelfile.read(shelf / "t.safetensors")
    weights = file.tensors["blocks.1.mlp.0.weight"].copy()
    row, column = np.argwhere(weights == 0)[0]
    weights[row, column] = 2.0**-20
    path = shelf / "damaged.safetensors"
    tensors = {**file.tensors, "blocks.1.mlp.0.weight": weights}
    modelfile.write(path, file.header, tensors)
    done = command("verify", path)
    head, why, ran, damaged, about, *_ = done.out.splitlines()
    assert ": undecided (proof+" in head
    assert why.startswith("  not proved beyond the attention of block 1: ")
    assert ran.endswith("no wrong one was found")
    assert "digest is of the claim, not of the weights" in damaged
    assert about.startswith("  about turnstile")
    assert "heads, by block" not in done.out
    told = command("verify", path, "--json").json
    assert damaged.strip() in told["notes"]
    # Of another machine a proof may fail without any damage.
    other = command("verify", path, "--machine", TURNSTILE)
    assert "undecided against turnstile (" in other.out
    assert "changed or damaged" not in other.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "how"), [(("-T", 40), ""), (("--exhaustive", 40), "exhaustive, ")]
)
def test_longer_words_are_named_beside_those_of_the_file(
    command: Command, shelf: Path, asked: tuple[str, int], how: str
) -> None:
    path = shelf / "t.safetensors"
    done = command("verify", path, *asked)
    head, why, *_ = done.out.splitlines()
    assert f": out-of-range ({how}0." in head
    assert why == "  the network is for words of up to 6 letters, and 40 were asked for"
    own = command("verify", path, "--json").json["digest"]
    assert command("verify", path, *asked, "--json").json["digest"] == own


@pytest.mark.slow
def test_a_verdict_names_the_machine_that_was_asked_about(
    command: Command, shelf: Path
) -> None:
    other = shelf / "other.dot"
    text = Path(TURNSTILE).read_text().replace("digraph turnstile", "digraph other")
    other.write_text(text.replace("coin / thanks", "coin / bye"))
    path = shelf / "t.safetensors"
    assert (
        ": refuted against other (" in command("verify", path, "--machine", other).out
    )
    assert ": verified (" in command("verify", path).out


@pytest.mark.sample(1)
@pytest.mark.parametrize("damage", ["header", "cut", "longer", "not UTF-8", "twice"])
def test_damaged_files_are_refused_without_texts_of_libraries(
    command: Command, shelf: Path, damage: str
) -> None:
    data = (shelf / "t.safetensors").read_bytes()
    comma = data.index(b",", 8)
    changed = {
        "header": data[:comma] + b" " + data[comma + 1 :],
        "cut": data[:-10],
        "longer": data + b"abcd",
        "not UTF-8": data[:comma] + b"\xff" + data[comma + 1 :],
        "twice": _longer_header(data, b'{"a":1,"a":2,'),
    }
    path = shelf / "damaged.safetensors"
    path.write_bytes(changed[damage])
    done = command("verify", path, "--json")
    said = done.json["error"].removeprefix(f"{path}: is damaged: ")
    assert done.code == 2
    assert said in {
        "its header cannot be read",
        "its header cannot be read (the key 'a' is there twice)",
        modelfile.MISFIT,
    }
    assert ("twice" in said) == (damage == "twice")


def _longer_header(data: bytes, begin: bytes) -> bytes:
    """The bytes of a file whose header begins otherwise."""
    length = int.from_bytes(data[:8], "little")
    header = begin + data[9 : 8 + length]
    return len(header).to_bytes(8, "little") + header + data[8 + length :]
