"""From a model or scores to exact ranks."""
