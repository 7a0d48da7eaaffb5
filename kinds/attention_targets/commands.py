"""Targets of attention in the commands: real sequences in, F of weighted means out."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Literal

import numpy as np

from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.pipeline import Options
from krohn.kinds.attention_targets import (
    source_complexity as complexity,
    source_sampling as sampling,
)
from krohn.kinds.attention_targets.build import (
    POD,
    attention_layer,
)
from krohn.kinds.attention_targets.source_target import (
    AttentionTarget,
    interpolate_rows,
)
from krohn.kinds.attention_targets.statement_target import StatedAttentionTarget
from krohn.network.architecture import parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.wording import at_most
from krohn.source_kinds.base import Built
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import (
    Attended,
    Box,
    RealSequences,
)

MOST_KNOTS = 1024
"""A layer of tents has as many weights as the square of its knots."""
ROWS = 256
"""So many of the worst queries are tried by an adversary."""


class AttentionTargetFacts(Attended):
    """The facts of a weighted mean, F(Σ softmax[ρ] f).

    Attributes:
        inputs: What an input may be.
        outputs: The numbers of an output.
        rank: The rank of the coupling ρ: its singular values above rounding.
        singular_values: The first singular values of ρ.
        modulus: How far ρ may be from its table between the points of it.
        knots: The hidden units of the MLP that computes features.
        cut_off: The root of the sum of squares of the singular values that are left
            out.
        cut_off_at_most: How far scores are off at most because of them.
        features: The features that the embedding computes of an input.
        alpha: α: the rate at which the singular values decay.
        c0: C0: the complexity of F and f (Jiang and Li 2024).
        c1: C1: the complexity of ρ.
        c2: C2: the complexity of the functions of one input.
        beta: β: the rate of approximation by MLPs.
        without_bound: A bound of the total error, whatever the scores are: the range of
            the averaged values, times T.
        bound: A bound of the mean total error, if ρ is cut after 1, 2, 4, … terms.
        bound_as_printed: The same as Theorem 4.1 of Jiang and Li has it, which is not
            proved (erratum A24).
    """

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


class AttentionTargets(RealSequences[AttentionTarget]):
    """Targets by name (``Sine6,1.5``), or of `krohn.attention_target`."""

    wire = StatedAttentionTarget.kind
    facts_types = (AttentionTargetFacts,)
    stated_type = StatedAttentionTarget
    source = AttentionTarget
    of_name = staticmethod(sampling.find_by_name)
    measured = True

    def build(self, source: AttentionTarget, asked: CompileOptions) -> Built:
        """The smallest network within the error that is asked for; else a fine one."""
        if asked.length is not None:
            raise CompileError(
                f"a target says how long its inputs are ({source.length} vectors); "
                "leave -T out"
            )
        if asked.within is None:
            return self._build_layer(source, asked.options, *_finest(source))
        if source.rank is not None and source.knots is not None:
            raise CompileError("--within chooses rank and knots, and both are said")
        return self._within(source, asked.options, asked.within)

    def _within(self, source: AttentionTarget, options: Options, error: float) -> Built:
        """The fewest knots that reach an error, and with them the least rank.

        The size grows with the square of the knots.
        """
        best, all_of = np.inf, source.rank or source.pod.rank
        for knots in [source.knots] if source.knots else _doubling(_most(source)):
            built = self._build_layer(source, options, all_of, knots)
            best = min(best, built[1]["error"])
            if best <= error:
                break
        else:
            raise CompileError(
                f"{source.name} cannot be shown to be within {error:g} in "
                f"{options.precision.name}, only within {at_most(best)}; its tables alone "
                f"can be {source.moduli.rho:.2g} off: say more points"
            )
        for rank in () if source.rank else range(1, all_of):
            tried = self._build_layer(source, options, rank, knots)
            if tried[1]["error"] <= error:
                return tried
        return built

    def _build_layer(
        self, source: AttentionTarget, options: Options, rank: int, knots: int
    ) -> Built:
        network = attention_layer(source, options.precision, rank, knots)
        return self.with_error(source, POD, network, source.length, options)

    def facts(self, source: AttentionTarget, asked: CompileOptions) -> dict[str, Any]:
        """Its singular values, and what its network needs and can be off by."""
        built, claim = self.build(source, asked)
        shape, pod = built.network.architecture, source.pod
        rank, terms = shape["d_qk"], pod.rank
        grid = np.arange(source.points + 1)[:, None] / source.points
        # In L² they are 1, so no supremum is less. Values beyond the rank are rounding.
        norms = np.maximum(pod.sup_norms(terms, grid), 1.0)[:, rank:]
        left_out = pod.sigma[rank:terms]
        tail = left_out * norms[0] * norms[1]
        return {
            "error": claim["error"],
            "length": claim["length"],
            "inputs": "numbers in [0, 1]",
            "outputs": source.f.shape[1],
            "rank": pod.rank,
            "singular_values": " ".join(f"{s:.4g}" for s in pod.sigma[: min(terms, 8)]),
            "modulus": source.moduli.rho,
            "construction": POD,
            "m_h": rank,
            "knots": shape["features_units"][0],
            "cut_off": float(np.linalg.norm(left_out)),
            "cut_off_at_most": float(tail.sum()),
            "features": shape["features"],
            "parameters": parameters(shape),
            **_by_rank(complexity.facts(source)),
        }

    def box(self, source: AttentionTarget) -> Box:
        """One number in [0, 1]."""
        return Box(("x",), np.zeros(1), np.ones(1))

    def reference(self, source: AttentionTarget) -> Reference:
        """The tables, joined by lines, in long doubles."""
        return Reference(source.run, source.rounding)

    def adversarial(
        self,
        source: AttentionTarget,
        file: ModelFile,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """A query whose logits are worst, and keys where they are most too high or low.

        Two keys share the weight, so that it moves as far as their numbers allow.
        """
        grid = np.arange(source.points + 1) / source.points
        apart, true = _logits(source, file, grid)
        spread = apart.max(axis=1) - apart.min(axis=1)
        rows = np.argsort(-spread)[: 4 * ROWS : 4].tolist()
        made = [x for row in rows for x in _worst(source, apart[row], true[row], row)]
        made.sort(key=lambda pair: -pair[0])
        chosen = [x for _, x in made[:count]]
        inputs = np.array(chosen).reshape(len(chosen), source.length, 1)
        return inputs / source.points


def _logits(
    source: AttentionTarget, file: ModelFile, grid: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The difference between ρ̂ and ρ, and ρ, at all pairs of points."""
    t, knots = file.tensors, file.architecture.features_units[0]
    values = interpolate_rows(grid * knots, t["features.2.weight"])
    both = [values @ t[f"attention.{name}"] for name in ("query", "key")]
    true = source.coupling(grid[:, None], grid[:, None])
    return both[0] @ both[1].T - true, true


def _worst(
    source: AttentionTarget, apart: FloatArray, true: FloatArray, row: int
) -> Iterator[tuple[float, FloatArray]]:
    """Inputs, in steps of the grid, of one query that pairs of keys pull apart.

    Each with twice what the mean of two keys moves, of which many may be the same: the
    share of the first is σ of its logit, and tanh(x/2) = 2σ(x) − 1.
    """
    f = source.f[:, 0]
    scale = np.ptp(apart) / max(np.ptp(f), 2.0**-50)
    ends = {
        int(pick(apart + sign * weight * scale * f))
        for weight in (0, 0.25, 1, 4)
        for sign in (1, -1)
        for pick in (np.argmax, np.argmin)
    }
    others, candidates = source.length - 1, []
    for i, j in product(ends, ends) if others > 1 else ():
        gap, moved = true[i] - true[j], apart[i] - apart[j]
        share = int(others / (1 + np.exp(gap + moved / 2)))
        for many in {min(max(n, 1), others - 1) for n in (share, share + 1)}:
            before = np.log(many / (others - many)) + gap
            bad = np.tanh((before + moved) / 2) - np.tanh(before / 2)
            keys = np.array([row, *[i] * many, *[j] * (others - many)])
            candidates.append((float(abs(bad * (f[i] - f[j]))), keys))
    yield from sorted(candidates, key=lambda pair: -pair[0])[:2]


def _finest(source: AttentionTarget) -> tuple[int, int]:
    """Rank and knots where no error is asked for: knots as wide as four of the table."""
    return (
        source.rank or source.pod.rank,
        source.knots or min(max(source.points // 4, 2), MOST_KNOTS // 4),
    )


def _by_rank(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts for several m_h, with names that JSON has, too.

    A bound that is no less than what holds without it says nothing.
    """
    trivial = facts["without_bound"]
    return {
        name: {f"m_h={m}": x if x < trivial else "vacuous" for m, x in fact.items()}
        if isinstance(fact, dict)
        else fact
        for name, fact in facts.items()
    }


def _most(source: AttentionTarget) -> int:
    return min(source.points, MOST_KNOTS)


def _doubling(below: int) -> list[int]:
    return [2**k for k in range(1, below.bit_length())]
