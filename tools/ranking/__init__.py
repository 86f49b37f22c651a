"""Ranking of tools by what they do: words, an index of them, and scores. Knows no contracts."""
