"""What all rooms share: events and outcomes, the history, the run folder, names, paths, errors. It imports no other room."""
