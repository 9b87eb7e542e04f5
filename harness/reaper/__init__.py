"""The reaper: a process that ends what a killed harness left running."""
