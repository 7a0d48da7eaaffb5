"""Drawing whatever has a picture: machines, monoids, decompositions, networks, sources."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Bbox

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, BudgetExceeded, steps_of
from krohn.algebra.cascade import Cascade
from krohn.algebra.errors import KrohnError
from krohn.algebra.green import green
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.wording import count
from krohn.decomposition import Decomposed, picture
from krohn.drawing import check_suffix, draw_cascade, save
from krohn.drawing.canvas import FAINT, INK, PALETTE, DrawingError, legible
from krohn.drawing.eggbox import draw_eggboxes
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import MODEL, machine_of, with_outputs
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.option_rules import refuse_others
from krohn.program.slices import part
from krohn.source_kinds import of_file, with_kind

# The monoid of a machine as a picture: small enough to be seen.


MOST_ELEMENTS = 200_000


def draw_monoid(machine: Automaton, effort: str | float = "high") -> Figure:
    """The egg-boxes of the transformation monoid of a machine, in the J-order.

    Args:
        machine: Any machine.
        effort: How much work to do: a key of `krohn.algebra.budget.EFFORTS`, or steps.

    Raises:
        BudgetExceeded: If there are more than 200,000 elements or no step remains; the
            message says what to do.
        DrawingError: If there are too many D-classes.
    """
    monoid = _monoid(machine, steps_of(effort))
    green_relations = green(monoid)
    facts = [
        f"transformation monoid of {count(monoid.size, 'element')}",
        count(len(green_relations.d_sizes), "D-class", "es"),
        f"{count(len(machine.states), 'state')}, "
        f"{count(len(machine.letters), 'letter')}",
    ]
    remarks = []
    if not monoid.identity_is_product:
        remarks.append("The identity is no product of letters; it was adjoined.")
    return draw_eggboxes(
        green_relations.egg_boxes(),
        green_relations.covers(),
        machine.name,
        " · ".join(facts),
        remarks,
    )


def _monoid(machine: Automaton, steps: float) -> TransformationMonoid:
    budget = Budget(steps, MOST_ELEMENTS)
    try:
        return TransformationMonoid.enumerate(machine.semiautomaton, budget)
    except BudgetExceeded as error:
        raise BudgetExceeded(
            f"the monoid of {machine.name} is too large for a picture ({error}); raise "
            "--effort if it was stopped, else draw a smaller machine",
            error.found,
        ) from error


# The networks that `krohn explain` compares: their blocks and their parameters.


MOST_BLOCKS = 200
"""Blocks of the deepest network of which the curve of equal products is drawn."""
NEAREST_TICKS = 1.12
"""Ticks of blocks are at least so many times the one before."""
NEAR = 7
"""A label that is farther away, in points, has a line to its point."""
SIDES = tuple(
    (offset, across, up)
    for far in (1, 3, 6)
    for offset, across, up in (
        ((7, 3 * far), "left", "bottom"),
        ((7, -3 * far), "left", "top"),
        ((-7, 3 * far), "right", "bottom"),
        ((-7, -3 * far), "right", "top"),
        ((0, 7 * far), "center", "bottom"),
        ((0, -7 * far), "center", "top"),
    )
)
"""Where a label may stand beside its point, best first: an offset in points, alignments."""


def draw_front(facts: Mapping[str, Any]) -> Figure:
    """The Pareto-optimal networks, by blocks and parameters, with the chosen one.

    The curve joins all sizes with the parameters × layers² of the chosen network. Networks
    below it, if there are any, were not proved, or are hollow: the compromise leaves them
    out.

    Args:
        facts: What `krohn.explain` says of a machine.

    Raises:
        DrawingError: If it is about another source, or nothing applies.
    """
    front = facts.get("front")
    if not front:
        raise DrawingError(
            "there is nothing to draw: -o draws the networks of a machine, if there are any"
        )
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    FigureCanvasAgg(figure)  # which measures labels
    axes = figure.subplots()
    # Labels are placed in this order, each where it covers no other.
    rows = sorted(front, key=lambda row: not row["chosen"])
    for row in rows:
        if row["chosen"]:
            _draw_equal_products(axes, row, [other["layers"] for other in front])
    _draw_points(axes, rows, facts["minimise"])
    # The scale of blocks begins at 0, which the network of a short word may have.
    axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_ticks(_ticks([row["layers"] for row in front]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.2)
    parameters = [row["parameters"] for row in front]
    # The curve leads far below all networks, and is cut off.
    heights = min(parameters) / 3, 4 * max(parameters)
    axes.set(yscale="log", ylim=heights, xlabel="blocks", ylabel="parameters")
    axes.set_title(
        f"Pareto-optimal networks of {legible(facts['name'])}, T = {facts['length']}",
        loc="left",
        color=INK,
    )
    axes.grid(color=FAINT, linewidth=0.4)
    axes.tick_params(colors=INK)
    _place_labels(axes, rows)
    return figure


def _ticks(layers: list[int]) -> list[int]:
    """Numbers of blocks that occur, without those too near to the one before."""
    ticks = list[int]()
    for each in sorted({*layers}):
        if not ticks or each >= NEAREST_TICKS * max(ticks[-1], 1):
            ticks.append(each)
    return ticks


def _draw_equal_products(
    axes: Any, chosen: Mapping[str, Any], layers: list[int]
) -> None:
    """The sizes with the product of the chosen network."""
    product = chosen["parameters"] * chosen["layers"] ** 2
    if not product:
        return
    x = np.linspace(max(1, min(layers)), min(MOST_BLOCKS, max(layers)), 100)
    label = f"parameters × layers² = {product:,}, as of the chosen network"
    axes.plot(x, product / x**2, "--", color=PALETTE[1], linewidth=0.8, label=label)


def _draw_points(axes: Any, rows: list[Mapping[str, Any]], minimise: str) -> None:
    """A point for each network: hollow, if what is minimised leaves it out."""
    from krohn.compiler.constructions.registry import radix_of
    from krohn.compiler.search import COMPROMISE

    label = "only where it is asked for (--construction, --minimise)"
    for row in rows:
        at, chosen = (row["layers"], row["parameters"]), row["chosen"]
        size, colour = (9, PALETTE[1]) if chosen else (6, PALETTE[0])
        if chosen or minimise != COMPROMISE or radix_of(row["name"]) is None:
            axes.plot(*at, "o", color=colour, markersize=size)
        else:
            axes.plot(
                *at, "o", color=colour, markersize=size, fillstyle="none", label=label
            )
            label = ""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, loc="upper right", frameon=False)


def _place_labels(axes: Any, rows: list[Mapping[str, Any]]) -> None:
    """Write the name and depth of each network beside its point, over no other label."""
    renderer = axes.figure.canvas.get_renderer()
    axes.figure.draw(renderer)
    taken = [axes.get_legend().get_window_extent(renderer)] if axes.get_legend() else []
    points = [
        axes.transData.transform((row["layers"], row["parameters"])) for row in rows
    ]
    taken += [Bbox.from_bounds(x - 8, y - 8, 16, 16) for x, y in points]
    frame = axes.get_window_extent(renderer)
    for row in rows:
        text = f"{row['name']}, depth {row['depth']}"
        weight = "bold" if row["chosen"] else "normal"
        label = axes.annotate(
            f"{text}: chosen" if row["chosen"] else text,
            (row["layers"], row["parameters"]),
            textcoords="offset points",
            xytext=(0, 0),
            arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.6},
            fontsize=8,
            fontweight=weight,
        )
        for offset, across, up in SIDES:
            label.set(position=offset, ha=across, va=up)
            label.arrow_patch.set_visible(abs(offset[1]) > NEAR)
            label.update_positions(renderer)
            box = Text.get_window_extent(label, renderer)  # without its line
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            inside &= frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


# Whatever has a picture.


EFFORT = "high"
"""How much a monoid is searched for where nothing is said."""


def draw(
    source: object,
    output: str | Path | None = None,
    *,
    eggbox: bool = False,
    word: str | None = None,
    effort: str | float | None = None,
    **reading: Unpack[MachineKeywords],
) -> Figure | None:
    """A picture, as matplotlib holds it; None if a page is written.

    Args:
        source: A compiled model, a model file or its path: what lies where in the
            network; what `krohn.decompose` returns: the cascade; anything else that
            `krohn.automaton` takes: the machine; a ``circuit.json``, or the directory of
            an export that has one: the circuit; a folder of such directories, as a
            workbench: all circuits; another source, or its name.
        output: Where to write it, too: a name that ends in .svg, .png or .pdf. Of a model
            also .html: a page that runs the network in the browser, on words that are
            typed, and shows variables, attention and the effect of changes.
        eggbox: Draw the D-classes of the machine's monoid instead.
        word: Draw which token attends to which while the text after this prompt is
            written, of a dynamic program; of a generator, the attention on this prefix.
        effort: How much to search for D-classes; ``"high"`` if nothing is said.
        **reading: How a machine is read, by the names in
            `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If it cannot be read or drawn, or the file system refuses.

    Examples:
        >>> len(krohn.draw("C2", "c2.svg").axes)
        1
        >>> krohn.draw(krohn.compile("C2", 8), "network.html")  # a page
    """
    if output is not None:
        check_output(output, _file(source) is not None)
    if effort is not None and not eggbox:
        raise KrohnError("effort= is for eggbox=True only; leave it out")
    if eggbox and word is not None:
        raise _no_word()
    how = MachineReading(**reading)
    if output is not None and is_page(output) and (file := _file(source)) is not None:
        refuse_others(how.reading_options, (), "the page of a network")
        _write_page(file, source, output, word)
        return None
    if eggbox:
        figure = _eggbox(source, effort or EFFORT, how)
    else:
        figure = _figure(source, word, how)
    if output is not None:
        save(figure, output)
    return figure


def is_page(output: str | Path) -> bool:
    """Whether a file is to be a page, by its name."""
    return Path(output).suffix.lower() in (".html", ".htm")


def check_output(output: str | Path, of_network: bool) -> None:
    """Refuse a name that says no format, before anything is drawn.

    Args:
        output: The name.
        of_network: Whether it is for the picture of a network, which may be a page.

    Raises:
        KrohnError: If it does.
    """
    if is_page(output) and not of_network:
        raise KrohnError(
            f"{output}: only a model file is written as a page; `krohn compile` makes one"
        )
    if not is_page(output):
        check_suffix(output)


def _write_page(
    file: ModelFile, source: object, output: str | Path, word: str | None
) -> None:
    if word is not None:
        raise KrohnError("--word is for pictures; on the page words are typed")
    from krohn.page.network_page import write_network_page

    title = Path(source).name if isinstance(source, str | Path) else file.claim.name
    write_network_page(file, title, output)


def circuit_drawer(source: object) -> Callable[[], Figure] | None:
    """What draws a circuit, or several, if the source holds any; else None."""
    circuits = part("circuit picture")
    return None if circuits is None else circuits.drawer_of(source)


def _eggbox(source: object, effort: str | float, reading: MachineReading) -> Figure:
    if _file(source) is not None:
        raise KrohnError("eggbox= needs a machine, not a model")
    return draw_monoid(machine_of(source, reading), effort)


def _figure(source: object, word: str | None, reading: MachineReading) -> Figure:
    if (file := _file(source)) is not None:
        refuse_others(reading.reading_options, (), "the picture of a network")
        return _of_file(file, word)
    if (draw_circuit := circuit_drawer(source)) is not None:
        refuse_others(reading.reading_options, (), "the picture of a circuit")
        if word is not None:
            raise _no_word()
        return draw_circuit()
    if isinstance(source, Decomposed | Cascade):
        refuse_others(reading.reading_options, (), "a cascade")
        if word is not None:
            raise _no_word()
        return (
            picture(source) if isinstance(source, Decomposed) else draw_cascade(source)
        )
    kind, resolved_source = with_kind(source, reading)
    if isinstance(resolved_source, Automaton):
        resolved_source = with_outputs(resolved_source, reading.observe)
    return (
        kind.draw(resolved_source)
        if word is None
        else kind.draw_text(resolved_source, [word])
    )


def _no_word() -> KrohnError:
    return KrohnError("--word is for dynamic programs and generators")


def _file(source: object) -> ModelFile | None:
    """The model file of a source, if it is one."""
    from krohn.loading import file_of  # all constructions

    if (file := file_of(source)) is not None:
        return file
    if isinstance(source, str | Path) and str(source).endswith(MODEL):
        return modelfile.read(source)
    return None


def _of_file(file: ModelFile, word: str | None) -> Figure:
    kind = of_file(file)
    return kind.draw_file(file) if word is None else kind.draw_text(file, [word])
