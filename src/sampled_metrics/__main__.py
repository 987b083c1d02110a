"""`python -m sampled_metrics` is the command `sampled-metrics`."""

from sampled_metrics.cli import main

if __name__ == "__main__":
    main()
