"""What is wrong in a live cluster, read only: asks it, records the answers, and finds what they prove."""
