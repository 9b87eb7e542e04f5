"""Clusters: the servers, where their jars and their Java come from, and those that stay up."""
