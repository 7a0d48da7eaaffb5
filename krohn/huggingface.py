"""Makes Hugging Face's automatic classes know Krohn's networks."""

from krohn.network import ExportError
from krohn.program.extras import name_missing_extra
from krohn.program.slices import needed_part


def register() -> None:
    """Let `AutoModelForCausalLM` and its like open exports by Krohn's own code.

    Then no code of a directory runs. Without it the directory's own code does, with
    ``trust_remote_code=True``. It imports Hugging Face's library, and may be called again.

    Raises:
        ExportError: If the library is not installed.
    """
    with name_missing_extra("krohn.huggingface", ExportError):
        needed_part("hugging face", "an export")
