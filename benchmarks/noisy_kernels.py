"""Linear RNNs of a measured kernel with noise: errors by units and norm.

The table stands in docs/kinds/kernels.md.

python benchmarks/noisy_kernels.py
"""

from collections.abc import Iterator

import numpy as np
from report import Row, Table, parser, publish

import krohn
from krohn.kinds.kernels.commands import NAMES_OF_NORMS

LENGTH, NOISE = 128, 2e-3
ASKED = (
    (0.05, "l1"),
    (0.25, "l1"),
    (0.05, "l2"),
    (0.05, "hinf"),
    (0.05, "max"),
)


def measured() -> list[float]:
    """Three poles, and noise."""
    s, random = np.arange(LENGTH), np.random.default_rng(0)
    poles = 0.8 * 0.9**s + (0.5 * (0.7 + 0.4j) ** s).real
    found: list[float] = (poles + NOISE * random.standard_normal(LENGTH)).tolist()
    return found


def by_units(kernel: object) -> list[Row]:
    """The table of `krohn explain`."""
    rows = krohn.explain(kernel)["units"]
    return [
        {
            "units": row["units"],
            **{label: row[n] for n, label in NAMES_OF_NORMS.items()},
        }
        for row in rows
    ]


def compiled(kernel: object) -> Iterator[Row]:
    """The networks that are taken."""
    for within, norm in ASKED:
        model = krohn.compile(kernel, arch="rnn", within=within, norm=norm)
        yield {
            "--within": within,
            "--norm": norm,
            "units": model.summary()["d_model"],
            "outputs are proved within": model.file.header["claim"]["error"],
        }


def main() -> None:
    """Print both tables."""
    options = parser(__doc__).parse_args()
    kernel = krohn.kernel(measured(), name="noisy")
    publish(
        [
            Table("errors by units", by_units(kernel)),
            Table("the networks that are taken", list(compiled(kernel))),
        ],
        options,
    )


if __name__ == "__main__":
    main()
