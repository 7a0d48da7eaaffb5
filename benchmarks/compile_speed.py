"""How long compiling and proving take, apart: CPU seconds, medians of three runs.

With ``--profile N`` the N slowest are run once more under cProfile.
"""

import cProfile
import io
import pstats
import sys
from dataclasses import dataclass
from statistics import median
from time import process_time

from report import Row, Table, each, parser, publish

import krohn
from krohn.compiled_model import CompiledModel
from krohn.verify.proof import prove

CASES = (
    *(("C2", 100, "counter"), ("C8", 100, "counter"), ("FlipFlop", 1024, "memory")),
    *(("Grid9", 100, "scan"), ("Grid9", 1024, "scan"), ("S5", 100, "scan")),
    *(("S5", 1024, "scan"), ("Dyck4,2", 100, "scan"), ("PermReset4", 100, "scan")),
    *(("Rubik", 100, "scan"), ("S5", 0, "elman")),
)
RUNS = 3


@dataclass(frozen=True)
class Job:
    """A model to time; length 0 asks for an RNN."""

    machine: str
    length: int
    construction: str


def compiled(job: Job) -> CompiledModel:
    """The model without a proof."""
    if not job.length:
        return krohn.compile(job.machine, arch="rnn", proof=False)
    return krohn.compile(job.machine, job.length, job.construction, proof=False)


def measure(job: Job) -> Row:
    """The row of one model; the machine is made before the clock runs."""
    machine = krohn.zoo(job.machine)
    model = compiled(job)
    compiling, proving = [], []
    for _ in range(RUNS):
        began = process_time()
        model = compiled(job)
        done = process_time()
        proof = prove(model.file, machine)
        compiling.append(done - began)
        proving.append(process_time() - done)
    return {
        "machine": job.machine,
        "construction": job.construction,
        "T": job.length or None,
        "parameters": model.summary()["parameters"],
        "compile s": median(compiling),
        "proof s": median(proving),
        "verdict": proof.verdict,
    }


def profile(job: Job, lines: int = 25) -> str:
    """Where the time goes, by time spent in the functions themselves and below."""
    profiler = cProfile.Profile()
    profiler.enable()
    prove(compiled(job).file, krohn.zoo(job.machine))
    profiler.disable()
    text = io.StringIO()
    stats = pstats.Stats(profiler, stream=text).strip_dirs()
    stats.sort_stats("tottime").print_stats(lines)
    stats.sort_stats("cumtime").print_stats(2 * lines)
    return f"{job}\n{text.getvalue()}"


def main() -> None:
    """Time all cases, print the table, and profile the slowest."""
    found = parser(__doc__)
    found.add_argument("--profile", type=int, default=0, metavar="N")
    options = found.parse_args()
    jobs = [Job(*case) for case in CASES]
    rows = each(measure, jobs)
    publish([Table("seconds to compile and to prove, float32", rows)], options)
    slowest = sorted(
        zip(jobs, rows, strict=True), key=lambda p: -p[1]["compile s"] - p[1]["proof s"]
    )
    for job, _ in slowest[: options.profile]:
        print(profile(job), file=sys.stderr)


if __name__ == "__main__":
    main()
