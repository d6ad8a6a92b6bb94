"""Terms: from texts to weighted term counts."""
