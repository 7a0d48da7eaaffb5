"""A Transformer run by plain loops, straight from its header and tensors.

One program is one place to be wrong, so this one is written apart: it has no code in
common with `krohn.network.meaning`, and none of its numbers are arrays.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath

Vector = list[Any]
Choose = Callable[[int, int, int, dict[int, Any]], int]
"""Which position a head takes, from block, head, position, and scores by position."""


def slow_logits(
    header: Mapping[str, Any],
    tensors: Mapping[str, Any],
    word: Sequence[int],
    number: Callable[[float], Any] = mpmath.mpf,
    choose: Choose | None = None,
) -> list[Vector]:
    """The logits after each letter of a word.

    Args:
        header: The architecture, as on file.
        tensors: By their names on file.
        word: Letter indices.
        number: Makes numbers of floats.
        choose: Which position a head takes instead of a softmax.
    """
    t = {name: _numbers(tensor.tolist(), number) for name, tensor in tensors.items()}
    tokens = [header["vocabulary"] - 1, *word]
    rows = [(t["embed.token"][a], t["embed.position"][i]) for i, a in enumerate(tokens)]
    stream = [[x + y for x, y in zip(*both, strict=True)] for both in rows]
    for b, block in enumerate(header["blocks"]):
        read = [list(x) for x in stream]
        for h in range(block["heads"]):
            for i in range(len(read)):
                for d, y in enumerate(_head(t, block, (b, h, i), read, choose)):
                    stream[i][d] = stream[i][d] + y
        stream = [_mlp(t, block, f"blocks.{b}.mlp", x) for x in stream]
    out = t["unembed.weight"], t["unembed.bias"]
    return [_affine(x, *out) for x in stream[1:]]


def _numbers(tensor: Any, number: Callable[[float], Any]) -> Any:
    if isinstance(tensor, list):
        return [_numbers(part, number) for part in tensor]
    return number(tensor)


def _times(x: Vector, matrix: list[Vector]) -> Vector:
    columns = range(len(matrix[0]))
    return [sum(x[d] * matrix[d][c] for d in range(len(x))) for c in columns]


def _affine(x: Vector, weight: list[Vector], bias: Vector) -> Vector:
    return [y + c for y, c in zip(_times(x, weight), bias, strict=True)]


def _sees(block: Mapping[str, Any], h: int, i: int, j: int) -> bool:
    kind = block.get("attention", {})
    if kind.get("kind") == "sparse":
        size, window = kind["block"], kind["block"] * kind["windows"]
        end = (j - 1) % size >= size - kind["last"]
        return bool(j <= i and (i - j < window or end))
    ahead = not block.get("causal", [True] * block["heads"])[h]
    return j <= i or (ahead and i > 0)


def _head(
    t: Mapping[str, Any],
    block: Mapping[str, Any],
    where: tuple[int, int, int],
    stream: list[Vector],
    choose: Choose | None,
) -> Vector:
    """What a head adds at a position."""
    b, h, i = where
    query, key, value, out = (
        t[f"blocks.{b}.attention.{name}"][h]
        for name in ("query", "key", "value", "out")
    )
    seen = [j for j in range(len(stream)) if _sees(block, h, i, j)]
    kind = block.get("attention", {}).get("kind", "softmax")
    q, keys = _times(stream[i], query), [_times(stream[j], key) for j in seen]
    if kind == "linear":
        q, *keys = ([x + 1 if x > 0 else mpmath.exp(x) for x in y] for y in (q, *keys))
    scores = [sum(x * y for x, y in zip(q, k, strict=True)) for k in keys]
    if kind == "relu":
        weights = [max(score, score * 0) for score in scores]
    elif kind == "linear":
        weights = [score / sum(scores) for score in scores]
    elif choose is not None:
        taken = choose(b, h, i, dict(zip(seen, scores, strict=True)))
        weights = [int(j == taken) for j in seen]
    else:
        each = [mpmath.exp(score - max(scores)) for score in scores]
        weights = [x / sum(each) for x in each]
    values = [_times(stream[j], value) for j in seen]
    mixed = [
        sum(w * v for w, v in zip(weights, column, strict=True))
        for column in zip(*values, strict=True)
    ]
    return _times(mixed, out)


def _mlp(t: Mapping[str, Any], block: Mapping[str, Any], at: str, x: Vector) -> Vector:
    """The stream after an MLP."""
    mask = t.get(f"{at}.residual", [1] * len(x))
    kept = [m * y for m, y in zip(mask, x, strict=True)]
    if not block["mlp"]:
        return kept
    plain = [[["relu", width]] for width in block["mlp"]]
    for j, runs in enumerate(block.get("activation", plain)):
        names = [name for name, count in runs for _ in range(count)]
        x = _affine(x, t[f"{at}.{j}.weight"], t[f"{at}.{j}.bias"])
        x = [_unit(name, y) for name, y in zip(names, x, strict=True)]
    last = len(block["mlp"])
    added = _affine(x, t[f"{at}.{last}.weight"], t[f"{at}.{last}.bias"])
    return [y + z for y, z in zip(kept, added, strict=True)]


def _unit(name: str, x: Any) -> Any:
    if name == "relu":
        return max(x, x * 0)
    return mpmath.sin(x) if name == "sine" else x * mpmath.ncdf(x)
