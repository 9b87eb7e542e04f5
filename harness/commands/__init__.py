"""The commands of `rocketchaos`, one file each; `harness.cli` puts them together."""
