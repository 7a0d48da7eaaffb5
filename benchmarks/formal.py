"""Theorems that Coq has proved about networks: size, CPU seconds and memory of each.

``python benchmarks/formal.py`` needs coqc with Flocq. The library is compiled once; then
each theorem is a process of its own. Programs are of Transformers for words of up to 64
letters, networks are RNNs, for words of every length.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from report import Row, Table, parser, publish

import krohn
from krohn.verify.formal.library import compiled, coqc
from krohn.verify.formal.printing import development

PROGRAMS = (
    "C2 C3 C4 C5 C6 C7 C2xC3 S3 A4 D4 Q8 D8 FlipFlop Grid4 Grid5 D5 D6 C8 T2 PermReset3"
)
NETWORKS = "C2 C3 C5 C7 S3 A4 D4 Q8 D8 FlipFlop Grid4 Grid9 PermReset3 Dyck2,3 S4"
LENGTH = 64


def proved(data: bytes, folder: Path) -> Row:
    """What Coq needed for the theorem about a model file."""
    text = development(data).text
    (folder / "theorem.v").write_text(text, encoding="utf-8")
    before = os.times()
    accepted = coqc(folder, "theorem").returncode == 0
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return {
        "kB of terms": len(text) / 1000,
        "CPU seconds": spent,
        "proved": "yes" if accepted else "no",
    }


def main() -> None:
    """Measure and print the tables."""
    options = parser(__doc__).parse_args()
    programs, networks = list[Row](), list[Row]()
    with TemporaryDirectory() as name:
        folder = Path(name)
        compiled(folder)
        for machine in PROGRAMS.split():
            path = folder / "m.safetensors"
            krohn.compile(machine, LENGTH).save(path)
            programs.append({"machine": machine, **proved(path.read_bytes(), folder)})
        for machine in NETWORKS.split():
            path = folder / "m.safetensors"
            krohn.compile(machine, arch="rnn").save(path)
            networks.append({"machine": machine, **proved(path.read_bytes(), folder)})
    tables = [
        Table(f"Programs of Transformers, up to {LENGTH} letters", programs),
        Table("RNNs in float32, words of every length", networks),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
