"""Long work in many tasks: on several processes or machines, noted, resumable."""
