"""Sampling of negatives: sampled ranks, their distributions and their moments."""
