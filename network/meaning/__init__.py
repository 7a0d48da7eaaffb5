"""The meaning of a Transformer: data, and a program over operations that engines have.

`net` is the network as typed data, `forward` the program, `engine` the operations and
what all engines share. An engine is a class with these operations on its own numbers.
"""
