"""Files that are no machines are refused in one line, which says what they are."""

import io
from pathlib import Path

import pytest
from foreign_files import foreign_files

from krohn import cli, machines
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import FORMATS, SUFFIXES
from krohn.program.slices import Source, slice_sources, source_examples
from krohn.source_kinds import KINDS, may_name

FILES = [*foreign_files()]
REQUIREMENTS = "numpy >= 1.22\nscipy >= 1.6\n"
BANNER = (
    f"{'#' * 72}\n# two states\n.i 1\n.o 1\n.s 2\n.r a\n0 a a 0\n1 a b 0\n- b b 1\n"
)


def test_files_that_are_no_machines_are_called_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(FILES) >= 80
    for name, data, said in FILES:
        path = tmp_path / name
        path.write_bytes(data)
        for source in (str(path), "-"):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
            assert cli.run(["explain", source]) == 2, name
            shown = capsys.readouterr()
            assert shown.err.startswith(f"krohn: {source}:"), shown.err
            wanted = "" if source == "-" and said == "unknown format" else said
            assert wanted in shown.err
            assert shown.err.count("\n") == 1, shown.err
            assert shown.out == ""


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "suffix",
    sorted({*SUFFIXES, *(s for entry in slice_sources().values() for s in entry.ends)}),
)
def test_no_suffix_makes_a_source_of_other_files(tmp_path: Path, suffix: str) -> None:
    """What a file begins with tells more than its name."""
    others = {"model.pomdpx", "page.html", "machine.taf", "paper.pdf", "machine.foma"}
    path = tmp_path / f"m{suffix}"
    for name, data, said in FILES:
        if name in others or name.startswith("machine2"):
            path.write_bytes(data)
            with pytest.raises(KrohnError) as refused:
                machines.read(path)
            assert said in str(refused.value)
            assert "\n" not in str(refused.value)


def test_a_text_with_the_sign_of_a_format_has_no_name_of_another(
    tmp_path: Path,
) -> None:
    texts = {".dot": "digraph { a -> a [label=x] }", ".kiss2": BANNER, ".g": "[(1,2)]"}
    texts |= {".json": '{"format": "x"}', ".dfa": "1 1\n1\n0\n", ".att": "0 0 a\n0\n"}
    for suffix, text in texts.items():
        for other in FORMATS:
            if suffix in other.suffixes:
                continue
            path = tmp_path / f"m{other.suffixes[0]}"
            if any(path.suffix in entry.ends for entry in slice_sources().values()):
                continue  # kernels and hidden Markov models have these names, too
            path.write_text(text)
            with pytest.raises(KrohnError, match=rf"end its name in \{suffix}$"):
                machines.read(path)


@pytest.mark.parametrize("name", ["banner.txt", "banner.kiss2"])
@pytest.mark.parametrize("sign", ["#", "/"])
def test_a_comment_of_one_sign_takes_no_time(
    tmp_path: Path, name: str, sign: str
) -> None:
    path = tmp_path / name
    path.write_text(BANNER.replace("##", "#" + sign))
    machine = machines.read(path)
    assert (len(machine.states), machine.letters) == (2, ("0", "1"))


def test_names_of_states_make_no_machine_of_a_table(tmp_path: Path) -> None:
    """AT&T text is known by its numbers, of which some are final; or by its name."""
    path = tmp_path / "m.txt"
    for text in (REQUIREMENTS, "p q a\nq\n", "0 1 0\n1 0 1\n", "0 0\n0 0 a\n"):
        path.write_text(text)
        with pytest.raises(KrohnError, match="unknown format"):
            machines.read(path)
    path.write_text("0 1 a\n1 0 b\n1\n")
    assert machines.read(path).letters == ("a", "b")
    path.with_suffix(".att").write_text("p q a\nq p b\nq\n")
    assert machines.read(path.with_suffix(".att")).letters == ("a", "b")


@pytest.mark.parametrize("entry", slice_sources().values(), ids=slice_sources().keys())
def test_a_machine_file_may_be_called_as_a_source_is(
    entry: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stems = [family for kind in KINDS for family in source_examples(kind)]
    stems = [stem for stem in [*stems, "InContext2,3", "Sine1,2"] if ":" not in stem]
    for stem in (s for s in stems if may_name(entry, s)):
        path = Path(f"{stem}.dot")
        path.write_text("digraph { a -> a [label=x] }")
        assert machines.read(path).letters == ("x",)
