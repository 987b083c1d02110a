"""Tables of ranks: from arrays, data frames and csv files, and to files."""
