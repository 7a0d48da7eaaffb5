"""Hidden Markov models in the commands: networks that say the belief after each letter."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.certification import Made, Way, choose, reasons
from krohn.claimed_answers import Answers
from krohn.compiled_model import rows_of
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.constructions import belief_window, beliefs, normalised_products
from krohn.compiler.errors import CompileError
from krohn.compiler.pipeline import Options
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.wording import at_most
from krohn.progress import Progress
from krohn.source_kinds.base import (
    USUAL,
    How,
    ReadableKind,
    every_word,
    letters_in,
    sizes,
    sizes_of,
)
from krohn.source_kinds.real_outputs import Reference, held, outputs
from krohn.sources import grammars, hidden_markov
from krohn.sources.hidden_markov import HiddenMarkovModel, files
from krohn.verify.checker.hidden_markov import Established
from krohn.verify.checker.linear_system import Established as Products
from krohn.verify.proof import shown_of
from krohn.verify.search.find import MARGIN
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPLAINED, TRIES, SAMPLED = 128, 4, 2000
"""The length that is explained where none is given; how often a window is made finer; how
long words are that are run through a network that is for all lengths."""
LIKELY, SMALL = 8, 5e-5
"""How many entries of a law are printed, and the least of these."""
Compiled = tuple[CompiledNetwork, dict[str, Any]]


class HiddenMarkovModels(ReadableKind[HiddenMarkovModel]):
    """Beliefs, which are multiplied by the operator of each letter and made to sum to 1."""

    wire = hidden_markov.KIND
    source = HiddenMarkovModel
    called = "a hidden Markov model"
    claim = "within"
    takes = frozenset(
        {"strict", "activation", "positions", "construction", "within", "arch"}
    )

    def format(self, how: How = USUAL) -> str:
        """float64 for a network of real numbers; a window asks for less."""
        real = ("auto", normalised_products.NAME)
        exact = how.within is not None or how.arch != "transformer"
        return self.dtype if exact or how.construction not in real else "float64"

    def named(self, text: str) -> HiddenMarkovModel | None:
        """The model of a name or a file; None if it is of none."""
        path = Path(text)
        try:
            found = hidden_markov.named(text) or grammars.model_named(text)
            return files.read(path) if found is None and path.suffix else found
        except Refused as reason:
            raise KrohnError(str(reason)) from None

    def build(
        self,
        source: HiddenMarkovModel,
        length: int | None,
        options: Options,
        how: How = USUAL,
    ) -> Compiled:
        """The network of the first construction that serves, and its error."""
        if how.arch != "transformer":
            return self._recurrent(source, length, options, how)
        if length is None or length < 1:
            raise CompileError(
                "a Transformer of a hidden Markov model needs the longest length it is for "
                "(-T)"
            )
        if how.within is not None and not 0 < how.within < 1:
            raise CompileError(f"--within is between 0 and 1, not {how.within}")
        asked = Asked(self, source, length, options, how.within)
        if how.construction in CONSTRUCTIONS:
            return CONSTRUCTIONS[how.construction](asked)
        if how.construction != "auto":
            known = " or ".join(["auto", *CONSTRUCTIONS])
            raise CompileError(
                f"--construction takes {known}, not {how.construction!r}"
            )
        ways = (
            Way(name, None, partial(construction, asked))
            for name, construction in CONSTRUCTIONS.items()
        )
        choice = choose(ways, _as_it_is)
        if choice.found is None:
            raise CompileError(f"{source.name} has no network: {reasons(choice.tried)}")
        built, claim = choice.found
        return replace(built, tried=(*choice.tried, *built.tried)), claim

    def _recurrent(
        self,
        source: HiddenMarkovModel,
        length: int | None,
        options: Options,
        how: How,
    ) -> Compiled:
        """The RNN of finitely many beliefs, for words of every length."""
        how.made({"rnn": beliefs.NAME})
        if length is not None:
            raise CompileError(
                "-T is for Transformers; an RNN of finitely many beliefs is for words of "
                "every length"
            )
        built = beliefs.recurrent(source, options)
        try:
            claim = self.proved(source, built, {"length": None}, options)
        except Refused as reason:
            raise CompileError(f"the RNN cannot be proved: {reason}") from None
        if how.within is not None and claim["error"] > how.within:
            raise CompileError(f"the belief is off by {claim['error']:.2g}")
        return built, claim

    def explain(
        self,
        source: HiddenMarkovModel,
        length: int | None,
        options: Options,
        how: How = USUAL,
    ) -> dict[str, Any]:
        """What it is; and if its beliefs are finitely many, its network."""
        from krohn.model_facts import facts

        network = self._network(source, length or EXPLAINED, options, how)
        return {
            "name": source.name,
            "kind": self.wire,
            "claim": self.claim,
            "size": source.size,
            "letters": len(source.letters),
            **facts(source, network["construction"], how.within),
            "length": length or EXPLAINED,
            **network,
        }

    def _network(
        self, source: HiddenMarkovModel, length: int, options: Options, how: How
    ) -> dict[str, Any]:
        """What `krohn explain` says of the network; or why there is none."""
        try:
            built, claim = self.build(source, length, options, how)
        except CompileError as reason:
            return {"construction": None, "reason": str(reason)}
        return {
            "error": claim["error"],
            "tried": rows_of(built.tried),
            "construction": built.construction,
            **(sizes(built.cost) if built.cost else sizes_of(built.network)),
            "dtype": options.precision.name,
        }

    def draw(self, source: HiddenMarkovModel) -> "Figure":
        """Its states, and arrows as wide as steps are likely."""
        from krohn.drawing import draw_hidden_markov

        return draw_hidden_markov(source)

    def answers(self, file: ModelFile, words: list[str]) -> Answers:
        """The belief after each letter, and the law of the next one."""
        source = self.of_file(file)
        word = letters_in(words, source.name, source.letters)
        said = outputs(file, word[None])[0]
        laws = source.predict(said)
        possible = np.isfinite(source.filter(word[None])[1][0]).cumprod()
        rows = [
            f"{source.letters[o]}: {_told(source.states, belief)}; then "
            f"{_told(source.letters, law)}"
            if heard
            else f"{source.letters[o]}: never said here, so nothing is claimed"
            for o, belief, law, heard in zip(
                word.tolist(), said, laws, possible, strict=True
            )
        ]
        heard = [bool(each) for each in possible]
        result = {
            "word": [source.letters[o] for o in word.tolist()],
            "outputs": said.tolist(),
            "next": laws.tolist(),
            "possible": heard,
            "shown": "\n".join(rows),
        }
        return Answers(result, range(1, len(word) + 1), heard)

    def sample(
        self, file: ModelFile, count: int, seed: int, progress: Progress
    ) -> Simulation:
        """Run words that the model says, and words of uniform letters, half of each."""
        source = self.of_file(file)
        length = file.header["claim"]["length"] or SAMPLED
        random = np.random.default_rng(seed)
        words = random.integers(len(source.letters), size=(count, length))
        words[: (count + 1) // 2] = source.sample((count + 1) // 2, length, random)[0]
        return held(file, _reference(source), words, progress)

    def every(self, file: ModelFile, length: int, progress: Progress) -> Simulation:
        """Run every word of so many letters; each of its prefixes is a word."""
        source = self.of_file(file)
        words = every_word(len(source.letters), length)
        return replace(held(file, _reference(source), words, progress), every=True)

    def covers(self, file: ModelFile) -> str:
        """What a proof is about, in words."""
        claim = file.header["claim"]
        long = f"up to {claim['length']} letters" if claim["length"] else "every length"
        error = f"every entry of the belief within {at_most(claim['error'])}"
        return f"all possible words of {long}: {error}"


@dataclass(frozen=True)
class Asked:
    """A network that is asked for.

    Attributes:
        kind: The kind of the source.
        source: The model.
        length: T.
        options: How to lower it.
        within: The error that it may have; None if nothing is said of it.
    """

    kind: HiddenMarkovModels
    source: HiddenMarkovModel
    length: int
    options: Options
    within: float | None

    def shown(self, built: CompiledNetwork) -> Established | Products:
        """What the checker shows of a network.

        Raises:
            Refused: If that is no error.
        """
        claim = {"length": self.length, "error": sys.float_info.max}
        file = self.kind.file(self.source, built, claim, self.options)
        found = shown_of(file)
        assert isinstance(found, Established | Products)
        return found

    def near_enough(self, built: CompiledNetwork) -> Compiled:
        """The network with its claim.

        Raises:
            Refused: If there is none.
            CompileError: If its error is larger than it may be.
        """
        shown = self.shown(built)
        if self.within is not None and shown.error * MARGIN > self.within:
            raise CompileError(f"it is off by {shown.error:.2g}")
        return self.claimed(built, shown)

    def claimed(
        self, built: CompiledNetwork, shown: Established | Products
    ) -> Compiled:
        """The network with its claim."""
        model = {}
        if isinstance(shown, Established):
            model = {"model_error": shown.model * MARGIN}
        return built, {"length": self.length, "error": shown.error * MARGIN, **model}


def _as_it_is(made: Made) -> Made:
    return made


def _beliefs(asked: Asked) -> Compiled:
    """The best network of finitely many beliefs that can be proved.

    Raises:
        CompileError: If there is none, or its error is larger than it may be.
    """
    networks = beliefs.networks(asked.source, asked.length, asked.options)
    ways = (Way(b.construction, b.cost, partial(_as_it_is, b)) for b in networks)
    choice = choose(ways, asked.near_enough)
    if choice.found is None:
        name = asked.options.precision.name
        raise CompileError(f"no network is proved in {name} ({reasons(choice.tried)})")
    built, claim = choice.found
    return replace(built, tried=choice.tried), claim


def _window(asked: Asked) -> Compiled:
    """A window that leaves so much of the error as the network needs.

    Raises:
        CompileError: If there are too many contexts, or the format is too coarse.
    """
    within = asked.within
    if within is None:
        raise CompileError(
            "the last letters decide the belief nearly; say how nearly to krohn compile, "
            "as --within 0.01"
        )
    target = within
    for _ in range(TRIES):
        built = belief_window.network(asked.source, asked.length, asked.options, target)
        try:
            shown = asked.shown(built)
        except Refused as reason:
            raise CompileError(f"a window cannot be proved: {reason}") from None
        assert isinstance(shown, Established)
        rounded = shown.error - shown.model
        if shown.error * MARGIN <= within:
            return asked.claimed(built, shown)
        if rounded >= within:
            break
        target *= 0.95 * within / shown.error
    raise CompileError(
        f"the best window in {asked.options.precision.name} is off by "
        f"{shown.error:.2g}, {rounded:.2g} of it beside the contexts; try --dtype float64"
    )


def _normalised(asked: Asked) -> Compiled:
    """Products of operators, normalised in each level.

    Raises:
        CompileError: If an operator has an entry 0, or the error is larger than it may be.
    """
    name = asked.options.precision.name
    wider = "" if name == "float64" else "; try --dtype float64"
    built = normalised_products.network(asked.source, asked.length, asked.options)
    try:
        shown = asked.shown(built)
    except Refused as reason:
        raise CompileError(f"nothing is proved in {name}: {reason}{wider}") from None
    if asked.within is not None and shown.error * MARGIN > asked.within:
        raise CompileError(f"the belief is off by {shown.error:.2g} in {name}{wider}")
    return asked.claimed(built, shown)


CONSTRUCTIONS: dict[str, Callable[[Asked], Compiled]] = {
    beliefs.NAME: _beliefs,
    belief_window.NAME: _window,
    normalised_products.NAME: _normalised,
}
"""By the order in which they are tried."""


def _reference(source: HiddenMarkovModel) -> Reference:
    def run(words: IntArray) -> FloatArray:
        return source.filter(words)[0]

    def rounding(length: int) -> float:
        """Nothing cancels: relative errors add up, and entries are at most 1."""
        return 2 * length * (source.size + 2) * float(np.finfo(np.float64).eps)

    return Reference(source.letters, run, rounding)


def _told(names: tuple[str, ...], law: FloatArray) -> str:
    """The likely ones of a law."""
    most = np.argsort(-law, kind="stable")[:LIKELY]
    return " ".join(f"{names[i]} {law[i]:.4f}" for i in most if law[i] >= SMALL)
