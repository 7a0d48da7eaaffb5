"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "program:reverse": "the word read backwards, as a Program; also program:length, count,"
    " count-so-far, histogram, histogram-so-far, fraction-of-previous, "
    "shift, pattern, sort, sort-unique, sort-by-frequency, "
    "pair-balance, shuffle-dyck1, shuffle-dyck2, shuffle-dyck2-so-far, "
    "dyck, parity, majority, a^n-b^n",
}
