"""What a sample of negatives shows of a rank."""
