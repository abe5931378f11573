"""Other base models to measure on, made from packages on PyPI: `python -m benchmarks.bases`."""
