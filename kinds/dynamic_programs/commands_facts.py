"""Dynamic programs: their prompts, and what can be said before a network is made."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, isqrt, log2, prod
from typing import Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count
from krohn.kinds.dynamic_programs.build import (
    LOCAL,
    block_size,
)
from krohn.kinds.dynamic_programs.source_assembly import BAR
from krohn.kinds.dynamic_programs.source_memory import (
    collision,
    least_width,
    linear_bits,
    sparse_bits,
)
from krohn.kinds.dynamic_programs.statement import (
    ChainOfThought,
    Step,
)
from krohn.network.precision import Precision
from krohn.program.attention import Sparse
from krohn.program.domains import IntArray
from krohn.program.word_texts import split_letters

# Prompts of dynamic programs, as a person writes them.


def prompt_of(source: ChainOfThought, words: Sequence[str]) -> IntArray:
    """A prompt: tokens with blanks, or letter by letter.

    The sign at the end, where only one token may stand, can be left out.

    Returns:
        ``(tokens,)``.

    Raises:
        KrohnError: If it is no prompt of the source; the message says where.
    """
    index = {name: i for i, name in enumerate(source.tokens)}
    parts, count = " ".join(words).split(), len(source.prompt)
    if BAR in index:
        spaced_parts = [p if p in index else p.replace(BAR, f" {BAR} ") for p in parts]
        parts = " ".join(spaced_parts).split()
    # As many parts as tokens: one that is no token is not a row of single characters.
    names = parts
    if len(parts) not in (count, count - 1):
        names = split_letters(words, index.__contains__, _letters(source))
    low, high = source.prompt[-1]
    end = source.tokens[low]
    if len(names) == count - 1 and low == high:
        names = [*names, end]
    rows = [index.get(name, -1) for name in names]
    for place, (name, token) in enumerate(zip(names, rows, strict=True)):
        low, high = source.prompt[min(place, count - 1)]
        if token < 0 or (place < count and not low <= token <= high):
            stands = _letter_range(source, low, high)
            raise _wrong(source, f"token {place + 1} is {name!r}, not {stands}")
    if len(names) != count:
        reason = f"this has {len(names)} tokens, not {count - 1}"
        raise _wrong(source, f"{reason} (and {end})")
    return np.array(rows, np.int64)


def _letters(source: ChainOfThought) -> set[str]:
    """The letters that may stand somewhere in a prompt."""
    ranges = {range(low, high + 1) for low, high in source.prompt}
    return {source.tokens[token] for tokens in ranges for token in tokens}


def _wrong(source: ChainOfThought, trouble: str) -> KrohnError:
    """An error with the form of a prompt: ``[a-z] × 6 | [a-z] × 7 <sep>``."""
    parts = []
    for (low, high), run in groupby(source.prompt):
        count = len(list(run))
        parts.append(
            _letter_range(source, low, high) + (f" × {count}" if count > 1 else "")
        )
    form = " ".join(parts)
    return KrohnError(f"{trouble}; a prompt of {source.name} has the form {form}")


def _letter_range(source: ChainOfThought, low: int, high: int) -> str:
    """The tokens that may stand at a place."""
    first, last = source.tokens[low], source.tokens[high]
    between = "-" if len(first) == len(last) == 1 else ".."
    return first if low == high else f"[{first}{between}{last}]"


# The facts of a dynamic program that need no network.


MOST_RUN, MOST_TOKENS = 2**12, 2**21
"""Prompts that are continued to tell texts apart; tokens of all of them."""


def facts(source: ChainOfThought) -> dict[str, Any]:
    """Sizes, how far back steps look, and how many texts there are.

    ``locality_of_numbers`` is the farthest look-back to another number, ``locality`` that
    to any token, as Yang et al. 2024, Definition 5.3, have it. Their Definition 4.3 calls
    a dynamic program regular if different inputs have different numbers; their lower
    bounds need 2^Ω(n) different texts only, which edit distance has though it is not
    regular.
    """
    first = len(source.prompt) + 1
    at = [
        (first + i, step) for i, step in enumerate(source.steps) if step.token is None
    ]
    back = [t - r.place for t, step in at for r in step.reads if r.place >= first]
    boxes = source.boxes()
    ends = [boxes[t] for t, _ in at]
    names = source.tokens
    return {
        "name": source.name,
        "prompt": len(source.prompt),
        "tokens": source.length,
        "steps": len(source.steps),
        "numbers": len(at),
        "least": int(names[min(low for low, _ in ends)]),
        "largest": int(names[max(high for _, high in ends)]),
        "rules": len(source.rules),
        "reads": max(len(step.reads) for _, step in at),
        "locality": source.locality,
        "locality_of_numbers": max(back, default=0),
        **_texts(source),
    }


def prompts_of(source: ChainOfThought) -> str:
    """How many prompts there are, as a product: ``4^6 · 10^3``."""
    exponents = dict[int, int]()
    for low, high in source.prompt:
        if high > low:
            exponents[high - low + 1] = exponents.get(high - low + 1, 0) + 1
    powers = (f"{n}^{times}" if times > 1 else f"{n}" for n, times in exponents.items())
    return " · ".join(powers) or "1"


def _texts(source: ChainOfThought) -> dict[str, Any]:
    """How many different texts there are at least, and whether two prompts share one."""
    low, high = np.array(source.prompt).T
    most = max(1, min(MOST_RUN, MOST_TOKENS // source.length))
    count = prod((high - low + 1).tolist())
    if every := count <= most:
        prompts: IntArray = np.indices(high - low + 1).reshape(len(low), -1).T + low
    else:
        rng = np.random.default_rng(0)
        prompts = rng.integers(low, high + 1, size=(most, len(low)))
        prompts = np.unique(prompts, axis=0)
    texts = source.continue_prompts(prompts)[:, len(low) :]
    different = len(np.unique(texts, axis=0))
    sizes = _told_places(source)
    shared = collision(texts.astype(np.float64), prompts)
    bits = max(log2(different), sum(log2(n) for n in sizes.values()))
    regular = prod(sizes.values()) == count or every
    return {
        "prompts": prompts_of(source),
        "different_texts": different,
        "of_prompts": f"{len(prompts):,}{'' if every else ' at random'}",
        "text_bits": bits,
        "regular": False if shared else regular or None,
        "one_text": _pair_of_prompts(source, prompts, shared),
    }


def _pair_of_prompts(
    source: ChainOfThought, prompts: IntArray, pair: tuple[int, int] | None
) -> list[str] | None:
    """Two prompts as a person writes them: what must stand at the end is left out."""
    if pair is None:
        return None
    low, high = source.prompt[-1]
    rows = prompts[list(pair), : -1 if low == high else None]
    return [" ".join(source.tokens[token] for token in row) for row in rows]


def _told_places(source: ChainOfThought) -> dict[int, int]:
    """For places of the prompt that the text tells: how many tokens may stand there.

    A number that depends on one place alone, and on it injectively, tells what stands
    there. So the text of a prompt whose places are all told is that of no other one.
    """
    choices = dict[int, int]()
    for step in source.steps:
        place = _only(source, step)
        if place is None or place in choices:
            continue
        low, high = source.prompt[place - 1]
        contents = np.array(source.contents[low : high + 1])
        read = [contents * (r.place == place) + r.constant for r in step.reads]
        numbers = np.broadcast_to(source.rules[step.rule](read), contents.shape)
        if len(np.unique(numbers)) == len(contents):
            choices[place] = len(contents)
    return choices


def _only(source: ChainOfThought, step: Step) -> int | None:
    """The one place that a step reads, if it is a free one of the prompt."""
    places = {r.place for r in step.reads if r.place}
    if step.token is not None or len(places) != 1:
        return None
    (place,) = places
    if place > len(source.prompt):
        return None
    low, high = source.prompt[place - 1]
    return place if low < high else None


# The memory that every network of a dynamic program needs for its prompt, beside ours.


def width_needed(
    source: ChainOfThought,
    network: Mapping[str, Any],
    precision: Precision,
    texts: float,
) -> int | None:
    """The least width that keeps the prompts of different texts apart, by counting.

    Args:
        source: The texts.
        network: ``attention``, ``depth`` and ``heads`` of a network of them.
        precision: The format of its numbers.
        texts: log2 of the number of different texts.

    Returns:
        None for standard heads, which go back to the prompt itself.
    """
    layers, heads = network["depth"], network["heads"]
    bits = 8 * np.dtype(precision.name).itemsize
    if network["attention"] == "linear":
        return least_width(texts, lambda d: linear_bits(layers, heads, d, bits))
    if network["attention"] == "sparse":
        kind, prompt = Sparse(block_size(source), 1, 1), len(source.prompt)
        return least_width(texts, lambda d: sparse_bits(layers, d, bits, prompt, kind))
    return None


def sentences(
    source: ChainOfThought, facts: Mapping[str, Any], networks: Sequence[dict[str, Any]]
) -> list[str]:
    """Which lower bounds of Yang et al. (2024) hold, and what they come to here."""
    bounds = [_asymptotic(source, facts)]
    needed = [
        f"{row['attention']} heads can at width {row['width_needed']}, and the network "
        f"here has width {row['d_model']}"
        for row in networks
        if row.get("width_needed")
    ]
    bits = count(ceil(facts["text_bits"]), "bit")
    kept = f"every network must keep at least {bits} of a prompt"
    if needed:
        bounds.append(
            f"{kept}: {'; '.join(needed)}; so the bound rules no network out at this size"
        )
    return bounds


def _asymptotic(source: ChainOfThought, facts: Mapping[str, Any]) -> str:
    """The bound as the text grows, and under what condition."""
    m, root = facts["locality"], isqrt(source.length - 1) + 1
    if m <= LOCAL * root:
        return (
            f"local at this size (m = {m}, at most {LOCAL}√L): a constant width is "
            "enough for sparse heads (Yang et al. 2024, Proposition 5.4); linear ones need "
            "Ω(√m) up to logarithms (Proposition 5.5), if there are 2^Ω(m) texts"
        )
    return (
        "not local: linear and sparse heads need a width of Ω(√L) up to logarithms "
        "(Yang et al. 2024, Theorem 4.4), if there are 2^Ω(n) texts and the prompt is a "
        f"constant share of the text; here n is {facts['prompt']} of {facts['tokens']} "
        "tokens"
    )
