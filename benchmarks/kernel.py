"""What the kernel proves, and what it takes beside the rules in Python.

``python benchmarks/kernel.py`` needs the kernel (`make kernel`). Seconds are of CPU: of the
search for evidence, and of the check; ratios are those of one run.
"""

import json
import os
import resource
import shlex
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from report import Row, Table, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import pack
from krohn.network.precision import one_thread
from krohn.program.errors import Refused
from krohn.verify.checker.network import open_model, recheck
from krohn.verify.errors import Rejected
from krohn.verify.kernel.asking import find_kernel
from krohn.verify.kernel.evidence import find_kernel_evidence
from krohn.verify.search.find import find

COPYING = "FlipFlop Memory3 Memory5 FFLTracker2 FFL2 Adder Grid3 abab Dyck1,2 Dyck1,3"
ADDING = "C2 C3 C4 C5 C6 C7 C2xC3 S3 A4 D4 D6 D8 D10 Q8"
OTHERS = (
    "S4 A5 S5 C2xC2xC2 PermReset3 PermReset4 Grid4 Grid9 Dyck4,2 Parity8@2,3,7 "
    "ParityTree2,2 Rubik"
)
NAMES = f"{COPYING} {ADDING} {OTHERS}".split()
PATTERNS = shlex.split(
    "'(a|b)*abb' '.*ab.*' 'a*b*c*' 'a+b+' '(a|b)*c(a|c)*b(b|c)*' '(ab|ba)*' '(ab)*' "
    "'a*' '(a|b)*a' 'a(a|b)*' '(a|b)*a(a|b)' '(aa)*' '(aaa)*' 'a*b' 'ab*' 'a*b*' "
    "'(a|b)*aa' '(a|b)*aba' '(abc)*' '(a|b|c)*abc' 'a(a|b|c)*c' '(ab*)*' '(a*b)*' "
    "'(aa|bb)*' 'b*(ab*ab*)*' '(a|b)*bb' '.*a.*b.*' '(a|b)*a(a|b)(a|b)' 'aab|ab' '(ba|a)*'"
)
NETWORKS = "C2 C3 C5 C7 S3 A4 D4 Q8 D8 FlipFlop Grid4 Grid9 PermReset3 Dyck2,3 S4"
SMALL = "C2 FlipFlop S3 Dyck1,2"
GATED = ("lstm", "gru")
LATCHES, CHOSEN = "FlipFlop Memory5 Dyck4,2 Grid9 Adder FFL2", "C2 C4 D8 Q8 abab"
COUNTERS = "C2 C5 C2xC2 S4 D6 abab"
NARROW = ("bfloat16", "float16")
LONG = ["FlipFlop", "S3", "S5", "C2", "regex:(a|b)*abb"]
LENGTH, MOST_SECONDS = 64, 120


def measured(name: str, **options: Any) -> Row:
    """The kernel and the rules on one network."""
    row: Row = {"machine": name.removeprefix("regex:"), **options}
    try:
        file = krohn.compile(name, **options).file
    except KrohnError as error:
        return {**row, "kernel": f"not compiled: {error}"}
    data = pack(file.header, file.tensors)
    began = time.process_time()
    try:
        with one_thread():
            evidence = find_kernel_evidence(open_model(data))
    except Refused as refused:
        return {**row, "kernel": str(refused), **_by_rules(data)}
    row["search s"] = time.process_time() - began
    row |= _by_kernel(data, evidence) | _by_rules(data)
    if "rules s" in row and "check s" in row:
        row["kernel / rules"] = row["check s"] / max(row["rules s"], 1e-3)
    return row


def _by_kernel(data: bytes, evidence: dict[str, Any]) -> Row:
    kernel = find_kernel()
    if kernel is None:
        raise SystemExit("the kernel is missing; `make kernel` builds it")
    text = json.dumps(evidence, separators=(",", ":"))
    with TemporaryDirectory() as folder:
        model, told = Path(folder, "model"), Path(folder, "evidence")
        model.write_bytes(data)
        told.write_text(text, encoding="utf-8")
        asked = [kernel, model, told]
        quiet = subprocess.DEVNULL
        running = subprocess.Popen(
            asked, stdout=quiet, stderr=quiet, preexec_fn=_limit_seconds
        )
        megabytes = _watch_memory(running.pid)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    words = {0: "proved", 1: "not shown", 2: "cannot decide"}
    return {
        "check s": used.ru_utime + used.ru_stime,
        "MB": megabytes,
        "kB of evidence": len(text) / 1000,
        "kernel": words.get(running.returncode, f"not in {MOST_SECONDS} s"),
    }


def _watch_memory(pid: int) -> float | None:
    """The most memory of a process, as was seen while it ran.

    What `wait4` says of it is that of the process that it was forked from.
    """
    most, ended = None, os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, pid, ended) is None:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        peaks = [line for line in status.splitlines() if line.startswith("VmHWM")]
        if peaks and Path(f"/proc/{pid}/comm").read_text().startswith("krohn"):
            most = int(peaks[0].split()[1]) / 1024
        time.sleep(0.002)
    return most


def _limit_seconds() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))


def _by_rules(data: bytes) -> Row:
    try:
        evidence = find(data)
        text = json.dumps(evidence, sort_keys=True).encode()
        began = time.process_time()
        recheck(data, text)
    except (Refused, Rejected) as refused:
        return {"rules": str(refused)}
    return {"rules s": time.process_time() - began, "rules": "proved"}


def state_space_rows() -> list[Row]:
    """State space models of all forms, in float32 and bfloat16."""
    asked: list[tuple[str, dict[str, Any]]] = [
        *((name, {"construction": "rounding"}) for name in LATCHES.split()),
        *((name, {"construction": "selective"}) for name in CHOSEN.split()),
        *(
            (name, {"construction": "rounding", "length": LENGTH})
            for name in COUNTERS.split()
        ),
        ("FlipFlop", {"construction": "signs", "length": 16}),
    ]
    return [
        measured(name, arch="ssm", dtype=dtype, **options)
        for name, options in asked
        for dtype in ("float32", "bfloat16")
    ]


def main() -> None:
    """Measure and print the tables."""
    options = parser(__doc__).parse_args()
    patterns = [f"regex:{pattern}" for pattern in PATTERNS]
    tables = [
        Table(
            f"Transformers in float32, up to {LENGTH} letters",
            [measured(name, length=LENGTH) for name in NAMES],
        ),
        Table(
            f"Patterns in float32, up to {LENGTH} letters",
            [measured(name, length=LENGTH) for name in patterns],
        ),
        Table(
            "Transformers in 16 bits, up to 16 letters",
            [measured(n, length=16, dtype=d) for n in NAMES for d in NARROW],
        ),
        Table(
            "Long words, in float32",
            [measured(name, length=T) for name in LONG for T in (512, 1024, 4096)],
        ),
        Table(
            "Recurrent networks, words of every length",
            [
                *(measured(name, arch="rnn") for name in NETWORKS.split()),
                *(
                    measured(name, arch=arch)
                    for arch in GATED
                    for name in SMALL.split()
                ),
            ],
        ),
        Table("State space models", state_space_rows()),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
