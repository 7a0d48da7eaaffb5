"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "RanLDS5@3": "predicts the next of 5 noisy numbers (Kalman 1960); seed 3",
}
