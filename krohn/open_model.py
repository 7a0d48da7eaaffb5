"""An open network for looking inside: what it says, what it holds, what would happen if."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast, overload

from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count, listed
from krohn.foreign import source_name
from krohn.intervention import (
    Activations,
    Intervention,
    Outcome,
    check,
    held_by,
    outcome,
    read_program,
    run_changed,
    why_unpredicted_without,
    without_heads,
)
from krohn.network import model as base
from krohn.network.architecture import kind_of
from krohn.network.copies import CopyingHeads
from krohn.network.forward_pass import Hook, Hooks, unfit
from krohn.network.model import Word, Words
from krohn.network.modelfile import ModelFile
from krohn.network.reading import is_one
from krohn.network.transformer import Transformer
from krohn.network.variables import Choices, VariablePlace
from krohn.program.quoting import kind_of_value
from krohn.python_values import check_methods
from krohn.run_result import RunResult, answers_of, inputs_of, parts_of
from krohn.selection import Selection
from krohn.source_kinds import of_file
from krohn.source_kinds.kind import Runs


class Text(NamedTuple):
    """The text that a network writes after a prompt.

    Attributes:
        tokens: The tokens by name; where a state or a list is written into what is
            given, that too. ``(no answer)`` where two logits are the largest, or one is
            not finite.
        answer: What the text ends with; None if it does not end within the length of the
            file.
        unproved: For each token whether the claim of the file does not reach so far.
    """

    tokens: list[str]
    answer: str | None
    unproved: list[bool]


@check_methods
class Model(base.Model):
    """A network from a model file, which can be watched and changed while it runs."""

    def __init__(self, file: ModelFile) -> None:
        super().__init__(file)
        if isinstance(self.network, Transformer):
            self.network.copies = CopyingHeads(file)

    @staticmethod
    def _alphabets(file: ModelFile) -> base.Alphabets:
        """Those of the file; a network of laws or of numbers chooses no class."""
        answers = kind_of(file.architecture).answers
        if answers == "laws":
            return file.claim.letters, file.claim.states, ()
        return base.Model._alphabets(file) if answers == "classes" else ((), (), ())

    def forward(self, words: Tensor | Words | Word | Sequence[Word]) -> Tensor:
        """Logits, laws or vectors: ``(batch, time, …)``.

        Args:
            words: ``(batch, time)`` letter indices, or words, as `encode` takes and
                returns them; for a network of numbers ``(batch, time, d)``.

        Raises:
            KrohnError: If something is no letter, or too long.
        """
        if kind_of(self.file.architecture).answers == "reals":
            if not isinstance(words, Tensor):
                raise KrohnError(
                    "this network takes a tensor (batch, time, d) of numbers; run takes "
                    "them as they are written"
                )
            numbers = words.to(next(self.parameters()).dtype)
            return cast("Tensor", self.network(numbers))
        return super().forward(words)

    @overload  # type: ignore[override]
    def run(self, word: Word, *, states: bool = False) -> RunResult: ...
    @overload
    def run(self, word: Sequence[Word], *, states: bool = False) -> list[RunResult]: ...
    def run(self, word: Any, *, states: bool = False) -> RunResult | list[RunResult]:
        """What `krohn run` says of a word: a list of answers, one after each letter.

        Args:
            word: A word: a string, letters by name, or for a network of numbers an array
                ``(time, d)``; or several of them.
            states: Say the states of a machine, though it has outputs.

        Returns:
            For several words a list for each. `NOT_FINITE` or `TIED` where the logits
            choose nothing. Answers of which the file claims nothing are marked
            (`RunResult.unproved`): beyond its length, of words that the source never says,
            and all answers of a network that was changed since it was opened.

        Raises:
            KrohnError: If something is no letter or no input of this network, or too
                long, or states are asked for that it does not say.
        """
        numbers = kind_of(self.file.architecture).answers == "reals"
        many, words = inputs_of(word, numbers)
        spelled = of_file(self.file).spelled
        for i, each in enumerate(words, start=1):
            # A prompt in one string may be more than its letters, as the name of a file.
            if self.letters and (spelled or not isinstance(each, str)):
                self.tokens_of(each, f" of word {i}" * many)
        results = self._results(map(parts_of, words))
        found = [RunResult(result, answers_of(result, states)) for result in results]
        return found if many else found[0]

    def _results(
        self, words: Iterable[list[str]], runs: Callable[..., Runs] | None = None
    ) -> Iterator[dict[str, Any]]:
        """What `krohn run --json` prints, of the network as it is now.

        Args:
            words: As a person writes them.
            runs: Makes the function that runs them; None for that of the command.
        """
        changed = base.describe_change(self)
        network = base.network_for_torch(self, changed)
        run = (runs or of_file(self.file).runs)(self.file, network)
        for result in run(words):
            if changed:
                unproved = [True] * len(result["unproved"])
                result |= {"unproved": unproved, "note": f"unproved: {changed}"}
                result |= {"error": None} if "error" in result else {}
            yield result

    @overload
    def write(self, prompts: str) -> Text: ...  # type: ignore[overload-overlap]
    @overload
    def write(self, prompts: Iterable[str | Sequence[str]]) -> list[Text]: ...
    def write(self, prompts: str | Iterable[str | Sequence[str]]) -> Text | list[Text]:
        """The text that the network writes after each prompt, token by token.

        Prompts are continued together, of whatever lengths they are. None sees another
        one, and a network that is proved gives each the answer that it gives it alone:
        the proof allows for sums in any order. Its logits may differ in the last bits.

        Args:
            prompts: A prompt as `krohn run` takes it; or several, each a string or the
                tokens by name.

        Raises:
            KrohnError: If the network writes no texts, or something is no prompt; of
                several the message says which.
        """
        one = isinstance(prompts, str)
        if not isinstance(prompts, Iterable):
            raise KrohnError(
                f"a prompt is a string, and several are a list, not "
                f"{kind_of_value(prompts)}"
            )
        writer = of_file(self.file).writer(self.file)
        given = [parts_of(each) for each in ([prompts] if one else prompts)]
        texts = list[Text]()
        try:
            for said in self._results(given, partial(writer.runs, brief=True)):
                texts.append(Text(said["text"], said["answer"], said["unproved"]))
        except KrohnError as error:
            which = "" if one else f"prompt {len(texts) + 1}: "
            raise KrohnError(f"{which}{error}") from None
        return texts[0] if one else texts

    def split_text(self, text: str) -> list[str]:
        """The letters of a word that is written as a text, by name, as `run` reads it."""
        split = of_file(self.file).text_splitter(self.file)
        return super().split_text(text) if split is None else split(text)

    def hook_places(self) -> list[str]:
        """The places at which hooks can be, in order; each variable is one, too.

        Raises:
            KrohnError: If it is no Transformer.
        """
        return self._transformer().hook_places()

    def run_with_cache(
        self, words: Tensor | Words | Word | Sequence[Word]
    ) -> tuple[Tensor, Activations]:
        """Run words, and keep all that is computed on the way.

        Args:
            words: As `forward` takes them.

        Returns:
            The logits, ``(batch, time, classes)``, and what stood at every place, where
            position 0 is BOS: ``seen["logits"]`` is ``(batch, time + 1, classes)``.

        Raises:
            KrohnError: If something is no letter, or it is no Transformer.
        """
        seen: dict[str, Tensor] = {}
        hooks = {place: partial(_keep, seen, place) for place in self.hook_places()}
        batch = self.side_by_side(words)
        logits = self.run_with_hooks(batch, hooks)
        return logits, Activations(seen, self.variables, batch.lengths)

    def run_with_hooks(
        self,
        words: Tensor | Words | Word | Sequence[Word],
        hooks: Mapping[str, Hook],
    ) -> Tensor:
        """Run words with functions that see, and may change, what is computed.

        Args:
            words: As `forward` takes them.
            hooks: For a place, or a variable by name, a function that gets what stands
                there (as `krohn.intervention.Activations` says it) and returns what is to
                stand there, or None to leave it.

        Returns:
            The logits, ``(batch, time, classes)``.

        Raises:
            KrohnError: If it is no Transformer, there is no such place, or a hook is no
                function, or returns what does not fit there.
        """
        network = self._transformer()
        at: dict[str, list[Hook]] = {}
        if not isinstance(hooks, Mapping):
            raise KrohnError(
                "hooks are a dict, {place: function of what stands there}, not "
                f"{kind_of_value(hooks)}"
            )
        for name, hook in hooks.items():
            if not callable(hook):
                raise KrohnError(
                    f"the hook at {name} is {hook!r}; a function of what stands there is "
                    "needed"
                )
            if name in network.hook_places():
                at.setdefault(name, []).append(hook)
            else:
                place = self.variables.place(name, Choices(network.hook_places()))
                stream = f"stream.{place.snapshots[0]}"
                at.setdefault(stream, []).append(partial(_on_variable, place, hook))
        given = Hooks(at)
        tokens = self.side_by_side(words).tokens
        self.check_length(tokens.shape[1])
        return network.run_with_hooks(tokens, given)

    def patch(
        self,
        word: Word,
        variable: str | Sequence[tuple[str, int, int | str]],
        position: int | None = None,
        value: int | str | None = None,
    ) -> Outcome:
        """Give variables other values while a word is read; also, what should happen then.

        The answers are states, also of a machine with outputs.

        Args:
            word: The letters by name.
            variable: Its name; or several interventions at once, each a variable, a
                position and a value.
            position: After which letter: 1 is the first one.
            value: A whole number that the variable can be, or its name in `places`.

        Raises:
            KrohnError: If there is no such variable, position or value, something is no
                letter, the word is too long, or the network says no states or outputs.
        """
        call = "patch(word, {!r}, position, value)"
        tokens, program = self._one(call, word), read_program(self)
        single = isinstance(variable, str) or (position, value) != (None, None)
        patches = [(variable, position, value)] if single else variable
        if not patches or any(len(each) != 3 or None in each for each in patches):
            raise KrohnError(
                "a patch needs a variable, a position and a value, as in "
                'patch(word, "sum", 2, 1); or a list of such, as [("sum", 2, 1)]'
            )
        asked = [
            check(self, program, Intervention(*each), tokens.shape[1])
            for each in cast("list[Intervention]", patches)
        ]
        if len({each[:2] for each in asked}) < len(asked):
            raise KrohnError("one variable is given two values at one position")
        held_values = held_by(asked, (1, tokens.shape[1] + 1))
        change = ", ".join(f"{v} = {x} at {t}" for v, t, x in asked)
        return outcome(self, tokens, change, run_changed(self, tokens, held_values))

    def select(self, *variables: str) -> Selection:
        """Variables by name, to be read, changed and printed.

        Args:
            variables: Names; ``*`` stands for any text, as in ``"earlier0@*"``, and
                ``?`` for one character.

        Raises:
            KrohnError: If there is no such variable.

        Examples:
            >>> krohn.compile("FlipFlop", 8).model.select("stored")
            stored: written at the latest letter where writes is 1
              head 0 of block 0 writes it to dimension 4, as an integer; it stays until …
              the answer that each value stands for: 0 → 1; 1 → 2
            the network's answer is in stored
        """
        known = self.variables
        return Selection(self, known, tuple(known.choose(variables or ("*",))))

    def ablate(self, word: Word, variable: str | Sequence[str]) -> Outcome:
        """Take heads away that write variables; also, what should happen then.

        The answers are states, also of a machine with outputs.

        Args:
            word: The letters by name.
            variable: What the head carries; or several, each by its head.

        Raises:
            KrohnError: If there is no such variable, no head writes it, something is no
                letter, or the word is too long.
        """
        tokens = self._one("ablate(word, {!r})", word)
        several = isinstance(variable, list | tuple)
        names = cast("list[str]", list(variable) if several else [variable])
        if not names:
            raise KrohnError("name a variable whose head is taken away")
        ablation = without_heads(self, tokens, names)
        why = why_unpredicted_without(self, names)
        return outcome(self, tokens, f"no head for {listed(names)}", ablation, why)

    def _one(self, call: str, word: Word) -> Tensor:
        """The tokens of one word with letters.

        Args:
            call: As of `words_before`.
            word: The word.
        """
        if isinstance(word, Tensor | Words):
            raise KrohnError(
                "a patch is made to a word of letters, not to tokens; leave encode out"
            )
        tokens = self.words_before(call, word).tokens
        if not is_one(word) or not tokens.numel():
            raise KrohnError("one word with at least one letter is changed at a time")
        self.check_length(tokens.shape[1])
        return tokens

    def _transformer(self) -> Transformer:
        if not isinstance(self.network, Transformer):
            raise KrohnError("only Transformers have places for hooks")
        return self.network

    def __repr__(self) -> str:
        architecture = self.file.architecture
        length, stated = self.length, self.file.precision.name
        runs = str(next(self.parameters()).dtype).removeprefix("torch.")
        parts = (
            kind_of(architecture).title,
            "" if length is None else f"T = {length}",
            count(len(kind_of(architecture).layers(architecture)), "layer"),
            runs + (f", and nothing is claimed but of {stated}" * (runs != stated)),
        )
        return f"<Model {source_name(self.header)}: {', '.join(filter(None, parts))}>"

    def _repr_svg_(self) -> str | None:
        from krohn.drawing import svg  # matplotlib

        return svg(lambda: of_file(self.file).draw_file(base.current_file(self)))


def _keep(seen: dict[str, Tensor], place: str, value: Tensor) -> None:
    seen[place] = value


def _on_variable(place: VariablePlace, hook: Hook, stream: Tensor) -> Tensor | None:
    """A hook on the values of a variable, as one on the stream."""
    values = place.read(stream)
    new = hook(values)
    if new is None:
        return None
    if not isinstance(new, Tensor) or new.shape != values.shape:
        raise unfit(place.name, new, values)
    return place.write(stream, new)
