"""Whatever it is given, the kernel says one line, takes little memory, and ends."""

import json
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_files import data_of, evidence_of, kernel, with_kernel

from krohn.network.modelfile import pack, read
from krohn.program.strict_json import canonical

MEGABYTES = 300
HUGE = 10**9
WORDS = ("xception", "Fatal", "Stack", "Not_found", "Assert", 'File "')
"""What a line has that was written for programmers."""
Damage = tuple[bytes, bytes]
"""A model file and its evidence."""


@cache
def good(name: str) -> Damage:
    """A file that the kernel proves."""
    data = data_of(name, 6) if name != "rnn" else data_of("S3", arch="rnn")
    return data, json.dumps(evidence_of(data)).encode()


def framed(header: bytes, body: bytes = b"") -> bytes:
    """A safetensors file."""
    return struct.pack("<Q", len(header)) + header + body


def parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a safetensors file, and what stands behind it."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def set_in(value: Any, path: tuple[Any, ...], new: Any) -> bytes:
    """A value of JSON with another part."""
    changed = holder = deepcopy(value)
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return json.dumps(changed).encode()


# Texts that are no JSON, or much of it: they stand for evidence, and for both headers.
TEXTS = {
    "nothing": b"",
    "a null byte": b"\0",
    "blanks": b" " * 1_000_000,
    "open brackets": b"[" * 100_000,
    "brackets": b"[" * 100_000 + b"]" * 100_000,
    "objects": b'{"a":' * 100_000,
    "many digits": b"9" * 3_000_000,
    "many digits in a list": b"[" + b"9" * 3_000_000 + b"]",
    "many digits of a fraction": b"[0." + b"9" * 3_000_000 + b"]",
    "a large exponent": b"1e999999999",
    "a key that stands twice": b'{"a": 1, "a": 2}',
    "a key twice by an escape": b'{"a": 1, "\\u0061": 2}',
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "bytes that are no text": b'{"\xff\xfe": 1}',
    "a text without an end": b'{"a',
    "an escape without an end": b'{"a\\',
    "half a pair": b'{"\\ud800": 1}',
    "a long text": b'"' + b"a" * 3_000_000 + b'"',
    "a list": b"[]",
    "an object": b"{}",
    "a number": b"1",
    "minus zero": b"-0",
    "a number that starts with 0": b"[007]",
    "null": b"null",
    "many numbers": b"[" + b"1," * 1_000_000 + b"1]",
    "many empty lists": b"[" + b"[]," * 500_000 + b"[]]",
    "something behind the end": b"{} {}",
    "a comma too many": b"[1,]",
}


def damaged_texts() -> Iterator[tuple[str, Damage]]:
    """Texts in the place of the evidence, of the header, and of Krohn's part of it."""
    data, evidence = good("S3")
    for name, text in TEXTS.items():
        yield f"evidence: {name}", (data, text)
        yield f"header: {name}", (framed(text, data), evidence)
        inside = json.dumps({"__metadata__": {"krohn": text.decode("latin-1")}})
        yield f"metadata: {name}", (framed(inside.encode()), evidence)


def damaged_frames() -> Iterator[tuple[str, Damage]]:
    """Lengths and places of a safetensors file."""
    data, evidence = good("S3")
    for length in (0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 1):
        yield f"the first {length} bytes", (data[:length], evidence)
    yield "a byte more", (data + b"\0", evidence)
    for length in (0, 1, len(data), len(data) - 8, 2**31, 2**62, 2**63, 2**64 - 1):
        frame = struct.pack("<Q", length)
        yield f"a header of {length} bytes", (frame + data[8:], evidence)
    header, body = parts(data)
    name = next(key for key in header if key.endswith("weight"))
    for key, new in (
        *(
            ("shape", x)
            for x in ([], [HUGE, HUGE], [HUGE] * 40, [0], [-1], [0, HUGE], 7)
        ),
        *(("shape", x) for x in ([2.0], "a", None, [[1]], [10**30])),
        *(
            ("data_offsets", x)
            for x in ([0, 0], [-1, 3], [0, 10**30], [8, 4], [0], None)
        ),
        *(("data_offsets", x) for x in ([0, HUGE], [0, 2**62], [2**62, 2**62 + 4])),
        *(("dtype", x) for x in ("F64", "F8", "I32", "BOOL", "", None, 3)),
    ):
        text = set_in(header, (name, key), new)
        yield f"{key} of a tensor {str(new)[:20]}", (framed(text, body), evidence)
    text = set_in(header, (name, "more"), 1)
    yield "more about a tensor", (framed(text, body), evidence)
    for about in (
        {},
        {"krohn": 3},
        {"krohn": None},
        None,
        [],
        {"krohn": "{}", "x": "y"},
    ):
        text = set_in(header, ("__metadata__",), about)
        yield f"metadata {about}", (framed(text, body), evidence)


def damaged_models() -> Iterator[tuple[str, Damage]]:
    """Tensors and headers that are not what they must be."""
    for kind in ("S3", "rnn"):
        data, evidence = good(kind)
        outer, body = parts(data)
        header = json.loads(outer["__metadata__"]["krohn"])
        paths = [(key,) for key in header]
        paths += [
            (a, b) for a in ("architecture", "machine", "claim") for b in header[a]
        ]
        for b in range(len(header["architecture"].get("blocks", ()))):
            paths += [
                ("architecture", "blocks", b, key)
                for key in header["architecture"]["blocks"][b]
            ]
        for path in paths:
            for new in (HUGE, -1, 0, None, "x", [], {}, [[]], 10**30, 2**62):
                changed = json.loads(set_in(header, path, new))
                text = set_in(outer, ("__metadata__",), {"krohn": canonical(changed)})
                said = f"{kind}: {'.'.join(map(str, path))} = {str(new)[:12]}"
                yield said, (framed(text, body), evidence)


def damaged_numbers(folder: Path) -> Iterator[tuple[str, Damage]]:
    """Tensors with what is no number, or too much of one."""
    for kind in ("S3", "rnn"):
        data, evidence = good(kind)
        path = folder / "good.safetensors"
        path.write_bytes(data)
        file = read(path)
        for name in file.tensors:
            for new in (np.nan, np.inf, 3e38, 1e-40):
                changed = np.array(file.tensors[name])
                changed.flat[0] = new
                with np.errstate(over="ignore"):
                    mutant = pack(file.header, file.tensors | {name: changed})
                yield f"{kind}: {new} in {name}", (mutant, evidence)


def damaged_evidence() -> Iterator[tuple[str, Damage]]:
    """Huge numbers and other kinds of values in every place of the evidence."""
    for kind in ("S3", "C2", "FlipFlop", "rnn"):
        data, text = good(kind)
        evidence = json.loads(text)
        rng = np.random.default_rng(5)
        paths = list[tuple[Any, ...]]()
        todo: list[tuple[tuple[Any, ...], Any]] = [((), evidence)]
        for path, value in todo:
            if isinstance(value, dict | list):
                pairs = value.items() if isinstance(value, dict) else enumerate(value)
                todo += [((*path, key), part) for key, part in pairs]
            paths += [path] if path else []
        for i in rng.permutation(len(paths))[:60]:
            path = paths[i]
            new = [HUGE, 2**62, 10**3000, -1, None, "x", [], {}, 1.5, [HUGE] * 1000][
                int(rng.integers(10))
            ]
            said = f"{kind}: {'.'.join(map(str, path))} = {str(new)[:12]}"
            yield said, (data, set_in(evidence, path, new))
    data, text = good("S3")
    evidence = json.loads(text)
    last, more = len(evidence["program"]) - 1, list(range(len(evidence["program"])))
    long: dict[str, tuple[tuple[Any, ...], Any]] = {
        "a position": (("program", last), ["Position", list(range(1_000_000))]),
        "a table": (
            ("program", last),
            ["Table", [0], [[[i], i] for i in range(200_000)]],
        ),
        "a sum": (("program", last), ["Sum", [0] * 1_000_000]),
        "a select": (("program", last), ["Select", 0, [0] * 1_000_000]),
        "a shift": (("program", last), ["Shift", 0, HUGE]),
        "a sibling": (("program", last), ["SiblingLatest", 0, 0, HUGE]),
        "a grain": (("layout", "grain"), 4096),
        "a finer grain": (("layout", "grain"), 5000),
        "what is read out": (("layout", "read_out"), more * 1000),
        "places": (("layout", "at_first"), [[0, more]] * 10_000),
        "outputs": (("outputs",), [0] * 1_000_000),
        "decoding": (("decode",), [[[0], 0]] * 200_000),
        "programs": (("program",), [["Token"]] * 500_000),
        "sums that grow": (
            ("program",),
            [["Token"], *(["Sum", [i] * 9] for i in more)],
        ),
    }
    for name, (path, new) in long.items():
        yield f"much: {name}", (data, set_in(evidence, path, new))
    value: Any = evidence
    for _ in range(100):
        value = {"through": value}
    yield "a deep reason", (data, json.dumps(value).encode())


def flipped(count: int) -> Iterator[tuple[str, Damage]]:
    """Other bytes, here and there."""
    rng = np.random.default_rng(7)
    for i in range(count):
        data, text = good(("S3", "rnn", "FlipFlop")[i % 3])
        both = [bytearray(data), bytearray(text)]
        which = both[i % 2]
        end = len(which) if i % 4 else min(len(which), 4000)
        for _ in range((1, 1, 3, 30)[int(rng.integers(4))]):
            which[int(rng.integers(end))] = int(rng.integers(256))
        yield f"flip {i}", (bytes(both[0]), bytes(both[1]))


def every_damage(folder: Path) -> list[tuple[str, Damage]]:
    """All of them, mixed."""
    kinds: list[Callable[[], Iterator[tuple[str, Damage]]]] = [
        *(damaged_texts, damaged_frames, damaged_models, damaged_evidence),
        lambda: damaged_numbers(folder),
        lambda: flipped(150),
    ]
    every = [damage for kind in kinds for damage in kind()]
    order = np.random.default_rng(11).permutation(len(every))
    return [every[i] for i in order]


RUNNER = """
import json, os, resource, subprocess, sys
def limited():
    resource.setrlimit(resource.RLIMIT_AS, (4 * 300 * 2**20,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for line in sys.stdin:
    with open("said", "wb") as said:
        ran = subprocess.Popen(
            json.loads(line), stdout=said, stderr=said, preexec_fn=limited
        )
        _, status, used = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
    with open("said", encoding="utf-8") as said:
        print(json.dumps([ran.returncode, said.read(), used.ru_maxrss]), flush=True)
"""
"""Runs commands, and says the exit status, the text, and the kilobytes of each.

It is a small process of its own: a child counts as its own what its parent takes.
"""


@with_kernel
@pytest.mark.parametrize("count", [25, pytest.param(100_000, marks=pytest.mark.slow)])
def test_damaged_files_end_in_one_line(count: int, tmp_path: Path) -> None:
    model, evidence, wrong = tmp_path / "m", tmp_path / "e", list[str]()
    every, codes, most = every_damage(tmp_path), Counter[int](), 0
    assert len(every) >= 500
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    ) as runner:
        assert runner.stdin
        assert runner.stdout
        for name, (data, text) in every[:count]:
            model.write_bytes(data)
            evidence.write_bytes(text)
            command = [str(kernel()), str(model), str(evidence)]
            print(json.dumps(command), file=runner.stdin, flush=True)
            code, said, kilobytes = json.loads(runner.stdout.readline())
            one_line = said.endswith("\n") and len(said.splitlines()) == 1
            plain = not any(word in said for word in WORDS)
            fits = kilobytes <= MEGABYTES * 1024
            if code not in (0, 1, 2) or not (one_line and plain and fits):
                wrong.append(f"{name}: {code} {said[:200]!r} {kilobytes} kB")
            codes[code] += 1
            most = max(most, kilobytes)
    print(dict(codes), f"{most / 1024:.0f} MB at most")
    assert not wrong, wrong
    assert codes[2] > codes.total() / 4
