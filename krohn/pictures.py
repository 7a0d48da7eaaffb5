"""Drawing whatever has a picture: machines, monoids, decompositions, networks, sources."""

from pathlib import Path

from matplotlib.figure import Figure

from krohn.algebra.cascade import Cascade
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.decomposition import Decomposed, picture
from krohn.drawing import (
    check_suffix,
    draw_cascade,
    save,
)
from krohn.machines import MODEL, machine_of
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.source_kinds import of_file, with_kind

EFFORT = "high"
"""How much a monoid is searched for where nothing is said."""


def draw(
    source: object,
    output: str | Path | None = None,
    *,
    eggbox: bool = False,
    word: str | None = None,
    effort: str | float | None = None,
) -> Figure:
    """A picture, as matplotlib holds it.

    Args:
        source: A compiled model, a model file or its path: what lies where in the
            network; what `krohn.decompose` returns: the cascade; anything else that
            `krohn.automaton` takes: the machine; another source, or its name.
        output: Where to write it, too: a name that ends in .svg, .png or .pdf.
        eggbox: Draw the D-classes of the machine's monoid instead.
        word: Draw which token attends to which while the text after this prompt is
            written, of a dynamic program; of a generator, the attention on this prefix.
        effort: How much to search for D-classes; ``"high"`` if nothing is said.

    Raises:
        KrohnError: If it cannot be read or drawn, or the file system refuses.
    """
    if output is not None:
        check_suffix(output)
    if effort is not None and not eggbox:
        raise KrohnError("effort= is for eggbox=True only; leave it out")
    if eggbox and word is not None:
        raise _no_word()
    figure = _eggbox(source, effort or EFFORT) if eggbox else _figure(source, word)
    if output is not None:
        save(figure, output)
    return figure


def _eggbox(source: object, effort: str | float) -> Figure:
    from krohn.monoid import draw_monoid

    if _file(source) is not None:
        raise KrohnError("eggbox= needs a machine, not a model")
    return draw_monoid(machine_of(source), effort)


def _figure(source: object, word: str | None = None) -> Figure:
    if (file := _file(source)) is not None:
        return _of_file(file, word)
    if isinstance(source, Decomposed | Cascade):
        if word is not None:
            raise _no_word()
        return (
            picture(source) if isinstance(source, Decomposed) else draw_cascade(source)
        )
    kind, found = with_kind(source)
    return kind.draw(found) if word is None else kind.draw_text(found, [word])


def _no_word() -> KrohnError:
    return KrohnError("--word is for dynamic programs and generators")


def _file(source: object) -> ModelFile | None:
    """What a model file holds, if it is one."""
    if isinstance(source, CompiledModel):
        return source.file
    if isinstance(source, str | Path) and str(source).endswith(MODEL):
        return modelfile.read(source)
    return source if isinstance(source, ModelFile) else None


def _of_file(file: ModelFile, word: str | None) -> Figure:
    """What lies where in a network, or what it attends to."""
    kind = of_file(file)
    return kind.draw_file(file) if word is None else kind.draw_text(file, [word])
