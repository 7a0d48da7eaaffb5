"""The types of what ``krohn explain --json`` prints of sources other than machines."""

from typing import Any, Literal, NotRequired, TypedDict

from krohn.schemas.parts import Dtype, Sizes, Tried

# ``claim`` says what is proved of their networks. ``proved`` is null: the
# network was not tried; where it is absent, the checker has shown the error.


class Attended(TypedDict):
    """Where one layer of attention is enough.

    Attributes:
        m_h: The width of queries and keys.
    """

    name: str
    claim: Literal["within"]
    error: float
    length: int
    construction: str
    m_h: int
    parameters: int
    dtype: Dtype


class AttentionTargetFacts(Attended):
    """The facts of a weighted mean, F(Σ softmax[ρ] f)."""

    kind: Literal["attention-target"]
    inputs: str
    outputs: int
    rank: int
    singular_values: str
    modulus: float
    knots: int
    cut_off: float
    cut_off_at_most: float
    features: int
    alpha: float
    c0: float
    c1: float
    c2: float
    beta: float
    without_bound: float
    bound: dict[str, float | Literal["vacuous"]]
    bound_as_printed: dict[str, float | Literal["vacuous"]]


class SelectedMeanFacts(Attended):
    """The facts of a mean over selected positions."""

    kind: Literal["selected-mean"]
    form: str
    inputs: str
    features: int


class GridFunctionFacts(Attended):
    """The facts of a function on a grid."""

    kind: Literal["grid-function"]
    dimensions: int
    inputs: int
    triple: str
    as_superposition: str
    exact_values: int
    units: tuple[list[int], list[int]]


class TextNetwork(Sizes):
    """A network that writes a text.

    Attributes:
        meeting_flops: Of queries that meet keys.
        width_needed: The least width of any network, by counting; null if none is known.
    """

    attention: Literal["standard", "sparse", "linear"]
    applies: Literal[True]
    meeting_flops: int
    other_flops: int
    width_needed: int | None


class NoTextNetwork(TypedDict):
    """Why there is no network with such attention."""

    attention: Literal["standard", "sparse", "linear"]
    applies: Literal[False]
    why: str


class ChainOfThoughtFacts(TypedDict):
    """The facts of a dynamic program.

    Attributes:
        locality: How far back a step looks, to any token.
        locality_of_numbers: The same, to another number.
        text_bits: log2 of the number of different texts, at least.
        regular: Whether different prompts have different texts; null if that is open.
        one_text: Two prompts of one text.
    """

    name: str
    prompt: int
    tokens: int
    steps: int
    numbers: int
    least: int
    largest: int
    rules: int
    reads: int
    locality: int
    locality_of_numbers: int
    prompts: str
    different_texts: int
    of_prompts: str
    text_bits: float
    regular: bool | None
    one_text: list[str] | None
    lines_that_define_no_cell: NotRequired[list[int]]
    lower_bounds: list[str]
    kind: Literal["chain-of-thought"]
    claim: Literal["exact", "generates"]
    dtype: Dtype
    networks: list[TextNetwork | NoTextNetwork]
    proved: None


class MixingTime(TypedDict):
    """After how many letters the start is forgotten, estimated from samples."""

    letters: int | None
    interval: list[int | None]
    looked_at: int
    samples: int


class Observability(TypedDict):
    """How far apart the laws of so many letters are at least."""

    gamma: float
    steps: int


class Chain(TypedDict):
    """The facts of a hidden Markov model, or of a weighted automaton.

    Attributes:
        beliefs: How many can be reached; null if they are not known to be finitely many.
        forgets_after: Letters; null if a word forgets nothing, or it is open.
        depth_growth: What it means for the depth of networks.
    """

    properties: list[str]
    beliefs: int | None
    forgets_after: int | None
    contraction: float | None
    mixing_time: NotRequired[MixingTime]
    rank: NotRequired[int]
    observability: NotRequired[Observability | None]
    depth_growth: list[str]


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


class LinearSystemFacts(Sizes):
    """A linear system; the facts of a chain, if its letters are stochastic."""

    name: str
    kind: Literal["linear-system"]
    claim: Literal["within"]
    error: float
    length: int | None
    size: int
    letters: int
    properties: NotRequired[list[str]]
    beliefs: NotRequired[int | None]
    forgets_after: NotRequired[int | None]
    contraction: NotRequired[float | None]
    mixing_time: NotRequired[MixingTime]
    rank: NotRequired[int]
    observability: NotRequired[Observability | None]
    depth_growth: NotRequired[list[str]]
    construction: str
    dtype: Dtype
    rnn_width: int
    rnn_error: float


class InContextFacts(TypedDict):
    """A network that learns in context by gradient descent."""

    name: str
    kind: Literal["context-learner"]
    claim: Literal["within"]
    error: float
    letters: str
    demonstrations: str
    history: str
    window: int
    ahead: int
    steps: int
    step_size: float
    length: int
    construction: str
    layers: int
    heads: int
    d_model: int
    parameters: int
    dtype: Dtype


class KernelNetwork(TypedDict):
    """A network of a kernel.

    Attributes:
        within: The error that was asked for; null for the least.
    """

    arch: Literal["rnn", "transformer"]
    within: float | None
    error: float
    width: int
    parameters: int


class NoKernelNetwork(TypedDict):
    """Why there is no such network of a kernel."""

    arch: Literal["rnn", "transformer"]
    within: float | None
    why_not: str


class ErrorByUnits(TypedDict):
    """How near linear RNNs of so many units come to a kernel, in float64.

    Attributes:
        hankel: The first singular value of its Hankel matrix that is left out: no linear
            RNN of so many units has a smaller ``hinf`` or ``l1``.
        l1: Σ|e(s)|, the least found.
        l2: (Σ e(s)²)^½.
        hinf: max |Σ e(s) e^{−iωs}|.
        max: max |e(s)|.
    """

    units: int
    hankel: float
    l1: float
    l2: float
    hinf: float
    max: float


class Kernel(TypedDict):
    """A convolution."""

    name: str
    kind: Literal["kernel"]
    claim: Literal["within"]
    length: int
    inputs: str
    values: int
    modes: int
    largest_eigenvalue: float
    stable: bool
    dtype: Dtype
    units: list[ErrorByUnits]
    networks: list[KernelNetwork | NoKernelNetwork]


class CausalKernelFacts(Kernel):
    """A causal convolution, and how hard it is for linear RNNs."""

    causal: Literal[True]
    c1: float | None
    c2: float | None
    c_rnn: float | None
    rate: str
    decay: float | None
    c_rnn_after_filter_of_5: float | None


class PermutedKernelFacts(Kernel):
    """A convolution of permuted inputs, and the least error of causal networks."""

    causal: Literal[False]
    causal_floor: float
    one_kernel_floor: float


class IncreasingFacts(Sizes):
    """Longest increasing subsequences."""

    name: str
    kind: Literal["increasing"]
    claim: Literal["generates"]
    numbers: str
    tokens: int
    dtype: Dtype
    proved: None


class PosteriorHeadFacts(TypedDict):
    """A posterior head, and which guesses determine the model.

    Attributes:
        letters: If it reads letters.
        coordinates: If it reads points.
    """

    name: str
    kind: Literal["posterior-head"]
    claim: Literal["within"]
    task: str
    size: int
    letters: NotRequired[int]
    coordinates: NotRequired[int]
    prior: list[float]
    identifies: dict[str, str]
    error: float
    construction: str
    slots: int
    parameters: int
    dtype: Dtype


class RewritingFacts(TypedDict):
    """A rewriting system; sizes of the network where its texts have an end, or -T.

    Attributes:
        whole_texts: So many tokens of a text are read at most; null if it is not known
            whether texts end.
        order: Weights of lines, in words, one of which each rule makes smaller, and
            those before that not larger; empty if none were found.
        steps: So many steps there are at most by this order.
    """

    name: str
    kind: Literal["rewriting"]
    claim: Literal["generates"]
    letters: str
    rules: int
    whole_texts: int | None
    rules_that_never_apply: NotRequired[list[int]]
    lines_of_these_rules: NotRequired[list[int]]
    places_read: int
    longest_line: int
    sparse_window: int
    order: list[str]
    steps: int | None
    tokens: int | str
    dtype: Dtype
    depth: NotRequired[int]
    layers: NotRequired[int]
    d_model: NotRequired[int]
    heads: NotRequired[int]
    mlp_width: NotRequired[int]
    parameters: NotRequired[int]
    proved: None


class SequenceFunctionFacts(Sizes):
    """A function of a sequence."""

    name: str
    kind: Literal["program"]
    claim: Literal["exact"]
    letters: str
    outputs: int
    channels: int
    causal: bool
    length: int
    dtype: Dtype
    proved: None


class TextInBlocksFacts(Sizes):
    """A machine whose state is written into the text after each block."""

    name: str
    kind: Literal["text-in-blocks"]
    claim: Literal["generates"]
    states: int
    letters: int
    length: int
    block: int
    passes: int
    tokens: int
    construction: str
    levels: int
    levels_without_writing: int
    dtype: Dtype
    remark: NotRequired[str]
    proved: None


class VectorsInBlocksFacts(TypedDict):
    """A linear system whose vector is written into the text after each block."""

    name: str
    kind: Literal["vectors-in-blocks"]
    claim: Literal["within"]
    error: float
    length: int
    block: int
    passes: int
    tokens: int
    size: int
    construction: str
    depth: int
    layers: int
    d_model: int
    mlp_width: int
    parameters: int
    dtype: Dtype


SOURCES: tuple[Any, ...] = (
    AttentionTargetFacts,
    CausalKernelFacts,
    ChainOfThoughtFacts,
    GridFunctionFacts,
    HiddenMarkovFacts,
    InContextFacts,
    IncreasingFacts,
    LinearSystemFacts,
    PermutedKernelFacts,
    PosteriorHeadFacts,
    RewritingFacts,
    SelectedMeanFacts,
    SequenceFunctionFacts,
    TextInBlocksFacts,
    UncompiledModelFacts,
    VectorsInBlocksFacts,
)
"""Of each kind of source but machines the facts."""
