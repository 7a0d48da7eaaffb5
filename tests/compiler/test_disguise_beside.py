"""The circuit beside a disguised machine: it works, shares axes, and does not matter."""

from functools import cache

import numpy as np
import torch

import krohn
from krohn.compiled_model import CompiledModel
from krohn.compiler.disguise_beside import memories
from krohn.network.precision import FloatArray
from krohn.network.transformer import Transformer
from krohn.program.interpreter import interpret

LENGTH, SEED, WORDS = 16, 3, 60
NETWORKS = [
    ("S4", "rotate,dense,beside", "float64"),
    ("C2", "squeeze,dense,beside", "float64"),
    ("FlipFlop", "rotate,dense,beside", "float64"),
    ("FlipFlop", "rotate,dense,beside", "float32"),
    ("S4", "rotate,beside", "float32"),
]


@cache
def made(name: str, kinds: str, dtype: str, length: int = LENGTH) -> CompiledModel:
    """A network that is proved."""
    return krohn.compile(name, length, disguise=kinds, dtype=dtype, seed=SEED)


class Beside:
    """A disguised network, taken apart by the solution of its file.

    Attributes:
        rows: ``(d + waste, D)``: what each number adds to the stream.
        d: How many of them are of the plain network.
        numbers: For each variable of the circuit beside the row that it adds.
        values: For each variable ``(words, positions)``: what its Program says.
        words: ``(words, positions)``.
    """

    def __init__(self, found: CompiledModel) -> None:
        header, self.file = found.file.header, found.file
        self.rows = found.file.tensors["disguise.directions"].astype(np.float64)
        shape = header["architecture"]["disguise"]
        self.d, letters = shape["d_model"], header["machine"]["letters"]
        heads = [block["heads"] for block in shape["blocks"] if block["heads"]]
        program = memories(letters, LENGTH, heads, np.random.default_rng(SEED))
        own = krohn.compiler.compiled_network.as_written(
            "beside",
            program,
            krohn.compiler.pipeline.Options(found.file.precision, True, keep=True),
        ).program["channels"]
        assert isinstance(own, list)
        self.numbers = {c["name"]: self.d + c["dims"][0] for c in own if "dims" in c}
        rng = np.random.default_rng(7)
        self.words = rng.integers(len(letters), size=(WORDS, LENGTH))
        self.values = interpret(program, self.words)
        self.model = found.model
        network = self.model.network
        assert isinstance(network, Transformer)
        streams = network.snapshots(torch.from_numpy(self.words))
        self.streams = [x.double().numpy() for x in streams]

    def read(self, stream: FloatArray) -> FloatArray:
        """``(words, positions, d + waste)``: all numbers of a stream."""
        there = np.linalg.pinv(self.rows[self.used])
        found = np.zeros((*stream.shape[:2], len(self.rows)))
        found[..., self.used] = stream @ there
        return found

    @property
    def used(self) -> list[int]:
        """Rows that are independent: numbers of the plain network share some."""
        basis = np.linalg.svd(self.rows[: self.d])[2]
        rank = np.linalg.matrix_rank(self.rows[: self.d])
        del basis
        keep = list[int]()
        for i in range(self.d):
            if np.linalg.matrix_rank(self.rows[[*keep, i]]) > len(keep):
                keep.append(i)
        assert len(keep) == rank
        return [*keep, *range(self.d, len(self.rows))]
