"""Quality on corpora with known classes: which method for which data, and where the defaults come from."""
