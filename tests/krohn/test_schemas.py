"""What is printed and written follows its JSON Schema; what is damaged does not.

`conftest.held_against_schemas` holds what commands print in all other tests, too.
"""

import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Set
from contextlib import redirect_stdout
from dataclasses import is_dataclass
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from every_kind import NETWORKS, compiled
from sample_comparison import sample
from schemas import hold, problem, validator

import krohn
from krohn import cli, decomposition, schemas
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.architectures.exports import circuit
from krohn.commands import options
from krohn.network import modelfile
from krohn.program import strict_json
from krohn.source_kinds import KINDS
from krohn.verify.kernel.asking import find_kernel

ROOT = Path(__file__).parents[2]
FILES = {"C": "states", "T": "states that show outputs", "P": "chain-of-thought"}
FILES |= {"B": "outputs", "H": "posterior-head", "N": "rnn", "G": "generator"}
EXAMPLES = """
zoo
explain C3 -T 8
explain C3 --arch ssm
explain LCS2,2
decompose C3 -o OUT.json
compile C3 -T 8 -o OUT.safetensors
compile GoldenMean -T 4 -o OUT.safetensors
compile C3 --arch rnn -o OUT.safetensors
verify C --exhaustive 3 --sample 5
verify C --proof --trusted --evidence E
verify N
recheck C E
run C 1 2
run C 1 2 --expect 0
run C 1 2 --expect 1
run P 'a a | a a'
run T --stream LETTERS
draw C3 -o OUT.svg
export C --to onnx -o OUT --sample 10
fuzz C --engine torch --answers 100
formal C -o OUT
batch TABLE
equivalent regex:(ab)* regex:(ba)*
equivalent C N
crasp regex:a*b*
grammar pcfg:Dyck2 --depth 2 -T 2 --sample 1
texts LIS3 -n 3 -o OUT
learn C --machine C3
decompile H
attention G
score CIRCUIT EDGES
schema
run nothing 1
"""
"""Each command, but for those of `ELSEWHERE`."""
NAMES = {command.name for command in cli.application().registered_commands}
# What the kernel writes needs it; it is not built where its packages are not.
WITHOUT_KERNEL = set() if find_kernel() else {"formal"}
ELSEWHERE = ({"compare", "workbench"} | WITHOUT_KERNEL) & NAMES
COMMANDS = [
    words
    for words in map(shlex.split, EXAMPLES.split("\n")[1:-1])
    if words[0] in NAMES - WITHOUT_KERNEL
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files that the examples name."""
    home = tmp_path_factory.mktemp("shelf")
    found = {name: home / f"{name}.safetensors" for name in FILES}
    for name, kind in FILES.items():
        compiled(kind).save(found[name])
    found["E"], found["LETTERS"] = home / "evidence.json", home / "letters.txt"
    found["TABLE"], found["EDGES"] = home / "table.csv", home / "edges.csv"
    found["LETTERS"].write_text("coin push\n")
    found["TABLE"].write_text("machine,length\nC2,4\nnothing,4\n")
    found["EDGES"].write_text("from,to\nembedding,read-out\n")
    circuit.write(compiled("states").file, home)
    return found | {"CIRCUIT": home / "circuit.json"}


@pytest.fixture(scope="module")
def printed(
    shelf: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """What all examples print, each line held against its schema."""
    found = []
    for words in COMMANDS:
        out = str(tmp_path_factory.mktemp("out") / "x")
        named = [str(shelf.get(w, w.replace("OUT", out))) for w in words]
        with redirect_stdout(StringIO()) as said:
            cli.run([*named, "--json"])
        told = json.loads(hold(said.getvalue().partition("\n")[0]))
        assert ("error" in told and len(told) == 2) == (words[1:2] == ["nothing"])
        found.append(told)
    return [*found, schemas.with_schema("compare", sample().to_object())]


def test_every_command_has_an_example() -> None:
    assert {words[0] for words in COMMANDS} | ELSEWHERE == NAMES
    assert NAMES <= schemas.ABOUT.keys()


def test_every_example_follows_its_schema(printed: list[dict[str, Any]]) -> None:
    names = {told["schema"].split(":")[3] for told in printed}
    assert names >= {words[0] for words in COMMANDS} | {"error"}


def damaged(told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies of an object, each with one thing wrong."""
    yield "one more", {**told, "no such key": 1}
    for key in told:
        yield f"{key} of another type", {**told, key: {"no": [{}]}}
        yield f"no {key}", {k: v for k, v in told.items() if k != key}


OPTIONAL = {
    **{"compile": {"effort", "cut_short"}, "decompose": {"file"}},
    **{"grammar": {"cut", "sample"}, "verify": {"written", "trusted"}},
    **{"run": {"states", "unproved"}, "attention": {"beta", "scale", "seed"}},
}
"""Keys that what is printed may lack; all others are missed where they are not there."""
OPTIONAL["compare"] = {"machine of another type"}  # docs/formats.md says its form
OPTIONAL["attention"] |= {"attention", "depth", "worst S/P", "picture"}


def unfound(name: str, told: dict[str, Any], optional: Set[str]) -> list[str]:
    """The damages that a schema does not find."""
    return [
        what
        for what, other in damaged(told)
        if what.removeprefix("no ") not in optional and validator(name).is_valid(other)
    ]


@pytest.mark.slow
def test_damage_of_what_is_printed_is_found(printed: list[dict[str, Any]]) -> None:
    for told in printed:
        name = told["schema"].split(":")[3]
        assert unfound(name, told, OPTIONAL.get(name, set())) == [], name


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verdict", "proved"),
        ("digest", "a644c7106747"),
        ("words", -0.5),
        ("length", "8"),
        ("schema", "urn:krohn:schema:verify:0"),
        ("claim", None),
        ("heads", [{"block": 0, "head": 0}]),
        ("about", {}),
        ("evidence", [{"sublayer": "mlp 0", "channels": [{"channel": "a"}]}]),
    ],
)
def test_values_that_cannot_be_are_found(
    printed: list[dict[str, Any]], key: str, value: object
) -> None:
    (told, *_) = [each for each in printed if ":verify:" in each["schema"]]
    assert problem("verify", told) == ""
    assert problem("verify", {**told, key: value}).startswith(f"$.{key}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*NETWORKS, "generator"])
def test_headers_of_networks_follow_their_schema(kind: str) -> None:
    file = compiled(kind).file
    outer = safetensors_header(modelfile.pack(file.header, file.tensors))
    header = json.loads(outer["__metadata__"]["krohn"])
    assert problem("model", header) == ""
    for key in ("architecture", "claim"):
        assert problem("model", {k: v for k, v in header.items() if k != key})
        for said in (header[key] | {"no such key": 1}, header[key] | {"dtype": "real"}):
            assert problem("model", {**header, key: said})


def test_a_kind_of_attention_is_always_named() -> None:
    """A block may leave attention out, and not what kind it is."""
    file = krohn.compile("FlipFlop", 8).file
    outer = safetensors_header(modelfile.pack(file.header, file.tensors))
    header = json.loads(outer["__metadata__"]["krohn"])
    block = header["architecture"]["blocks"][0]
    block["attention"] = {"kind": "relu"}
    assert problem("model", header) == ""
    for sizes in ({}, {"block": 1, "windows": 1, "last": 1}):
        block["attention"] = sizes
        assert problem("model", header)


def safetensors_header(data: bytes) -> Any:
    """The JSON that a safetensors file begins with."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size])


def test_files_follow_their_schemas(shelf: dict[str, Path], tmp_path: Path) -> None:
    decomposition.save(decomposition.decompose("S3"), tmp_path / "cascade.json")
    machine = json_format.write(krohn.automaton("Adder"))
    texts = {
        "cascade": (tmp_path / "cascade.json").read_text(),
        "circuit": shelf["CIRCUIT"].read_text(),
        "machine": machine,
    }
    for name, text in texts.items():
        told = json.loads(text)
        assert problem(name, told) == ""
        left = unfound(name, told, {"name", "output", "action"})
        assert left == [], name


@pytest.mark.slow
def test_evidence_has_a_head(shelf: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    for name in ("C", "N", "G", "H", "P"):
        path = shelf[name]
        krohn.evidence.write(krohn.verify(path, proof=True), path, file)
        told = json.loads(file.read_text())
        assert problem("evidence", told) == ""
        for key in ("format", "version", "model"):
            assert problem("evidence", {**told, key: "x"})
            assert problem("evidence", {k: v for k, v in told.items() if k != key})


def kinds_of(types: Iterable[Any]) -> set[str]:
    """The kinds of sources that types are about."""
    return {get_args(get_type_hints(each)["kind"])[0] for each in types}


def test_every_kind_of_source_has_its_types() -> None:
    for wire, kind in KINDS.items():
        stated = () if is_dataclass(kind.stated_type) else (kind.stated_type,)
        assert kinds_of((*kind.facts_types, *stated)) == {wire}


UNEXPLAINED = {"name", "kind", "claim", "proved", "tried", "remark"}
"""Facts that `krohn explain` says in sentences."""


@pytest.mark.parametrize("wire", sorted(KINDS))
def test_explain_says_what_each_fact_of_a_source_means(wire: str) -> None:
    kind = KINDS[wire]
    keys = {key for each in kind.facts_types for key in get_type_hints(each)}
    assert keys - UNEXPLAINED <= kind.meanings().keys()


def test_a_number_that_is_not_finite_is_null() -> None:
    told = options.json_line("compare", schemas_told(inf))
    assert json.loads(told)["proved"]["seconds"] is None


def schemas_told(seconds: float) -> dict[str, Any]:
    """A comparison whose proof took so long."""
    told = sample().to_object()
    told["proved"]["seconds"] = seconds
    return told


def test_a_name_that_there_is_not_gets_one_line() -> None:
    with pytest.raises(KrohnError, match="'verfy' \\(did you mean verify"):
        schemas.schema("verfy")


# Readers rely on schemas: one that changes has another version.


def form(schema: Any) -> Any:
    """A schema without the words for people."""
    if isinstance(schema, list):
        return [*map(form, schema)]
    if not isinstance(schema, dict):
        return schema
    words = ("description", "title")
    return {
        k: form(v) for k, v in schema.items() if not (k in words and isinstance(v, str))
    }


def test_a_schema_that_changes_has_another_version() -> None:
    """The lines of schema_versions.txt: name, version, digest of the schema."""
    found = {}
    for name in schemas.ABOUT:
        text = strict_json.canonical(form(schemas.schema(name)))
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        found[name] = f"{name} {schemas.VERSIONS[name]} {digest}"
    known = (Path(__file__).parent / "schema_versions.txt").read_text().splitlines()
    lines = [*found.values()]
    assert lines == known, (
        "a schema is another one than schema_versions.txt says: raise its version in "
        "krohn/schemas/__init__.py if a reader of the old form could be wrong, and "
        "write these lines:\n" + "\n".join(x for x in lines if x not in known)
    )
