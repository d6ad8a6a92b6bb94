"""Every acceptance line at full size."""
