"""Networks of sequence functions: derived, proved against the Program, and saved."""

import time

from algebra.errors import KrohnError
from compiler.compiled_network import CompiledNetwork, compile_program
from compiler.construction_choice.objectives import checked
from compiler.errors import CompileError
from compiler.pipeline import Options
from krohn.compiled_model import CompiledModel, with_evidence
from network.modelfile import ModelFile
from sources.sequence_functions import ProgramError, SequenceFunction
from sources.sequence_functions.realised import Realised
from verify.proof import prove


def compile_function(
    function: SequenceFunction,
    length: int,
    options: Options,
    minimise: str | None = None,
    proved: bool = True,
) -> CompiledModel:
    """The network of a sequence function, proved against it for every word up to T.

    Args:
        function: What is to be computed.
        length: T.
        options: Number format and form.
        minimise: What is chosen by: a key of `OBJECTIVES`; None for the depth.
        proved: Whether to prove it.

    Raises:
        KrohnError: If a channel cannot be, or it cannot be compiled or proved.
    """
    began = time.monotonic()
    checked(minimise)
    if length < 1:
        raise CompileError("the length must be at least 1")
    try:
        source = function.realised(length)
    except ProgramError as error:
        raise KrohnError(str(error)) from error
    built = compile_program(source.program, options, minimise)
    file = model_file(source, built, options)
    proof = prove(file, None) if proved else None
    if proof is not None and proof.verdict != "verified":
        raise CompileError(
            f"{function.name!r} cannot be certified in {options.precision.name} at length "
            f"{length}, so nothing was written ({proof.reason}); try a shorter length or "
            "float64"
        )
    file = with_evidence(file, proof)
    return CompiledModel(file, built.construction, proof, time.monotonic() - began)


def model_file(
    source: Realised,
    built: CompiledNetwork,
    options: Options,
) -> ModelFile:
    """What the file would hold: tensors are rounded before they are proved."""
    precision, program = options.precision, source.program
    header = {
        "architecture": built.network.architecture,
        "source": source.to_wire(),
        "construction": built.construction,
        "claim": {"kind": "exact", "length": program.length, "dtype": precision.name},
        "program": built.program,
    }
    tensors = {n: precision.round(t) for n, t in built.network.tensors.items()}
    return ModelFile(header, tensors, precision)
