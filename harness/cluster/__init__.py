"""Clusters: name servers, brokers and proxies, as processes or in containers, and those that stay up."""
