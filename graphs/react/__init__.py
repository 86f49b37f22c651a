"""ReAct: what the three variants of seed 003 share beside the nodes, from parser to views."""
