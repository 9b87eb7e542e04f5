"""The words of the scenario language that steps and checks share."""
