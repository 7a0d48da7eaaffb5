"""What the classes of an export are called: what the machine shows, where it does."""

from dataclasses import dataclass

import numpy as np

from network.alphabets import alphabets
from network.errors import ExportError
from network.modelfile import ModelFile, names


@dataclass(frozen=True)
class Labels:
    """The names of the letters and of the classes of an export.

    Attributes:
        letters: By their indices.
        classes: What each logit stands for. Several states that show the same output
            are several classes of one name.
        states: The states of the machine, if classes are states; else none.
        outputs: Whether the names of the classes are outputs of the machine.
    """

    letters: tuple[str, ...]
    classes: tuple[str, ...]
    states: tuple[str, ...]
    outputs: bool


def labels(file: ModelFile, states: bool = False) -> Labels:
    """The names of a file's letters and classes.

    Args:
        file: A network that says classes, numbers or letters.
        states: Whether classes that are states are called by the names of these, though
            the machine has outputs.

    Raises:
        ExportError: If states are asked for that the network does not say, or are all
            that it has of a machine with outputs on transitions.
        ModelFileError: If the file is damaged.
    """
    letters, its_states, classes = alphabets(file)
    if "source" in file.header:
        if states:
            raise ExportError("--states is for networks of machines; leave it out")
        return Labels(letters, classes, (), False)
    output = file.header["machine"].get("output")
    if file.header["claim"].get("shows", "states") != "states":
        if states:
            raise ExportError(
                "this network says outputs and no states; leave --states out, or compile "
                "it again without --observe"
            )
        return Labels(letters, classes, (), True)
    if output is None and states:
        raise ExportError(
            "its machine has no outputs beside its states; leave --states out"
        )
    if output is None or states:
        return Labels(letters, its_states, its_states, False)
    if output.get("on") != "states":
        raise ExportError(
            "this network says states, and its machine shows outputs on transitions: "
            "compile it again with --observe outputs, or export its states with --states"
        )
    return Labels(letters, _shown(output, len(its_states)), its_states, True)


def _shown(output: dict[str, object], states: int) -> tuple[str, ...]:
    """What each state shows.

    Raises:
        ExportError: If the file is damaged.
    """
    shown, table = names(output, "names"), np.array(output.get("table"))
    fits = table.shape == (states,) and table.dtype.kind == "i"
    if not fits or table.min() < 0 or table.max() >= len(shown):
        raise ExportError("the file is damaged: its machine shows other outputs")
    return tuple(shown[i] for i in table.tolist())
