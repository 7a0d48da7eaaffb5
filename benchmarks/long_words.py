"""How the work of a proof grows with the longest word, where queries move with positions.

Each network is proved at some length and at four times that length, in turn, in one
process, several times; the medians of CPU seconds and their ratios are printed. Work that
is proportional to T log T grows 4 to 5 times, all pairs of positions 16 times.
`python benchmarks/long_words.py` from the root of the repository; the options are listed
by `--help`.
"""

import argparse
import time
from statistics import median

import krohn
from krohn.compiled_model import CompiledModel
from krohn.verify.proof import prove

MODELS = [("S5", "scan", 4096), ("C2", "scan", 4096), ("Grid9", "cascade", 1024)]
FACTOR = 4


def seconds(model: CompiledModel, name: str) -> float:
    """CPU seconds of a proof."""
    machine, began = krohn.zoo(name), time.process_time()
    if prove(model.file, machine).verdict != "verified":
        raise SystemExit("a compiled network is not proved")
    return time.process_time() - began


def measure(name: str, construction: str, length: int, repeats: int) -> list[float]:
    """Median seconds at the length and at the longer one."""
    models = [
        krohn.compile(name, most, construction, proof=False)
        for most in (length, FACTOR * length)
    ]
    taken = [[seconds(model, name) for model in models] for _ in range(repeats + 1)]
    return [median(column) for column in zip(*taken[1:], strict=True)]


def main() -> None:
    """Measure every model and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print(f"CPU seconds of a proof, median of {given.repeats}")
    print("machine construction      T      at T  at 4T  ratio")
    for name, construction, length in MODELS:
        short, long = measure(name, construction, length, given.repeats)
        print(
            f"{name:7} {construction:12} {length:7,} {short:7.2f} {long:7.2f}"
            f" {long / short:6.1f}x"
        )


if __name__ == "__main__":
    main()
