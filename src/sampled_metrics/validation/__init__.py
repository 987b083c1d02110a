"""Exact metrics after each epoch of a training: is it better, which epochs may be the best, and when to stop."""
