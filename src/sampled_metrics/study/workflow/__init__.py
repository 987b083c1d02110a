"""Configuration, jobs and files between stages; only the Snakefile and the scripts import it."""
