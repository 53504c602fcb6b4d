"""From two transcripts to a verdict, from verdicts to causes, and their words. Pure."""
