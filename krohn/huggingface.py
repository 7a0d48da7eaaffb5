"""Makes Hugging Face's automatic classes know Krohn's networks."""

from importlib import import_module

from krohn.network import ExportError
from krohn.program.extras import name_missing_extra


def register() -> None:
    """Let `AutoModelForCausalLM` and its like open exports by Krohn's own code.

    Then no code of a directory runs. Without it the directory's own code does, with
    ``trust_remote_code=True``. It imports Hugging Face's library, and may be called again.

    Raises:
        ExportError: If the library is not installed.
    """
    with name_missing_extra("krohn.huggingface", ExportError):
        import_module("krohn.architectures.exports.export_huggingface")
