"""Dies before it is ready."""

import sys

print("a line before")
sys.exit("the jars are not there")
