"""One question per file: DataFrames in, a DataFrame out. No job reads a file or collects a row."""
