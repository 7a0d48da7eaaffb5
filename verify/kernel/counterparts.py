"""A Program that remembers less, with counterparts of channels of another.

Nothing here is trusted: the kernel shows that counterparts are equal at every position
(Instead.v).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krohn.program.statement import Statement
from krohn.verify.checker import departures, latest_before

ANY = "any letter"
"""A channel that is 0 at BOS and 1 at every letter."""


def remembering_less(
    said: Mapping[str, Any], program: Statement
) -> dict[str, Any] | None:
    """The other Program, as a file states one; None if it would be the same.

    Counterparts have the name of the channel.

    Args:
        said: The Program, as the file states it.
        program: What is read of that.
    """
    tests = departures.recognise_channels(program)
    flags = {name: read for name, read in tests.items() if len(read) == 2}
    before = latest_before.recognise_channels(program)
    channels = {c["name"]: c for c in said["channels"]}
    made = dict[str, dict[str, Any]]()
    for name, channel in channels.items():
        new = [{k: v for k, v in channel.items() if k not in PLACES}]
        if name in flags:
            new = list(_test(program, name, *flags[name]))
        elif name in before:
            new = list(_before(program, name, *before[name]))
        if any(one["name"] in channels for one in new[:-1]):
            return None  # a name of ours is taken
        made |= {one["name"]: one for one in new}
    needed, todo = set[str](), list(said["outputs"])
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            todo += _reads(made[name])
    if not needed & (flags.keys() | before.keys()):
        return None
    kept = [
        c for n, c in made.items() if n in needed or n == said["channels"][0]["name"]
    ]
    return {**said, "channels": kept}


PLACES = ("dims", "snapshots", "code", "head")
"""Where a channel is stored, which another Program does not say."""


def _reads(channel: Mapping[str, Any]) -> list[str]:
    fields = ("source", "where", "key", "query")
    return [*channel.get("inputs", []), *(channel[f] for f in fields if f in channel)]


def _test(
    program: Statement, name: str, first: str, then: str
) -> Iterator[dict[str, Any]]:
    """Whether a flag has come after another one: one bit for each of them."""
    token = next(iter(program.channels))
    letters = [[a, 1] for a in range(program.letters)]
    yield _table(ANY, [token], [*letters, [program.letters, 0]])
    seen, ago = f"{first} seen", f"{first} seen before"
    yield _fetch("earliest", seen, ANY, first)
    yield {"name": ago, "op": "shift", "source": seen, "by": 1, "domain": [0, 1]}
    values = program.channels[then].domain.tolist()
    rows = [[v, b, int(v == b == 1)] for v in values for b in (0, 1)]
    yield _table(f"{then} after {first}", [then, ago], rows)
    yield _fetch("earliest", name, ANY, f"{then} after {first}")


def _before(
    program: Statement, name: str, source: str, where: str
) -> Iterator[dict[str, Any]]:
    """The latest value before a position: the latest value one position ago."""
    domain = program.channels[source].domain.tolist()
    latest = f"latest {source} where {where}"
    yield {**_fetch("latest", latest, source, where), "domain": domain}
    yield {"name": name, "op": "shift", "source": latest, "by": 1, "domain": domain}


def _fetch(kind: str, name: str, source: str, where: str) -> dict[str, Any]:
    return {
        "name": name,
        "op": kind,
        "source": source,
        "where": where,
        "domain": [0, 1],
    }


def _table(name: str, inputs: list[str], rows: list[list[int]]) -> dict[str, Any]:
    table = {"op": "map", "function": "table", "inputs": inputs, "rows": rows}
    return {"name": name, **table, "domain": [0, 1]}
