"""The names that a model file has for letters, states and what its logits stand for."""

from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile, ModelFileError, names


def alphabets(
    file: ModelFile,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names of letters, states and classes, as many as the architecture has.

    Raises:
        ModelFileError: If there are others than the tensors are made for.
    """
    shape = file.header["architecture"]
    if "source" in file.header:
        letters = names(file.header["source"], "letters")
        said = "classes" if "classes" in file.header["source"] else "letters"
        machine = {"letters": letters, "states": names(file.header["source"], said)}
    else:
        machine = file.header["machine"]
    letters, states = (names(machine, key) for key in ("letters", "states"))
    classes = states
    if file.header["claim"].get("shows", "states") != "states":
        classes = names(machine.get("output"), "names")
    tokens = len(letters) + kind_of(shape).marks
    if shape["vocabulary"] != tokens or shape["outputs"] != len(classes):
        raise ModelFileError(
            "is damaged: its machine and its tensors differ in how many letters or states "
            "there are"
        )
    return letters, states, classes
