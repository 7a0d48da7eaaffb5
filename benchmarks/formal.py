"""Theorems that Coq has proved about networks: size and CPU seconds of each.

``python benchmarks/formal.py`` needs coqc with Flocq. The library is compiled once; then
each theorem is a process of its own. Transformers, and Programs of others, are for words
of up to 64 letters, RNNs for words of every length.
"""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from report import Row, Table, parser, publish

import krohn
from krohn.instruments.formal.coq import (
    compile_modules,
    coqc,
)
from krohn.instruments.formal.development import development
from krohn.program.errors import Refused

PATTERN = "regex:(a|b)*abb"
COPYING = "FlipFlop Memory3 Memory5 FFLTracker2 FFL2 Adder Grid3 abab Dyck1,2 Dyck1,3"
ADDING = "C2 C3 C4 C5 C6 C7 C2xC3 S3 A4 D4 D6 D8 D10 Q8"
PROGRAMS = "Grid4"
NETWORKS = "C2 C3 C5 C7 S3 A4 D4 Q8 D8 FlipFlop Grid4 Grid9 PermReset3 Dyck2,3 S4"
LENGTH, SECONDS = 64, 600


def proved(machine: str, folder: Path, **asked: Any) -> Row:
    """The theorem about the network of a machine, and what Coq needed for it."""
    path = folder / "m.safetensors"
    krohn.compile(machine, **asked).save(path)
    try:
        text = development(path.read_bytes()).text
    except Refused as refused:
        return {
            "machine": machine,
            "kB of terms": None,
            "CPU s": None,
            "proved": str(refused),
        }
    (folder / "theorem.v").write_text(text, encoding="utf-8")
    before = os.times()
    row: Row = {"machine": machine, "kB of terms": len(text) / 1000}
    try:
        accepted = coqc(folder, "theorem", SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return {**row, "CPU s": None, "proved": f"not within {SECONDS} s"}
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return {**row, "CPU s": spent, "proved": "yes" if accepted else "no"}


def main() -> None:
    """Measure and print the tables."""
    options = parser(__doc__).parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        compile_modules(folder)
        copying, adding = [*COPYING.split(), PATTERN], ADDING.split()
        whole = [proved(m, folder, length=LENGTH) for m in copying + adding]
        programs = [proved(m, folder, length=LENGTH) for m in PROGRAMS.split()]
        networks = [proved(m, folder, arch="rnn") for m in NETWORKS.split()]
    tables = [
        Table(f"Transformers in float32, up to {LENGTH} letters", whole),
        Table(f"Programs of Transformers, up to {LENGTH} letters", programs),
        Table("RNNs in float32, words of every length", networks),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
