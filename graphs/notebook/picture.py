"""What a notebook shows: an SVG image that needs no network and no style of the page, a table."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

STYLE = """\
svg { background: #fff; }
text { font: 12px system-ui, sans-serif; fill: #1c2024; }
text.axis { fill: #667; } text.count { fill: #fff; font-weight: 600; }
.words { font-size: 11px; fill: #445; } .words.taken { fill: #0072b2; font-weight: 600; }
.node { fill: #f2f4f6; stroke: #7a848e; } .node.taken { fill: #e3f0f8; stroke: #0072b2; }
.edge { fill: none; stroke: #9aa4ae; } .edge.taken { stroke: #0072b2; stroke-width: 2; }
.head { fill: #9aa4ae; } .head.taken { fill: #0072b2; }
.grid { stroke: #d8dce0; } .leader { stroke: #667; stroke-dasharray: 2 2; }
.apart { stroke: #667; stroke-dasharray: 4 3; }
.trace { fill: none; stroke-width: 1; stroke-opacity: .35; } .share { fill: #2a8c55; }
.o-right { fill: #2a8c55; } .o-incomplete { fill: #b36b00; } .o-capped { fill: #8a5a2b; }
.o-rejected { fill: #7b4ea3; } .o-no-answer { fill: #5c6f82; } .o-refused { fill: #43607c; }
.o-wrong { fill: #b3261e; } .o-failed { fill: #4d4d4d; } .o-unknown { fill: #757575; }
"""
"""On white, whatever the notebook's theme: an image does not know it."""

_OPENING = re.compile(r'<svg viewBox="0 0 (\d+) (\d+)"[^>]*?( role="img"[^>]*)>')


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG image; it is shown where a cell ends in it.

    Attributes:
        svg: The image, whole: with its style, its size, and nothing to fetch.
    """

    svg: str

    @classmethod
    def of(cls, figure: str) -> "Picture":
        """Make a picture of a drawing that was meant for a page with a style of its own.

        Args:
            figure: What `graphs.compare.svg.figure` returns.

        Raises:
            ValueError: It is something else.
        """
        opening = _OPENING.match(figure)
        if opening is None:
            raise ValueError("a figure begins with its viewBox")
        wide, high, label = opening.groups()
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
            f'width="{wide}" height="{high}"{label}>\n<style>{STYLE}</style>'
        )
        return cls(head + figure[opening.end() :])

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True, slots=True)
class Table:
    """A table of words; it is shown where a cell ends in it."""

    heads: Sequence[str]
    rows: Iterable[Sequence[str]]

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{escape(head)}</th>" for head in self.heads)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
