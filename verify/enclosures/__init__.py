"""What networks compute without rounding, between bounds that hold for all words.

An engine of `krohn.network.meaning` on the intervals of the checker. No verdict rests on
it: it says how large numbers get, and how far scores differ.
"""
