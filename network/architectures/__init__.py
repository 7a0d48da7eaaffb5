"""How the networks of each architecture are run, one file each, named as on file.

A new file is found by itself. What is here is imported without torch.
"""
