"""The types of what the other commands print with ``--json``."""

from krohn.schemas.parts import (
    MachineRemark,
)


class File(MachineRemark):
    """A picture that was drawn."""

    file: str


# krohn export, attention, equivalent, crasp


# krohn grammar


# krohn learn, decompile, workbench
