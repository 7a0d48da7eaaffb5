"""What people do with networks, one folder for each instrument."""
