"""Embeddings of documents: by a function, a static model, an ONNX model or sentence-transformers, kept in a cache."""
