"""The architectures of networks: what all networks of one architecture have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from krohn.network import ModelFileError
from krohn.program.architecture import Architecture as Declared, Shapes
from krohn.program.errors import told_as
from krohn.program.slices import slice_architectures

if TYPE_CHECKING:
    from krohn.network.meaning.step import Step

# The architectures of networks: what all networks of one architecture have in common.
#
# `krohn.program.architecture` declares their sizes and tensors,
# the module beside it all else. Whoever needs to know how they differ asks
# here, and not for a name.


A = TypeVar("A", bound=Declared)
Architecture = Mapping[str, Any]
"""The object of a header that says which one it is, and its sizes."""
TRANSFORMER = "krohn.network.architectures.transformer"


def _one_layer(declared: Declared) -> Sequence[Mapping[str, Any]]:
    del declared
    return [{"heads": 0, "mlp": []}]


def _nothing(given: Any) -> Any:
    del given
    return {}


@dataclass(frozen=True)
class Kind(Generic[A]):
    """An architecture: what its networks have in common.

    Attributes:
        declared: Its name, its sizes and its tensors.
        title: A network of it, as people call it.
        width_of: How many numbers a network has for each position.
        runtime: The class that runs it, with its module. It takes the architecture and
            the tensors by name; one that says laws takes the file.
        layers_of: For each layer ``heads``, and the hidden widths ``mlp``.
        step_of: What a recurrent one makes of a letter, in operations of an engine.
        sparse_of: Rows and columns of its sparse matrices.
        recurrent: Whether it reads a letter at a time, and words of every length.
        program: Whether its file can state a Program, and a proof starts from that.
        bounded: Whether a recurrent one may be claimed for words up to a length only.
        answers: What the outputs say: the state of the machine or its output; how likely
            each letter is to come next; or real vectors, of inputs that are real vectors.
    """

    declared: type[A]
    title: str
    width_of: Callable[[A], int]
    runtime: str = "krohn.network.recurrent:Stepped"
    layers_of: Callable[[A], Sequence[Mapping[str, Any]]] = _one_layer
    step_of: "Callable[[A], Step] | None" = None
    sparse_of: Callable[[A], Mapping[str, tuple[int, int]]] = _nothing
    recurrent: bool = False
    program: bool = False
    bounded: bool = False
    answers: Literal["classes", "laws", "reals"] = "classes"

    @property
    def called(self) -> str:
        """With its article: an RNN, a GRU, an attention layer."""
        spelled = "AEFHILMNORSX" if self.title.isupper() else "AEIOUaeiou"
        return f"{'an' if self.title[0] in spelled else 'a'} {self.title}"

    @property
    def network(self) -> Callable[..., Any]:
        """Makes the torch module, of what `runtime` takes."""
        module, name = self.runtime.split(":")
        made: Callable[..., Any] = getattr(import_module(module, __package__), name)
        return made

    def sizes(self, architecture: Architecture | Declared) -> A:
        """The sizes that an architecture states.

        Raises:
            ModelFileError: If it is none of this kind.
        """
        if isinstance(architecture, self.declared):
            return architecture
        with told_as(ModelFileError, "is damaged: "):
            return self.declared.of(architecture)

    def shapes(self, architecture: Architecture | Declared) -> Shapes:
        """The shape of every tensor by its name.

        Raises:
            ModelFileError: If the architecture is none of this kind.
        """
        with told_as(ModelFileError, "is damaged: "):
            return self.sizes(architecture).shapes

    def width(self, architecture: Architecture | Declared) -> int:
        """How many numbers a network has for each position."""
        return self.width_of(self.sizes(architecture))

    def step(self, architecture: Architecture | Declared) -> "Step | None":
        """What a network makes of a letter; None if it makes it otherwise."""
        sizes = self.sizes(architecture)
        return None if self.step_of is None else self.step_of(sizes)

    def layers(
        self, architecture: Architecture | Declared
    ) -> Sequence[Mapping[str, Any]]:
        """For each layer ``heads``, and the hidden widths ``mlp``."""
        return self.layers_of(self.sizes(architecture))


KINDS: dict[str, Kind[Any]] = {}
"""The kinds that were imported, by their names on file."""


def declare(kind: Kind[A]) -> Kind[A]:
    """Make an architecture known by its name on file."""
    KINDS[kind.declared.kind] = kind
    return kind


def every_kind() -> Mapping[str, Kind[Any]]:
    """All architectures by their names on file."""
    for module in meanings().values():
        import_module(module)
    return dict(sorted(KINDS.items()))


def meanings() -> Mapping[str, str]:
    """The module that says how networks of an architecture run, by its name on file."""
    brought = {name: each.meaning for name, each in slice_architectures().items()}
    return {**brought, "transformer": TRANSFORMER}


def kind_of(architecture: Architecture | Declared) -> Kind[Any]:
    """The kind of the networks of an architecture.

    Raises:
        ModelFileError: If it is not one that this version knows.
    """
    name: Any
    if isinstance(architecture, Mapping):
        name = architecture.get("kind")
    else:
        name = architecture.kind
    if (kind := kind_named(name)) is None:
        names = ", ".join(map(repr, every_kind()))
        raise ModelFileError(f"has architecture {name!r}; known are {names}")
    return kind


def kind_named(name: Any) -> Kind[Any] | None:
    """The kind of a name on file, of which only the module is imported; None if none."""
    if not isinstance(name, str):
        return None
    if name not in KINDS and name in (known := meanings()):
        import_module(known[name])
    return KINDS.get(name)


def expected_shapes(architecture: Architecture | Declared) -> Shapes:
    """The name and shape of every tensor that an architecture has.

    Raises:
        ModelFileError: If the architecture is not one that this version knows.
    """
    return kind_of(architecture).shapes(architecture)


def sparse_matrices(architecture: Architecture | Declared) -> dict[str, int]:
    """The sparse matrices of an architecture, each with the number of its columns."""
    kind = kind_of(architecture)
    shapes = kind.sparse_of(kind.sizes(architecture))
    return {name: columns for name, (_, columns) in shapes.items()}


INDEX = "I32"
"""How safetensors calls the format of offsets, columns and places."""


def is_index(name: str) -> bool:
    """Whether a tensor of a model file holds places instead of numbers of its format."""
    return name.endswith((".offsets", ".columns", ".places"))


def parameters(architecture: Architecture | Declared) -> int:
    """How many numbers the tensors that run hold, places of entries apart."""
    run = kind_of(architecture).sizes(architecture)
    is_disguised = getattr(run, "disguise", None) is not None
    shapes = expected_shapes(
        replace(run, disguise=None, masks=None) if is_disguised else run
    ).items()
    return sum(prod(shape) for name, shape in shapes if not is_index(name))
