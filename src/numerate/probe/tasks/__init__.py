"""Tasks beyond those of the paper: measures that cannot be had by reading digits alone."""
