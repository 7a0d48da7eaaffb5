"""Whatever the bytes are: a model file works, or one line says what is wrong."""

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings, strategies as st

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network import ModelFileError, modelfile
from krohn.program import strict_json
from krohn.program.errors import Refused
from krohn.running import runner_of
from krohn.verify.checker import model_file as recheck_model

Build = Callable[..., Any]
Json = Any
MODELS = [("C3", "scan", 3), ("FlipFlop", "memory", 4), ("C2", "elman", None)]
EACH = pytest.mark.parametrize("model", MODELS, ids=[m[1] for m in MODELS])


def answer(path: Path) -> str:
    """The one line that reading, opening and verifying come to; "" without an error."""
    return [said(use, path) for use in (modelfile.read, krohn.load, verify)][-1]


def said(use: Callable[[Path], object], path: Path) -> str:
    """The one line that a use of a file ends with; "" if it works."""
    try:
        use(path)
        line = None
    except (KrohnError, ModelFileError) as error:
        line = str(error)
    if line is not None:
        assert line
        assert "\n" not in line
    return line or ""


def verify(path: Path) -> None:
    assert krohn.verify(path, proof=True, exhaustive=1).verdict


def run(path: Path) -> None:
    runner = runner_of(modelfile.read(path))
    runner.run([runner.machine.letters[0]])


def run_module(path: Path) -> None:
    model = krohn.load(path)
    model.run(model.letters[:1])


def places(path: Path) -> None:
    krohn.load(path).places()


# --- bytes ----------------------------------------------------------------------------


@pytest.mark.sample(1)
@EACH
def test_truncations(parts: Build, place: Build, model: tuple[Any, ...]) -> None:
    data = parts(*model).pack()
    header = struct.unpack("<Q", data[:8])[0]
    edges = {0, 1, 7, 8, 9, 8 + header - 1, 8 + header, 8 + header + 1, len(data) - 1}
    for cut in sorted(edges | set(Random(1).sample(range(len(data)), 30))):
        with pytest.raises(ModelFileError):
            modelfile.read(place(data[:cut]))


@pytest.mark.sample(1)
@EACH
def test_additions(parts: Build, place: Build, model: tuple[Any, ...]) -> None:
    data = parts(*model).pack()
    for more in (b"\0", b"}", data):
        assert answer(place(data + more))
        assert answer(place(more + data))


@pytest.mark.sample(1, at=1)
@EACH
@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits(
    parts: Build, place: Build, model: tuple[Any, ...], seed: int
) -> None:
    data, random = parts(*model).pack(), Random(seed)
    header = struct.unpack("<Q", data[:8])[0] + 8
    for _ in range(30):
        spoilt = bytearray(data)
        for _ in range(random.randint(1, 3)):
            end = random.choice([8, header, len(data)])
            spoilt[random.randrange(end)] ^= 1 << random.randrange(8)
        answer(place(bytes(spoilt)))


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [0, 1, 2**31, 2**40, 2**63 - 1, 2**63, 2**64 - 1])
def test_header_lengths(parts: Build, place: Build, length: int) -> None:
    data = parts().pack()
    assert answer(place(struct.pack("<Q", length) + data[8:]))


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises(ModelFileError):
        modelfile.read(path)


def framed(text: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"1" * 5000,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\xff\xfe\x00",
        b'{"__metadata__":{"krohn":1}}',
        b'{"__metadata__":["krohn"]}',
        b'{"__metadata__":{"other":"{}"}}',
        b'{"__metadata__":{"krohn":""}}',
        b'{"__metadata__":{"krohn":"NaN"}}',
        b'{"__metadata__":{"krohn":"' + b"[" * 100_000 + b'"}}',
        b'{"__metadata__":{"krohn":"{\\"format\\": \\"krohn-model\\"}"}}',
    ],
    ids=lambda text: text[:20].decode("latin1"),
)
def test_headers_that_are_none(place: Build, text: bytes) -> None:
    assert answer(place(framed(text)))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "entry",
    [
        {"shape": [2**40, 2**40]},
        {"shape": [-1]},
        {"shape": []},
        {"shape": [2**63]},
        {"shape": "x"},
        {"shape": None},
        {"dtype": "F64"},
        {"dtype": "F16"},
        {"dtype": "I32"},
        {"dtype": "F8_E4M3"},
        {"dtype": "nothing"},
        {"data_offsets": [0, 0]},
        {"data_offsets": [8, 0]},
        {"data_offsets": [0, 2**60]},
        {"data_offsets": [-4, 4]},
        {"data_offsets": "x"},
    ],
    ids=str,
)
def test_tensor_entries(parts: Build, place: Build, entry: dict[str, Json]) -> None:
    data = parts().pack()
    size = struct.unpack("<Q", data[:8])[0]
    outer = json.loads(data[8 : 8 + size])
    for name in ("embed.token", "unembed.bias"):
        changed = {**outer, name: {**outer[name], **entry}}
        assert answer(place(framed(json.dumps(changed).encode(), data[8 + size :])))


# --- tensors --------------------------------------------------------------------------


@pytest.mark.sample(1)
@EACH
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite(
    parts: Build, place: Build, model: tuple[Any, ...], number: float
) -> None:
    built = parts(*model)
    for name in built.tensors:
        tensors = built.tensors
        tensors[name].flat[-1] = number
        found = answer(place(built.pack(tensors=tensors)))
        assert f"tensor {name!r} has entries that are not finite" in found


@pytest.mark.slow
@EACH
def test_missing_and_unknown_tensors(
    parts: Build, place: Build, model: tuple[Any, ...]
) -> None:
    built = parts(*model)
    for name in built.tensors:
        rest = {n: t for n, t in built.tensors.items() if n != name}
        found = answer(place(built.pack(tensors=rest)))
        assert f"tensor {name!r} is missing" in found
    odd = ("../../etc/passwd", "/dev/null", "a\nb", "\0", "", "é" * 50, "__class__")
    for name in odd:
        more = {**built.tensors, name: np.zeros(1)}
        assert "is not in its architecture" in answer(place(built.pack(tensors=more)))


@pytest.mark.slow
@EACH
def test_tensors_of_other_shapes(
    parts: Build, place: Build, model: tuple[Any, ...]
) -> None:
    built = parts(*model)
    for name, tensor in built.tensors.items():
        for other in (tensor[None], tensor[..., :0], tensor.reshape(-1)[:, None]):
            changed = {**built.tensors, name: other}
            assert "has shape" in answer(place(built.pack(tensors=changed)))


# --- the inner header -----------------------------------------------------------------

ODD: list[Json] = [
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31 + 1,
    10**30,
    1.5,
    "",
    "x\ny",
    [],
    {},
    [[]],
    [None],
    {"a": None},
]


def leaves(value: Json, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value; of long lists the first and the last entry."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*at, key))
    if isinstance(value, list):
        for index in sorted({0, len(value) - 1} & set(range(len(value)))):
            yield from leaves(value[index], (*at, index))


def changed(header: Json, at: tuple[Any, ...], value: Json) -> Json:
    """The header with one place set, or removed if the value is ``...``."""
    holder = header
    for step in at[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    return header


def answer_with(built: Any, place: Build, at: tuple[Any, ...], value: Json) -> None:
    """Ask a file with another value in its header for answers."""
    try:
        answer(place(built.pack(changed(built.header, at, value))))
    except Exception as error:
        error.add_note(f"{at} = {value!r}")
        raise


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("part", ["architecture", "machine", "claim", "version"])
def test_every_field_may_be_wrong(
    parts: Build, place: Build, model: tuple[Any, ...], part: str
) -> None:
    built = parts(*model)
    random = Random(part)
    for at in leaves(built.header):
        if at[0] == part:
            for value in [..., *random.sample(ODD, 4)]:
                if value is True and at == ("claim", "length"):
                    continue  # test_damage_to_what_is_run_and_shown
                answer_with(built, place, at, value)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("use", "at", "value"),
    [
        (run, ("machine",), {}),
        (run, ("machine", "letters"), None),
        (run, ("machine", "states"), ...),
        (run_module, ("machine", "letters"), [[]]),
        (run_module, ("machine", "states"), ""),
        (places, ("program",), None),
        (places, ("program", "channels"), None),
        (places, ("program", "channels", -1, "name"), ...),
        (places, ("program", "channels", -1, "code"), ...),
        (places, ("program", "channels", -1, "dims"), None),
        (places, ("program", "channels", -1, "snapshots"), ""),
        (verify, ("claim", "length"), True),
    ],
)
def test_damage_to_what_is_run_and_shown(
    parts: Build,
    place: Build,
    use: Callable[[Path], object],
    at: tuple[Any, ...],
    value: Json,
) -> None:
    built = parts()
    path = place(built.pack(changed(built.header, at, value)))
    assert said(use, path)


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", [8, 99, 0, True, 1.0, 5.0, "1", "5", None])
def test_other_versions_say_what_to_do(
    parts: Build, place: Build, version: Json
) -> None:
    built = parts()
    found = answer(place(built.pack({**built.header, "version": version})))
    assert f"format version {version!r}; this Krohn reads versions up to 7" in found


@pytest.mark.sample(1)
@pytest.mark.parametrize("key", ["architecture", "machine", "claim", "format"])
def test_missing_keys(parts: Build, place: Build, key: str) -> None:
    built = parts()
    header = {k: v for k, v in built.header.items() if k != key}
    assert answer(place(built.pack(header)))


@pytest.mark.sample(1)
@pytest.mark.parametrize("header", [[], "x", 1, {"format": "other"}])
def test_other_headers_are_no_models(parts: Build, place: Build, header: Json) -> None:
    assert "is no Krohn model" in answer(place(parts().pack(header)))


def test_other_keys_are_no_models(parts: Build, place: Build) -> None:
    assert "no key 'krohn'" in answer(place(parts().pack(key="tracr")))


# --- things that are no files ---------------------------------------------------------


def test_names_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "Not a directory" in answer(tmp_path / "file" / "model")
    assert "too long" in answer(Path("x" * 5000))[-100:]
    assert answer(Path("a\0b"))


# --- two readers, two files -----------------------------------------------------------


OTHER_FORMS: dict[str, tuple[Callable[[str], str], str]] = {
    "a key twice": (
        lambda text: text.replace('"claim":', '"claim":{"length":9},"claim":'),
        "the key 'claim' is there twice",
    ),
    "a key twice, alike": (
        lambda text: text.replace('"start":"0"', '"start":"0","start":"0"'),
        "the key 'start' is there twice",
    ),
    "blanks": (lambda text: text.replace(",", ", "), "not in canonical form"),
    "keys in another order": (
        lambda text: '{"version":1,' + text.replace(',"version":1}', "}")[1:],
        "not in canonical form",
    ),
    "a number in another form": (
        lambda text: text.replace('"evidence":null', '"evidence":1e999'),
        "1e999 is beyond the largest float64",
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", OTHER_FORMS)
def test_only_the_canonical_form_is_read(parts: Build, place: Build, form: str) -> None:
    built = parts("C3", "counter", 4)
    change, reason = OTHER_FORMS[form]
    text = strict_json.canonical({**built.header, "evidence": None})
    assert change(text) != text
    packed = {n: built.file.precision.store(t) for n, t in built.tensors.items()}
    data = safetensors.numpy.save(packed, {"krohn": change(text)})
    assert reason in answer(place(data))
    with pytest.raises(Refused, match=r"canonical|twice|beyond"):
        recheck_model.read(data)
    recheck_model.read(safetensors.numpy.save(packed, {"krohn": text}))


def test_the_outer_header_has_no_key_twice(parts: Build, place: Build) -> None:
    data = parts().pack()
    size = struct.unpack("<Q", data[:8])[0]
    outer = data[8 : 8 + size].decode()
    twice = '{"__metadata__":{"krohn":"{}"},' + outer[1:]
    again = framed(twice.encode(), data[8 + size :])
    assert answer(place(again))
    with pytest.raises(Refused, match=r"twice|damaged"):
        recheck_model.read(again)
