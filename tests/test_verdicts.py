"""One claim, and nothing says more than was proved: rules for the source code itself.

Verdicts are made where they are shown, sentences are printed from them, and what a file
means is read from its header once (`krohn.program.claim.Claim`).
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from slices_here import is_deleted
from source_code import nodes

from krohn.program.slices import GROUPS

ROOT = Path(__file__).parents[1]
PACKAGES = ("algebra", "network", "program", "jobs", "compiler", "verify", *GROUPS)
MODULES = {
    path.relative_to(ROOT).as_posix(): path
    for name in (*PACKAGES, "krohn")
    for path in sorted((ROOT / name).rglob("*.py"))
}


VERDICTS = ("krohn.verify.verdict", "krohn.verify.checker.verdict")
MAKERS = {
    "Proved": {"verify/checker/network.py", "verify/kernel/asking.py"},
    "AllRun": {"krohn/report.py"},
    "Ideal": {"instruments/smt/commands.py"},
    "Tables": {"instruments/smt/commands.py"},
    "Steps": {"instruments/smt/commands.py"},
    "OfTensors": {"krohn/trained_modules.py"},
}
"""Of each verdict who makes it: those that have shown what it says."""


def made(module: str) -> Iterator[str]:
    """The verdicts that a module imports and makes."""
    known = {
        alias.asname or alias.name: alias.name
        for node in nodes(MODULES[module])
        if isinstance(node, ast.ImportFrom) and node.module in VERDICTS
        for alias in node.names
    }
    if known:
        calls = (n.func for n in nodes(MODULES[module]) if isinstance(n, ast.Call))
        called = {f.id if isinstance(f, ast.Name) else last(f) for f in calls}
        yield from (known[name] for name in called & known.keys())


def test_verdicts_are_made_by_those_who_have_shown_them() -> None:
    makers: dict[str, set[str]] = {verdict: set() for verdict in MAKERS}
    for module in MODULES:
        for verdict in {*made(module)} & MAKERS.keys():
            makers[verdict].add(module)
    assert makers == {verdict: kept(who) for verdict, who in MAKERS.items()}


def kept(modules: Iterable[str]) -> set[str]:
    """Those modules that were not deleted with their slice."""
    return {module for module in modules if not is_deleted(module)}


def last(function: ast.expr) -> str:
    """What a function of a module is called there."""
    return function.attr if isinstance(function, ast.Attribute) else ""


def test_verdicts_are_called_by_their_names() -> None:
    """Else the rule above would not see who makes them."""
    for module in MODULES:
        for node in nodes(MODULES[module]):
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & {*VERDICTS}, module
            if isinstance(node, ast.ImportFrom):
                asked = {f"{node.module}.{alias.name}" for alias in node.names}
                assert not asked & {*VERDICTS}, module


TRUTH = re.compile(r"(?<!-)\b(verified|proved|right on|within \{)")
"""Not ``--within {}``: an option asks for an error, and says of none that it is there."""
DENIAL = re.compile(r"\b(not|no|nothing|cannot|can)\b")
SAY_SO = {
    "verify/checker/verdict.py": "the sentence of the checker",
    "verify/verdict.py": "the sentences of others who have shown something",
    "instruments/formal/command_line.py": "Coq said so, and how long it took",
    "instruments/compare/comparison/models.py": "prints the sentence of the checker",
    "krohn/drawing/cascade.py": "a decomposition, which is checked in full",
    "kinds/counting/source_systems.py": "refuses words that are too long",
    "architectures/exports/commands_card.py": "prints the sentence of the checker",
    "kinds/hidden_markov/commands_facts.py": "theorems about sources and their truncations",
    "instruments/equivalence/commands_text.py": "what was compared, by bisimulation",
    "kinds/counting/commands_text.py": "what was explored",
    "krohn/show/network.py": "prints the sentence of the checker",
    "instruments/workbench/commands_text.py": "counts proofs",
    "kinds/rewriting/commands.py": "texts of a source, before it is compiled",
    "architectures/gated/commands.py": "says which layers can be read",
    "instruments/workbench/contents.py": "prints the sentence of the checker",
    "kinds/posterior_heads/statement.py": "the box of a source, in its description",
}
"""Where text with numbers or names speaks of truth, and why it may."""


def sentences(module: str) -> Iterator[str]:
    """The f-strings of a module that speak of truth and deny nothing."""
    for node in nodes(MODULES[module]):
        if isinstance(node, ast.JoinedStr):
            parts = (
                p.value if isinstance(p, ast.Constant) else "{}" for p in node.values
            )
            text = "".join(map(str, parts))
            if TRUTH.search(text) and not DENIAL.search(text):
                yield text


def test_only_some_write_of_truth() -> None:
    """Whoever is added here must have a verdict in its hand."""
    found = {module: [*sentences(module)] for module in MODULES}
    assert {module for module, said in found.items() if said} == kept(SAY_SO), found


MEANING = {"architecture", "claim", "machine", "source"}
READERS = {
    "program/claim.py": "the claim",
    "network/modelfile.py": "frames, sizes and formats of files",
    "verify/checker/model_file.py": "the same, of the checker",
    "verify/checker/network.py": "whether a machine is stated whole",
    "architectures/gpt2/check.py": "the header of a GPT-2, which it completes",
    "architectures/disguise/check.py": "makes the header of the plain network",
    "architectures/pruned/check_masks.py": "makes the header of a network without masks",
    "network/directions.py": "makes the same",
    # Who writes headers: from that of another file.
    "architectures/disguise/build.py": "a header",
    "architectures/disguise/build_layout.py": "a header",
    "architectures/disguise/build_growing.py": "a header",
    "instruments/compare/models/files.py": "a header of another format",
    "krohn/alignment.py": "a header about another machine",
    "krohn/verification_target.py": "a claim of a longer length",
    "instruments/equivalence/claims.py": "a header about another source",
    "architectures/disguise/commands.py": "a header of a network beside another",
    "architectures/exports/export_huggingface.py": "a configuration of it",
    "architectures/exports/export_transformer_lens.py": "a header in a directory",
    # Who hands an object on as it is stated, to the runtime or a reader of sources.
    "network/running_file.py": "to the runtime",
    "instruments/attack/rnns.py": "to the runtime",
    "instruments/equivalence/models.py": "to the drawing of random weights",
    "krohn/foreign.py": "the machine, to the reader of machines",
    "instruments/compare/measures/attention_variation.py": "the machine, to the same",
    "network/model.py": "bits of a machine's letters",
    "architectures/exports/circuit.py": "names of a machine's outputs",
    "architectures/gpt2/export.py": "the machine, to the tokenizer",
    "krohn/source_kinds/base.py": "the source, to the reader of its kind",
    "kinds/blocks/commands.py": "likewise",
    "kinds/dynamic_programs/commands.py": "likewise",
    "kinds/sequence_functions/commands.py": "likewise",
}
"""Who looks into a header, and for what: all others take `Claim`."""


def is_header(node: ast.expr) -> bool:
    """Whether an expression is called a header."""
    name = node.id if isinstance(node, ast.Name) else last(node)
    return name == "header"


def looks_inside(module: str) -> bool:
    """Whether a module reads what a header means."""
    for node in nodes(MODULES[module]):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            key = node.slice if is_header(node.value) else None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.func.attr in ("get", "pop") and is_header(node.func.value)
            key = node.args[0] if asked and node.args else None
        if isinstance(key, ast.Constant) and key.value in MEANING:
            return True
    return False


def test_only_some_look_into_headers() -> None:
    """Whoever needs what a file means takes ``file.claim`` and ``file.architecture``."""
    assert {module for module in MODULES if looks_inside(module)} == kept(READERS)
