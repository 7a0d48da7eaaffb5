"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "GaussianHMM3,2@7": "3 states that emit points of the plane with unit covariance, "
    "seed 7; guesses the next point, for points with |x_i| at most 8 from the means; "
    "also :13given2, :R=4",
    "RanHMM3,5@7:23given1": "for a hidden Markov model that emits letters in states, "
    "the law of two letters given one; also 2given1, 13given2, …",
    "Power1@4": "Power2@4 has another transition matrix with the same power 4, so that it "
    "predicts the same point 4 steps ahead (Claim 3 of Liu 2024); :2given1, :R=4",
    "Twin1:2given1": "equation 2.47 of Liu 2024: Twin2 predicts any letter from any other "
    "in the same way, but not two letters from one",
}
