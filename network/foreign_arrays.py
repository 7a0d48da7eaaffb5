"""Networks of two other compilers, given as their arrays.

Tracr (Lindner et al. 2023) and ALTA (Shaw et al. 2024) write Transformers that Krohn did
not compile: nothing is proved of them, and they are examined (docs/independent.md). A
model of Tracr's becomes a model file. Heads of ALTA's see what stands at given distances,
in both directions, which a model file has no word for: it becomes a function.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from krohn.network import ModelFileError
from krohn.network.architecture import expected_shapes
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT64, FloatArray
from krohn.program.errors import told_as
from krohn.program.user_input import real_array

Array = npt.ArrayLike
FAR = -1e9
"""The number that ALTA adds to scores of positions that a head does not see."""


def from_tracr(
    parameters: Mapping[str, Mapping[str, Array]],
    *,
    letters: Mapping[str, int],
    bos: int,
    classes: Mapping[str, int],
    heads: int,
    causal: bool,
) -> ModelFile:
    """The model file of a model that Tracr assembled, in float64 and without a Program.

    Args:
        parameters: Its arrays, by the names that haiku gives them: modules
            ``token_embed`` and ``pos_embed`` with ``embeddings``, and
            ``transformer/layer_N/attn/query``, ``…/key``, ``…/value``, ``…/linear``,
            ``transformer/layer_N/mlp/linear_1`` and ``…/linear_2`` with ``w`` and ``b``.
        letters: The row of the token embedding of each letter, as its
            ``input_encoder.encoding_map`` says.
        bos: That of the token in front of every word.
        classes: The dimension of the residual stream that stands for each answer, as
            its ``residual_labels`` say.
        heads: How many heads each layer has (``num_heads``).
        causal: Whether they see no later position.

    Returns:
        Scores are divided by √k there, here queries are, so that logits may differ in
        their last digits.

    Raises:
        ModelFileError: If an array is missing or has another shape, if attention has
            biases, or if heads of several layers see the whole word: BOS, which sees
            only itself in a model file, sees it there as well.

    Examples:
        >>> file = krohn.from_tracr(  # doctest: +SKIP
        ...     model.params, letters={"a": 0, "b": 1}, bos=2, classes={"0": 5, "1": 6},
        ...     heads=1, causal=True,
        ... )
    """
    arrays = _Arrays(parameters)
    layers = arrays.layers()
    if not causal and layers > 1:
        raise ModelFileError(
            "heads of several layers see the whole word, which a model file cannot say of "
            "BOS; hand the model itself to krohn.examine"
        )
    tensors = arrays.ends([*letters.values(), bos], list(classes.values()))
    d, blocks = len(tensors["unembed.weight"]), []
    for i in range(layers):
        block, own = arrays.layer(i, d, heads, causal)
        blocks.append(block)
        tensors |= {f"blocks.{i}.{name}": tensor for name, tensor in own.items()}
    return _make_model_file(tensors, blocks, list(letters), list(classes))


def _make_model_file(
    tensors: dict[str, FloatArray],
    blocks: list[dict[str, Any]],
    letters: list[str],
    classes: list[str],
) -> ModelFile:
    """The model file of such tensors.

    Raises:
        ModelFileError: If an array has another shape.
    """
    shape = {
        "kind": "transformer",
        "dtype": FLOAT64.name,
        "strict": True,
        "d_model": len(tensors["unembed.weight"]),
        "vocabulary": len(letters) + 1,
        "positions": len(tensors["embed.position"]),
        "outputs": len(classes),
        "blocks": blocks,
    }
    for name, size in expected_shapes(shape).items():
        if tensors[name].shape != size:
            raise ModelFileError(
                f"{name} has the shape {tensors[name].shape}, not {size}"
            )
    stated = {"letters": letters, "states": classes}
    return ModelFile(
        {"architecture": shape, "machine": stated, "claim": {}}, tensors, FLOAT64
    )


class _Arrays:
    """The arrays of a model of Tracr's."""

    def __init__(self, parameters: Mapping[str, Mapping[str, Array]]) -> None:
        self.parameters = parameters

    def get(self, module: str, name: str) -> FloatArray:
        """One array, as float64."""
        if module not in self.parameters or name not in self.parameters[module]:
            raise ModelFileError(f"the array {name!r} of {module!r} is missing")
        with told_as(ModelFileError):
            return real_array(self.parameters[module][name], f"{name!r} of {module!r}")

    def layers(self) -> int:
        """How many layers there are."""
        named = [name for name in self.parameters if name.endswith("/attn/query")]
        return len(named)

    def ends(self, rows: list[int], classes: list[int]) -> dict[str, FloatArray]:
        """The embeddings and the read-out of letters and BOS, and of classes."""
        token = self.get("token_embed", "embeddings")
        d = token.shape[1]
        if max(rows) >= len(token) or max(classes) >= d:
            raise ModelFileError(
                f"there are {len(token)} tokens and {d} dimensions, and a letter or a "
                "class is said to be beyond these"
            )
        return {
            "embed.token": token[rows],
            "embed.position": self.get("pos_embed", "embeddings"),
            "unembed.weight": np.eye(d)[:, classes],
            "unembed.bias": np.zeros(len(classes)),
        }

    def layer(
        self, i: int, d: int, heads: int, causal: bool
    ) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """The architecture of a layer, and its tensors."""
        at = f"transformer/layer_{i}"
        for name in ("query", "key", "value", "linear"):
            if self.get(f"{at}/attn/{name}", "b").any():
                raise ModelFileError(f"{at}/attn/{name} has a bias, a model file none")
        query, key, value = (
            self._heads(f"{at}/attn/{name}", d, heads)
            for name in ("query", "key", "value")
        )
        out = self.get(f"{at}/attn/linear", "w").reshape(heads, -1, d)
        tensors = {
            "attention.query": query / np.sqrt(query.shape[2]),
            "attention.key": key,
            "attention.value": value,
            "attention.out": out,
        }
        for j, name in enumerate(("linear_1", "linear_2")):
            tensors[f"mlp.{j}.weight"] = self.get(f"{at}/mlp/{name}", "w")
            tensors[f"mlp.{j}.bias"] = self.get(f"{at}/mlp/{name}", "b")
        block = {
            "heads": heads,
            "d_qk": query.shape[2],
            "d_v": value.shape[2],
            "mlp": [tensors["mlp.0.weight"].shape[1]],
        }
        return block | ({} if causal else {"causal": [False] * heads}), tensors

    def _heads(self, module: str, d: int, heads: int) -> FloatArray:
        matrix = self.get(module, "w")
        if matrix.shape[0] != d or matrix.shape[1] % heads:
            raise ModelFileError(
                f"{module} has the shape {matrix.shape}, which are no {heads} heads of "
                f"{d} dimensions"
            )
        return matrix.reshape(d, heads, -1).transpose(1, 0, 2)


def from_alta(
    parameters: Any, *, layers: int, start: int | None = None
) -> Callable[[npt.NDArray[np.int64]], FloatArray]:
    """A Transformer that ALTA compiled, as a function for `krohn.examine`.

    Args:
        parameters: Its arrays: an object with ``embeddings`` (``input_embeddings``, and
            ``index_embeddings`` or None), ``attenion_heads`` (so it is spelled there;
            each with ``query_transform``, ``key_transform``, ``value_transform``,
            ``output_transform`` and ``relative_position_mask``), ``feed_forward_layers``
            (each with ``weights`` and ``biases``) and ``output_transform``.
        layers: How often its one layer is applied.
        start: A token to put in front of every word; what is said there is left out.

    Returns:
        Token indices ``(batch, time)`` to logits ``(batch, time, outputs)``, in float64.

    Examples:
        >>> krohn.from_alta(parameters, layers=2, start=0)  # doctest: +SKIP
    """

    def logits(words: npt.NDArray[np.int64]) -> FloatArray:
        front = 0 if start is None else 1
        tokens = np.pad(words, ((0, 0), (front, 0)), constant_values=start or 0)
        embeddings = parameters.embeddings
        x = np.asarray(embeddings.input_embeddings, dtype=np.float64)[tokens]
        if embeddings.index_embeddings is not None:
            x = x + np.asarray(embeddings.index_embeddings)[: tokens.shape[1]]
        for _ in range(layers):
            x = x + sum(_head(head, x) for head in parameters.attenion_heads)
            x = x + _feed_forward(parameters.feed_forward_layers or (), x)
        outputs: FloatArray = x[:, front:] @ np.asarray(parameters.output_transform)
        return outputs

    return logits


def _head(head: Any, x: FloatArray) -> FloatArray:
    """The sum that a head adds, ``(batch, time, d)``, where it sees some distances only."""
    query, key, value, out = (
        np.asarray(getattr(head, f"{name}_transform"))
        for name in ("query", "key", "value", "output")
    )
    scores = (x @ query) @ (x @ key).transpose(0, 2, 1)
    if head.relative_position_mask:
        t = np.arange(x.shape[1])
        seen = np.isin(t[None, :] - t[:, None], list(head.relative_position_mask))
        scores = scores + np.where(seen, 0.0, FAR)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed: FloatArray = weights / weights.sum(axis=-1, keepdims=True) @ (x @ value)
    written: FloatArray = mixed @ out
    return written


def _feed_forward(layers: Sequence[Any], x: FloatArray) -> FloatArray:
    h: FloatArray = x if layers else np.zeros(())
    for i, layer in enumerate(layers):
        h = h @ np.asarray(layer.weights) + np.asarray(layer.biases)
        h = h if i == len(layers) - 1 else h.clip(0.0, 1.0)
    return h
