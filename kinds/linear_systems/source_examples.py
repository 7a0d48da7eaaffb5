"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "Cyclic-DET5,5@3": "each of 5 letters is a cycle of 5 states (a machine); seed 3",
    "MatMul5,5@3": "each of 5 letters is an orthogonal matrix of 5 rows; seed 3",
    "Cyclic-RND5,5@3": "the cycles of Cyclic-DET5,5@3, but a letter leads back with "
    "probability 0.01; also Cyclic-RND5,5@3:epsilon=0.05",
}
