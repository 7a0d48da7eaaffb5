"""Statements that mean harm: Programs and machines that are none."""

import copy
import re

import pytest
from hostile import ANY, EACH, Edit, Json, Judge, good, pack, put


def channels(header: Json) -> Json:
    return header["program"]["channels"]


def table(header: Json) -> Json:
    """The first channel that is a table."""
    return next(c for c in channels(header) if c.get("function") == "table")


def add(**fields: Json) -> Edit:
    """One channel more, which nothing reads."""
    return lambda header: channels(header).append({"name": "more", **fields})


def cycle(header: Json) -> None:
    named = table(header)["name"]
    row = [[0, 0], [1, 1], [2, 2], [3, 3]]
    fields = {"op": "map", "function": "table", "rows": row, "domain": [0, 1, 2, 3]}
    channels(header).append({"name": "a", "inputs": ["b"], **fields})
    channels(header).append({"name": "b", "inputs": ["a"], **fields})
    assert named


def itself(header: Json) -> None:
    table(header)["inputs"] = [table(header)["name"]]


def twice(header: Json) -> None:
    channels(header).append(copy.deepcopy(table(header)))


def overlap(header: Json) -> None:
    stored = [c for c in channels(header) if "dims" in c]
    for channel in stored:
        channel["dims"] = stored[0]["dims"]


def many_inputs(header: Json) -> None:
    read = [table(header)["name"]] * 13
    add(op="map", function="table", inputs=read, rows=[[0] * 14], domain=[0])(header)


def huge_sum(header: Json) -> None:
    rows = [[a, 10**8 * (a < 3)] for a in range(4)]
    domain = [0, 10**8]
    add(op="map", function="table", inputs=["token"], rows=rows, domain=domain)(header)
    summed = {"op": "prefix-sum", "source": "more", "domain": [0]}
    channels(header).append({"name": "sum of more", **summed})


def long_domains(header: Json) -> None:
    for channel in channels(header):
        if channel["op"] != "token":
            channel["domain"] = list(range(200_000))


def programs() -> dict[str, tuple[Edit, str]]:
    """Statements that are none, each with what must be said of it."""
    everywhere = (put("program", value=v) for v in (..., None, [], "x", 0))
    absent = {
        f"no program {i}": (e, "what its channels are|no Program|what it is about")
        for i, e in enumerate(everywhere)
    }
    return absent | {
        "no channels": (put("program", "channels", value=[]), "cannot be followed"),
        "no outputs": (put("program", "outputs", value=[]), "no outputs"),
        "a cycle": (cycle, "cannot be followed"),
        "a channel of itself": (itself, "cannot be followed"),
        "a name twice": (twice, "there twice"),
        "overlapping places": (overlap, "overlap|overwrites a value"),
        "no rows": (lambda h: table(h).update(rows=[]), "rows of different lengths"),
        "rows as text": (
            lambda h: table(h).update(rows="ab"),
            "rows of different lengths",
        ),
        "true for 1": (lambda h: table(h).update(dims=[True, 2]), "no whole numbers"),
        "1.0 for 1": (lambda h: table(h).update(domain=[0.0, 1.0]), "no whole numbers"),
        "'1' for 1": (lambda h: table(h).update(domain=["0", "1"]), "no whole numbers"),
        "values beyond 64 bits": (lambda h: table(h).update(domain=[0, 10**30]), ANY),
        "places beyond 64 bits": (
            lambda h: table(h).update(dims=[10**30, 10**30 + 1]),
            ANY,
        ),
        "born in 10^18": (lambda h: table(h).update(snapshots=[10**18, 10**18]), ANY),
        "200,000 values": (long_domains, ANY),
        "13 inputs and one row": (many_inputs, "has no row"),
        "a sum of billions": (huge_sum, "outside its domain"),
        "a look-back beyond all": (
            lambda h: (
                add(op="shift", by=10**9, source="token", domain=[0, 1, 2, 3])(h),
                h["program"].update(outputs=["more"], decode=[[[0], 0]]),
            ),
            "looks back",
        ),
        "a class that is not there": (put("program", "decode", value=[[[0], 99]]), ANY),
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", list(programs()))
def test_programs_that_are_none(judge: Judge, name: str) -> None:
    edit, expected = programs()[name]
    said = judge(pack(good("transformer"), edit))
    assert said.verdict == "undecided"
    assert re.search(expected, said.reason)


MACHINES: list[tuple[tuple[str, ...], Json]] = [
    (("transitions",), [[10**6] * 3] * 3),
    (("transitions",), [["0", "1", "7"]] * 3),
    (("transitions",), []),
    (("transitions",), [[]] * 3),
    (("transitions",), "x"),
    (("transitions",), None),
    (("states",), ["a", "a", "a"]),
    (("states",), []),
    (("states",), [0, 1, 2]),
    (("letters",), []),
    (("letters",), {"a": 1}),
    (("start",), "nowhere"),
    (("start",), 0),
    (("start",), True),
]


@pytest.mark.sample(3)
@EACH
@pytest.mark.parametrize(("at", "value"), MACHINES, ids=lambda v: str(v)[:24])
def test_machines_that_are_none(
    judge: Judge, kind: str, at: tuple[str, ...], value: Json
) -> None:
    said = judge(pack(good(kind), put("machine", *at, value=value)))
    assert said.verdict == "refused"
    assert "damaged" in said.reason
