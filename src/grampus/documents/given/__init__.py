"""What is given: documents as inputs of kernels, frames, guides, effort, and collections too large to be held."""
