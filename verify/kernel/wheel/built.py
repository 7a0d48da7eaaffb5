"""Builds the program for the wheel, with the licences of what is linked into it."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).parent
DOCS, COMMON = Path("/usr/share/doc"), Path("/usr/share/common-licenses")
LICENCES = {
    "gmp": DOCS / "libgmp-dev" / "copyright",
    "zarith": DOCS / "libzarith-ocaml-dev" / "copyright",
    "ocaml": DOCS / "ocaml" / "copyright",
    "glibc": DOCS / "libc6-dev" / "copyright",
    **{name: COMMON / name for name in ("GPL-3", "LGPL-2.1", "LGPL-3", "Apache-2.0")},
}
"""Where Debian keeps them."""
SHARE = "share/krohn-kernel"
TAG = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64"
"""A static program needs no library of the system."""


class Built(BuildHookInterface):  # type: ignore[type-arg]
    """The program, its sources and the licences."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what goes into the wheel.

        Raises:
            CalledProcessError: If the program cannot be built.
        """
        sources = HERE.parent / "ocaml"
        program = HERE / "krohn-kernel"
        program.unlink(missing_ok=True)
        static = "-ccopt -static"
        subprocess.run(
            ["make", "-s", "-C", sources, f"LINK={static}", f"PROGRAM={program}"],
            check=True,
        )
        subprocess.run(["strip", program], check=True)
        build_data["tag"], build_data["pure_python"] = TAG, False
        build_data["shared_scripts"][str(program)] = "krohn-kernel"
        for path in [*sources.glob("*.ml*"), sources / "Makefile"]:
            build_data["shared_data"][str(path)] = f"{SHARE}/{path.name}"
        for name, place in LICENCES.items():
            build_data["shared_data"][str(place)] = f"{SHARE}/licences/{name}"
