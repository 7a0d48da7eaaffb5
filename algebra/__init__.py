"""What a machine is and how it is built from others. Never imports torch."""
