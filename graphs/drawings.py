"""Write graphs/README.md from the code: a drawing and a paragraph for each variant.

python -m graphs.drawings            writes it
python -m graphs.drawings --check    ends with 1 where it no longer says what the code does
"""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from graphs import GRAPHS

PAGE = Path(__file__).with_name("README.md")

HEADER = """\
# The variants

Written by `make drawings` from the code; a test holds the two equal. Each drawing shows the nodes
of the state machine, and on its edges the words with which a condition answers.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join([HEADER, *(section(name, module) for name, module in GRAPHS.items())])


def section(name: str, module: ModuleType) -> str:
    """Return a variant's heading, paragraph, settings and drawing."""
    drawing = module.graph.get_graph().draw_mermaid().strip()
    paragraph = " ".join(inspect.cleandoc(module.__doc__ or "").split())
    fields = module.graph.builder.context_schema.model_fields
    settings = "\n".join(
        f"| `{field}` | `{info.default!r}` | {info.description} |" for field, info in fields.items()
    )
    return (
        f"## {name}\n\n{paragraph}\n\n```mermaid\n{drawing}\n```\n\n"
        f"| setting | default | what it does |\n|---|---|---|\n{settings}\n"
    )


def main(arguments: Sequence[str]) -> int:
    """Write the page, or check it.

    Returns:
        The exit code: 0, 1 where the page is not up to date, 2 for an unknown argument.
    """
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m graphs.drawings [--check]\n")
        return 2
    written = page()
    if not arguments:
        PAGE.write_text(written, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == written:
        return 0
    sys.stderr.write("graphs/README.md is not what the code draws: run make drawings\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
