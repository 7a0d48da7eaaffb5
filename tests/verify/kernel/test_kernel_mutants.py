"""No wrong network is proved: mutants of files and of evidence, against all short words."""

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from kernel_files import data_of, evidence_of, kernel, status, with_kernel

from krohn.network.modelfile import ModelFile, pack, read
from krohn.network.running_file import plain_network, run_on
from krohn.program.errors import KrohnError, Refused
from krohn.verify.kernel.asking import run

Generator = np.random.Generator
MOST_WORDS = 4096
PATTERN = "regex:(a|b)*abb"
ENDLESS = 8
"""Words of so many letters are run of networks that have no longest word."""
BASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {"length": 8}) for name in ("FlipFlop", "C2", "C3", "Dyck1,2", "abab")),
    *((name, {"length": 8}) for name in (PATTERN, "D4", "Parity8@2,3,7")),
    *(("S3", {"length": 6}), ("FFL2", {"length": 5}), ("Adder", {"length": 6})),
    *(("S4", {"length": 4}), ("C3", {"length": 8, "strict": True})),
    *((name, {"length": 8, "dtype": "float64"}) for name in ("FlipFlop", "C2")),
    *((name, {"arch": "rnn"}) for name in ("C5", "S3", "Dyck1,3")),
    ("D8", {"arch": "rnn", "dtype": "bfloat16"}),
    *(
        (name, {"arch": arch})
        for name in ("FlipFlop", "C2")
        for arch in ("lstm", "gru")
    ),
    ("C3", {"arch": "lstm", "dtype": "float64"}),
    ("FlipFlop", {"arch": "rnn", "dtype": "float16"}),
    ("Grid3", {"arch": "rnn", "dtype": "float64"}),
    *((name, {"length": 8, "dtype": "bfloat16"}) for name in ("FlipFlop", "abab")),
    *((name, {"length": 8, "dtype": "float16"}) for name in ("FlipFlop", "Dyck1,2")),
    *((name, {"arch": "ssm"}) for name in ("FlipFlop", "FFL2")),
    *((name, {"arch": "ssm", "length": 6}) for name in ("C2", "abab")),
    ("D4", {"arch": "ssm", "construction": "selective"}),
    ("FlipFlop", {"arch": "ssm", "dtype": "bfloat16"}),
    ("C2", {"length": 8, "dtype": "float16"}),
    ("ParityTree2,2", {"length": 8, "dtype": "bfloat16"}),
    ("regex:(ab|ba)*", {"length": 6}),
    ("FFL2", {"length": 5, "dtype": "bfloat16"}),
    ("Adder", {"length": 6, "dtype": "bfloat16"}),
]


class Base(NamedTuple):
    """A file that the kernel proves, by this evidence."""

    data: bytes
    evidence: str


@cache
def base(number: int) -> Base:
    """A base."""
    name, options = BASES[number]
    data = data_of(name, **options)
    evidence = evidence_of(data)
    assert status(data, evidence) == 0
    return Base(data, json.dumps(evidence))


@np.errstate(all="ignore")
def is_right(file: ModelFile) -> bool:
    """Whether a network is right on all words of some letters, in its own format."""
    stated, claim = file.header["machine"], file.header["claim"]
    moves, states = np.array(stated["transitions"]), stated["states"]
    letters, length = len(moves), claim.get("length", ENDLESS)
    while letters**length > MOST_WORDS:
        length -= 1
    words = np.array(list(product(range(letters), repeat=length)))
    logits = run_on(plain_network(file), words)
    reached = np.full(len(words), states.index(stated["start"]))
    shows = np.arange(len(states))
    if claim.get("shows") == "outputs":
        shows = np.array(stated["output"]["table"])
    for i in range(length):
        reached = moves[words[:, i], reached]
        right = np.arange(len(words)), shows[reached]
        own = logits[:, i][right].copy()
        logits[:, i][right] = -np.inf
        if not (own > logits[:, i].max(axis=1)).all():
            return False
    return True


def opens_and_is_right(path: Path) -> bool:
    """Whether Krohn reads a file, and its network is right."""
    try:
        return is_right(read(path))
    except KrohnError:
        return False


# Mutants. What is changed is changed in place.


def pick(rng: Generator, items: Any) -> Any:
    """One of some things."""
    return items[int(rng.integers(len(items)))]


def mutate_tensor(rng: Generator, file: ModelFile, evidence: Any) -> None:
    """Another number, or two rows or columns that change places."""
    name = pick(rng, sorted(name for name, x in file.tensors.items() if x.size))
    changed = file.tensors[name].copy()
    nonzero = np.flatnonzero(changed)
    mostly = len(nonzero) and rng.random() < 0.8
    flat = changed.reshape(-1)
    i = int(pick(rng, nonzero if mostly else range(flat.size)))
    way, x = int(rng.integers(9)), flat[i]
    if way == 0 and changed.ndim > 1:
        i, j = rng.integers(changed.shape[0], size=2)
        changed[[i, j]] = changed[[j, i]]
    elif way == 1:
        i, j = rng.integers(changed.shape[-1], size=2)
        changed[..., [i, j]] = changed[..., [j, i]]
    elif way == 2:
        flat[i] = x + pick(rng, (-1, 1)) * 2.0 ** -int(rng.integers(1, 20))
    else:
        near = np.nextafter(np.float32(x), np.float32(9))
        large = pick(rng, (100.0, -100.0, 1e4, -1e4))
        flat[i] = pick(rng, (-x, 0, 2 * x, x / 2, x + 1, x - 1, near, large))
    file.tensors[name] = changed


def mutate_machine(rng: Generator, file: ModelFile, evidence: Any) -> None:
    """Another move, start, order of letters, or output."""
    machine, claim = file.header["machine"], file.header["claim"]
    rows = machine["transitions"]
    way = int(rng.integers(4))
    if way == 0:
        machine["start"] = claim["start"] = pick(rng, machine["states"])
    elif way == 1:
        i, j = rng.integers(len(rows), size=2)
        rows[i], rows[j] = rows[j], rows[i]
    elif way == 2 and "output" in machine:
        table = machine["output"]["table"]
        table[int(rng.integers(len(table)))] = int(pick(rng, table))
    else:
        i, q = (int(k) for k in rng.integers(len(rows[0]), size=2))
        pick(rng, rows)[i] = q


def mutate_claim(rng: Generator, file: ModelFile, evidence: Any) -> None:
    """A longer word, plain residual connections, or another part of an architecture."""
    claim, shape = file.header["claim"], file.header["architecture"]
    if "length" not in claim:
        return
    way = pick(rng, range(4) if "positions" in shape else (0, 3))
    if way == 0:
        claim["length"] += 1
    elif way == 1:
        shape["strict"] = True
        for name in [n for n in file.tensors if n.endswith("residual")]:
            del file.tensors[name]
    elif way == 2:
        claim["length"] = shape["positions"] = shape["positions"] + 1
        rows = file.tensors["embed.position"]
        file.tensors["embed.position"] = np.concatenate([rows, rows[-1:]])
    else:
        claim["length"] = max(1, claim["length"] - 1)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Where numbers and lists stand: what holds them, and their place in it."""
    found, todo = list[tuple[Any, Any]](), [value]
    for holder in todo:
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, part in pairs:
            if isinstance(part, int) or (isinstance(part, list) and part):
                found.append((holder, key))
            if isinstance(part, list | dict):
                todo.append(part)
    return found


def mutate_evidence(rng: Generator, file: ModelFile, evidence: Any) -> None:
    """Another number, or a list whose parts are dropped, doubled or exchanged."""
    holder, key = pick(rng, places(evidence))
    old = holder[key]
    if isinstance(old, bool):
        holder[key] = not old
    elif isinstance(old, int):
        far = 2**20 if rng.random() < 0.05 else old + 2
        new = (old + 1, old - 1, 0, 1, 2 * old, int(rng.integers(8)), far)
        holder[key] = max(0, pick(rng, new))
    else:
        i, j = (int(k) for k in rng.integers(len(old), size=2))
        way = int(rng.integers(4))
        if way == 0:
            del old[i]
        elif way == 1:
            old.insert(i, deepcopy(old[j]))
        elif way == 2:
            old[i], old[j] = old[j], old[i]
        else:
            old[i] = deepcopy(old[j])


def search_anew(rng: Generator, file: ModelFile, evidence: Any) -> None:
    """The evidence that is found for the file as it is now, if any is."""
    try:
        found = evidence_of(pack(file.header, file.tensors))
    except (Refused, LookupError, ValueError, TypeError, ArithmeticError):
        return
    evidence.clear()
    evidence.update(found)


MUTATIONS: dict[str, Callable[[Generator, ModelFile, Any], None]] = {
    **{"t": mutate_tensor, "m": mutate_machine, "c": mutate_claim},
    **{"e": mutate_evidence, "s": search_anew},
}
TOGETHER = (
    *("t", "t", "tt", "ts", "ts", "te", "tee", "tse", "m", "me", "mee", "ms", "mse"),
    *("c", "ce", "cs", "e", "e", "ee", "mts"),
)
"""What is done to a file, one by one."""


@with_kernel
@pytest.mark.parametrize(
    ("seed", "count", "step"),
    [
        (0, 24, 11),
        pytest.param(0, 120, 1, marks=pytest.mark.slow),
        *(pytest.param(1 + i, 1000, 1, marks=pytest.mark.slow) for i in range(10)),
    ],
)
def test_no_wrong_network_is_proved(
    seed: int,
    count: int,
    step: int,
    tmp_path: Path,
    record_property: Callable[[str, Any], None],
) -> None:
    """So many mutants, of every base or of some."""
    rng, tally = np.random.default_rng(seed), Counter[str]()
    bases = [base(number) for number in range(0, len(BASES), step)]
    for i in range(count):
        given = bases[i % len(bases)]
        path = tmp_path / "m.safetensors"
        path.write_bytes(given.data)
        file, evidence = read(path), json.loads(given.evidence)
        file = ModelFile(file.header, dict(file.tensors), file.precision)
        for way in (ways := pick(rng, TOGETHER)):
            MUTATIONS[way](rng, file, evidence)
        path.write_bytes(pack(file.header, file.tensors))
        code, text = run(kernel(), path.read_bytes(), evidence)
        assert len(text.splitlines()) == 1
        tally[f"exit {code}"] += 1
        looked_at = code == 0 or rng.random() < 0.1
        right = looked_at and opens_and_is_right(path)
        if looked_at:
            said = "proved" if code == 0 else "of others"
            tally[f"{said} {'right' if right else 'wrong'}"] += 1
        assert code != 0 or right, f"mutant {i} ({ways}) of seed {seed} is wrong"
    print(dict(sorted(tally.items())))
    record_property("tally", dict(tally))
    assert tally["proved right"]
    assert tally["of others wrong"]
