"""What comes later: updates, what they keep and forget, and clustering inside a cluster."""
