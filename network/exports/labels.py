"""What the classes of an export are called: what the machine shows, where it does."""

from dataclasses import dataclass

from krohn.network.alphabets import alphabets
from krohn.network.errors import ExportError
from krohn.network.modelfile import ModelFile, names
from krohn.program.errors import Refused
from krohn.program.letter_tokenizer import outputs_of_states


@dataclass(frozen=True)
class Labels:
    """The names of the letters and of the classes of an export.

    Attributes:
        letters: By their indices.
        classes: What each logit stands for. Several states that show the same output
            are several classes of one name.
        states: The states of the machine, if classes are states; else none.
    """

    letters: tuple[str, ...]
    classes: tuple[str, ...]
    states: tuple[str, ...]

    def to_object(self) -> dict[str, tuple[str, ...]]:
        """Its names for JSON, without states where there are none."""
        told = {"letters": self.letters, "classes": self.classes}
        return {**told, "states": self.states} if self.states else told


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
    says_outputs = file.header["claim"].get("shows", "states") != "states"
    if "source" in file.header or says_outputs:
        if states:
            raise ExportError("this network says no states; leave --states out")
        return Labels(letters, classes, ())
    machine = file.header["machine"]
    output = machine.get("output")
    if output is None and states:
        raise ExportError("its machine shows nothing but states; leave --states out")
    if output is None or states:
        return Labels(letters, its_states, its_states)
    try:
        names(output, "names")
        seen = outputs_of_states(machine)
    except (Refused, LookupError, TypeError) as error:
        raise ExportError(f"the file is damaged: {error}") from None
    if seen is None:
        raise ExportError(
            "this network says states, and its machine shows outputs on transitions: "
            "compile it again with --observe outputs, or export its states with --states"
        )
    return Labels(letters, tuple(seen), its_states)
