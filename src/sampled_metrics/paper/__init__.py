"""What only the paper needs: its running example, its printed numbers and its claims."""
