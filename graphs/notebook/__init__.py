"""What a notebook shows of a graph, all of it made here and offline: drawing, steps, comparison.

`draw_mermaid_png`, and a cell that ends in a bare graph, send the graph to a web service.
"""

from graphs.notebook.drawing import drawing
from graphs.notebook.picture import Picture, Table
from graphs.notebook.plots import plots, table
from graphs.notebook.steps import Steps
from graphs.notebook.workplace import workplace

__all__ = ["Picture", "Steps", "Table", "drawing", "plots", "table", "workplace"]
