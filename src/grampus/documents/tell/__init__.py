"""What is told: names, tree, map, near-duplicates, and the run of an answer."""
