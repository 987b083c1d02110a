"""Names of columns that seem to tell the runs of a recommender apart."""

NAMES = [
    "seed",
    "Seed",
    "SEED",
    "random_state",
    "run",
    "Run",
    "run_id",
    "n_run",
    "fold",
    "cv",
    "trial",
    "repetition",
    "replicate",
    "draw",
    "draws",
]
