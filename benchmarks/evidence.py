"""Evidence for every machine of the zoo: finding it, and checking it.

For each network: how long the proof takes, the search for evidence and the check of it;
and how large the evidence is.
"""

import argparse
import json
from time import monotonic

import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import pack
from krohn.network.precision import one_thread
from krohn.program.errors import Refused
from krohn.verify.checker.network import recheck
from krohn.verify.errors import Rejected
from krohn.verify.search.find import find


def measure(job: tuple[str, int, str]) -> Row:
    """The row of one network."""
    torch.set_num_threads(1)
    name, length, how = job
    row: Row = {"machine": name, "T": length}
    try:
        began = monotonic()
        model = krohn.compile(name, length, how)
        row |= {"construction": model.file.header["construction"]}
        assert model.proof is not None
        row |= {"compiled s": monotonic() - began, "proved s": model.proof.seconds}
        data, began = pack(model.file.header, model.file.tensors), monotonic()
        evidence = json.dumps(find(data)).encode()
        row |= {"found s": monotonic() - began, "KiB": len(evidence) / 1024}
    except (KrohnError, Refused, Rejected) as error:
        return row | {"reason": str(error)}
    began = monotonic()
    with one_thread():
        recheck(data, evidence)
    row |= {"checked s": monotonic() - began}
    return row


def main() -> None:
    """Measure, and print the tables."""
    options: argparse.ArgumentParser = parser(__doc__)
    options.add_argument("-T", "--length", type=int, default=100)
    options.add_argument("--only", nargs="+", help="machines of the zoo")
    chosen = options.parse_args()
    names = chosen.only if chosen.only is not None else krohn.zoo()
    jobs = [(name, chosen.length, "auto") for name in names]
    jobs += [("S5", 1024, "scan")] if chosen.only is None else []
    found = list(each(measure, jobs, 1))
    publish([Table("Evidence", found)], chosen)


if __name__ == "__main__":
    main()
