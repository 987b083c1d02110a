"""Faults, each a real one: what the project is given or done to, and what comes of it."""
