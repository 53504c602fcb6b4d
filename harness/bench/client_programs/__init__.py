"""One program per client for `touchstone bench clients`: BOOTSTRAP TOPIC COUNT, figures as JSON."""
