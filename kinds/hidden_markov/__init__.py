"""Hidden Markov models: predictive states and beliefs as attention, products or RNNs."""

from krohn.program.slices import Slice, Source

PROCESSES = r"RanHMM|Cyclic-HARD|Mess3|RRXOR|EvenProcess|GoldenMean|mixture:|prompts\d"
"""How names of hidden Markov models begin."""

SLICE = Slice(
    sources={
        "hidden-markov": Source(
            f"{__name__}.commands:HiddenMarkovModels",
            rf"{PROCESSES}|(?s:.+)\.(att|fst\.txt):weights=",
            (".json", ".npz", ".pomdp"),
            objects=(f"{__name__}.source_model",),
            foreign=True,
            of_machines="beliefs",
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:possible_words",
        )
    },
    readers={
        ("transformer", "hidden-markov"): f"{__name__}.check",
        ("rnn", "hidden-markov"): f"{__name__}.check_recurrent",
        ("lstm", "hidden-markov"): f"{__name__}.check_gated",
        ("gru", "hidden-markov"): f"{__name__}.check_gated",
    },
    rules={"normaliser": f"{__name__}.check_normaliser"},
    finders={
        f"{__name__}.check": f"{__name__}.find:refinement",
        f"{__name__}.check_recurrent": f"{__name__}.find:simulation",
        f"{__name__}.check_gated": f"{__name__}.find:boxes",
    },
    tasks={"beliefs": f"{__name__}.task:process"},
    parts={
        "facts of a driven chain": f"{__name__}.commands_machines:facts_of_chain",
        "picture of a driven chain": f"{__name__}.commands_machines:draw_chain",
    },
    public={
        "HiddenMarkovModel": f"{__name__}.source_model",
        "hidden_markov": f"{__name__}.commands_objects",
    },
    uses=("architectures.gated", "architectures.recurrent", "kinds.linear_systems"),
)
