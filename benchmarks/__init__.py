"""Every stage measured side by side with its peers; the results are kept in `results/`."""
