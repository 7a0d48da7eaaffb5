"""Networks that write chains of thought: sizes, proofs, and texts that were run.

Each row compiles, proves all prompts, and continues some of them by greedy decoding.
"""

import argparse
from collections.abc import Mapping

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source_examples import EXAMPLES

CASES = (
    *((f"EditDistance3,3:letters=2{b}", "float32") for b in ("", ",boundary=1")),
    *((f"EditDistance8,8:letters=4{b}", "float32") for b in ("", ",boundary=1")),
    *(("EditDistance8,8:letters=4", d) for d in ("bfloat16", "float16", "float64")),
    *((f"EditDistance{n},{n}", "float32") for n in (12, 20)),
    ("EditDistance20,22", "float32"),
    ("EditDistance20,20", "bfloat16"),
)
RUN = 200
TITLE, SHIPPED = "edit distance as text", "dynamic programs of the catalogue"


def measure(case: tuple[str, str]) -> Row:
    """The row of a source in a format."""
    name, dtype = case
    try:
        model = krohn.compile(name, dtype=dtype)
    except KrohnError as refused:
        return {"source": name, "dtype": dtype, "verdict": str(refused)[:120]}
    assert model.proof is not None
    found = model.summary()
    kind = ChainsOfThought()
    source = kind.of_file(model.file)
    run = kind.sample(model.file, RUN, 0, lambda what, done, total: None)
    return {
        "source": name,
        "dtype": dtype,
        "tokens": source.length,
        "layers": found["layers"],
        "heads": found["heads"],
        "width": found["d_model"],
        "MLP": found["mlp_width"],
        "parameters": found["parameters"],
        "not zero": found["nonzero"],
        "verdict": model.proof.verdict,
        "proof s": round(model.proof.seconds, 2),
        "texts run": run.words,
        "wrong": 0 if run.has_passed else 1,
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row made anew."""
    return measure((printed["source"], printed["dtype"]))


AGAIN = {TITLE: again, SHIPPED: again}


def main() -> None:
    """Print the tables."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    shipped = [(name, "float32") for name in EXAMPLES]
    tables = [
        Table(SHIPPED, each(measure, shipped)),
        Table(TITLE, each(measure, CASES)),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
