"""The networks of a hidden Markov model: one construction after the other, each proved."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite

from krohn.compile_options import CompileOptions
from krohn.compiled_model import Way, as_it_is, choose, reasons
from krohn.compiler import CompileError, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.kinds.hidden_markov import (
    build_attention_products as attention_products,
    build_beliefs as beliefs,
    build_normalised as normalised,
)
from krohn.kinds.hidden_markov.commands_facts import too_slow
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_contexts import (
    ROOM,
    context_machine,
    contexts,
    grow_contexts,
)
from krohn.network.architecture import parameters
from krohn.program.errors import Refused
from krohn.source_kinds.base import Built, ReadableKind
from krohn.verify.checker.established import Established
from krohn.verify.proof import shown_of
from krohn.verify.search.find import MARGIN

TRIES = 4
"""How often a window, or contexts, are made finer."""
NEEDS = "a Transformer of a hidden Markov model needs the longest length"
NO_ERROR = "the last letters decide it up to an error: say which is allowed (--within)"
SLIGHT = 1e-3
"""An error for which no wider format is tried where none is asked for."""


@dataclass(frozen=True)
class Wanted:
    """A network in one of the formats that are tried.

    Attributes:
        kind: The kind of the source.
        source: The model.
        asked: What is asked for.
        options: How to lower it.
        widest: Whether no wider format is tried.
    """

    kind: ReadableKind[HiddenMarkovModel]
    source: HiddenMarkovModel
    asked: CompileOptions
    options: Options
    widest: bool

    @property
    def longest(self) -> int:
        """T of a Transformer."""
        return self.asked.longest(NEEDS)

    def check_network(self, built: CompiledNetwork) -> Established:
        """The facts that the checker shows of a network.

        Raises:
            Refused: If that is no error.
        """
        claim = {"length": self.asked.length, "error": sys.float_info.max}
        file = self.kind.file(self.source, built, claim, self.options)
        return shown_of(file)

    def check_error(self, error: float) -> None:
        """Nothing, if an error is one that a belief may have.

        Raises:
            CompileError: If it is larger.
        """
        if self.asked.within is not None:
            if error > self.asked.within:
                raise CompileError(f"it is off by {error:.2g}")
        elif error > SLIGHT and not self.widest:
            raise CompileError(
                f"it is off by {error:.2g}; where no --within is given, a wider format is "
                f"taken from {SLIGHT:g} on"
            )

    def near_enough(self, built: CompiledNetwork) -> Built:
        """The network with its claim.

        Raises:
            Refused: If there is none.
            CompileError: If its error is larger than it may be.
        """
        shown = self.check_network(built)
        self.check_error(shown.error * MARGIN)
        return self.add_claim(built, shown)

    def add_claim(self, built: CompiledNetwork, shown: Established) -> Built:
        """The network with its claim."""
        model = {}
        if isfinite(shown.model):
            model = {"model_error": shown.model * MARGIN}
        length, error = self.asked.length, shown.error * MARGIN
        return built, {"length": length, "error": error, **model}


def _beliefs(asked: Wanted) -> Built:
    """The best network of finitely many beliefs that can be proved.

    Raises:
        CompileError: If there is none, or its error is larger than it may be.
    """
    networks = beliefs.networks(asked.source, asked.longest, asked.options)
    ways = (Way(b.construction, b.cost, partial(as_it_is, b)) for b in networks)
    choice = choose(ways, asked.near_enough)
    if choice.found is None:
        raise CompileError(f"no network is proved ({reasons(choice.tried)})")
    built, claim = choice.found
    return replace(built, tried=choice.tried), claim


def _recurrent(asked: Wanted) -> Built:
    """The recurrent network of finitely many beliefs, for words of every length.

    Raises:
        CompileError: If there are too many beliefs, or its error is larger than it may be.
        Refused: If it cannot be proved.
    """
    built = beliefs.recurrent(asked.source, asked.options, asked.asked.arch)
    return asked.near_enough(built)


def _contexts(asked: Wanted) -> Built:
    """The recurrent network of contexts that leave so little of the error as it needs.

    Raises:
        CompileError: If there are too many contexts, or the format is too coarse; with the
            least error that was reached.
        Refused: If nothing is proved of one.
    """
    within = asked.asked.within
    if within is None:
        raise Unsuited(NO_ERROR)
    target, nearest = within * ROOM, ""
    for _ in range(TRIES):
        suffixes = grow_contexts(asked.source, target)
        if suffixes.error > target:
            raise Unsuited(nearest or too_slow(asked.source, suffixes))
        machine = context_machine(suffixes, target)
        built = beliefs.context_network(
            asked.source, machine, asked.options, asked.asked.arch
        )
        shown = asked.check_network(built)
        if shown.error * MARGIN <= within:
            return asked.add_claim(built, shown)
        nearest = (
            f"the nearest machine of contexts is off by {shown.error:.3g}: "
            f"{suffixes.description} leave {target:.3g} as the compiler bounds it"
        )
        target *= ROOM * within / shown.error
    raise CompileError(nearest)


def _window(asked: Wanted) -> Built:
    """A window whose contexts leave so much of the error as the network needs.

    Raises:
        CompileError: If there are too many contexts, or the format is too coarse; with the
            least error that was reached.
        Refused: If nothing is proved of one.
    """
    within = asked.asked.within
    if within is None:
        raise Unsuited(NO_ERROR)
    target, beside, model, reached = within, 0.0, 0.0, dict[float, str]()
    for _ in range(TRIES):
        window = contexts(asked.source, target)
        finest = window.error > target
        if reached and finest and window.error + beside > within:
            break  # none is nearer, and what is beside contexts stays about the same
        if window.error > within and not reached:
            raise Unsuited(too_slow(asked.source, window))
        _check_smallest(asked, beliefs.least_parameters(asked.source, window))
        built = beliefs.window_network(
            asked.source, window, asked.longest, asked.options
        )
        assert built.cost is not None
        _check_smallest(asked, built.cost.parameters)
        shown = asked.check_network(built)
        if shown.error * MARGIN <= within:
            return asked.add_claim(built, shown)
        model, beside = shown.model, shown.error - window.error
        rounded = shown.error - model
        reached[shown.error] = (
            f"the nearest window is off by {shown.error:.3g}: {window.description} leave "
            f"{window.error:.3g} as the compiler bounds it, {model:.3g} as the checker "
            f"does in {asked.options.precision.name}; roundings add {rounded:.2g}"
        )
        if finest or rounded >= within:
            break
        target *= 0.95 * within / shown.error
    # Where roundings are not what is too much, a wider format does not help.
    refused = Unsuited if model > within and finest else CompileError
    raise refused(reached[min(reached)])


def _check_smallest(asked: Wanted, needed: int) -> None:
    """Refuse a window where heads that multiply are as near with fewer parameters.

    Args:
        asked: What is asked for; a window by name is not refused.
        needed: Parameters of the window, at least.

    Raises:
        Unsuited: If they are.
    """
    if asked.asked.construction != "auto":
        return
    try:
        other = _by_heads(asked)
        size = parameters(other.network.architecture)
        if size >= needed:
            return
        asked.near_enough(other)
    except (CompileError, Refused):
        return
    raise Unsuited(
        f"it would need {needed:,} parameters or more, and {attention_products.NAME} is as "
        f"near with {size:,}"
    )


def _products(
    network: Callable[[HiddenMarkovModel, int, Options], CompiledNetwork],
    asked: Wanted,
) -> Built:
    """Products of operators.

    Raises:
        CompileError: If the construction does not serve, or the error is larger than it
            may be.
        Refused: If nothing is proved of them.
    """
    return asked.near_enough(network(asked.source, asked.longest, asked.options))


def _attention_products(asked: Wanted) -> Built:
    """The same by heads, as small as the error allows.

    Raises:
        CompileError: As `_products`.
        Refused: As `_products`.
    """
    return asked.near_enough(_by_heads(asked))


def _by_heads(asked: Wanted) -> CompiledNetwork:
    within = asked.asked.within
    arguments = asked.source, asked.longest, asked.options, within
    return attention_products.network(*arguments)


CONSTRUCTIONS: dict[str, Callable[[Wanted], Built]] = {
    beliefs.NAME: _beliefs,
    beliefs.WINDOW: _window,
    normalised.NAME: partial(_products, normalised.normalised_network),
    attention_products.NAME: _attention_products,
}
"""Of Transformers, by the order in which they are tried."""
RECURRENT: dict[str, Callable[[Wanted], Built]] = {
    beliefs.NAME: _recurrent,
    beliefs.CONTEXTS: _contexts,
}
"""The same of recurrent networks."""
