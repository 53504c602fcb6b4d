"""What runs the rest: the tiers, the matrix of releases, the house rules. Nothing imports it."""
