"""What compiler and verifier share: the model file and the plain network runtime."""
