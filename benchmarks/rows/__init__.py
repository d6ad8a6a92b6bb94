"""One module for each comparison; importing a module registers its row."""
