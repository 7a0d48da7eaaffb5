"""Hidden Markov models in the commands: networks that say the belief after each letter."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NotRequired

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiled_model import (
    BY_NEED,
    Way,
    as_it_is,
    by_need,
    choose,
    reasons,
    rows_of,
    there_is,
)
from krohn.compiler import CompileError, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.kinds.hidden_markov import (
    build_attention_products as attention_products,
    build_beliefs as beliefs,
    build_normalised as normalised,
    source as hidden_markov,
    source_arrays,
    source_files as files,
    source_weighted,
)
from krohn.kinds.hidden_markov.commands_facts import (
    belief_machine,
    does_not_forget,
    truncation_remark,
)
from krohn.kinds.hidden_markov.commands_machines import as_model
from krohn.kinds.hidden_markov.commands_types import Chain
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_beliefs import contexts
from krohn.kinds.hidden_markov.source_structure import Structure
from krohn.kinds.hidden_markov.source_truncation import (
    MOST_SHARE,
    Truncated,
    truncation_to,
    truncations,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.reading import Opened
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.slices import families, family_examples, family_source, find
from krohn.program.word_texts import write_letter
from krohn.report import Progress
from krohn.schemas.parts import Dtype, Sizes, Tried
from krohn.source_kinds.base import (
    Built,
    ReadableKind,
    larger,
    letters_in,
    sizes,
    sizes_of,
)
from krohn.source_kinds.kind import Answers, Example, few
from krohn.source_kinds.real_outputs import Reference, outputs, simulate_words
from krohn.verify.checker.established import Established
from krohn.verify.proof import shown_of
from krohn.verify.search.find import MARGIN
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIES, SAMPLED = 4, 2000
"""How often a window is made finer; how long words are that are run through a network that
is for all lengths."""
LIKELY, SMALL = 8, 5e-5
"""How many entries of a law are printed, and the least of these."""
NEEDS = "a Transformer of a hidden Markov model needs the longest length"
SLIGHT = 1e-3
"""An error for which no wider format is tried where none is asked for."""


class UncompiledModelFacts(Chain):
    """A hidden Markov model that has no network, with the reason."""

    name: str
    kind: Literal["hidden-markov"]
    claim: Literal["within"]
    size: int
    letters: int
    length: int | None
    construction: None
    reason: str
    remark: NotRequired[str]


class HiddenMarkovFacts(Chain, Sizes):
    """A hidden Markov model, with its network."""

    name: str
    kind: Literal["hidden-markov"]
    claim: Literal["within"]
    size: int
    letters: int
    length: int | None
    error: float
    tried: list[Tried]
    construction: str
    dtype: Dtype
    remark: NotRequired[str]


class Alternative(NamedTuple):
    """A network that may be there where the one that is asked for is not.

    Attributes:
        source: The model.
        asked: What is asked for.
        option: How it is asked for.
    """

    source: HiddenMarkovModel
    asked: CompileOptions
    option: str


class HiddenMarkovModels(ReadableKind[HiddenMarkovModel]):
    """Beliefs, which are multiplied by the operator of each letter and made to sum to 1."""

    wire = StatedHiddenMarkov.kind
    facts_types = (HiddenMarkovFacts, UncompiledModelFacts)
    stated_type = StatedHiddenMarkov
    examples = hidden_markov.EXAMPLES | family_examples(wire)
    source = HiddenMarkovModel
    called = "a hidden Markov model"
    claim = "within"
    instead = "; krohn decompile recovers the model behind it"
    formats = BY_NEED
    explained = 128
    takes = frozenset(
        {"strict", "keep", "activation", "positions", "construction", "within", "arch"}
    )

    def of_name(self, text: str) -> HiddenMarkovModel | None:
        """The model of a name or a file; None if it is of none."""
        path = Path(text)
        model = hidden_markov.find_by_name(text) or family_source(self.wire, text)
        return files.read(path) if model is None and path.suffix else model

    def take_object(self, source: Any) -> HiddenMarkovModel | None:
        """A model itself, arrays in a dict, or a fitted object of hmmlearn."""
        if self.owns(source):
            return source  # type: ignore[no-any-return]
        return source_weighted.take_automaton(source) or source_arrays.take_arrays(
            source
        )

    def machine(self, source: HiddenMarkovModel) -> Automaton:
        """The machine of its beliefs, if they are finitely many."""
        return belief_machine(source)

    def of_source(self, source: Any, block: int | None = None) -> HiddenMarkovModel:
        """A machine: its letters are chosen, and its beliefs certain."""
        return as_model(source)

    def build(self, source: HiddenMarkovModel, asked: CompileOptions) -> Built:
        """The network of the first construction that serves, and its error."""
        known, formats = self._constructions(asked), asked.formats

        def ways(dtype: str) -> Iterator[Way[Built]]:
            form = replace(asked.options, precision=PRECISIONS[dtype])
            wanted = Wanted(self, source, asked, form, dtype == formats[-1])
            for name, construction in known.items():
                yield Way(name, None, partial(construction, wanted))

        choice = choose(by_need(formats, ways), as_it_is)
        if choice.found is None:
            raise CompileError(f"{source.name} has no network: {reasons(choice.tried)}")
        built, claim = choice.found
        return replace(built, tried=(*choice.tried, *built.tried)), claim

    def make_network(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> tuple[HiddenMarkovModel, str, Built]:
        """The network of the model, or of a truncation that the format can multiply.

        Raises:
            CompileError: If there is none; the message says with what there is one.
        """
        try:
            nearest, remark, built = self._nearest(source, asked)
            return nearest, "; ".join(filter(None, (source.remark, remark))), built
        except CompileError as error:
            refused = error
        each = (self._working(ways) for ways in self._easier(source, asked))
        works = [option for options in each for option in islice(options, 1)]
        if works:
            raise CompileError(f"{refused}{there_is(works)}")
        if self._may_multiply(asked):
            raise CompileError(f"{refused}; there is none for shorter words, either")
        raise refused

    def _nearest(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> tuple[HiddenMarkovModel, str, Built]:
        """The network of the model; else of the fullest truncation that has one.

        Raises:
            CompileError: If there is none.
        """
        try:
            return source, "", self.build(source, asked)
        except CompileError as error:
            refused = error
        if self._may_multiply(asked) and not _in_range(source, asked):
            truncated_models = _truncations(source, asked)
            ranged = (less for less in truncated_models if _in_range(less.model, asked))
            only = replace(asked, construction=attention_products.NAME)
            for less in islice(ranged, TRIES):
                with suppress(CompileError):
                    built = self.build(less.model, only)
                    return less.model, truncation_remark(source, less), built
        raise refused

    def _easier(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> Iterator[Iterator[Alternative]]:
        """What may have a network where this has none: of each option, values in turn."""
        if "float64" not in asked.formats:
            wider = replace(asked, formats=("float64",))
            yield iter([Alternative(source, wider, "--dtype float64")])
        if asked.within is not None:
            looser = (replace(asked, within=each) for each in larger(asked.within))
            yield (
                Alternative(source, each, f"--within {each.within:g}")
                for each in looser
            )
        if self._may_multiply(asked):
            yield self._shorter(source, asked)
            yield (
                Alternative(less, asked, less.name)
                for family in families(self.wire)
                for less in find(family.simpler)(source.name)
            )

    def _working(self, ways: Iterable[Alternative]) -> Iterator[str]:
        """The options of those ways that have a network, in the widest format."""
        for source, asked, option in ways:
            with suppress(CompileError):
                self._nearest(source, _only_multiplied(asked))
                yield option

    def _shorter(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> Iterator[Alternative]:
        """Shorter lengths: the longest one that sizes allow, and half of it."""
        least = [less.model for less in _truncations(source, asked)][-1:]
        most, widest = asked.longest(NEEDS), PRECISIONS[asked.formats[-1]]
        length = max(
            attention_products.longest_length(model, most, widest)
            for model in (source, *least)
        )
        for shorter in (length, length // 2):
            if shorter:
                yield Alternative(
                    source, replace(asked, length=shorter), f"-T {shorter}"
                )

    def _may_multiply(self, asked: CompileOptions) -> bool:
        """Whether heads that multiply operators are among what may be tried."""
        return attention_products.NAME in self._constructions(asked)

    def _constructions(
        self, how: CompileOptions
    ) -> "dict[str, Callable[[Wanted], Built]]":
        """The constructions to try, in this order.

        Raises:
            CompileError: If an option excludes all.
        """
        if how.within is not None and not 0 < how.within < 1:
            raise CompileError(f"--within is between 0 and 1, not {how.within}")
        if how.arch != "transformer":
            how.choose_construction({"rnn": beliefs.NAME})
            if how.length is not None:
                raise CompileError(
                    "-T is for Transformers; an RNN of finitely many beliefs is for words "
                    "of every length"
                )
            return {beliefs.NAME: _recurrent}
        how.longest(NEEDS)
        if how.construction == "auto":
            return CONSTRUCTIONS
        if how.construction not in CONSTRUCTIONS:
            known = " or ".join(["auto", *CONSTRUCTIONS])
            raise CompileError(
                f"--construction takes {known}, not {how.construction!r}"
            )
        return {how.construction: CONSTRUCTIONS[how.construction]}

    def describe_source(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> dict[str, Any]:
        """The facts of a hidden Markov model, and its network if there is one."""
        from krohn.kinds.hidden_markov.commands_facts import facts

        network = self._network(source, asked)
        return {
            "name": source.name,
            "kind": self.wire,
            "claim": self.claim,
            "size": source.size,
            "letters": len(source.letters),
            **facts(source, network["construction"], asked.within),
            "length": asked.length,
            **network,
        }

    def _network(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> dict[str, Any]:
        """The sizes of the network; or the reason why there is none."""
        try:
            _, remark, (built, claim) = self.make_network(source, asked)
        except CompileError as reason:
            known = {"remark": source.remark} if source.remark else {}
            return {**known, "construction": None, "reason": str(reason)}
        return {
            **({"remark": remark} if remark else {}),
            "error": claim["error"],
            "tried": rows_of(built.tried),
            "construction": built.construction,
            **(sizes(built.cost) if built.cost else sizes_of(built.network)),
            "dtype": built.network.architecture["dtype"],
        }

    def claiming(self, file: ModelFile, source: object) -> ModelFile:
        """The file about another model, or about its own where that is left of the other.

        Raises:
            KrohnError: If it is of another kind, or names letters or states otherwise.
        """
        if source is not None:
            whole = self.require_source(source)
            try:
                own = self.of_file(file)
            except KrohnError:  # it states more than a model: the other is the claim
                return super().claiming(file, source)
            length = file.claim.length or 0
            if whole.letters == own.letters and truncation_to(whole, own, length):
                return file
        return super().claiming(file, source)

    def draw(self, source: HiddenMarkovModel) -> "Figure":
        """Its states, and arrows as wide as steps are likely."""
        from krohn.kinds.hidden_markov.draw import draw_hidden_markov

        return draw_hidden_markov(source)

    def draw_file(self, file: ModelFile) -> "Figure":
        """A picture of the variables in the stream, if a Program says where they are."""
        from krohn.drawing import DrawingError

        if not kind_of(file.architecture).recurrent and not file.header["program"]:
            raise DrawingError(
                f"a network by {attention_products.NAME} has no Program, and no picture; "
                "docs/constructions.md says what its dimensions are"
            )
        return super().draw_file(file)

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The belief after each letter, and the law of the next one."""
        source = self.of_file(file)
        word = letters_in(words, source.name, source.letters)
        belief_rows = outputs(file, word[None], network)[0]
        laws = source.predict(belief_rows)
        possible = source.possible(word[None])[0].tolist()
        after = [f"next letter {_likeliest(source.letters, law)}" for law in laws]
        weighed = source.final is not None
        values = source.weights(word, belief_rows) if weighed else np.empty(0)
        never = "no weight from here on" if weighed else "never said here"
        if weighed:
            after = [f"weight {value:.6g}" for value in values]
        rows = [
            f"{write_letter(source.letters[o])}: "
            + (
                f"state {_likeliest(source.states, belief)}; {more}"
                if heard
                else f"{never}, so nothing is claimed"
            )
            for o, belief, more, heard in zip(
                word.tolist(), belief_rows, after, possible, strict=True
            )
        ]
        result = {
            "word": [source.letters[o] for o in word.tolist()],
            "outputs": belief_rows.tolist(),
            "next": laws.tolist(),
            **({"weights": values.tolist()} if weighed else {}),
            "possible": possible,
            "shown": "\n".join(rows),
        }
        return Answers(result, range(1, len(word) + 1), possible)

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> IntArray:
        """Words that the model says, and words of uniform letters, half of each."""
        source = self.of_file(file)
        length = file.claim.length or SAMPLED
        words = rng.integers(len(source.letters), size=(count, length))
        words[: (count + 1) // 2] = source.sample((count + 1) // 2, length, rng)[0]
        return words

    def example(self, file: ModelFile) -> Example:
        """A short word that the model says."""
        words, _ = self.of_file(file).sample(1, few(file), np.random.default_rng(0))
        return Example(words[0].tolist(), 1)

    def simulate_inputs(
        self, file: ModelFile, inputs: IntArray, progress: Progress
    ) -> Simulation:
        """Hold beliefs against those of the filter."""
        source = self.of_file(file)
        return simulate_words(
            file, source.letters, _reference(source), inputs, progress
        )


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

    kind: HiddenMarkovModels
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
    """The RNN of finitely many beliefs, for words of every length.

    Raises:
        CompileError: If there are too many beliefs, or its error is larger than it may be.
        Refused: If it cannot be proved.
    """
    built = beliefs.recurrent(asked.source, asked.options)
    claim = asked.kind.prove_claim(asked.source, built, {"length": None}, asked.options)
    asked.check_error(claim["error"])
    return built, claim


def _window(asked: Wanted) -> Built:
    """A window whose contexts leave so much of the error as the network needs.

    Raises:
        CompileError: If there are too many contexts, or the format is too coarse; with the
            least error that was reached.
        Refused: If nothing is proved of one.
    """
    within = asked.asked.within
    if within is None:
        raise Unsuited(
            "the last letters determine the belief up to an error only, and --within "
            "allows none"
        )
    target, beside, model, reached = within, 0.0, 0.0, dict[float, str]()
    for _ in range(TRIES):
        window = contexts(asked.source, target)
        finest = window.error > target
        if reached and finest and window.error + beside > within:
            break  # none is nearer, and what is beside contexts stays about the same
        if window.error > within and not reached:
            pasts = does_not_forget(Structure(asked.source))
            raise Unsuited(
                f"{asked.source.name} does not forget fast enough: "
                f"{window.description} still "
                f"leave an error of {window.error:.2g}"
                + (f"; {pasts}" if pasts else "")
            )
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
"""By the order in which they are tried."""


def _in_range(source: HiddenMarkovModel, asked: CompileOptions) -> bool:
    """Whether heads may multiply the operators of words of the length asked for."""
    widest = PRECISIONS[asked.formats[-1]]
    return attention_products.is_in_range(source, asked.longest(NEEDS), widest)


def _only_multiplied(asked: CompileOptions) -> CompileOptions:
    """The same by heads that multiply, where these may serve, in the widest format."""
    auto = asked.construction == "auto"
    construction = attention_products.NAME if auto else asked.construction
    return replace(asked, construction=construction, formats=asked.formats[-1:])


def _truncations(
    source: HiddenMarkovModel, asked: CompileOptions
) -> Iterator[Truncated]:
    """Those of which so few words have other beliefs as the error allows."""
    most = min(MOST_SHARE, asked.within or MOST_SHARE)
    return truncations(source, asked.longest(NEEDS), most)


def _reference(source: HiddenMarkovModel) -> Reference:
    def run(words: IntArray) -> FloatArray:
        beliefs = source.filter(words)[0]
        unknown = np.isnan(beliefs) & source.possible(words)[..., None]
        return np.where(unknown, np.inf, beliefs)

    return Reference(run, exactly=source.ratios)


def _likeliest(names: tuple[str, ...], law: FloatArray) -> str:
    """The likeliest names, each apart from its number, as names may be numbers, too."""
    most = np.argsort(-law, kind="stable")[:LIKELY]
    texts = [
        f"{write_letter(names[i])} = {law[i]:.4f}" for i in most if law[i] >= SMALL
    ]
    return ", ".join(texts)
