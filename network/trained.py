"""How a file of a trained network is told from a model file."""

import os
from pathlib import Path

from krohn.network import modelfile
from krohn.program import strict_json

KEY = "krohn-network"
"""What such a file has among its metadata."""


def is_network(path: str | Path) -> bool:
    """Whether a file says of itself that `krohn.compare.models` wrote it after training.

    It may be damaged all the same.
    """
    if not os.path.isfile(path):  # also of a name that no file can have
        return False
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = strict_json.read(file.read(min(length, modelfile.LARGEST_HEADER)))
        return KEY in header["__metadata__"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
