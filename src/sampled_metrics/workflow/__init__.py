"""What only the Snakefile and the scripts import: configuration, jobs and files between stages."""
