"""One run from its first process to its verdict, and many runs in parallel."""
