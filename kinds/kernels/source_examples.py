"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "Exp32": "Σ e^(−s)·x(t − s) of up to 32 real inputs; Exp32,8: e^(−s/8)",
    "Power64,2": "the same with (1 + s)^−2, which no finite recurrence has",
    "Delay32,5": "the input of 5 steps ago",
    "Mean32,5": "the mean of the last 5 inputs",
    "RanKernel32@1": "a kernel of 32 random values in [0, 1)",
    "Exp32:swap=10": "the same, with the first and the last 10 inputs exchanged",
    "Exp32:mix=5@1": "the same, after a random filter of length 5",
}
