"""Tables: scores as grids of systems and ranges, with marks and gains, in several formats."""
