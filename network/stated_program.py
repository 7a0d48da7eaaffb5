"""The Program that a file states, and what its variables mean."""

from krohn.network import ModelFileError
from krohn.network.modelfile import ModelFile, alphabets
from krohn.program.claim import Sense
from krohn.program.errors import Refused
from krohn.program.meanings import Meaning, meanings, stored_inputs as stored_inputs
from krohn.program.statement import Statement, parse


def stated_program(file: ModelFile) -> Statement:
    """The Program that the file of a Transformer states.

    Raises:
        ModelFileError: If it is malformed.
    """
    shape = file.architecture
    try:
        return parse(
            file.header["program"],
            shape.vocabulary - 1,
            shape.positions - 1,
            True,
            True,
        )
    except (Refused, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, Refused) else repr(error)
        raise ModelFileError(f"the file is damaged: of its Program, {reason}") from None


def meanings_of(file: ModelFile, program: Statement) -> dict[str, Meaning]:
    """What each variable of the Program of a file means."""
    # Who writes texts answers with tokens; who says laws or vectors, with no names.
    named = file.claim.sense in (Sense.EXACT, Sense.GENERATES)
    return meanings(program, file.claim.letters, alphabets(file)[2] if named else ())
