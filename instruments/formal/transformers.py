"""Transformers as terms of Coq, with how Coq's checker follows what they compute."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from krohn.instruments.formal.coq import (
    TRANSFORMERS,
    Development,
    integers,
    machine_term,
)
from krohn.instruments.formal.programs import (
    ProgramTerms,
    invariant_of,
    write_development,
)
from krohn.instruments.formal.recurrent_networks import (
    ARITHMETIC,
    finest,
    spread,
)
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, demand
from krohn.program.statement import Statement
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.transformer import read_program

GRAIN = 40
"""Coq's checker has bounds in units of 2^-GRAIN."""
HEADS = ("shift", "latest", "latest-match", "earliest", "prefix-sum")
"""The operations of heads that its theorems about attention are about."""
LONGEST = 128
"""It looks at all triples of positions, which takes 20 s for so many."""
MOST_WORK = 2**20
"""How often units are looked at, for all dimensions; each time takes about 50 µs."""
NETWORK = """\
Definition network_of_file : transformer := {{|
  width := {width}%nat; answers := {answers}%nat;
  embed_token := tensor_of {embed_token};
  embed_position := tensor_of {embed_position};
  blocks := map block_of {blocks};
  unembed := tensor_of {unembed};
  answer_bias := tensor_of {answer_bias} |}}.
"""
TRANSFORMER = """\
(** A Transformer computes a machine, in floating point, for words up to a length.

    Written by Krohn. `make` proves it; Krohn's docs/instruments/formal.md says what it
    means. *)
From Coq Require Import ZArith List.
From Krohn Require Import {library}.
Import ListNotations.
Open Scope Z_scope.

{machine}
{network}
Open Scope nat_scope.

Definition program_of_file : program := [
  {operations}].

Definition outputs_of_file : list nat := {outputs}.

Definition decode_of_file : list (list nat * nat) := [{decode}].

{invariant}
Definition layout : evidence := {layout}.

Theorem network_correct :
  Transformer.correct {arithmetic} network_of_file machine_of_file {length}.
Proof.
  apply (TransformerSound.check_sound _ _ _ _
    program_of_file outputs_of_file decode_of_file layout).
  - apply (InvariantSound.check_sound _ _ _ invariant). vm_cast_no_check (eq_refl true).
  - vm_cast_no_check (eq_refl true).
Qed.

Print Assumptions network_correct.
"""


def has_theorem(model: Model) -> bool:
    """Whether Coq's checker has a theorem for all that the network does."""
    channels, blocks = model.program["channels"], model.network(Transformer).blocks
    plain = all(b == Block(b.heads, b.d_qk, b.d_v, b.mlp) for b in blocks)
    heads = [c for c in channels if "head" in c]
    return (
        plain
        and model.disguise is None
        and (model.length or 0) <= LONGEST
        and model.format.name in ("float32", "float64")
        and all(c["op"] in HEADS for c in heads)
        and all(c.get("code", "integer") in ("integer", "one-hot") for c in channels)
    )


def transformer(model: Model) -> Development:
    """The tensors of a Transformer compute its machine, to the length of its claim.

    If a score leads by too little, or too many values would be looked at, only its
    Program does.

    Raises:
        Refused: If its Program has no invariant that Coq's checker can follow.
    """
    part = invariant_of(model)
    terms = ProgramTerms(model, part, position=True)
    try:
        layout = Layout(model, terms).term
    except Refused:
        return write_development(model, part)
    length = model.length
    text = TRANSFORMER.format(
        library=" ".join(TRANSFORMERS),
        machine=machine_term(model.machine),
        network=network_term(model),
        operations=terms.operations,
        decode=terms.decode,
        invariant=terms.invariant,
        layout=layout,
        arithmetic=ARITHMETIC[model.format.name],
        length=length,
        outputs=terms.outputs,
    )
    says = (
        f"at every position of every word of up to {length} letters the logit of what "
        f"the machine shows is above all others, in {model.format.name}, in whatever "
        "order sums are made"
    )
    return Development(text, TRANSFORMERS, says)


def network_term(model: Model) -> str:
    """The tensors of a Transformer, as a definition."""
    t, shape = model.tensors, model.network(Transformer)
    return NETWORK.format(
        width=shape.d_model,
        answers=shape.outputs,
        embed_token=numbers(t["embed.token"]),
        embed_position=numbers(t["embed.position"]),
        blocks="[" + ";\n  ".join(_blocks(model)) + "]",
        unembed=numbers(t["unembed.weight"]),
        answer_bias=numbers(t["unembed.bias"][None]),
    )


def numbers(tensor: FloatArray) -> str:
    """A matrix as its unit and its rows."""
    unit = finest(tensor)
    return f"({-unit},[" + ";\n  ".join(spread(row, unit) for row in tensor) + "])"


def _blocks(model: Model) -> Iterable[str]:
    t, shape = model.tensors, model.network(Transformer)
    for b, block in enumerate(shape.blocks):
        at = f"blocks.{b}."
        heads, layers = [], []
        for h in range(block.heads):
            names = ("query", "key", "value", "out")
            four = (numbers(t[f"{at}attention.{name}"][h]) for name in names)
            heads.append("(" + ",\n  ".join(four) + ")")
        for j in range(len(block.mlp) + 1 if block.mlp else 0):
            weight, bias = t[f"{at}mlp.{j}.weight"], t[f"{at}mlp.{j}.bias"]
            layers.append(f"({len(bias)},{numbers(weight)},\n  {numbers(bias[None])})")
        mask = t.get(f"{at}mlp.residual", np.ones(shape.d_model))
        whole = (mask == 0) | (mask == 1)
        demand(whole, "a residual mask has other entries than 0 and 1")
        sizes = f"{block.d_qk},{block.d_v}"
        yield (
            f"([{';'.join(heads)}],{sizes},[{';'.join(layers)}],"
            f"{integers(map(int, mask))})"
        )


class Lives(NamedTuple):
    """A channel that dimensions hold: from which snapshot on, and the first of them."""

    channel: str
    born: int
    start: int
    code: str


class Scores(NamedTuple):
    """The scores of a head at a position t where channels have the values of a case.

    `at`, `cases` and `values` are the position of each key, the values of channels there,
    and the score.
    """

    t: int
    case: dict[str | None, int]
    at: IntArray
    cases: list[dict[str | None, int]]
    values: FloatArray


class Layout:
    """Which channel each dimension holds, and how far the scores of heads lead.

    None of it is trusted: Coq's checker bounds every number of the network by it.
    """

    def __init__(self, model: Model, terms: ProgramTerms) -> None:
        self._model, self._terms = model, terms
        self._tensors = model.tensors
        self._program: Statement = read_program(model, len(model.machine.transitions))
        self._channels = {c["name"]: c for c in model.program["channels"]}
        (self._token,) = (
            name for name, c in self._channels.items() if c["op"] == "token"
        )
        self._length = model.length or 0
        self._work = 0.0

    @cached_property
    def term(self) -> str:
        """The evidence for Coq's checker."""
        blocks = self._model.network(Transformer).blocks
        steps = [self._step(b, block) for b, block in enumerate(blocks)]
        last = 2 * len(blocks)
        outputs = self._origins(self._model.program["outputs"], last)
        return (
            f"{{|\n  grain := {GRAIN}%Z; token_channel := {self._place(self._token)};\n"
            f"  position_channel := {self._place(None)};\n"
            f"  at_first := {self._places(0)};\n  steps := [{';'.join(steps)}];\n"
            f"  read_out := {self._all(outputs)} |}}"
        )

    def _place(self, name: str | None) -> int:
        """The number of a channel; None is the position."""
        return len(self._channels) if name is None else self._terms.place[name]

    def _all(self, names: Iterable[str | None]) -> str:
        return integers(map(self._place, names))

    def _find_channel(self, snapshot: int, dim: int) -> Lives | None:
        """The channel that was last written to a dimension."""
        live = [
            Lives(name, c["snapshots"][0], c["dims"][0], c["code"])
            for name, c in self._channels.items()
            if "dims" in c and c["dims"][0] <= dim < c["dims"][1]
        ]
        return max(
            (x for x in live if x.born <= snapshot),
            key=lambda x: x.born,
            default=None,
        )

    def _is_feature(self, dim: int) -> bool:
        features = self._model.program["features"].values()
        return any(low <= dim < high for low, high in features)

    def _origins(self, names: Sequence[str], snapshot: int) -> list[str | None]:
        """The channels that are there, of which others are maps."""
        there = {
            x.channel
            for dim in range(self._width)
            if (x := self._find_channel(snapshot, dim)) is not None
        } | {self._token}
        origins = list[str | None]()
        for name in names:
            channel = self._channels[name]
            if name in there:
                origins.append(name)
            elif channel["op"] == "position":
                origins.append(None)
            else:
                demand(channel["op"] == "map", f"{name} is not stored where it is read")
                origins += self._origins(channel["inputs"], snapshot)
        return list(dict.fromkeys(origins))

    @property
    def _width(self) -> int:
        return self._model.network(Transformer).d_model

    def _places(self, snapshot: int) -> str:
        """For each dimension what it holds, and of what that is a function."""
        return (
            "["
            + ";\n    ".join(self._of(snapshot, dim) for dim in range(self._width))
            + "]"
        )

    def _of(self, snapshot: int, dim: int) -> str:
        life = self._find_channel(snapshot, dim)
        name = life.channel if life else None
        if not life and not self._is_feature(dim):
            name = self._token
        sources: list[str | None] = [name]
        if life and self._is_computed(life, snapshot):
            inputs = self._channels[life.channel].get("inputs", [life.channel])
            sources = self._origins(inputs, snapshot - 1)
            cases = np.prod([len(self._later(x)) for x in sources], dtype=float)
            self._work += cases * self._units(snapshot)
            demand(self._work <= MOST_WORK, f"{life.channel} reads too many values")
        return (
            f"{{| holds_channel := {self._place(name)}; "
            f"of_channels := {self._all(sources)}; cases := [] |}}"
        )

    def _units(self, snapshot: int) -> int:
        blocks = self._model.network(Transformer).blocks
        return 1 + sum(blocks[snapshot // 2 - 1].mlp) if snapshot else 1

    def _is_computed(self, held: Lives, snapshot: int) -> bool:
        op = self._channels[held.channel]["op"]
        return held.born == snapshot and op in ("map", "position")

    def _later(self, name: str | None) -> list[int]:
        if name is None:
            return list(range(1, self._length + 1))
        return list(map(int, self._program.channels[name].later))

    def _step(self, b: int, block: Block) -> str:
        plans = [self._plan(b, h) for h in range(block.heads)]
        return (
            f"{{|\n  plans := [{';'.join(plans)}];\n"
            f"  after_heads := {self._places(2 * b + 1)};\n"
            f"  after_mlp := {self._places(2 * b + 2)} |}}"
        )

    def _plan(self, b: int, h: int) -> str:
        """How a head fetches."""
        at = f"blocks.{b}.attention."
        query, key, out = (self._tensors[at + x][h] for x in ("query", "key", "out"))
        mine = [
            c
            for c in self._channels.values()
            if c.get("head") == h and c["snapshots"][0] == 2 * b + 1
        ]
        demand(bool(mine), f"the file does not say what head {h} of block {b} fetches")
        first = mine[0]
        fetches = [
            next(
                (c["name"] for c in mine if entry[slice(*c["dims"])].any()),
                first["name"],
            )
            for entry in out
        ]
        asked = [first["query"]] if "query" in first else []
        flags = [first[x] for x in ("where", "key") if x in first]
        asks = self._read(2 * b, query) | dict.fromkeys(asked)
        offers = self._read(2 * b, key) | dict.fromkeys(flags)
        scores = self._scores(b, query, key, list(asks), list(offers))
        lead, most, shares, loose = self._measure_scores(2 * b, first, scores)
        demand(lead >= 2, f"the scores of {first['name']} lead by too little")
        return (
            f"{{| asks := {self._all(asks)}; offers := {self._all(offers)}; "
            f"fetches := {self._all(fetches)}; most := {most * 2**GRAIN}%Z; "
            f"gap := {lead}; shares := {shares}%Z; loose := {loose}%Z |}}"
        )

    def _read(self, snapshot: int, weight: FloatArray) -> dict[str | None, None]:
        channels = dict[str | None, None]()
        for dim in np.flatnonzero(weight.any(axis=1)).tolist():
            life = self._find_channel(snapshot, dim)
            if life or self._is_feature(dim):
                channels[life.channel if life else None] = None
        return channels

    def _vectors(
        self, snapshot: int, weight: FloatArray, names: list[str | None]
    ) -> list[list[tuple[dict[str | None, int], FloatArray]]]:
        """For each position the values of channels and what a head makes of them."""
        rows = []
        for t in range(self._length + 1):
            domains = [
                [t]
                if name is None
                else self._later(name)
                if t
                else [int(self._program.channels[name].bos)]
                for name in names
            ]
            cases = [dict(zip(names, case, strict=True)) for case in product(*domains)]
            rows.append(
                [(case, self._stream(snapshot, t, case) @ weight) for case in cases]
            )
        return rows

    def _stream(
        self, snapshot: int, t: int, case: Mapping[str | None, int]
    ) -> FloatArray:
        """The numbers in all dimensions, without noise; 0 where they are not known."""
        stream = np.zeros(self._width)
        for dim in range(self._width):
            life = self._find_channel(snapshot, dim)
            if life is None and self._is_feature(dim):
                stream[dim] = self._tensors["embed.position"][t, dim]
            elif life is not None and life.channel in case:
                value = case[life.channel]
                one = life.code == "one-hot"
                stream[dim] = value == dim - life.start if one else value
        return stream

    def _scores(
        self,
        b: int,
        query: FloatArray,
        key: FloatArray,
        asks: list[str | None],
        offers: list[str | None],
    ) -> Iterator[Scores]:
        """The scores of each position and all that it may ask for."""
        queries = self._vectors(2 * b, query, asks)
        keys = self._vectors(2 * b, key, offers)
        for t, rows in enumerate(queries):
            seen = [(j, case, v) for j in range(t + 1) for case, v in keys[j]]
            at = np.array([j for j, _, _ in seen])
            cases = [case for _, case, _ in seen]
            vectors = np.array([v for _, _, v in seen])
            for case, vector in rows:
                yield Scores(t, case, at, cases, vectors @ vector)

    def _measure_scores(
        self, snapshot: int, channel: Mapping[str, Any], scores: Iterable[Scores]
    ) -> tuple[int, int, int, int]:
        """The fields gap, most, shares and loose of a plan.

        A score is rounded three times, as query, key and product, and what is read by
        both in each sublayer before, each time by up to 2^-22 of the largest score
        (Bounds.v); weights are off by as much.
        """
        lead, most, shares, off = np.inf, 0.0, 0, 0.0
        if channel["op"] == "prefix-sum":
            highest = self._length * max(self._later(channel["source"]))
            every = len(self._later(channel["name"])) == 1 + highest
            demand(every, f"{channel['name']} does not have all values up to {highest}")
        for row in scores:
            most = max(most, float(np.abs(row.values).max()))
            if channel["op"] == "prefix-sum":
                shares = shares or round(float(np.exp(row.values).sum()))
                share = np.where(row.at == 0, shares - row.t, 1)
                demand(bool((share > 0).all()), "BOS is too light for a sum")
                off = max(off, float(np.abs(np.exp(row.values) / share - 1).max()))
            else:
                lead = min(lead, _lead(channel, row))
        off += (3 + 2 * (1 + snapshot)) * 2.0**-22 * max(most, 1)
        gap = 1000 if np.isinf(lead) else ceil(lead - 1)
        return gap, ceil(most) + 1, shares, ceil(off * 2**64)


def _lead(channel: Mapping[str, Any], row: Scores) -> float:
    """By how much the right score leads at least."""
    lead, first, at = np.inf, channel["op"] == "earliest", row.at
    flag = channel.get("where", channel.get("key"))
    flagged = np.ones(len(at), bool)
    if flag:
        asked = row.case[channel["query"]] if "query" in channel else 1
        flagged = np.array([case[flag] for case in row.cases]) == asked
    right = flagged | ((at == 0) & (first or "query" in channel))
    if not flag:
        right = at == max(row.t - channel["by"], 0)
    for i in np.flatnonzero(right).tolist():
        others = at != at[i]
        if first:
            later = (at[i] > 0) & (at > at[i])
            others &= (at == 0) | later | ~flagged
        elif flag:
            others &= (at < at[i]) | ~flagged
        if others.any():
            lead = min(lead, float(row.values[i] - row.values[others].max()))
    return lead
