"""Tables of ranks, from and to arrays, data frames and files."""
