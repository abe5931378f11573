"""What makes the documentation: the output of its commands, and its tables."""
