"""What networks compute without rounding, between bounds: on words, and on all of them.

The engines of `krohn.network.meaning` on the intervals of the checker. No verdict rests on
them: they are held against what the checker says, and say how large numbers get.
"""
