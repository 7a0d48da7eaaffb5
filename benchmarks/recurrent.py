"""Recurrent networks of machines: sizes, and what is proved of them.

python benchmarks/recurrent.py
"""

import argparse
from typing import get_args

import krohn
from algebra.errors import KrohnError
from krohn.compilation import Architecture

NAMES = ("C2", "FlipFlop", "S3", "Cyclic-DET5,5@3", "Dyck4,2", "S4")
FORMATS = ("float64", "float32", "float16", "bfloat16")


def main() -> None:
    """Print the table of docs/constructions.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = parser.add_argument("names", nargs="*", default=NAMES)
    del names
    print("| machine | network | units | parameters | proved in | margin | s |")
    print("|---|---|---|---|---|---|---|")
    for name in parser.parse_args().names:
        for arch in get_args(Architecture)[1:]:
            built = {}
            for dtype in FORMATS:
                try:
                    built[dtype] = krohn.compile(name, arch=arch, dtype=dtype)
                except KrohnError:
                    continue
            model = built["float32"]
            assert model.proof is not None
            size, margin = model.summary(), model.proof.evidence[-1]["margin"]
            print(
                f"| `{name}` | {arch.upper()} | {size['d_model']} | "
                f"{size['parameters']:,} | {', '.join(built)} | {margin:.3g} | "
                f"{model.proof.seconds:.2f} |"
            )


if __name__ == "__main__":
    main()
