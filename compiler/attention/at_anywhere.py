"""A head that looks where binary digits say, before or after."""

from compiler.attention.at import AtLowering
from program import AtAnywhere


class AtAnywhereLowering(AtLowering):
    """The scores do not say who looks, so they serve whoever sees all positions."""

    operation = AtAnywhere
