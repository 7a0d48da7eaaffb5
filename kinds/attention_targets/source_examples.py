"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "Sorted3,4": "position t gives the t-th smallest of 3 numbers with 4 levels",
    "RanGrid3,4@5": "random values for inputs of 3 points with 4 levels; seed 5",
}
