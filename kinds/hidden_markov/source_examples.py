"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "RanHMM5,5@3": "5 states and 5 letters, laws of uniform numbers; seed 3",
    "Cyclic-HARD5,5@3": "Cyclic-DET5,5@3 whose state is sometimes asked for by * and "
    "then emitted; 75 states; also Cyclic-HARD5,5@3:alpha=0.05 (the probability of *; "
    "default 1/120)",
    "Mess3": "three states that seldom change and are seldom mistaken for each other; "
    "its beliefs form a fractal",
    "RRXOR": "two fair bits, then their exclusive or, again and again; the phase at the "
    "start is unknown",
    "EvenProcess": "an even number of 1s between two 0s",
    "GoldenMean": "no two 0s in a row",
    "mixture:RanHMM3,3@0..3": "one of the four models RanHMM3,3@0 to RanHMM3,3@3, each "
    "as likely, for the whole word",
    "prompts2:mixture:RanHMM3,3@0..3": "demonstrations of 2 + 1 letters of one of the four "
    "models, with | between them",
}
