"""Names of sources to begin with, and what each is."""

EXAMPLES = {
    "InContext3,2": "learns in context which of 3 letters follows the last 2",
    "InContext3,2:ahead=2,steps=4": "the law of the next 2 letters, by 4 gradient steps",
}
