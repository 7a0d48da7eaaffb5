"""Files of trained networks: run them, and hold them against the machine that is named."""

from pathlib import Path

import safetensors

from algebra.automaton import Automaton
from algebra.errors import KrohnError
from algebra.shown import Shows
from compare.models import load
from compare.models.files import KEY
from krohn.compilation import seen
from verify.black_box import BlackBox, black_box


def is_trained(path: str | Path) -> bool:
    """Whether a file holds a network that `compare.models.save` wrote."""
    try:
        with safetensors.safe_open(path, framework="numpy") as opened:
            return KEY in (opened.metadata() or {})
    except (OSError, safetensors.SafetensorError):
        return False


def open_trained(
    path: str | Path, machine: Automaton | None, observation: str | None
) -> tuple[BlackBox, Automaton]:
    """A trained network, and the machine that it is held against.

    Args:
        path: Its file.
        machine: Its letters and classes by name, which the file does not know.
        observation: What the classes are, as in `krohn.compile`; None for the states.

    Raises:
        KrohnError: If there is no machine, or the file is damaged or of another size.
    """
    if machine is None:
        raise KrohnError(
            f"{path} is a trained network, which knows no machine; name it: --machine M"
        )
    network = load(path)
    wanted, shows = seen(machine, observation), _shows(observation)
    found = black_box(network, wanted, shows, network.longest)
    sizes = network.specification.letters, network.specification.classes
    if sizes != (len(found.letters), len(found.classes)):
        raise KrohnError(
            f"{path} reads {sizes[0]} letters and tells {sizes[1]} classes apart, and of "
            f"{wanted.name} there are {len(found.letters)} and {len(found.classes)}"
        )
    return found, wanted


def _shows(observation: str | None) -> Shows:
    return "states" if observation is None else "outputs"
