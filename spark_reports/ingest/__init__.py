"""Run folders become facts: what is listed, read, judged fit, and handed to the store."""
