"""The plan of a command: which scenarios, with which clients, on which versions."""
