"""How many threads torch computes on."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def threads(count: int) -> Iterator[None]:
    """A context in which torch uses so many threads; also a decorator.

    Steps of one letter are so small that threads wait for one another, on a busy machine
    for most of the time.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
