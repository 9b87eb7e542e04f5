"""The commands of `rocketchaos`, one file each; `harness.cli.main` puts them together."""
