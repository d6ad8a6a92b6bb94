"""Word vectors: read files of any common format, keep them memory-mapped, average them over documents."""
