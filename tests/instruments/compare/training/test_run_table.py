"""Tables of runs give every record back, and survive kills and each other."""

import csv
import gzip
import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from krohn.instruments.compare.models import Lstm
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import (
    Cell,
    Recipe,
    Run,
    run_table,
    sweep,
)
from krohn.instruments.compare.training.run_table import (
    CURVES,
    TABLE,
    RunTable,
    fold,
)
from krohn.program.errors import KrohnError

RUN = {
    "cell": {"seed": 3, "task": {"name": "C2", "machine": {"transitions": [[0, 1]]}}},
    "history": [{"step": 1, "loss": 0.1 + 0.2}, {"step": 2, "loss": None}],
    "measured": [{"rate": 1e-17, "of": 5}, {"rate": 1.0, "of": 5}],
    "outcome": "early",
}
ODD = {
    "texts": [
        "",
        "0",
        " 1",
        "true",
        "null",
        "NaN",
        '"a"',
        "a,b",
        'a"b',
        "a\nb",
        "ä\x00",
    ],
    **{
        f"text{i}": x
        for i, x in enumerate(["", "0", " 1", "null", '"a"', "a,b", "a\nb"])
    },
    "long": "x" * 200,
    "numbers": [1, 1.0, -0.0, 1e300, 5e-324, 10**30, True, False, None, {}, []],
    **{
        f"n{i}": x for i, x in enumerate([1, 1.0, -0.0, 5e-324, 10**30, True, None, {}])
    },
    "a key": {"a.b": 1, "[0]": 2, "": 3},
    "few": [1, 2.5],
    "measured": {"32": {"yes": 1}, "128": {"yes": 2}},
}
SMALL = Recipe(steps=3, batch=8, length=6, every=1, probe=32, warmup=1)
CELLS = [Cell(task("C2"), Lstm(4, 8), SMALL, seed) for seed in (0, 1)]

TEXTS = st.text('0a.e-+"[]{},: \n\x00ä\ud800')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inside: st.lists(inside) | st.dictionaries(TEXTS, inside),
    max_leaves=8,
)
KEYS = st.sampled_from(["a", "b", "a_b", "measured", "12", "a.b"])
RECORDS = st.dictionaries(KEYS, st.dictionaries(KEYS, JSON) | JSON)


def exact(value: Any) -> str:
    """A text that tells 1 from 1.0; keys are in the order of the alphabet."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("record", [RUN, ODD, {}, {"a": {}, "measured": []}])
def test_records_come_back_exactly(record: Any, tmp_path: Path) -> None:
    RunTable(tmp_path).add({"one": record, "two": RUN})
    found = RunTable(tmp_path).read()
    assert exact(found["one"]) == exact(record)
    assert json.dumps(found["two"]) == exact(RUN)


@pytest.mark.slow
@settings(max_examples=8)
@given(st.dictionaries(st.sampled_from("xyz"), RECORDS))
def test_any_records_come_back(
    tmp_path_factory: pytest.TempPathFactory, records: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    RunTable(folder).add(records)
    assert exact(RunTable(folder).read()) == exact(records)


def test_a_number_that_is_none_comes_back(tmp_path: Path) -> None:
    RunTable(tmp_path).add({"one": {"x": math.nan, "all": [math.inf] * 9}})
    found = RunTable(tmp_path).read()["one"]
    assert math.isnan(found["x"])
    assert found["all"] == [math.inf] * 9


def test_only_runs_that_are_asked_for_are_read(tmp_path: Path) -> None:
    assert RunTable(tmp_path).read() == {}
    RunTable(tmp_path).add({"one": RUN, "two": ODD})
    assert RunTable(tmp_path).read(["one", "three"]) == {"one": RUN}


def numbered(seed: int) -> Any:
    return RUN | {"cell": {"seed": seed}}


def test_each_run_is_a_row_and_rows_are_in_the_order_of_settings(
    tmp_path: Path,
) -> None:
    RunTable(tmp_path).add({"a": numbered(10), "b": numbered(2)})
    before = (tmp_path / TABLE).read_text().splitlines()
    header, *rows = csv.reader(before)
    assert header == [
        *("run-name", "cell.seed", "measured[0].of", "measured[0].rate"),
        *("measured[1].of", "measured[1].rate", "outcome", "curves-digest"),
    ]
    assert [row[:-1] for row in rows] == [
        ["b", "2", "5", "1e-17", "5", "1.0", "early"],
        ["a", "10", "5", "1e-17", "5", "1.0", "early"],
    ]
    RunTable(tmp_path).add({"c": numbered(3)})
    after = (tmp_path / TABLE).read_text().splitlines()
    assert [after[i] for i in (0, 1, 3)] == before


def test_the_same_runs_are_the_same_bytes(tmp_path: Path) -> None:
    one, two = RunTable(tmp_path / "one"), RunTable(tmp_path / "two")
    for table in (one, two):
        table.folder.mkdir()
    one.add({"a": RUN, "b": ODD})
    two.add({"b": RUN})
    two.add({"b": ODD})
    two.add({"a": RUN})
    assert one.table.read_bytes() == two.table.read_bytes()
    assert one.curves.read_bytes() == two.curves.read_bytes()


@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_kill_leaves_the_table_before_or_after(
    write: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = RunTable(tmp_path)
    table.add({"a": RUN, "b": RUN})
    written = list[Path]()

    def until_killed(path: Path, data: bytes | str) -> None:
        written.append(path)
        if len(written) == write:
            raise KeyboardInterrupt
        original(path, data)

    original = run_table.atomic_write
    monkeypatch.setattr(run_table, "atomic_write", until_killed)
    with pytest.raises(KeyboardInterrupt):
        table.add({"b": ODD, "c": ODD})
    assert table.read() == (
        {"a": RUN, "b": RUN} if write < 3 else {"a": RUN, "b": ODD, "c": ODD}
    )
    monkeypatch.undo()
    table.add({"b": ODD, "c": ODD})
    assert len(gzip.decompress(table.curves.read_bytes()).splitlines()) == 3


def test_no_run_is_lost_where_many_add_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: RunTable(tmp_path).add({str(i): RUN}), range(24)))
    assert RunTable(tmp_path).read() == {str(i): RUN for i in range(24)}


def changed(file: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / file).write_bytes(change((folder / file).read_bytes()))

    return damage


DAMAGES = {
    "rows": changed(TABLE, lambda data: data[:-40]),
    "no lines": changed(TABLE, lambda data: b""),
    "conflict": changed(TABLE, lambda data: b"<<<<<<< HEAD\n" + data),
    "columns": changed(TABLE, lambda data: data.replace(b"run-name", b"name")),
    "twice": changed(TABLE, lambda data: data + data.splitlines(True)[-1]),
    "another name": changed(TABLE, lambda data: data.replace(b"\na,", b"\nz,")),
    "digest": changed(TABLE, lambda data: data[:-9] + b"00000000\n"),
    "places": changed(TABLE, lambda data: data.replace(b"outcome", b"cell")),
    "not UTF-8": changed(TABLE, lambda data: data + b"\xff"),
    "cut off": changed(CURVES, lambda data: data[:-9]),
    "no archive": changed(CURVES, lambda data: b"{}"),
    "other curves": changed(CURVES, lambda data: gzip.compress(b"{}\n")),
    "no curves": lambda folder: (folder / CURVES).unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_tables_are_refused(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    RunTable(tmp_path).add({"a": numbered(0), "b": numbered(1)})
    damage(tmp_path)
    with pytest.raises(KrohnError, match=r"runs.csv"):
        RunTable(tmp_path).read()


def test_a_folder_that_is_missing_or_cannot_be_written_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(KrohnError, match="cannot be locked"):
        RunTable(tmp_path / "none").add({"a": RUN})
    (tmp_path / CURVES).mkdir()
    with pytest.raises(KrohnError, match=r"runs.json.gz"):
        RunTable(tmp_path).add({"a": RUN})


def last_loss(run: Run) -> Any:
    return {"loss": run.history[-1].loss}


def last_step(run: Run) -> Any:
    return {"step": run.history[-1].step}


def test_sweeps_read_what_is_folded_and_train_what_is_missing(tmp_path: Path) -> None:
    (one,) = sweep(CELLS[:1], tmp_path, last_loss, jobs=1)
    fold(tmp_path)
    assert not list(tmp_path.glob("*.json"))
    assert sweep(CELLS, tmp_path, last_loss, jobs=1, seconds=0) == (one,)
    both = sweep(CELLS, tmp_path, last_loss, jobs=1)
    assert both[0] == one
    assert [p.stem for p in tmp_path.glob("*.json")] == [CELLS[1].name]
    fold(tmp_path)
    assert sweep(CELLS, tmp_path, last_loss, jobs=1, seconds=0) == both


def test_another_measure_replaces_the_row(tmp_path: Path) -> None:
    sweep(CELLS[:1], tmp_path, last_loss, jobs=1)
    fold(tmp_path)
    again = sweep(CELLS[:1], tmp_path, last_step, jobs=1)
    assert again[0].measured_values == {"step": 3}
    fold(tmp_path)
    assert RunTable(tmp_path).read() == {CELLS[0].name: again[0].record}
    assert sweep(CELLS[:1], tmp_path, last_step, jobs=1, seconds=0) == again


def test_damaged_results_are_not_folded(tmp_path: Path) -> None:
    fold(tmp_path)
    assert not list(tmp_path.iterdir())
    (result,) = sweep(CELLS[:1], tmp_path, last_loss, jobs=1)
    others = ["[]", "{", '{"cell": 1}', exact(result.record)]
    for i, text in enumerate(others):
        (tmp_path / f"{i}.json").write_text(text)
    fold(tmp_path)
    assert RunTable(tmp_path).read() == {result.cell.name: result.record}
    assert sorted(p.name for p in tmp_path.glob("*.json")) == [
        f"{i}.json" for i in range(len(others))
    ]


def test_a_damaged_table_stops_a_sweep_before_it_trains(tmp_path: Path) -> None:
    sweep(CELLS[:1], tmp_path, last_loss, jobs=1)
    fold(tmp_path)
    (tmp_path / TABLE).write_text("a,b\n")
    with pytest.raises(KrohnError, match=r"bring runs.csv and runs.json.gz back"):
        sweep(CELLS, tmp_path, last_loss, jobs=1)
