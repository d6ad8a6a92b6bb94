"""Tools of the project that are not part of the package: supply chain, coverage, changelog."""
