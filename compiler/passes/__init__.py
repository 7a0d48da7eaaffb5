"""The passes from a Program as constructed to a Program laid out in a network.

Each pass is a frozen dataclass with a pure ``apply`` and a ``check`` that decides whether
this application kept the meaning (translation validation): a compiler bug stops the
compilation instead of reaching a file.
"""
