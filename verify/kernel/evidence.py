"""Evidence for the kernel: what it must be told of a model file to prove its claim.

Nothing here is trusted: the kernel refuses what is wrong.
"""

from typing import Any

import numpy as np

from krohn.program import slices
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.block_kinds import whatever_blocks_do
from krohn.program.errors import Refused, demand
from krohn.verify.checker.model_file import Model
from krohn.verify.errors import Rejected
from krohn.verify.kernel.layout import GRAIN, SUMS, Layout
from krohn.verify.kernel.programs import ProgramEvidence

BLOCKS = whatever_blocks_do("the kernel's theorem")
HEADS = ("shift", "latest", "latest-match", "earliest", *SUMS)
"""The operations of heads that the kernel has theorems about."""


@np.errstate(all="ignore")  # what is no number is no evidence
def find_kernel_evidence(model: Model) -> dict[str, Any]:
    """The evidence for a model file.

    Args:
        model: The file, with its own machine.

    Raises:
        Refused: If the kernel has no theorem about such a network, or nothing is found
            that it can follow.
    """
    demand(model.claim.of_machine, "the kernel has no theorem about other sources")
    shape = model.claim.architecture
    if isinstance(shape, Transformer):
        _demand_theorem(model)
        try:
            program = ProgramEvidence(model)
            return {**program.to_object(), "layout": Layout(model, program).to_object()}
        except Rejected as rejected:
            raise Refused(str(rejected)) from None
    kind = "" if shape is None else shape.kind
    place = slices.find_in_slices("kernel_evidence", kind)
    demand(place is not None, "the kernel has no theorem about such a network")
    evidence: dict[str, Any] = slices.find(place)(model)
    return evidence


def _demand_theorem(model: Model) -> None:
    """Refuse a Transformer that does what the kernel has no theorem about."""
    BLOCKS.check(model.claim.architecture)
    channels, blocks = model.program["channels"], model.network(Transformer).blocks
    plain = all(b == Block(b.heads, b.d_qk, b.d_v, b.mlp) for b in blocks)
    demand(plain, "the kernel has no theorem about such blocks")
    demand(model.disguise is None, "the kernel has no theorem about disguises")
    form = model.format.name
    demand(form in GRAIN, f"the kernel has no theorem about Transformers in {form}")
    for channel in channels:
        op, code = channel["op"], channel.get("code", "integer")
        if "head" in channel and op not in HEADS:
            raise Refused(f"the kernel has no theorem about {_heads_in_words(op)}")
        demand(code in ("integer", "one-hot"), f"the kernel has no code {code}")


def _heads_in_words(operation: str) -> str:
    from krohn.program.meanings import BRINGS  # which a proof does not need

    return f"heads that bring {BRINGS.get(operation, 'something else')} ({operation})"
