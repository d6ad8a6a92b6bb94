"""Languages: which one a text is in, its stop words and stemmer, and words where there are no spaces."""
