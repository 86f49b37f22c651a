"""The measurements, run by hand with `make bench`; nothing here is timed in a test."""
