"""Exports of six machines to each place, each on 10,000 adversarial words of 32 letters.

For each: the largest deviation of a logit from that of the Krohn network in the same
format, and how many answers differ from the machine's. A place that cannot hold a network
says why.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import Row, Table, each, parser, publish

import krohn
from krohn.network import ModelFileError
from krohn.network.modelfile import ModelFile

LENGTH = 32
PLACES = ("transformer-lens", "huggingface", "onnx")
EXAMPLES = Path(__file__).parents[1] / "examples"
MACHINES = (
    *("S4", "Grid9", "S5", "Dyck4,2"),
    *(str(EXAMPLES / f"{name}.dot") for name in ("turnstile", "thermostat")),
)


@dataclass(frozen=True)
class Job:
    """A machine, and whether its network is strict."""

    machine: str
    strict: bool


def measure(job: Job) -> Row:
    """The row of one network."""
    model = krohn.compile(job.machine, length=LENGTH, strict=job.strict)
    row: Row = {
        "machine": Path(job.machine).name,
        "form": "strict" if job.strict else "usual",
        "construction": model.construction,
        "parameters": model.summary()["parameters"],
    }
    for place in PLACES:
        with tempfile.TemporaryDirectory() as folder:
            row[place] = deviation(model.file, place, Path(folder) / "out")
    return row


def deviation(file: ModelFile, place: str, directory: Path) -> str:
    """Deviation and words, or that the place cannot hold such a network."""
    try:
        states = "output" in file.header["machine"]
        found = krohn.export(file, to=place, directory=directory, states=states)
    except ModelFileError as error:
        return "needs --strict" if "--strict" in str(error) else str(error)
    assert found.ran.against == "the machine"
    return f"{found.ran.deviation:.3g} ({found.ran.words:,} words, 0 wrong)"


def main() -> None:
    """Export all, and print the table."""
    options = parser(__doc__).parse_args()
    jobs = [Job(machine, strict) for machine in MACHINES for strict in (True, False)]
    title = "largest deviation of a logit, float32, T = 32"
    publish([Table(title, each(measure, jobs))], options)


if __name__ == "__main__":
    main()
