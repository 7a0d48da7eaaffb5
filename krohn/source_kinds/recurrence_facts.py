"""What can be said of a dynamic program before a network is made of it."""

from math import log2, prod
from typing import Any

import numpy as np

from krohn.program.chain_of_thought import ChainOfThought, Step
from krohn.program.domains import IntArray
from krohn.verify.attention_limits.prompt_memory import collision

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
    told = dict[int, int]()
    for low, high in source.prompt:
        if high > low:
            told[high - low + 1] = told.get(high - low + 1, 0) + 1
    powers = (f"{n}^{times}" if times > 1 else f"{n}" for n, times in told.items())
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
    texts = source.continued(prompts)[:, len(low) :]
    different = len(np.unique(texts, axis=0))
    sizes = _told(source)
    shared = collision(texts.astype(np.float64), prompts)
    bits = max(log2(different), sum(log2(n) for n in sizes.values()))
    regular = prod(sizes.values()) == count or every
    return {
        "prompts": prompts_of(source),
        "different_texts": different,
        "of_prompts": f"{len(prompts):,}{'' if every else ' at random'}",
        "text_bits": bits,
        "regular": False if shared else regular or None,
        "one_text": _named(source, prompts, shared),
    }


def _named(
    source: ChainOfThought, prompts: IntArray, pair: tuple[int, int] | None
) -> list[str] | None:
    """Two prompts as a person writes them: what must stand at the end is left out."""
    if pair is None:
        return None
    low, high = source.prompt[-1]
    rows = prompts[list(pair), : -1 if low == high else None]
    return [" ".join(source.tokens[token] for token in row) for row in rows]


def _told(source: ChainOfThought) -> dict[int, int]:
    """For places of the prompt that the text tells: how many tokens may stand there.

    A number that depends on one place alone, and on it injectively, tells what stands
    there. So the text of a prompt whose places are all told is that of no other one.
    """
    found = dict[int, int]()
    for step in source.steps:
        place = _only(source, step)
        if place is None or place in found:
            continue
        low, high = source.prompt[place - 1]
        contents = np.array(source.contents[low : high + 1])
        read = [contents * (r.place == place) + r.constant for r in step.reads]
        said = np.broadcast_to(source.rules[step.rule](read), contents.shape)
        if len(np.unique(said)) == len(contents):
            found[place] = len(contents)
    return found


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
