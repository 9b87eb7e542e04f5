"""What all rooms share: events and outcomes, history, run folder, names, paths, errors."""
