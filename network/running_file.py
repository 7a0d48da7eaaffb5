"""The model file of a network as it runs now, with whatever became of its numbers."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from types import FunctionType, MethodType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.modules import module as of_torch

from krohn.network import ModelFileError
from krohn.network.architecture import is_index, kind_of, sparse_matrices
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.sparse import Sparse

HOOKS = tuple(name for name in vars(nn.Module()) if "hook" in name)
"""The attributes of a module that hold its hooks, of every kind that torch has."""
CALLED = ("_global_forward_hooks", "_global_forward_pre_hooks")
"""Hooks of torch on the forward passes of all modules."""
FLAT = ("_flat_weights", "_flat_weight_refs")
"""Attributes by which recurrent layers of torch hold their parameters once more."""
APART = {"_parameters", "_modules", "training", *HOOKS, *FLAT}
"""Attributes that are compared apart, or that the forward passes here do not read."""


def torch_tensors(file: ModelFile) -> dict[str, Tensor]:
    """Copies of the tensors of a file, in its number format: no memory is shared."""
    dtype = getattr(torch, file.precision.name)
    return {
        name: torch.tensor(array, dtype=torch.int64 if is_index(name) else dtype)
        for name, array in file.tensors.items()
    }


def plain_network(file: ModelFile) -> nn.Module:
    """The network of a file as a plain torch module, which takes tensors.

    Raises:
        ModelFileError: If its header is damaged.
    """
    stated = file.header["architecture"]
    kind = kind_of(stated)
    takes = (file,) if kind.answers == "laws" else (stated, torch_tensors(file))
    return cast("nn.Module", kind.network(*takes)).requires_grad_(False).eval()


def run_on(network: nn.Module, inputs: npt.NDArray[Any]) -> FloatArray:
    """The outputs of a network for tokens or vectors, where and as it runs."""
    like = next(network.parameters())
    given = torch.from_numpy(inputs).to(like.device)
    if given.is_floating_point():
        given = given.to(like.dtype)
    with torch.no_grad():
        outputs: FloatArray = network(given).double().cpu().numpy()
    return outputs


def running_file(file: ModelFile, network: nn.Module, twin: nn.Module) -> ModelFile:
    """The file of the numbers that a network runs now.

    Args:
        file: What it was opened from.
        network: The network, or a module that holds it.
        twin: The same, opened from the file anew.

    Returns:
        ``file`` while the numbers are its own. Another one else: it makes the same claim,
        of which nothing is proved.

    Raises:
        ModelFileError: If no file says what the network does now: it was changed
            otherwise than in its numbers, or they are not finite.
    """
    if other := difference(network, twin):
        raise ModelFileError(
            f"the network was changed since it was opened: {other}; a proof is about the "
            "tensors of a file"
        )
    now = [parameter.detach().cpu() for parameter in _parameters(network)]
    if all(map(torch.equal, now, _parameters(twin))):
        return file
    if not all(bool(numbers.isfinite().all()) for numbers in now):
        raise ModelFileError(
            "the network was changed since it was opened: it has numbers that are not "
            "finite"
        )
    header = {**file.header, "evidence": None}
    candidate = ModelFile(header, _collect_tensors(file, now), file.precision)
    if not all(map(torch.equal, now, _parameters(plain_network(candidate)))):
        raise ModelFileError("no file holds the numbers that the network has now")
    for name, columns in sparse_matrices(file.architecture).items():
        if problem := Sparse.from_tensors(candidate.tensors, name, columns).problem():
            raise ModelFileError(
                "the network was changed since it was opened: the matrix "
                f"{name!r} has {problem}"
            )
    return candidate


def _parameters(network: nn.Module) -> list[nn.Parameter]:
    named = network.named_parameters(remove_duplicate=False)
    return [parameter for _, parameter in named]


def _collect_tensors(file: ModelFile, now: Sequence[Tensor]) -> dict[str, FloatArray]:
    """The tensors of a file with the numbers of the parameters of its network.

    A network that is made of tensors that number their entries says where these went.
    """
    numbered, count = dict[str, FloatArray](), 0
    for name, array in file.tensors.items():
        numbered[name] = array
        if not is_index(name):
            numbered[name] = np.arange(count, count + array.size, dtype=np.float64)
            numbered[name] = numbered[name].reshape(array.shape)
            count += array.size
    wide = ModelFile(file.header, numbered, PRECISIONS["float64"])
    own = [t for name, t in file.tensors.items() if not is_index(name)]
    flat = np.concatenate([tensor.reshape(-1) for tensor in own])
    for places, numbers in zip(_parameters(plain_network(wide)), now, strict=True):
        flat[places.detach().long().numpy()] = numbers.double().numpy()
    return {
        name: array.copy() if is_index(name) else flat[numbered[name].astype(np.int64)]
        for name, array in file.tensors.items()
    }


# What differs beside the numbers.


def difference(network: nn.Module, twin: nn.Module) -> str:
    """How a module differs from its twin beside its numbers; nothing if it does not."""
    for name in CALLED:
        if getattr(of_torch, name, None):
            return "torch has hooks on all modules"
    pairs = zip_longest(
        network.named_modules(remove_duplicate=False),
        twin.named_modules(remove_duplicate=False),
        fillvalue=("", None),
    )
    for (name, now), (right, before) in pairs:
        where = f"its part {name or right!r}" if name or right else "it"
        alike = name == right and type(now) is type(before)
        if now is None or before is None or not alike:
            return f"{where} is another module"
        if reason := _difference(now, before):
            return f"{where} {reason}"
    return ""


def _difference(now: nn.Module, before: nn.Module) -> str:
    """The same of one module, without those that it holds."""
    if hidden := beside_parameters(now):
        return hidden
    mine, theirs = vars(now), vars(before)
    for name in sorted((mine.keys() | theirs.keys()) - APART):
        if name not in theirs or not _same(mine.get(name), theirs[name]):
            return f"has another {name!r}"
    own, right = now._parameters, before._parameters
    if list(own) != list(right):
        return "has other parameters"
    for name, parameter in own.items():
        wanted = right[name]
        if parameter is None or wanted is None:
            if parameter is not wanted:
                return "has other parameters"
        elif type(parameter) is not type(wanted) or parameter.shape != wanted.shape:
            return f"has another parameter {name!r}"
        elif parameter.dtype != wanted.dtype:
            formats = (str(x.dtype).removeprefix("torch.") for x in (parameter, wanted))
            return "runs in {}, and its file is about {}".format(*formats)
    return ""


def beside_parameters(module: nn.Module) -> str:
    """What of torch's own makes a module run something else than its parameters."""
    if any(getattr(module, name) for name in HOOKS):
        return "has hooks"
    if isinstance(module, nn.RNNBase):
        own, flat = module._parameters, module._flat_weights
        other = [*map(id, own.values())] != [*map(id, flat)]
        if other or module._flat_weights_names != list(own):
            return "runs other tensors than its parameters"
    return ""


def _same(one: Any, other: Any) -> bool:
    """Whether two values are alike, whatever they hold."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Tensor):
        return one.dtype == other.dtype and torch.equal(one.cpu(), other.cpu())
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, partial):
        parts = ((x.func, x.args, x.keywords) for x in (one, other))
        return _same(next(parts), next(parts))
    if isinstance(one, FunctionType | MethodType) or not hasattr(one, "__dict__"):
        return bool(one == other)
    return _same(vars(one), vars(other))
