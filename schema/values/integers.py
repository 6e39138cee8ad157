"""The bounds of integers in requests and answers."""

SMALLEST_INT, LARGEST_INT = -(2**31), 2**31 - 1
# The largest integer that every JSON parser reads exactly.
LARGEST_LONG = 2**53 - 1
