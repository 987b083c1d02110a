"""The paper's running example, printed numbers and claims."""
