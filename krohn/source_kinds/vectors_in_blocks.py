"""Linear systems that write their state as a vector, in the commands."""

from typing import Any

import numpy as np

from krohn.asked import Asked
from krohn.claimed_answers import Answers
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.constructions.products import realise
from krohn.compiler.constructions.scan import BLOCKS
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.blocks import longest, passes
from krohn.program.completed_texts import BLANK, blanks
from krohn.program.domains import IntArray
from krohn.program.retelling import told_as
from krohn.program.wording import at_most
from krohn.report import Progress
from krohn.source_kinds.base import Built, letters_in
from krohn.source_kinds.blocks import EXPLAINED, InBlocks, check_length
from krohn.source_kinds.linear_systems import reference
from krohn.source_kinds.real_outputs import held
from krohn.sources.linear_systems import (
    COORDINATE,
    IN_BLOCKS,
    LinearSystem,
    VectorsInBlocks,
)
from krohn.verify.testing.simulation_result import Simulation


class LinearSystemsInBlocks(InBlocks[VectorsInBlocks]):
    """Words in blocks of letters; after each the network reads what it has said."""

    wire = IN_BLOCKS
    source = VectorsInBlocks
    claim = "within"
    takes = frozenset({"strict", "keep", "positions", "block"})
    formats = ("float64",)

    def of_source(self, source: Any, block: int | None = None) -> VectorsInBlocks:
        """A linear system that writes its vector after so many letters.

        Raises:
            CompileError: If it is none, or cannot write its vectors.
        """
        if not isinstance(source, LinearSystem):
            raise CompileError("--block is for machines and linear systems")
        assert block is not None
        with told_as(CompileError, f"{source.name} cannot write its states: "):
            return VectorsInBlocks(source, block)

    def build(self, source: VectorsInBlocks, asked: Asked) -> Built:
        """The network, and the error that the checker shows of all blocks together."""
        options = asked.options
        length = asked.longest("a network that writes vectors needs the longest word")
        tokens = longest(length, source.block)
        made = realise(source.affine, tokens, options, window=source.block + 1)
        built = CompiledNetwork(BLOCKS, *made, None)
        claim = {"length": tokens, "letters": length}
        where = f"{source.system.name} cannot be computed in {options.precision.name}"
        with told_as(CompileError, f"{where} within any error that can be shown: "):
            return built, self.proved(source, built, claim, options)

    def facts(self, source: VectorsInBlocks, asked: Asked) -> dict[str, Any]:
        """Its size, its passes and its error."""
        built, claim = self.build(source, asked)
        length = asked.length or EXPLAINED
        shape, tensors = built.network.architecture, built.network.tensors
        return {
            "error": claim["error"],
            "length": length,
            "block": source.block,
            "passes": passes(length, source.block),
            "tokens": claim["length"],
            "size": source.system.size,
            "construction": BLOCKS,
            "depth": len(shape["blocks"]),
            "layers": len(shape["blocks"]),
            "d_model": shape["d_model"],
            "mlp_width": max((sum(b["mlp"]) for b in shape["blocks"]), default=0),
            "parameters": sum(tensor.size for tensor in tensors.values()),
        }

    def answers(self, file: ModelFile, words: list[str]) -> Answers:
        """The answers of the network after each letter, with dashes between blocks."""
        source = self.of_file(file)
        word = letters_in(words, source.system.name, source.system.letters)
        check_length(word, file)
        states = said_by(file, word[None])[0]
        rows = [" ".join(f"{x: .9g}" for x in state) for state in states.tolist()]
        ends = range(source.block, len(word), source.block)
        for at in reversed(ends):
            rows.insert(at, "--- written, and read back")
        result = {
            "word": [source.system.letters[o] for o in word.tolist()],
            "outputs": states.tolist(),
            "passes": passes(len(word), source.block),
            "shown": "\n".join(rows),
        }
        text = blanks(word[None], source.block)[0, :-1]
        return Answers(result, (np.flatnonzero(text != BLANK) + 1).tolist())

    def held(self, file: ModelFile, inputs: IntArray, progress: Progress) -> Simulation:
        """Hold outputs against the states of the system."""
        right = reference(self.of_file(file).system)
        return held(file, right, inputs, progress, said_by)

    def covers(self, file: ModelFile, source: VectorsInBlocks) -> str:
        """The inputs that a proof covers, in words."""
        claim, system = file.header["claim"], source.system
        return (
            f"all {len(system.letters)}^{claim['letters']} words of {claim['letters']} "
            f"letters, and shorter ones: every output within {at_most(claim['error'])}, "
            "what is written and read back included"
        )


def said_by(file: ModelFile, words: IntArray) -> FloatArray:
    """``(batch, T, n)``: what the network says after each letter of words."""
    import torch

    from krohn.network.model import Model
    from krohn.network.stepping import fed_back
    from krohn.network.transformer import Transformer

    source = VectorsInBlocks.from_wire(file.header["source"])
    size, network = source.affine.size, Model(file).network
    assert isinstance(network, Transformer)
    texts = blanks(words, source.block)[:, :-1]
    channels = file.header["program"]["channels"]
    first = next(c["dims"][0] for c in channels if c["op"] == "letter-matrix")
    column = range(first + size - 1, first + size * (size - 1), size)
    with torch.no_grad():
        said = fed_back(network, torch.from_numpy(texts), column, 1 / COORDINATE)
    letters = (texts != BLANK)[0]
    return np.asarray(said.double().numpy()[:, letters, :-1])
