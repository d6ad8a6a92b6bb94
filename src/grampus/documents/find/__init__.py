"""What is found: methods, levels, outliers, validation, and how new documents are assigned."""
