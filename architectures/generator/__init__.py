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
        "laws by balanced": f"{__name__}.commands",
    },
    public={"compile_generator": f"{__name__}.commands"},
)
