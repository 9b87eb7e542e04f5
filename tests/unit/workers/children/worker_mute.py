"""Never gets ready; ends with its standard input."""

import sys

print("thinking", flush=True)
sys.stdin.read()
