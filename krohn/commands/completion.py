"""The values that a shell completes; nothing is imported before it asks."""

from collections.abc import Callable, Iterable
from glob import glob


def completion(list_values: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """A completion, for typer: the values that begin as what was typed does."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in list_values() if value.startswith(incomplete)]

    return complete


def complete_source(incomplete: str) -> list[str]:
    """Names of sources, and files, that begin as what was typed does."""
    from krohn.algebra import zoo
    from krohn.program.slices import slice_sources, source_examples

    examples = (name for kind in slice_sources() for name in source_examples(kind))
    known = [name for name in (*zoo.names(), *examples) if name.startswith(incomplete)]
    return known + sorted(glob(f"{incomplete}*"))


def list_formats() -> Iterable[str]:
    """The number formats."""
    from krohn.program.claim import FORMATS

    return FORMATS


def list_constructions() -> Iterable[str]:
    """The constructions of machines."""
    from krohn.compiler.constructions.registry import construction_names
    from krohn.program.slices import slice_constructions

    return (*construction_names(), *slice_constructions())


def list_sizes() -> Iterable[str]:
    """What networks may be chosen by."""
    from krohn.compiler.search import SIZES_TO_MINIMISE

    return SIZES_TO_MINIMISE


def list_observations() -> Iterable[str]:
    """What may be seen of a state."""
    from krohn.algebra.observation import OBSERVATIONS

    return ("outputs", *OBSERVATIONS)


def list_architectures() -> Iterable[str]:
    """The architectures of machines."""
    from krohn.option_rules import architectures

    return architectures()


def list_exports() -> Iterable[str]:
    """Where networks may go."""
    from krohn.program.slices import slice_exports

    return slice_exports()


def list_efforts() -> Iterable[str]:
    """How much may be searched, by name."""
    from krohn.algebra.budget import EFFORTS

    return EFFORTS
