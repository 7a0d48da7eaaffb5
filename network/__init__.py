"""The model file and the plain network runtime, which compiler and verifier share."""
