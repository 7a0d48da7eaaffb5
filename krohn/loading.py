"""Opening a model file: as a module of torch, or to be run where torch is not installed."""

import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from krohn.algebra.wording import cut
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.option_rules import format_name
from krohn.program.extras import install, name_missing_extra
from krohn.program.quoting import kind_of_value
from krohn.run_result import RunResult, answers_of, inputs_of, parts_of
from krohn.source_kinds import of_file

if TYPE_CHECKING:
    import torch

    from krohn.compiled_model import CompiledModel
    from krohn.open_model import Model


def load(
    path: str | Path,
    device: "str | torch.device | None" = None,
    dtype: object = None,
) -> "Model":
    """Open a model file as a torch module, ready for inference.

    Without torch what is opened only runs words, by numpy (`RunningFile`).

    Args:
        path: The file.
        device: Where it runs; the CPU if nothing is said.
        dtype: The number format it runs in, by name. The proof is about the format of the
            file; in another one nothing is proved, and a warning says so.

    Raises:
        ModelFileError: If the file cannot be read or is damaged, or there is no such
            device or format.

    Examples:
        >>> krohn.compile("C2", 8).save("c2.safetensors")
        >>> krohn.load("c2.safetensors").run("1101")
        ['1', '0', '0', '1']
    """
    if not isinstance(path, str | PathLike):
        opened = "; `.model` of what krohn.compile returns is the open network"
        raise ModelFileError(
            f"krohn.load opens the file of a path, not {kind_of_value(path)}"
            f"{opened * hasattr(path, 'model')}"
        )
    file = modelfile.read(path)
    if find_spec("torch") is None and device is None and dtype is None:
        return cast("Model", RunningFile(file))
    model = _open_model(file, path)
    if dtype is not None:
        import torch

        dtype = format_name(dtype)
        stated = model.file.precision.name
        if dtype != stated:
            warnings.warn(
                f"{path} is stored, and proved if it is, in {stated}; in {dtype} nothing "
                "is proved",
                stacklevel=3,  # past the border of krohn.load
            )
        model.to(getattr(torch, dtype))
    return model if device is None else _to_device(model, device)


def _open_model(file: ModelFile, path: str | Path) -> "Model":
    from krohn.open_model import Model  # torch

    try:
        return Model(file)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None


def _to_device(model: "Model", device: "str | torch.device") -> "Model":
    import torch

    try:
        return model.to(torch.device(device))
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ModelFileError(
            f"cannot run on device {device!s}; name one that torch has here, as cpu or "
            f"cuda ({cut(reason, 80)})"
        ) from None


class RunningFile:
    """A model file that runs words by numpy, and does nothing else without torch.

    Attributes:
        file: The file.
        header: What it states.
    """

    def __init__(self, file: ModelFile) -> None:
        self.file, self.header = file, file.header

    def run(self, word: Any, *, states: bool = False) -> RunResult | list[RunResult]:
        """What `krohn.Model.run` says of the same words.

        Raises:
            KrohnError: As that does, or if only torch runs this network.
        """
        kind = of_file(self.file)
        many, words = inputs_of(
            word, kind_of(self.file.architecture).answers == "reals"
        )
        with name_missing_extra("this network"):
            results = list(kind.runs(self.file)(map(parts_of, words)))
        answers = [RunResult(result, answers_of(result, states)) for result in results]
        return answers if many else answers[0]

    def __getattr__(self, name: str) -> Any:
        """Refuse what only a network in torch has.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(f"{name} of a network needs torch: {install('compile')}")


def file_of(model: object) -> ModelFile | None:
    """The model file of what is none of a path: of an open network, as it runs now.

    Returns:
        A file whose claim is read anew, as its header may have been changed in place; None
        if it is something else.

    Raises:
        ModelFileError: If no file says what the network does now.
    """
    compiling = sys.modules.get("krohn.compiled_model")
    compiled = compiling is not None and isinstance(model, compiling.CompiledModel)
    candidate = cast("CompiledModel", model).file if compiled else model
    if not isinstance(candidate, ModelFile) and "torch" in sys.modules:
        from krohn.network.model import Model, current_file

        candidate = current_file(candidate) if isinstance(candidate, Model) else None
    return replace(candidate) if isinstance(candidate, ModelFile) else None
