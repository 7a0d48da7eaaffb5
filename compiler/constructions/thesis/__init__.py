"""The constructions of the thesis as it builds them, to compare ours with (3.4.4)."""
