"""What is said of prompts in a row is what compiled networks say, within their errors."""

import numpy as np
import pytest

import krohn
from krohn.instruments.compare.comparison import belief_comparison
from krohn.instruments.compare.tasks.beliefs import belief_task
from krohn.kinds.in_context.source import Prompt, find_by_name
from krohn.kinds.in_context.source_prompts import STEPS, answer_prompts
from krohn.network.running_file import plain_network, run_on
from krohn.program.errors import Refused


@pytest.mark.sample(1)
@pytest.mark.parametrize(("window", "count"), [(1, 1), (1, 5), (2, 3)])
def test_after_demonstrations_and_a_window_it_is_the_compiled_network(
    window: int, count: int
) -> None:
    letters, segment = 3, window + 2
    words = np.random.default_rng(window).integers(letters, size=(6, 40))
    words[:, segment - 1 :: segment] = letters
    laws = answer_prompts(letters, window, words)
    source = find_by_name(
        f"InContext{letters},{window}:demonstrations={count},steps={STEPS}"
    )
    assert source is not None
    model, end = krohn.compile(source), count * segment + window
    prompts = [
        Prompt(
            tuple(tuple(word[k * segment :][: segment - 1]) for k in range(count)),
            tuple(word[end - window : end]),
        )
        for word in words.tolist()
    ]
    answers = run_on(plain_network(model.file), source.laid_out(prompts))[:, -1]
    assert np.abs(laws[:, end - 1, :letters] - answers).max() <= model.file.claim.error
    assert (laws[:, end - 1, letters] == 0).all()


def test_elsewhere_it_says_what_needs_no_demonstration() -> None:
    words = np.array([[0, 1, 3, 2, 0, 3, 1]])
    laws = answer_prompts(3, 1, words)[0]
    alike, ends = [1 / 3, 1 / 3, 1 / 3, 0], [0, 0, 0, 1]
    for t, right in ((0, alike), (1, ends), (2, alike), (4, ends), (5, alike)):
        assert laws[t].tolist() == right
    assert laws[3].tolist() not in (alike, ends)


def test_sizes_of_which_there_is_no_network_are_refused_before_any_word() -> None:
    with pytest.raises(Refused, match="at most 256 features"):
        answer_prompts(60, 5, np.zeros((1, 40), np.int64))
    for name, rows in (("prompts5:RanHMM2,60@1", 0), ("prompts2:Mess3", 1)):
        task = belief_task(name)
        assert task is not None
        assert len(list(belief_comparison._learner_in_context(task, 40))) == rows
