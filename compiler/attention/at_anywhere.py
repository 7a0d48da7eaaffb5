"""A head that looks where binary digits say, before or after."""

from krohn.compiler.attention.at import AtLowering
from krohn.program import AtAnywhere


class AtAnywhereLowering(AtLowering):
    """The scores do not say who looks, so they serve whoever sees all positions."""

    operation = AtAnywhere
