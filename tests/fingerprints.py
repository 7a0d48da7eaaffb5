"""Digests of the files that Krohn makes of machines, from processes of their own.

`python fingerprints.py LENGTH MACHINE…` prints a JSON object: for each machine the digests
of its model file, of what is explained of it, and of its decomposition.
"""

import hashlib
import json
import sys
from collections.abc import Callable

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compilation import explain
from krohn.decomposition import decompose, describe
from krohn.network.modelfile import pack


def fingerprints(machine: Automaton, length: int) -> dict[str, str]:
    """The digest of each result; of the message where there is none."""
    return {
        "model": _digest(lambda: _model(machine, length)),
        "explanation": _digest(lambda: _json(explain(machine, length))),
        "decomposition": _digest(lambda: _json(describe(decompose(machine)))),
    }


def _digest(made: Callable[[], bytes]) -> str:
    try:
        return hashlib.sha256(made()).hexdigest()
    except KrohnError as error:
        return str(error)


def _model(machine: Automaton, length: int) -> bytes:
    file = krohn.compile(machine, length).file
    return pack(file.header, file.tensors)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def main() -> None:
    """Print the fingerprints of the machines that were named."""
    length, names = int(sys.argv[1]), sys.argv[2:]
    print(json.dumps({n: fingerprints(krohn.read(n), length) for n in names}))


if __name__ == "__main__":
    main()
