"""What is written down from the models and registries: language reference, catalogue, schema, explanations."""
