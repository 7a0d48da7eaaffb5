"""State dicts that torch wrote (``.pt``, ``.pth``): read without running any code."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError

from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import LARGEST_FILE, is_trained_network
from krohn.program.files import read_bytes

SUFFIXES = (".pt", ".pth")


def is_state_dict(path: object) -> bool:
    """Whether something is the name of a file of torch's; it may hold anything."""
    return isinstance(path, str | Path) and str(path).lower().endswith(SUFFIXES)


def is_trained(path: str | Path) -> bool:
    """Whether a file holds a trained network: a state dict, or one of `krohn compare`."""
    return is_state_dict(path) or is_trained_network(path)


def read(path: str | Path) -> Mapping[str, object]:
    """The tensors of a file by their names.

    Torch's restricted reader takes tensors and plain values only. A module that was
    pickled whole is code of its own, which would run as it is read: it is refused.

    Raises:
        KrohnError: If it cannot be read, or holds something else.
    """
    import torch  # which is not needed to see what a file is called

    data = io.BytesIO(read_bytes(path, LARGEST_FILE))
    if not zipfile.is_zipfile(data):  # as torch.save has written since torch 1.6
        raise KrohnError(f"{path} is no file of torch's, or is damaged")
    data.seek(0)
    try:
        found = torch.load(data, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise KrohnError(
            f"{path} holds more than tensors, such as a module that was saved whole, and "
            "reading it could run any code: save net.state_dict(), or load it in Python "
            "and give Krohn the module"
        ) from None
    except (RuntimeError, ValueError, EOFError, LookupError, TypeError):
        raise KrohnError(f"{path} is no file of torch's, or is damaged") from None
    if not isinstance(found, Mapping):
        raise KrohnError(f"{path} holds a {type(found).__name__}, and no state dict")
    return found
