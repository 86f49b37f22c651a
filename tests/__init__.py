"""The tests, flat, named after what they check."""
