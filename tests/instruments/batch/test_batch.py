"""A table of machines: every row compiled, proved and run; resumable; the same bytes."""

import json
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn import cli, zoo
from krohn.algebra.formats import SUFFIXES
from krohn.instruments.batch.batch import (
    COLUMNS,
    as_csv,
    as_page,
    batch,
)
from krohn.instruments.batch.work import (
    BatchWork,
    rows,
)
from krohn.network.modelfile import pack
from krohn.running import of_file

TABLE = """\
name,machine,length,dtype,arch,words,labelled
even,"regex:(b*ab*a)*b*",20,float64,,words.csv,
three,C3,,,,,1 1=2; 1 1 1=0
five,S3,12,,,,
recurrent,C3,,,rnn,,
lost,nowhere.dot,,,,,
long,C2,3,,,,1 1 1 1=0
number,C2,many,,,,
narrow,C2
"""
DRAWING = 'digraph { a -> b [label="x"]; b -> a [label="x"] }'
WORDS = "word,label\naa,1\nab,0\nabab,TRUE\nbbb,reject\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "machines.csv"
    path.write_text(TABLE)
    (tmp_path / "words.csv").write_text(WORDS)
    return path


def test_each_row_has_its_own_verdict(call: Any, table: Path, tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    code, found = call("batch", table, "-T", 16, "-o", page)
    said = {row["name"]: row for row in found["rows"]}
    assert code == 1
    assert (found["passed"], found["failed"]) == (3, 5)
    assert {n for n, row in said.items() if row["verdict"] == "verified"} == {
        "even",
        "three",
        "five",
        "recurrent",
    }
    # Every word of the file is labelled by whether its number of a is even, but the last.
    assert (said["even"]["words"], said["even"]["wrong"]) == (4, 1)
    assert said["even"]["first_wrong"] == "b b b: accept, not reject"
    assert "b b b: accept, not reject" in page.read_text()
    assert said["three"]["length"] == 16
    assert said["three"]["wrong"] == 0
    assert said["recurrent"]["length"] is None
    assert said["five"]["parameters"] > said["five"]["width"] > 0
    assert "nowhere.dot" in said["lost"]["reason"]
    assert "4 letters, and the network is for 3" in said["long"]["reason"]
    assert said["number"]["reason"] == "length takes a number, not 'many'"
    assert "2 cells" in said["narrow"]["reason"]


def test_the_exit_code_is_0_where_every_row_passes(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("machine,labelled\nC2,1=1\n")
    assert call("batch", table, "-T", 5)[0] == 0


def test_a_row_passes_by_a_proof_alone(call: Any, tmp_path: Path) -> None:
    """Words that were all run are no proof, and the page says that a claim is proved."""
    file = krohn.compile("C2", 4).file
    header = {key: x for key, x in file.header.items() if key != "program"}
    (tmp_path / "f.safetensors").write_bytes(pack(header, file.tensors))
    assert krohn.verify(tmp_path / "f.safetensors").verdict == "verified"
    (tmp_path / "t.csv").write_text("machine\nf.safetensors\n")
    code, found = call("batch", tmp_path / "t.csv")
    (row,) = found["rows"]
    assert (code, row["verdict"]) == (1, "undecided")
    assert "no Program" in row["reason"]


def test_a_wrong_label_alone_is_a_failure(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("machine,labelled\nC2,1=0\n")
    code, found = call("batch", table, "-T", 5)
    assert (code, found["rows"][0]["verdict"]) == (1, "verified")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column machine"),
        ("machine\n", "no rows"),
        ("machne\nC2\n", "did you mean machine?"),
        ("machine,machine\nC2,C3\n", "twice"),
        ('machine\n"C2\n', "no CSV"),
    ],
)
def test_a_bad_table_is_refused_as_a_whole(
    call: Any, tmp_path: Path, text: str, says: str
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(text)
    code, found = call("batch", table, "-o", tmp_path / "out.csv")
    assert code == 2
    assert says in found["error"]
    assert not (tmp_path / "out.csv").exists()


def test_a_folder_is_a_row_for_each_machine_file(call: Any, tmp_path: Path) -> None:
    from krohn.algebra.formats import write

    write(zoo("C3"), tmp_path / "b.dot")
    assert (
        cli.run(["compile", "C2", "-T", "7", "-o", str(tmp_path / "a.safetensors")])
        == 0
    )
    (tmp_path / "README.md").write_text("no machine")
    (tmp_path / "c.json").write_text("{}")
    found = [(r.name, r.machine) for r in rows(tmp_path)]
    assert found == [(n, n) for n in ("a.safetensors", "b.dot", "c.json")]


def test_a_folder_has_what_compile_reads_and_names_the_rest(
    call: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = "state,push,coin\n->locked,locked,open\nopen,locked,open\n"
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(machine)
    (tmp_path / "c.tsv").write_text(machine.replace(",", "\t"))
    (tmp_path / "kernel.csv").write_text("0.5\n0.25\n")
    (tmp_path / "drawing.txt").write_text(DRAWING)
    machines = ["a.csv", "b.csv", "c.tsv", "drawing.txt", "kernel.csv"]
    tables = {
        "batch.csv": "name,machine\nfive,S5\n",
        "words.csv": "word,label\na a,1\n",
        "bare.csv": "a a,accept\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "README.md").write_text("no machine")
    (tmp_path / ".hidden").write_text("")
    (tmp_path / "g.pcfg").write_text("")
    noted: list[str] = []
    assert [r.name for r in rows(tmp_path, noted.append)] == machines
    (line,) = noted
    assert all(name in line for name in (*tables, "README.md", "g.pcfg"))
    assert ".hidden" not in line


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s not in (".csv", ".tsv")])
def test_a_folder_has_every_format_of_machines(suffix: str, tmp_path: Path) -> None:
    for end in ("", ".gz"):
        (tmp_path / f"m{suffix}{end}").write_text("")
    assert len(rows(tmp_path)) == 2


def test_a_damaged_model_file_is_refuted_or_undecided_in_its_row(
    call: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from krohn.network import modelfile

    file = tmp_path / "m.safetensors"
    assert cli.run(["compile", "C3", "-T", "7", "-o", str(file)]) == 0
    capsys.readouterr()
    read = modelfile.read(file)
    read.tensors["unembed.weight"][...] = 0
    modelfile.write(file, read.header, read.tensors)
    code, found = call("batch", tmp_path)
    assert (code, found["rows"][0]["verdict"]) == (1, "refuted")


@pytest.mark.slow  # processes that import everything
def test_the_table_is_the_same_however_many_processes(
    call: Any, table: Path, tmp_path: Path
) -> None:
    for name, workers in (("one.csv", 1), ("two.csv", 2)):
        out = tmp_path / name
        call("batch", table, "-T", 8, "-o", out, "--jobs", workers)
        assert not out.with_name(name + ".job").exists()
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert (tmp_path / "one.csv").read_text().splitlines()[0] == ",".join(COLUMNS)


class Interrupted:
    """Ctrl-C after some rows."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, done: int, total: int) -> None:
        if done == self.after:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupted_batch_goes_on_where_it_was(table: Path, tmp_path: Path) -> None:
    todo, work, job = rows(table), BatchWork(16), tmp_path / "job"
    with pytest.raises(Exception, match="2 of 8 rows are kept"):
        batch(todo, work, job_file=job, progress=Interrupted(2))
    lines = job.read_text().splitlines()
    assert len(lines) == 2
    # What the file says is not computed again: a mark in it is in the result.
    marked = json.loads(lines[0])
    marked["result"]["construction"] = "from the file"
    job.write_text("\n".join([json.dumps(marked), lines[1], '{"row": "cut o']))
    done: list[int] = []
    found = batch(todo, work, job_file=job, progress=lambda n, total: done.append(n))
    assert done == list(range(2, 9))
    assert found.results[0].construction == "from the file"
    assert found.summary.endswith("2 of 8 by the word of the job file")
    assert "job file" not in batch(todo, work).summary
    assert found.results[1:] == batch(todo, work).results[1:]
    assert len(job.read_text().splitlines()) == 9


@pytest.mark.slow
def test_what_changed_is_done_again(table: Path, tmp_path: Path) -> None:
    job = tmp_path / "job"
    batch(rows(table), BatchWork(16), job_file=job)
    (tmp_path / "words.csv").write_text("word,label\naa,1\n")
    done: list[int] = []
    found = batch(
        rows(table), BatchWork(16), job_file=job, progress=lambda n, _: done.append(n)
    )
    assert done == [7, 8]
    assert (found.results[0].words, found.results[0].wrong) == (1, 0)


def test_another_file_is_not_taken_for_a_job_file(call: Any, table: Path) -> None:
    other = table.with_name("other")
    other.write_text('{"job": "of something else"}\n')
    code, found = call("batch", table, "--job-file", other)
    assert code == 2
    assert "is no job file of a batch" in found["error"]


def test_the_longest_certified_words_are_looked_for(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("machine,length,dtype\nFlipFlop,8,float16\n")
    (row,) = batch(rows(table), BatchWork(effort="low")).results
    assert row.longest is not None
    assert row.longest >= 8


@pytest.mark.slow
def test_labels_are_outputs_or_states_never_both(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    turnstile = Path("examples/turnstile.dot").resolve()
    labelled = ("coin push=through", "coin=paid", "coin=paid; push=blocked", "coin=no")
    lines = [f"{turnstile},8,{text}" for text in labelled]
    table.write_text("\n".join(["machine,length,labelled", *lines]))
    _, found = call("batch", table)
    assert [row["words"] for row in found["rows"]] == [1, 1, None, None]
    assert "partly outputs and partly states" in found["rows"][2]["reason"]
    assert "'no' is no label" in found["rows"][3]["reason"]


def test_words_may_be_divided_from_labels_by_tabs(tmp_path: Path) -> None:
    path = tmp_path / "w.tsv"
    path.write_text("a,b\tTRUE\n\nab\t0\n")
    assert [(w.word, w.label) for w in of_file(path)] == [("a,b", "TRUE"), ("ab", "0")]


def test_names_of_machines_are_shown_as_text(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text('name,machine\n"<b>&, ""x""",nowhere.dot\n')
    found = batch(rows(table))
    assert "<b>" not in as_page(found)
    assert '"<b>&, ""x"""' in as_csv(found)


def test_results_never_replace_the_table(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("machine,length\nC2,4\n")
    code, found = call("batch", table, "-o", table)
    assert code == 2
    assert "is the table itself" in found["error"]
    assert table.read_text() == "machine,length\nC2,4\n"
