"""Measurements of other compilers of Transformers on parity, brackets and more.

Each figure comes from running the published code once, on two cores without a GPU. Words
are random and of the full declared length, and the compiled network is compared with the
expected output of the same tool's own program. So few words show that a network is wrong,
not how often it is; none wrong does not show that it is right. Settings are the
defaults of the tools unless stated: users can choose others.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A compiler and the state of its code that was measured.

    Attributes:
        name: As its authors call it.
        commit: Of its public repository.
        date: Of that commit.
    """

    name: str
    commit: str
    date: str


@dataclass(frozen=True)
class Measurement:
    """One network that a peer compiled.

    Attributes:
        peer: The compiler.
        program: Its program.
        settings: What was set; defaults are named as such.
        length: The declared length, without a start token.
        wrong: Words with a wrong output; None if none were run.
        words: Words run.
        parameters: Entries of all tensors; None if not measured.
        nonzero: Those that are not 0; None if not measured.
        seconds: To compile, where a range was measured its end; None if not measured.
    """

    peer: Peer
    program: str
    settings: str
    length: int
    wrong: int | None = None
    words: int | None = None
    parameters: int | None = None
    nonzero: int | None = None
    seconds: float | None = None


TRACR = Peer("Tracr", "9ce2b8c", "2024-02-05")
ALTA = Peer("ALTA", "a6069fe", "2024-10-10")

COUNTING, MODULO, RELATIVE = "parity by counting", "parity.sum_mod_2", "seq_relative"
TRACR_DEFAULT = "default, mlp_exactness=100"
TRACR_1000 = "mlp_exactness=1000"
ALTA_DEFAULT = "default, expansion_scalar_1=100"
ALTA_1000 = "expansion_scalar_1=1000, as its tests"

PARITY = (
    Measurement(TRACR, COUNTING, TRACR_DEFAULT, 8, 0, 40, 4_319, None, 3.9),
    Measurement(TRACR, COUNTING, TRACR_DEFAULT, 13, 0, 40),
    Measurement(TRACR, COUNTING, TRACR_DEFAULT, 14, 1, 40),
    Measurement(TRACR, COUNTING, TRACR_DEFAULT, 16, 8, 40, 11_343, None, 3.9),
    Measurement(TRACR, COUNTING, TRACR_DEFAULT, 20, 26, 40),
    Measurement(TRACR, COUNTING, TRACR_DEFAULT, 32, 20, 40, 35_375, 346, 3.9),
    Measurement(TRACR, COUNTING, TRACR_1000, 16, 0, 40),
    Measurement(TRACR, COUNTING, TRACR_1000, 20, 0, 40),
    Measurement(ALTA, MODULO, ALTA_DEFAULT, 10, 0, 40, 3_030, None, 0.43),
    Measurement(ALTA, MODULO, ALTA_DEFAULT, 20, 3, 40, 7_820, None, 0.43),
    Measurement(ALTA, MODULO, ALTA_DEFAULT, 40, 22, 40, 23_400, None, 0.43),
    Measurement(ALTA, MODULO, ALTA_DEFAULT, 80, 13, 40),
    Measurement(ALTA, MODULO, ALTA_DEFAULT, 160, 17, 40),
    Measurement(ALTA, MODULO, ALTA_1000, 40, 0, 40),
    Measurement(ALTA, MODULO, ALTA_1000, 80, 5, 40),
    Measurement(ALTA, MODULO, ALTA_1000, 160, 18, 40),
    # Depth grows with the length here, and one set of weights serves every length.
    Measurement(ALTA, RELATIVE, "default", 40, 0, 10, 532, 97, 0.43),
)

# The words were balanced. The program checks each pair of brackets by itself, so that
# ([)] is balanced for it: it counts, and need not know which bracket was opened last.
SHUFFLE = "shuffle_dyck, 2 pairs"

BRACKETS = (
    Measurement(TRACR, SHUFFLE, TRACR_DEFAULT, 10, 15, 15, 1_026_950, 2_321, 9.5),
    Measurement(TRACR, SHUFFLE, TRACR_DEFAULT, 20, 15, 15, 5_272_844, 8_037, 11.3),
)

REVERSE = "reverse, 3 letters"

LIBRARY = (
    Measurement(TRACR, REVERSE, TRACR_DEFAULT, 5, None, None, 18_755, 234, 8.9),
    Measurement(TRACR, REVERSE, TRACR_DEFAULT, 10, 10, 10, 89_880, 629, 5.1),
    Measurement(TRACR, REVERSE, TRACR_DEFAULT, 11, 10, 10),
    Measurement(TRACR, REVERSE, TRACR_DEFAULT, 12, 10, 10),
    Measurement(TRACR, REVERSE, TRACR_DEFAULT, 20, None, None, 534_830, 2_019, 2.9),
    Measurement(TRACR, REVERSE, TRACR_DEFAULT, 40, None, None, 3_643_530, 7_199, 7.9),
    Measurement(
        TRACR, "hist, 3 letters", TRACR_DEFAULT, 10, None, None, 2_333, 115, 9.8
    ),
    Measurement(TRACR, "frac_prevs", TRACR_DEFAULT, 10, None, None, 2_097, 89, 5.3),
    Measurement(TRACR, "sort_unique", TRACR_DEFAULT, 8, None, None, 5_055, 130, 6.5),
)
"""Other functions of its library; brackets and parity are above."""
