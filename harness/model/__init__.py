"""What a claim says, what a run keeps of it, and what a target is: data. Nobody is asked here."""
