"""Generators of bracket languages: two layers that say how likely each letter is."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        "generator": Architecture(f"{__name__}.statement", f"{__name__}.meaning")
    },
    measures={f"{__name__}.check": f"{__name__}.find_longest:longest"},
    rules={"generator": f"{__name__}.check"},
    parts={
        "laws": f"{__name__}.commands:GeneratorTarget",
        "generator": f"{__name__}.build",
    },
)
