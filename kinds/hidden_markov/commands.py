"""Hidden Markov models in the commands: networks that say the belief after each letter."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NotRequired

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.architectures.recurrent.build import CELLS
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
from krohn.compiler import CompileError
from krohn.kinds.hidden_markov import (
    build_attention_products as attention_products,
    source as hidden_markov,
    source_arrays,
    source_files as files,
    source_weighted,
)
from krohn.kinds.hidden_markov.commands_facts import (
    belief_machine,
    facts,
    recurrent_facts,
    truncation_remark,
)
from krohn.kinds.hidden_markov.commands_machines import as_model
from krohn.kinds.hidden_markov.commands_networks import (
    CONSTRUCTIONS,
    NEEDS,
    RECURRENT,
    TRIES,
    Wanted,
)
from krohn.kinds.hidden_markov.commands_types import Chain
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_contexts import ROOM, grow_contexts
from krohn.kinds.hidden_markov.source_truncation import (
    MOST_SHARE,
    Truncated,
    truncation_to,
    truncations,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.linear_systems.commands_facts import ChainFacts
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.reading import Opened
from krohn.program.domains import IntArray
from krohn.program.slices import families, family_source, find
from krohn.program.word_texts import write_letter
from krohn.program.wording import at_most
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
from krohn.source_kinds.kind import EXPLAINED, Answers, Example, few
from krohn.source_kinds.real_outputs import Reference, outputs, simulate_words
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLED = 2000
"""How long words are that are run through a network that is for all lengths."""
LIKELY, SMALL = 8, 5e-5
"""How many entries of a law are printed, and the least of these."""
LARGEST_ERROR = 0.25
"""The largest error of contexts that a refusal offers."""


class UncompiledModelFacts(Chain):
    """A hidden Markov model that has no network, with the reason.

    Attributes:
        size: Hidden states.
        letters: The symbols that it emits, counted.
        reason: Why there is no network.
    """

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
    """A hidden Markov model, with its network.

    Attributes:
        size: Hidden states.
        letters: The symbols that it emits, counted.
    """

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
    facts_bases = (ChainFacts, Chain)
    stated_type = StatedHiddenMarkov
    source = HiddenMarkovModel
    called = "a hidden Markov model"
    claim = "within"
    instead = "; krohn decompile recovers the model behind it"
    formats = BY_NEED
    explained = EXPLAINED
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
            kind = "network" if asked.arch == "transformer" else "recurrent network"
            raise CompileError(f"{source.name} has no {kind}: {reasons(choice.tried)}")
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
            name = attention_products.NAME
            raise CompileError(f"{refused}; {name} serves no shorter words, either")
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
            errors = larger(asked.within)
            if asked.arch != "transformer":
                errors = _least_error(source, asked.within)
            looser = (replace(asked, within=each) for each in errors)
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
            rnn = replace(asked, arch="rnn", length=None)
            if asked.construction == "auto" and _has_one_form(asked):
                yield iter([Alternative(source, rnn, "--arch rnn and no -T")])

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
        known = CONSTRUCTIONS
        if how.arch == "transformer":
            how.longest(NEEDS)
        else:
            how.choose_construction(dict.fromkeys(CELLS, how.construction))
            known = RECURRENT
            if how.length is not None:
                raise CompileError(
                    "-T is for Transformers; a recurrent network of beliefs is for words "
                    "of every length"
                )
        if how.construction == "auto":
            return known
        if how.construction not in known:
            names = " or ".join(["auto", *known])
            raise CompileError(
                f"--construction takes {names}, not {how.construction!r}"
            )
        return {how.construction: known[how.construction]}

    def describe_source(
        self, source: HiddenMarkovModel, asked: CompileOptions
    ) -> dict[str, Any]:
        """The facts of a hidden Markov model, and its network if there is one."""
        network = self._network(source, asked)
        return {
            "name": source.name,
            "kind": self.wire,
            "claim": self.claim,
            "size": source.size,
            "letters": len(source.letters),
            **facts(source, network["construction"], asked.within),
            "recurrent": recurrent_facts(source, asked.within),
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
        word = letters_in(words, source.letters)
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


def _least_error(source: HiddenMarkovModel, within: float) -> Iterator[float]:
    """The least error of as many contexts as there may be, if it is small."""
    least = float(at_most(grow_contexts(source, within).error / ROOM, 2))
    if within < least <= LARGEST_ERROR:
        yield least


def _has_one_form(asked: CompileOptions) -> bool:
    """Whether nothing is asked for that Transformers alone have."""
    own = CompileOptions()
    names = ("strict", "keep", "activation", "positions")
    return all(getattr(asked, name) == getattr(own, name) for name in names)


def _in_range(source: HiddenMarkovModel, asked: CompileOptions) -> bool:
    """Whether heads may multiply the operators of words of the length asked for."""
    widest = PRECISIONS[asked.formats[-1]]
    return attention_products.is_in_range(source, asked.longest(NEEDS), widest)


def _only_multiplied(asked: CompileOptions) -> CompileOptions:
    """The same by heads that multiply, where these may serve, in the widest format."""
    auto = asked.construction == "auto" and asked.arch == "transformer"
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
