"""Share groups (KIP-932): what becomes of each record, sans I/O. README.md says what is where."""
