"""``krohn zoo``."""

from krohn import show
from krohn.commands.options import Json
from krohn.commands.terminal import emit


def zoo(as_json: Json = False) -> None:
    """List the machines that are known by name."""
    from algebra import zoo as animals

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
    emit({"machines": rows}, as_json, lambda: show.zoo(rows))
