"""Files that are no machines, by the names that people give them, and what is said."""

import bz2
import gzip
import io
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
OF_THIS_REPOSITORY = {
    "README.md": "Markdown",
    "CHANGELOG.md": "Markdown",
    "docs/formats.md": "Markdown",
    "LICENSE": "",
    "Makefile": "",
    "CITATION.cff": "",
    "mkdocs.yml": "",
    "pyproject.toml": "settings",
    "constraints.txt": "packages of Python",
    "program/known_files.py": "source code",
    "tests/algebra/test_formats_reading.py": "source code",
    "algebra/formats/gap.lark": "",
    "krohn/__init__.py": "source code",
    "docs/dependencies.md": "Markdown",
    ".gitignore": "",
}
ELEMENTS = {
    "model.pomdpx": ('<pomdpx version="0.1"></pomdpx>', "POMDPX"),
    "model.uppaal": ("<!DOCTYPE nta PUBLIC 'x' 'y'>\n<nta></nta>", "UPPAAL"),
    "drawing.drawio": ("<!-- a - drawing --><mxfile host='x'/>", "draw.io"),
    "graph.graphml": ("<graphml xmlns='x'><graph/></graphml>", "graph in XML"),
    "picture.svg": ("<svg:svg width='3'/>", "SVG"),
    "net.pnml": ("<pnml></pnml>", "Petri net"),
    "model.xmi": ("<xmi:XMI xmi:version='2.0'/>", "UML"),
    "page.xhtml": ("<html xmlns='x'></html>", "HTML"),
    "feed.rss": ("<rss version='2.0'/>", "XML"),
}
TEXTS = {
    "page.html": ("<!DOCTYPE html>\n<html><body>q0</body></html>", "HTML"),
    "machine.taf": (
        "mealy {a b} {\n  s0 [initial] {\n    a / x -> s0\n  }\n}\n",
        "TAF",
    ),
    "requirements.txt": (
        "# tools\nnumpy >= 1.22\nscipy >= 1.6\n",
        "packages of Python",
    ),
    "frozen.txt": ("numpy==1.22\nscipy[all]==1.6 ; python_version > '3'\n", "packages"),
    "settings.toml": ("[tool]\nname = 1\n", "settings"),
    "settings.ini": ("[tool one]\nname = 1\n", "settings"),
    "settings.yaml": ("---\nname: 1\n", "YAML"),
    "chart.yml": ("states:\n  off:\n    on: q\n", "YAML"),
    "data.json5": ('{"a": [1, 2], "b": null}', "the key 'format' must be"),
    "list.txt": ("[[0, 1], [1, 0]]", "JSON"),
    "numbers.txt": ("0 1 0\n1 0 1\n1 1 0\n", "unknown format"),
    "edges.txt": ("0 1 5\n1 2 7\n2 0 3\n", "unknown format"),
    "weights.txt": ("0.1 0.9\n0.5 0.5\n", "unknown format"),
    "words.txt": ("4 2\n1 3 0 1 0\n0 2 1 1\n1 1 0\n0 0\n", "unknown format"),
    "names.txt": ("idle busy start\nbusy idle stop\n", "unknown format"),
    "prose.txt": ("The machine has\nthree states and is\nfinal\n", "unknown format"),
    "table.dat": ("state;a;b\np;q;p\nq;p;p\n", "table with semicolons"),
    "table.txt": ("x,y\n1,2\n3,4\n", "CSV"),
    "tabs.txt": ("x\ty\n1\t2\n3\t4\n", "table with tabs"),
    "script.sh": ("#!/bin/sh\nexit 0\n", "script"),
    "program.c": ("#include <stdio.h>\nint main() { return 0; }\n", "source code"),
    "Program.java": ("package a.b;\npublic class Program {}\n", "source code"),
    "program.js": ("const x = require('xstate');\n", "source code"),
    "program.rs": ("use std::io;\nfn main() {}\n", "source code"),
    "program.go": ("package main\n\nfunc main() {}\n", "source code"),
    "change.patch": ("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff"),
    "paper.tex": ("\\documentclass{article}\n\\begin{document}\n", "LaTeX"),
    "chart.puml": ("@startuml\n[*] --> a\na --> b : x\n@enduml\n", "PlantUML"),
    "chart.mmd": ("stateDiagram-v2\n  [*] --> a\n  a --> b: x\n", "Mermaid"),
    "flow.mmd": ("graph TD\n  a --> b\n", "Mermaid"),
    "graph.gml": ("graph [\n  node [ id 0 ]\n]\n", "GML"),
    "model.smv": ("MODULE main\nVAR x : boolean;\n", "NuSMV"),
    "model.pm": ("dtmc\nmodule m\nendmodule\n", "PRISM"),
    "model.pml": ("active proctype P() { skip }\n", "Spin"),
    "circuit.v": ("module m(input a);\nendmodule\n", "circuit"),
    "circuit.blif": (".model m\n.inputs a\n.names a b\n1 1\n.end\n", "circuit"),
    "circuit.aag": ("aag 1 1 0 1 0\n2\n2\n", "circuit"),
    "formula.cnf": ("c a formula\np cnf 2 1\n1 2 0\n", "formula"),
    "problem.pomdp.txt": ("discount: 0.95\nvalues: reward\nstates: 2\n", "POMDP"),
    "automaton.ltl": ("G (a -> F b)\n", "unknown format"),
    "pointer.fst": ("version https://git-lfs.github.com/spec/v1\nsize 1\n", "Git LFS"),
    "log.txt": ("2026-01-01 10:00:00 INFO started\n2026-01-01 10:00:01 INFO x\n", ""),
    "key.pem": ("-----BEGIN X-----\nAAAA\n-----END X-----\n", "unknown format"),
    "empty.txt": ("", "empty file"),
    "blank.txt": (" \n\t\n", "empty file"),
    "pickled.txt": ("ccopy_reg\n_reconstructor\np0\n.", "pickle"),
}
BEGINNINGS = {
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
    "picture.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture"),
    "picture.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "picture"),
    "picture.gif": (b"GIF89a\1\0\1\0", "picture"),
    "machine.fst": (b"\xd6\xfd\xb2\x7e\x06\0\0\0vector\x08\0\0\0standard", "OpenFst"),
    "machine.hfst": (b"HFST\0\x20\0\0version\x003.3\0", "HFST"),
    "machine.foma": (b"##foma-net 1.0##\n##props##\n2 1\n##sigma##\n", "foma"),
    "program.exe": (b"MZ" + bytes(64), "machine code"),
    "program": (b"\x7fELF\x02\x01\x01" + bytes(16), "machine code"),
    "data.h5": (b"\x89HDF\r\n\x1a\n", "HDF5"),
    "data.mat": (b"MATLAB 5.0 MAT-file", "MATLAB"),
    "data.parquet": (b"PAR1\x15\x04", "Parquet"),
    "archive.7z": (b"7z\xbc\xaf\x27\x1c\0\4", "7z"),
    "archive.zst": (b"\x28\xb5\x2f\xfd\x24", "zstandard"),
    "text16.txt": ("state a b".encode("utf-16"), "UTF-16"),
    "data.bin": (b"\1\0\2\xff\0\0", "binary data"),
    "bytes.bin": (b"abc\n\xff\xfe\xfd", ":2: not UTF-8"),
}


def foreign_files() -> Iterator[tuple[str, bytes, str]]:
    """The name of each file, what is in it, and a part of what is said of it."""
    for name, said in OF_THIS_REPOSITORY.items():
        yield name.replace("/", "-"), (ROOT / name).read_bytes(), said
    for name, (text, said) in ELEMENTS.items():
        yield name, f'<?xml version="1.0"?>\n{text}\n'.encode(), said
    for name, (text, said) in TEXTS.items():
        yield name, text.encode(), said
    for name, (data, said) in BEGINNINGS.items():
        yield name, data, said
    packed = b"digraph { a -> a [label=x] }"
    yield "machine.dot.zip", _zip({"machine.dot": packed}), "zip archive"
    yield "table.xlsx", _zip({"[Content_Types].xml": b"<Types/>"}), "office program"
    yield "network.bin", _zip({"archive/data.pkl": b"\x80\x02."}), "torch"
    yield "packed", gzip.compress(packed, mtime=0), "gzip archive"
    yield "packed.bz2", bz2.compress(packed), "bzip2 archive"
    yield "packed.xz", lzma.compress(packed), "xz archive"
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        yield f"machine{protocol}.pkl", pickle.dumps({"a": 1}, protocol), "pickle"
    yield "archive.tar", _tar(packed), "tar archive"
    yield "arrays.dat", _saved(np.savez), "arrays"
    yield "array.npy", _saved(np.save), "array of numpy"
    yield "network.tensors", _tensors(), "tensors"
    yield "data.db", _database(), "SQLite"


def _zip(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def _tar(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("machine.dot")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def _saved(save: object) -> bytes:
    assert callable(save)
    file = io.BytesIO()
    save(file, np.arange(4))
    return file.getvalue()


def _tensors() -> bytes:
    head = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    return len(head).to_bytes(8, "little") + head + bytes(4)


def _database() -> bytes:
    with sqlite3.connect(":memory:") as held:
        held.execute("create table t (a)")
        data: bytes = held.serialize()
    held.close()
    return data
