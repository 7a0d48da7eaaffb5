"""``krohn zoo``."""

from krohn import show
from krohn.commands.options import Json, emit
from krohn.source_kinds import KINDS


def zoo(as_json: Json = False) -> None:
    """List the machines that are known by name."""
    from krohn.algebra import zoo as animals

    rows = []
    for name in animals.names():
        machine = animals.machine(name)
        rows.append(
            {
                "name": name,
                "states": len(machine.states),
                "letters": len(machine.letters),
                "description": animals.description(name),
            }
        )
    families = [
        {"name": example, "kind": kind, "description": said}
        for kind in KINDS
        for example, said in KINDS[kind].examples.items()
    ]
    result = {"machines": rows, "families": families}
    emit("zoo", result, as_json, lambda: show.zoo(rows, families))
