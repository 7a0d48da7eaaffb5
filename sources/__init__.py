"""What a network can compute beside machines, with exact reference interpreters."""
