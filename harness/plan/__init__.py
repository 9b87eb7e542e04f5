"""What a command is to run: which scenarios, with which clients, on which versions."""
