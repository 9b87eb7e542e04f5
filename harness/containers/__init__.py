"""The container engine, and what every container of ours has in common; which image is whose choice."""
