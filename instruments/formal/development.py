"""Model files as terms of Coq, with what shows the theorem about them.

Nothing here is trusted: Coq checks the proof, and `comparing` beside it compares the
terms with the file.
"""

from krohn.architectures.recurrent.statement import Rnn
from krohn.instruments.formal.coq import Development
from krohn.instruments.formal.programs import of_program
from krohn.instruments.formal.recurrent_networks import recurrent
from krohn.instruments.formal.transformers import (
    has_theorem,
    transformer,
)
from krohn.program.architectures.transformer import Transformer
from krohn.program.block_kinds import whatever_blocks_do
from krohn.program.errors import Refused, demand
from krohn.verify.checker.network import open_model

BLOCKS = whatever_blocks_do("Coq's theorem")
"""Of those that it has no theorem about, it has one about the Program alone."""


def development(data: bytes) -> Development:
    """The theorem about a model file.

    Of Transformers that Coq's checker cannot follow it says that the Program computes
    the machine; what the tensors compute is not part of it.

    Raises:
        Refused: If its kind is not written for Coq, it is too large, or no invariant that
            Coq's checker can follow is found.
    """
    model = open_model(data)
    BLOCKS.check(model.claim.architecture)
    machine = model.claim.of_machine
    demand(machine, "a file about a source is not written for Coq")
    match model.claim.architecture:
        case Transformer():
            return transformer(model) if has_theorem(model) else of_program(model)
        case Rnn():
            return recurrent(model)
    raise Refused("of recurrent networks only RNNs with ReLUs are written for Coq")
