"""Share groups (KIP-932) decide what becomes of each record; README.md lists the modules."""
