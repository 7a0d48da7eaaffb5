"""The walls of slices: the name of a file says what it may import."""

from collections.abc import Iterator
from pathlib import Path

from test_imports import GROUPS, LOWER, MODULES, imports

from krohn.program.slices import slices

TRUSTED = ("program", "verify.checker")
MAY: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "statement": (TRUSTED, ("statement",)),
    "check": (TRUSTED, ("statement", "check")),
    "source": (("program", "algebra"), ("statement", "source")),
    "build": (
        ("program", "algebra", "network", "compiler"),
        ("statement", "source", "build"),
    ),
    "find": (
        ("program", "algebra", "network", "verify"),
        ("statement", "source", "check", "find", "engine"),
    ),
    "meaning": (("program", "network"), ("statement", "meaning", "engine")),
    "engine": (("program", "network"), ("statement", "meaning", "engine")),
}
"""Of the core, and of its own slice and of those that it uses, by how a file is called."""
FACE = ("command", "commands", "draw", "export", "task")
"""Files that may import the face, and so all that it imports; so may instruments."""


def role(stem: str) -> str:
    """The first word of the name of a file."""
    return stem.partition("_")[0]


def package(name: str) -> tuple[str, str]:
    """The slice that an import leads to, as ``group.slice``, and which part of it.

    Of all else the name below `krohn`, and nothing.
    """
    first, *parts = name.split(".")
    if first != "krohn":
        return "", ""
    if parts and parts[0] in GROUPS:
        return ".".join(parts[:2]), ".".join(parts[2:3])
    return ".".join(parts), ""


def crossings(path: Path) -> Iterator[str]:
    """What a file of a slice imports that it may not."""
    group, name, *_ = path.with_suffix("").parts
    own, kind = f"{group}.{name}", role(path.stem)
    slice_of = slices()[f"krohn.{own}"]
    core, parts = MAY.get(kind, (LOWER, ()))
    for target in {name for name, _ in imports(path)}:
        at, part = package(target)
        if at.partition(".")[0] in GROUPS:
            known = at == own or at in slice_of.uses
            if not known or (kind in MAY and part and role(part) not in parts):
                yield f"{at}.{part}"
            continue
        inside = any(f"{at}.".startswith(f"{one}.") for one in core)
        if at and not (inside or kind in FACE or group == "instruments"):
            yield at


FILES = [p for p in MODULES if p.parts[0] in GROUPS and len(p.parts) > 2]
NOT_YET: dict[str, tuple[str, ...]] = {
    "architectures/gated/commands.py": ("instruments.compare",),
    "architectures/linear_recurrence/build.py": (
        "kinds.kernels",
        "kinds.linear_systems",
    ),
    "instruments/attack/campaign.py": ("architectures.generator",),
    "instruments/attack/rnns.py": ("architectures.recurrent",),
    "instruments/compare/comparison/trained_networks.py": ("architectures.gated",),
    "instruments/compare/measures/attention_spectrum.py": (
        "architectures.attention_layer",
    ),
    "instruments/compare/measures/attention_variation.py": (
        "architectures.generator",
        "instruments.limits",
    ),
    "instruments/compare/tasks/letters.py": ("architectures.gated",),
    "instruments/equivalence/claims.py": ("architectures.generator",),
    "instruments/equivalence/commands.py": ("kinds.counting",),
    "instruments/equivalence/models.py": ("architectures.pruned",),
    "instruments/equivalence/question.py": ("instruments.learning",),
    "instruments/equivalence/systems.py": ("kinds.counting",),
    "instruments/learning/opening.py": (
        "architectures.exports",
        "architectures.gated",
        "architectures.gpt2",
        "instruments.compare",
    ),
    "instruments/limits/balance.py": ("architectures.generator",),
    "instruments/smt/commands.py": ("kinds.dynamic_programs",),
    "instruments/smt/steps.py": ("kinds.dynamic_programs",),
    "instruments/workbench/answers.py": ("kinds.hidden_markov",),
    "kinds/dynamic_programs/commands_facts.py": ("instruments.limits",),
    "kinds/dynamic_programs/draw_rollout.py": ("kinds.rewriting",),
    "kinds/hidden_markov/commands.py": ("kinds.grammars",),
    "kinds/hidden_markov/commands_decompile.py": (
        "instruments.compare",
        "kinds.posterior_heads",
    ),
    "kinds/hidden_markov/commands_objects.py": (
        "kinds.grammars",
        "kinds.posterior_heads",
    ),
    "kinds/linear_systems/build_products.py": ("kinds.hidden_markov",),
    "kinds/linear_systems/check_matrix_errors.py": ("kinds.hidden_markov",),
    "kinds/linear_systems/commands.py": (
        "architectures.linear_recurrence",
        "kinds.dynamic_programs",
        "kinds.hidden_markov",
    ),
    "kinds/sequence_functions/commands.py": ("kinds.counting",),
}
"""What does not keep to this yet, by slices: the list only gets shorter."""


def test_a_slice_imports_what_its_files_are_called_for() -> None:
    """And other slices only as its `Slice.uses` says."""
    beyond = {
        (str(path), target)
        for path in FILES
        for target in crossings(path)
        if not target.startswith(NOT_YET.get(str(path), ()))
    }
    assert beyond == set()


def test_what_a_slice_uses_is_there() -> None:
    known = {name.removeprefix("krohn.") for name in slices()}
    for name, each in slices().items():
        assert set(each.uses) <= known - {name.removeprefix("krohn.")}, name
