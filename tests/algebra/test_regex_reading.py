"""A pattern means what Python's matcher says, or it is refused; never another language."""

import random
import re
import warnings

import pytest
from regexes import accepted

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.regex import from_regex

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))

# Random patterns of all signs, right ones and wrong ones.


def parted(text: str) -> list[str]:
    return text.split()


LETTERS = [*PRINTABLE.translate(str.maketrans("", "", "()[]|*+?{}.^$\\ ")), "α"]
PLACES = [
    *parted(r"\d \w \s \D \W \S \. \* \\ \- \] \[ \^ \$ \n \t \x41 \u0042 \101 \07 \/"),
    *(r"\ ", ".", ".", "()", "(?:)", "{a", "}", "]", "a{,", "α b"),
]
ODD = parted(
    r"\A \Z ^ $ \b \B \1 \q \8 λ ∪ {2} {,3} ( ) [ [] [^] (?i) (?=a) (?<!a) (?#x) *"
)
MEMBERS = parted(
    r"""a b c Z 0 9 _ - + . * ^ \] \- \[ [ \\ & && -- ~~ || \d \w \s \D \W \S \n \t \x41
    \b \101 \0 a-c 0-9 A-Z +-- !-~ [-] ( ) { } $ | \^ α α-γ é \u0043 # ' " """
)
ODD_MEMBERS = [*parted(r"] c-a a-\d \w-z \q \8 \A \x4 \400 ^"), " "]
TIMES = parted("* + ? *? +? ?? {2} {1,2} {,2} {2,} {0} {0,1} {1,2}? {,} {0,0}? {,1}?")
ODD_TIMES = parted("*+ ++ ?+ {2}+ {2,1} ** {2}{2} *?? {")


def drawn_class(source: random.Random) -> str:
    members = source.choices(MEMBERS, k=source.randint(1, 4))
    if source.random() < 0.1:
        members.insert(source.randint(0, len(members)), source.choice(ODD_MEMBERS))
    return f"[{source.choice(['', '', '^', ']', '^]'])}{''.join(members)}]"


def drawn_place(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.05:
        return source.choice(ODD)
    if kind < 0.4:
        return source.choice(LETTERS)
    return source.choice(PLACES) if kind < 0.7 else drawn_class(source)


def drawn(source: random.Random, depth: int) -> str:
    """A random pattern of all signs that Python's matcher knows."""
    kind = source.random()
    if depth == 0 or kind < 0.2:
        return drawn_place(source)
    inner = drawn(source, depth - 1)
    if kind < 0.5:
        return inner + drawn(source, depth - 1)
    if kind < 0.55:
        return f"{inner}|{drawn(source, depth - 1)}"
    opening = source.choice(["(", "(?:", "(", "(?:", f"(?P<n{source.randint(0, 99)}>"])
    group = source.random() < 0.8
    if kind < 0.75:
        return f"{opening}{inner}|{drawn(source, depth - 1) if group else ''})"
    if kind < 0.8:
        return source.choice(["^{}$", "^{}", "{}$", r"\A{}", r"{}\Z"]).format(inner)
    times = source.choice(ODD_TIMES if source.random() < 0.05 else TIMES)
    return f"{opening}{inner}){times}" if group else inner + times


def words_about(machine: Automaton, source: random.Random) -> set[str]:
    """Words of an acceptor's letters and printable ASCII, many of them accepted."""
    every = [*machine.letters, *PRINTABLE]
    words = {"", *every}
    words |= {"".join(source.choices(every, k=source.randint(2, 5))) for _ in range(20)}
    for _ in range(20):
        state, word = machine.start, ""
        for _ in range(6):
            column = machine.transitions[:, state]
            a = int(source.choice((column != state).nonzero()[0].tolist() or [0]))
            word, state = word + machine.letters[a], int(column[a])
            words.add(word)
    return words


def accepts(machine: Automaton, word: str) -> bool:
    """Whether an acceptor takes a word; it takes none with another letter."""
    assert machine.output is not None
    state = machine.start
    for a in word:
        if a not in machine.letters:
            return False
        state = int(machine.transitions[machine.letters.index(a), state])
    return machine.output.names[machine.output.table[state]] == "accept"


def compare(patterns: list[str], source: random.Random) -> tuple[list[str], int]:
    """The patterns that are another language than Python's, and how many are refused."""
    wrong, refused = [], 0
    for pattern in patterns:
        try:
            machine = from_regex(pattern)
        except MachineError:
            refused += 1
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                match = re.compile(pattern).fullmatch
        except re.error:
            wrong.append(pattern)
            continue
        words = words_about(machine, source)
        if any(accepts(machine, word) != bool(match(word)) for word in words):
            wrong.append(pattern)
    return wrong, refused


@pytest.mark.parametrize(
    "count", [300, pytest.param(10_000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_patterns_are_what_an_independent_matcher_says(count: int) -> None:
    source = random.Random(count)
    patterns = [drawn(source, 3) for _ in range(count)]
    wrong, refused = compare(patterns, source)
    assert wrong == []
    assert refused < count / 2


def one_letter_words(machine: Automaton) -> str:
    return "".join(sorted(word for word in accepted(machine, 1) if word))


DIGITS, SMALL = "0123456789", "abcdefghijklmnopqrstuvwxyz"
WORD = DIGITS + SMALL.upper() + "_" + SMALL
OTHER = "".join(a for a in PRINTABLE if a not in WORD)
BLANKS = "\t\n\x0b\x0c\r "


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        (r"[\S]", PRINTABLE[1:]),
        (r"\S", PRINTABLE[1:]),
        (r"[\D]", "".join(a for a in PRINTABLE if a not in DIGITS)),
        (r"[^\W]", WORD),
        (r"[^\W_]", WORD.replace("_", "")),
        (r"[\W]", OTHER),
        (r"[^\w]", OTHER),
        (r"[^\D]", DIGITS),
        (r"[^\S]", " "),
        (r"[\Wa]", OTHER + "a"),
        (r"[\s\S]", BLANKS + PRINTABLE[1:]),
        (r"[\d.]", "." + DIGITS),
        (r"[+\-.]", "+-."),
        (r"[+\-0-9]", "+-" + DIGITS),
        (r"[\w\-\.]", "-." + WORD),
        (r"[\[\]]", "[]"),
        (r"[^\]]", PRINTABLE.replace("]", "")),
        (r"[*^]", "*^"),
        (r"[\^a]", "^a"),
        (r"[\--/]", "-./"),
        (r"[!-\-]", "!\"#$%&'()*+,-"),
        (r"[a\]b]", "]ab"),
        ("[]a]", "]a"),
        ("[^]a]", PRINTABLE.replace("]", "").replace("a", "")),
        ("[-a]", "-a"),
        ("[a-]", "-a"),
        ("[a-c-e]", "-abce"),
        ("[+--]", "+,-"),
        ("[[a]", "[a"),
        ("[a&&b]", "&ab"),
        (r"[\x41-\x43]", "ABC"),
        (r"[\b]", "\b"),
        (r"[\101\060]", "0A"),
        ("[λ]", "λ"),
        (".", PRINTABLE),
        ("[^a]", PRINTABLE.replace("a", "")),
        ("[[:digit:]]", DIGITS),
        ("[^[:alnum:]_]", OTHER),
        ("[[:xdigit:]-]", "-" + DIGITS + "ABCDEFabcdef"),
        ("[[:punct:][:space:]]", "".join(sorted(OTHER + "_" + BLANKS[:-1]))),
        ("[α-γ]", "αβγ"),
    ],
)
def test_classes_mean_the_letters_that_they_say(pattern: str, letters: str) -> None:
    machine = from_regex(pattern)
    assert one_letter_words(machine) == "".join(sorted(letters))
    assert accepted(machine, 0) == set()
    assert list(machine.letters) == sorted(machine.letters)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("^(ab)*$", {"", "ab", "abab"}),
        ("^(a|b)$", {"a", "b"}),
        (r"\Aab\Z", {"ab"}),
        (r"^\\$", {"\\"}),
        (r"a\$b", {"a$b"}),
        (r"\^a", {"^a"}),
        (r"\λa|a", {"λa", "a"}),
        ("a[ ]b", {"a b"}),
        (r"a\ b", {"a b"}),
        (r"a\tb", {"a\tb"}),
        ("(a+)?", {"", "a", "aa", "aaa", "aaaa"}),
        ("(a{0,}|b)?", {"", "a", "aa", "aaa", "aaaa", "b"}),
        ("(a{,}|b)?", {"", "a", "aa", "aaa", "aaaa", "b"}),
        ("a{,2}", {"", "a", "aa"}),
        ("a{0}b", {"b"}),
        ("a|", {"", "a"}),
        ("()|ab", {"", "ab"}),
        ("(?:ab)(?P<n>c)", {"abc"}),
        ("a*?b??c{1,2}?", {"c", "cc", "ac", "bc", "acc", "bcc", "abc", "abcc"}
         | {"aac", "aaac", "aabc", "aacc"}),
        (r"\x41\u0042\U00000043\104", {"ABCD"}),
        (r"\a\0", {"\a\0"}),
        ("a-b,c", set()),
    ],
)  # fmt: skip
def test_patterns_with_one_reading_have_it(pattern: str, words: set[str]) -> None:
    machine = from_regex(pattern)
    assert accepted(machine, 4) == words
    assert machine.remark == ""


@pytest.mark.parametrize(
    ("pattern", "says", "words"),
    [
        ("a+b", "one or more", {"ab", "aab"}),
        ("(ab)+(b)", "one or more", {"abb"}),
        ("[a|b]", "'|' and ',' within brackets are letters", {"a", "|", "b"}),
        ("[x-y,0-1]", "'|' and ',' within brackets are letters", set("xy,01")),
        ("[Y-b]", "from 'A' to 'z' has the signs", set("YZ[\\]^_`ab")),
        ('"a"', "the quotes around it are read as letters", {'"a"'}),
        ("[a&&b]", "are letters, not operations on classes", {"&", "a", "b"}),
        ("a&b", "'&' is read as a letter", {"a&b"}),
        ("a b", "a space is read as a letter", {"a b"}),
        ("a{b", "begins no repetition", {"a{b"}),
        ("a{1, 2}", "begins no repetition", set()),
        ("a{}", "begins no repetition", {"a{}"}),
        ("a]", "closes no class", {"a]"}),
        ("^ab", "from end to end", {"ab"}),
        ("ab$", "from end to end", {"ab"}),
        ("^a|b$", "from end to end", {"a", "b"}),
        ("(^a|b)c", "from end to end", {"ac", "bc"}),
        ("a(b$|c$)?", "from end to end", {"a", "ab", "ac"}),
    ],
)
def test_signs_with_two_meanings_say_which_they_have(
    pattern: str, says: str, words: set[str]
) -> None:
    machine = from_regex(pattern)
    assert accepted(machine, 3) == words
    assert says in machine.remark


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (".", "any printable ASCII character"),
        ("[^a]", "any other printable ASCII character"),
        (r"\S|[\W]", r"'\D', '\W' and '\S' are read as printable ASCII"),
        ("[[:digit:]]", "'[:digit:]' is read as the POSIX class"),
    ],
)
def test_open_classes_say_what_they_are_read_as(pattern: str, says: str) -> None:
    assert says in from_regex(pattern).remark


def test_blanks_and_others_are_everything() -> None:
    machine = from_regex(r"[\s\S]*")
    assert all(accepts(machine, word) for word in ("ab c", "A-1", "", "\n\t~"))


def test_each_remark_is_made_once() -> None:
    assert from_regex("a+b+.a.").remark.count("one or more") == 1


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(ab)* + (bb)*", "a space beside a sign"),
        ("a | b", "a space beside a sign"),
        (" ab", "a space beside a sign"),
        ("ab ", "a space beside a sign"),
        ("a{2} b", "a space beside a sign"),
        ("a\tb", "a blank that is no space"),
        ("a\u00a0b", "a blank that is no space"),
        ("(ab)*+(bb)*", "may mean or"),
        ("a++", "may mean or"),
        ("a{2}+b", "may mean or"),
        ("a?+b", "may mean or"),
        ("a**", "'*' repeats a repetition"),
        ("a{2}{3}", "'{3}' repeats a repetition"),
        ("a*??", "'?' repeats a repetition"),
        ("*a", "'*' repeats nothing"),
        ("(|+a)", "'+' repeats nothing"),
        ("a{3,2}", "'{3,2}' repeats at least more often than at most"),
        ("(ab)^*", "no power"),
        ("(ab)^+", "no power"),
        ("a^2", "no power"),
        ("a^{2}", "no power"),
        ("a^b", "where not every word begins"),
        ("(^a)*", "where not every word begins"),
        ("a?^b", "where not every word begins"),
        ("a$b", "where not every word ends"),
        ("(a|b$)c", "where not every word ends"),
        (r"a\Ab", "where not every word begins"),
        ("a$*", "'*' repeats the end of a word"),
        ("(?i)ab", "'(?i' sets flags"),
        ("(?x:a b)", "'(?x:' sets flags"),
        ("a(?=b)", "'(?=' looks ahead"),
        ("(?<!a)b", "'(?<!' looks back"),
        ("(?>a)", "atomic group"),
        ("(?#a)", "comment"),
        ("(a)(?(1)b)", "condition"),
        ("(?P<n>a)(?P=n)", "'(?P=' refers back"),
        ("(?P<n>a)(?P<n>b)", "two groups are named 'n'"),
        ("(?<n>a)", "no group that Krohn knows"),
        (r"\bab", r"'\\b' asks for a boundary of words"),
        (r"a\Bb", r"'\\B' asks for a place within words"),
        (r"(a)\1", r"'\\1' refers back"),
        (r"ab\z", r"'\\z' is not known"),
        (r"[\A]", r"'\\A' is not known"),
        (r"\x4", r"'\\x4' is the number of no character"),
        (r"\ud800", r"'\\ud800' is the number of no character"),
        (r"\777", r"'\\777' is the number of no character"),
        ("ab\\", "ends with a backslash"),
        ("[b-a]c", "backwards"),
        (r"[\d--]c", "no range"),
        (r"[a-\d]c", "no range"),
        (r"[\x00-\uffff]", "more than 10000 letters"),
        (r"[\ud700-\ue000]", "numbers of no characters"),
        (r"a[^\s\S]", "no printable ASCII character is meant"),
        ("[:digit:]", "stands within brackets: [[:digit:]]"),
        ("[[:digits:]]", "there is no class '[:digits:]'; there are alnum,"),
        ("/^ab/", "leave the slashes out"),
        ("/ab/i", "leave the slashes out"),
        ("m/ab/", "leave the slashes out"),
        ("s/ab/x/g", "leave the slashes out"),
        ("tr/a/b/", "leave the slashes out"),
        ("/a|b/", "leave the slashes out"),
        *((f"a{sign}", "is no letter") for sign in "∪∩∅·εϵλΣ∗⁺²"),
    ],
)
def test_what_could_be_another_language_is_refused(pattern: str, says: str) -> None:
    with pytest.raises(MachineError, match=re.escape(says)):
        from_regex(pattern)


@pytest.mark.slow
def test_two_thousand_equal_signs_are_read_or_refused_at_once() -> None:
    """The grammar is read in linear time, and what is built is counted before."""
    units = [*"()[]{}|*+?.^$\\-/1 α", "(?", "(?P<", "[a-", "[[:a", r"\x", "-]", "{1"]
    formal = [*"()[+*^∩a²∅Σ", "^{", "a&"]
    for unit in [*units, *formal]:
        for formally in {unit not in units, unit in formal}:
            try:
                machine = from_regex((unit * 2000)[:2000], formally)
            except MachineError as error:
                assert "\n" not in str(error)  # noqa: PT017
            else:
                assert len(machine.states) > 0
