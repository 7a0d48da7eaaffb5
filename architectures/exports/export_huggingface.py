"""Hugging Face: a model of its own with its configuration, its tokenizer and its code.

The directory runs where Krohn is not installed, by the code that it carries. Whoever
imports this module, as `krohn.huggingface.register` does, makes the automatic classes
know Krohn's own, so that no code comes from the directory that is read.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForTokenClassification,
    AutoTokenizer,
    GenerationConfig,
)
from transformers.utils import logging

from krohn.architectures.exports import (
    circuit,
    modeling_krohn,
    tokenization_krohn,
)
from krohn.architectures.exports.circuit import (
    Labels,
    demand_said,
    labels,
    possible_labels,
    statement,
)
from krohn.architectures.exports.destinations import (
    Destination,
    StoredNetwork,
    read_back,
)
from krohn.architectures.exports.modeling_krohn import (
    KIND,
    KrohnConfig,
)
from krohn.architectures.exports.tokenization_krohn import LETTERS
from krohn.network import ExportError
from krohn.network.architecture import is_index, kind_of, meanings
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program import strict_json
from krohn.program.claim import Sense
from krohn.program.errors import demand
from krohn.program.files import names_in, read_bytes
from krohn.program.quoting import listed
from krohn.program.slices import packages
from krohn.program.strict_json import canonical

END = "<eos>"
"""The last token of a text of a dynamic program."""
AUTOMATIC = (AutoModelForCausalLM, AutoModelForTokenClassification)
MODEL_CODE = {
    "AutoConfig": "modeling_krohn.KrohnConfig",
    **{each.__name__: "modeling_krohn.KrohnForCausalLM" for each in AUTOMATIC},
}
TOKENIZER_CODE = {"AutoTokenizer": ("tokenization_krohn.KrohnTokenizer", None)}
"""The classes of the directory's own code, for those who run it."""
FILES = {
    *("config.json", "generation_config.json", "model.safetensors", LETTERS),
    *("added_tokens.json", "special_tokens_map.json", "tokenizer_config.json"),
    *("README.md", "circuit.csv", "circuit.json"),
}
"""What a directory has beside code; any other file, as an adapter, may change a model."""


class KrohnForCausalLM(modeling_krohn.KrohnForCausalLM):
    """The model, which writes the code that runs it when it is saved."""

    def save_pretrained(self, save_directory: str | Path, **options: Any) -> None:
        """Write the tensors, the configuration and the code."""
        super().save_pretrained(save_directory, **options)
        _write_code(Path(save_directory), _model_code(self.config.architecture))


class KrohnTokenizer(tokenization_krohn.KrohnTokenizer):
    """The tokenizer, which writes its code when it is saved."""

    def save_pretrained(self, save_directory: str | Path, **options: Any) -> Any:
        """Write the letters, how they are read, and the code."""
        written = super().save_pretrained(save_directory, **options)
        _write_code(Path(save_directory), _tokenizer_code())
        return written


def _model_code(architecture: Mapping[str, Any]) -> dict[str, str]:
    name = architecture["kind"]
    declared = meanings().get(name, name.replace("-", "_"))
    runtime, _, _ = kind_of(architecture).runtime.partition(":")
    return collect_modules(modeling_krohn.__name__, (declared, runtime))


def _tokenizer_code() -> dict[str, str]:
    return collect_modules(tokenization_krohn.__name__)


def _write_code(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")


def write(file: ModelFile, directory: Path, states: bool = False) -> None:
    """Write what ``from_pretrained`` reads, and the circuit.

    Args:
        file: The network.
        directory: Where to.
        states: Whether states are called by their names, though the machine has outputs.

    Raises:
        ExportError: If it is a network of another kind.
    """
    kind = kind_of(file.architecture)
    if kind.answers != "classes" or any(is_index(name) for name in file.tensors):
        raise ExportError(
            "only Transformers and recurrent networks of up to 1,024 units go to "
            "Hugging Face"
        )
    source, names = Model(file), labels(file, states)
    config = configuration(file, names)
    made = KrohnForCausalLM(config).to(getattr(torch, file.precision.name))
    made.network.load_state_dict(source.network.state_dict())
    if config.writes:
        made.generation_config = _decoding(config)
    with silent():
        made.save_pretrained(directory)
    listed = directory / LETTERS
    listed.write_text(json.dumps(names.letters, ensure_ascii=False), encoding="utf-8")
    KrohnTokenizer(
        str(listed),
        auto_map=TOKENIZER_CODE,
        model_max_length=source.length,
        eos_token=None if config.eos_token_id is None else END,
    ).save_pretrained(directory)
    circuit.write(file, directory)


def configuration(file: ModelFile, names: Labels) -> KrohnConfig:
    """What ``config.json`` says."""
    writes = _writes(file)
    stated = statement(file, names)
    end = names.letters.index(END) if writes and END in names.letters else None
    return KrohnConfig(
        architectures=[KrohnForCausalLM.__name__],
        auto_map=MODEL_CODE,
        architecture=file.header["architecture"],
        letters=names.letters,
        states=names.states,
        claim=stated["claim"],
        digest=stated["digest"],
        writes=writes,
        id2label=dict(enumerate(names.classes)),
        label2id=names.indices,
        dtype=file.precision.name,
        pad_token_id=len(names.letters),
        eos_token_id=end,
        use_cache=False,
    )


def _writes(file: ModelFile) -> bool:
    """Whether logits stand for the letter that comes next."""
    return file.claim.kind == "chain-of-thought"


def _decoding(config: KrohnConfig) -> GenerationConfig:
    """Greedy, to the end of the text; nothing of earlier steps is kept."""
    return GenerationConfig(
        do_sample=False,
        use_cache=False,
        max_length=config.claim["length"] + 1,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.eos_token_id,
    )


def open_logits(directory: Path) -> Callable[[Tensor], Tensor]:
    """Letters to logits, by ``AutoModelForCausalLM``."""
    with silent():
        made = AutoModelForCausalLM.from_pretrained(directory, trust_remote_code=False)

    def logits(tokens: Tensor) -> Tensor:
        output = made(input_ids=tokens).logits
        assert isinstance(output, Tensor)
        return output

    return logits


@contextmanager
def silent() -> Iterator[None]:
    """Without the library's own progress bars, which know nothing of `--json`."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def read(file: ModelFile, directory: Path) -> StoredNetwork:
    """The network that was written: its tensors are those of the file, and the code ours.

    What the directory says besides is what is written for such a file, key by key: a
    configuration can ask for numbers of another format, or for another model.

    Raises:
        ExportError: If something differs.
    """
    with read_back():
        _check_tensors(file, load_file(directory / "model.safetensors"))
        _check_said(file, directory)
        code = {**_model_code(file.header["architecture"]), **_tokenizer_code()}
        others = sorted(names_in(directory) - code.keys() - FILES)
        demand(not others, f"nothing is known about the files {others[:3]}")
        for name, text in code.items():
            path = directory / name
            if not path.is_file() or path.read_text("utf-8") != text:
                raise ExportError(
                    f"{name} is not the code of this version; export again"
                )
    return StoredNetwork(file)


def _check_tensors(file: ModelFile, stored: Mapping[str, Tensor]) -> None:
    own = Model(file).network.state_dict()
    others = sorted(stored.keys() ^ {f"network.{name}" for name in own})
    demand(not others, f"there is no or another tensor {listed(others, 3)}")
    for name, tensor in own.items():
        there = stored[f"network.{name}"]
        if there.dtype != tensor.dtype or not torch.equal(there, tensor):
            raise ExportError(f"the tensor {name!r} was not written as it is")


def _check_said(file: ModelFile, directory: Path) -> None:
    """Refuse a configuration, letters or a way to write texts of another network."""

    def read_canonical(name: str) -> str:
        return canonical(strict_json.read(read_bytes(directory / name)))

    def serialize_config(config: KrohnConfig | GenerationConfig) -> str:
        return canonical(json.loads(config.to_json_string()))

    known = {
        serialize_config(config): config
        for config in (configuration(file, each) for each in possible_labels(file))
    }
    config = known.get(read_canonical("config.json"))
    demand_said(
        config is not None and read_canonical(LETTERS) == canonical(config.letters)
    )
    if config is not None and config.writes:
        demand_said(
            read_canonical("generation_config.json")
            == serialize_config(_decoding(config))
        )


def _pipeline(file: ModelFile) -> str:
    """The pipeline that runs a network; nothing if it says numbers."""
    if _writes(file):
        return "text-generation"
    return "token-classification" if file.claim.sense is Sense.EXACT else ""


DESTINATION = Destination(
    name="huggingface",
    opened_by="transformers",
    pipeline=_pipeline,
    title="Hugging Face",
    write=write,
    open=open_logits,
    arithmetic="Krohn's own code, which the directory carries",
    read=read,
    program="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

words = AutoTokenizer.from_pretrained(".", trust_remote_code=True)
model = AutoModelForCausalLM.from_pretrained(".", trust_remote_code=True)
logits = model(**words({text}, return_tensors="pt")).logits[0]
classes = model.config.id2label""",
    note="The code beside this file runs it; Krohn need not be installed.",
    streams="""\
`circuit.csv` names streams by the hooks of TransformerLens. In `hidden_states`, which the
model gives with
`output_hidden_states=True`, number 0 is `blocks.0.hook_resid_pre`, number 2b + 1 is
`blocks.b.hook_resid_mid`, and number 2b + 2 is `blocks.b.hook_resid_post`. Position 0 there
is the first letter: the start symbol is left out.""",
)

AutoConfig.register(KIND, KrohnConfig, exist_ok=True)
for automatic in AUTOMATIC:
    automatic.register(KrohnConfig, KrohnForCausalLM, exist_ok=True)
AutoTokenizer.register(KrohnConfig, slow_tokenizer_class=KrohnTokenizer, exist_ok=True)


# The code that an export carries: modules of Krohn, in files beside one another.
#
# Hugging Face's library runs code of a directory if it is asked to. It copies files that
# import each other by names in the same folder, so ``krohn.network.cache`` becomes
# the module ``krohn_network_cache``, and imports are all that is changed.

HERE = "krohn.architectures.exports."
LARGEST = 2**20
_MODULE = rf"((?:{'|'.join(sorted(packages()))})\.[\w.]+)"
IMPORTS = re.compile(rf"^(\s*from ){_MODULE}(?= import )", re.MULTILINE)
NAMED = re.compile(rf'(?<="){_MODULE}(?=:\w+")')
"""The module of a class that is named by a text, as the runtimes are."""


def collect_modules(module: str, named: Sequence[str] = ()) -> dict[str, str]:
    """The files of a module and of all that it imports of Krohn, by their names.

    Args:
        module: Its whole name.
        named: Modules that it asks for by names, which are imported first.

    Raises:
        ExportError: If one of them is no file.
    """
    waiting, files = [module, *named], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if (file := f"{_stem(name)}.py") in files:
            continue
        text = _source(name)
        files[file] = _rewrite_imports(name, text, named if name == module else ())
        waiting += [
            node.module
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom)
            and node.module is not None
            and node.module.partition(".")[0] in packages()
        ]
    return files


def _source(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ExportError(f"{module} is no file, so its code cannot be written")
    return read_bytes(spec.origin, LARGEST).decode("utf-8")


def _stem(module: str) -> str:
    """The name of its file; those that the library asks for are called as it likes."""
    return module.removeprefix(HERE).replace(".", "_")


def _rewrite_imports(module: str, text: str, named: Sequence[str]) -> str:
    text = IMPORTS.sub(lambda m: f"{m[1]}.{_stem(m[2])}", text)
    text = NAMED.sub(lambda m: f".{_stem(m[1])}", text)
    first = text.find("\nfrom ") + 1  # a module that imports nothing asks for nothing
    asked = "".join(f"from .{_stem(each)} import __name__ as _\n" for each in named)
    path, own = module.replace(".", "/"), module.startswith("krohn.")
    whose = "Krohn; Apache-2.0" if own else "a slice of another distribution"
    return f"# {path}.py of {whose}.\n{text[:first]}{asked}{text[first:]}"
