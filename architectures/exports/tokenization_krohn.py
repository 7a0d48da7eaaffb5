"""The letters of a network of Krohn as a tokenizer of Hugging Face's library.

An export carries this file, too (`krohn.architectures.exports.export_huggingface`).
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from transformers import PreTrainedTokenizer

from krohn.program.letter_tokenizer import BOS
from krohn.program.word_texts import join_letters, split_letters, write_letter

LETTERS = "letters.json"
SHOWN = 12


class KrohnTokenizer(PreTrainedTokenizer):  # type: ignore[misc]
    """Letters by name, as `krohn.program.word_texts` reads them everywhere."""

    vocab_files_names: ClassVar[dict[str, str]] = {"vocab_file": LETTERS}
    model_input_names: ClassVar[list[str]] = ["input_ids", "attention_mask"]

    def __init__(self, vocab_file: str, **rest: Any) -> None:
        names = json.loads(Path(vocab_file).read_text(encoding="utf-8"))
        self.letters: list[str] = names
        self.index = {name: i for i, name in enumerate(names)}
        rest = {"pad_token": BOS, "split_special_tokens": True, **rest}
        super().__init__(**rest)

    @property
    def vocab_size(self) -> int:
        """How many letters there are."""
        return len(self.letters)

    def get_vocab(self) -> dict[str, int]:
        """The index of each letter."""
        return dict(self.index)

    def _tokenize(self, text: str, **ignored: Any) -> list[str]:
        word = split_letters([text], self.index.__contains__, self.index)
        signs = "".join(text.split())
        spelled = self._knows_all(signs) and not self._knows_all(word)
        return self._check_word([*signs] if spelled else word)

    def _knows_all(self, names: Iterable[str]) -> bool:
        return all(name in self.index for name in names)

    def _check_word(self, word: list[str]) -> list[str]:
        for at, letter in enumerate(word, start=1):
            self._id(letter, f" (letter {at})")
        return word

    def _id(self, letter: str, where: str = "") -> int:
        if letter not in self.index:
            some = [*map(write_letter, self.letters[:SHOWN])]
            shown = ", ".join([*some, *["…"] * (len(self.letters) > SHOWN)])
            raise ValueError(
                f"{letter!r} is not a letter{where}; the letters are {shown}"
            )
        return self.index[letter]

    def _convert_token_to_id(self, token: str) -> int:
        return self._id(token)

    def _convert_id_to_token(self, index: int) -> str:
        return self.letters[index]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of a word."""
        return join_letters(tokens)

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str]:
        """Write the letters."""
        name = f"{filename_prefix}-{LETTERS}" if filename_prefix else LETTERS
        path = Path(save_directory) / name
        path.write_text(json.dumps(self.letters, ensure_ascii=False), encoding="utf-8")
        return (str(path),)
