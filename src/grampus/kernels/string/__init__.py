"""String kernels: no tokens and no vocabulary, for any language, code, logs or DNA."""
