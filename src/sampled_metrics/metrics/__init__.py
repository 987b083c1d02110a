"""From a rank to a value."""
