"""The facts of a source, and the cost of each way to compile it."""

from dataclasses import replace
from typing import Any, Unpack

from krohn.algebra.errors import KrohnError
from krohn.asked import Asked, ExplainKeywords
from krohn.compiled_model import CompiledModel
from krohn.network.modelfile import claimed_length
from krohn.network.precision import one_thread
from krohn.option_rules import check_within
from krohn.source_kinds import with_kind


def explain(
    source: object,
    length: int | None = None,
    dtype: object = None,
    **options: Unpack[ExplainKeywords],
) -> dict[str, Any]:
    """The facts about a machine and the table of its constructions.

    Args:
        source: Anything that `krohn.automaton` takes, as what `krohn.compile` returns; or
            another source, or its name.
        length: T; 128 if nothing is said, and the length of a compiled model.
        dtype: The number format of the networks; if nothing is said, that of
            `krohn.compile`.
        **options: What kind of networks, by the names in `krohn.asked.Asked`. ``arch``
            is ``"transformer"``; or ``"ssm"`` for the forms of diagonal state space models
            and their lengths in each format, as `krohn.state_space_forms.forms` returns
            them, and no more.

    Returns:
        Of another source the facts that its kind knows; ``proved`` is null where its
        network was not tried. Of a machine: ``states``,
        ``letters`` (counts), ``constructions`` (those that apply, best first, with their
        cost), ``unavailable`` (the others, with the reason),
        ``chosen`` and ``why``; ``proved`` (whether the chosen one is; null if that was
        not tried) and ``tried`` (what was tried before it and is not proved, with the
        reason), as `krohn.compile` says; ``properties`` (name, whether it holds or null,
        why, and a witness), ``aperiodic``, ``solvable``, ``groups``, ``monoid_size`` (of
        S¹, null if unknown), ``monoid_at_least``, ``semigroup_size`` (of T(A)), all of the
        reachable part; ``language``: what its language is called (see
        `krohn.machine_facts.language`); ``depth``: what they mean for networks; ``effort``
        (steps, null if unlimited) and ``cut_short``, what was left out for that; and
        further facts.

    Raises:
        KrohnError: If the machine cannot be read, or an option has no effect on it.
    """
    asked = Asked(length, dtype=dtype, **options)
    check_within(asked.within)
    if asked.arch not in ("transformer", "ssm"):
        raise KrohnError(f"--arch takes transformer or ssm, not {asked.arch!r}")
    if length is None and isinstance(source, CompiledModel) and asked.arch != "ssm":
        asked = replace(asked, length=claimed_length(source.file.header))
    with one_thread():
        kind, found = with_kind(source)
        kind, found = kind.turned(found, asked)
        return kind.explain(found, asked.of(kind.formats))
