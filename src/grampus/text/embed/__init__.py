"""Embeddings of documents: by a function, a model on this machine, kept in a cache, or a file of word vectors."""
