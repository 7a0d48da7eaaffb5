"""The commands of ``krohn``: arguments in, text or JSON out.

What needs torch or matplotlib is imported inside the commands, so that help is instant.
"""
