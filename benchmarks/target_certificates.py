"""How far networks of attention targets are off, beside what is proved of them.

python benchmarks/target_certificates.py                      some tables
python benchmarks/target_certificates.py --random 100000      those of the documentation

The inputs of the sines are held against the sines themselves, not against tables.
"""

import numpy as np
from report import Row, Table, parser, publish

import krohn
from krohn.kinds.attention_targets.source_sampling import (
    SineSeries,
    attention_target,
)
from krohn.kinds.attention_targets.source_target import AttentionTarget
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.source_kinds import KINDS
from krohn.source_kinds.real_sequences import RealSequences, batch_size, run_network

KNOTS = (16, 32, 64, 128, 256, 512)
FORMS = ("Nearest6", "Nearest6:grid=64", "Gravity10", "Select8")
DTYPES = ("float64", "float32")
SERIES = SineSeries(1.5, 6)


def bump() -> AttentionTarget:
    """A smooth target that is no sum of sines: F and f are curved, ρ has no finite rank."""
    return attention_target(
        rho=lambda u, v: 4 * np.exp(-4 * (u - v) ** 2),
        f=lambda x: x**2,
        F=lambda a: a**3 / 3,
        second_derivatives={"rho": 32, "f": 2, "F": 2},
        name="bump",
    )


def worst(file: ModelFile, inputs: FloatArray) -> float:
    """The largest difference from what is meant."""
    kind = KINDS[file.header["source"]["kind"]]
    assert isinstance(kind, RealSequences)
    source = kind.of_file(file)
    sines = file.header["source"]["name"].startswith("Sine6,1.5")
    found, each = 0.0, batch_size(file, inputs.shape[1])
    for at in range(0, len(inputs), each):
        x = inputs[at : at + each]
        right = (
            SERIES.outputs(x[..., 0])[..., None]
            if sines
            else kind.reference(source).run(x)
        )
        found = max(found, float(np.abs(run_network(file, x) - right).max()))
    return found


def held(target: object, dtype: str, random: int, adversarial: int, seed: int) -> Row:
    """The proved error of a network, and the errors on random and adversarial inputs."""
    file = krohn.compile(target, dtype=dtype).file
    kind = KINDS[file.header["source"]["kind"]]
    assert isinstance(kind, RealSequences)
    source, rng = kind.of_file(file), np.random.default_rng(seed)
    shape = file.header["architecture"]
    bad = kind.adversarial(source, file, adversarial, rng)
    drawn = kind.sample_vectors(source, (random, shape["length"]), rng)
    both = [worst(file, file.precision.round(x)) for x in (drawn, bad)]
    error = file.header["claim"]["error"]
    return {
        "target": file.header["source"]["name"],
        "format": dtype,
        "m_h": shape["d_qk"],
        "proved": f"{error:.2e}",
        "random": f"{both[0]:.2e}",
        "adversarial": f"{both[1]:.2e}",
        "proved/measured": f"{error / max(both):.2f}",
    }


def main() -> None:
    """Print the tables."""
    found = parser(__doc__)
    found.add_argument("--random", type=int, default=10_000, help="random inputs")
    found.add_argument("--adversarial", type=int, default=1000, help="others, at most")
    found.add_argument("--seed", type=int, default=0, help="of random inputs")
    options = found.parse_args()
    told = options.random, options.adversarial, options.seed
    sines = [f"Sine6,1.5:knots={k}" for k in KNOTS]
    cut = [f"Sine6,1.5:knots=128,rank={m}" for m in (1, 2, 4)]
    tables = [
        Table("knots", [held(s, d, *told) for d in DTYPES for s in sines]),
        Table("terms that are cut off", [held(s, "float64", *told) for s in cut]),
        Table("another smooth target", [held(bump(), d, *told) for d in DTYPES]),
        Table("exact forms", [held(s, d, *told) for d in DTYPES for s in FORMS]),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
