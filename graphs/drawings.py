"""Write graphs/README.md and graphs/pictures from the code: each variant drawn and described.

python -m graphs.drawings            writes them
python -m graphs.drawings --check    ends with 1 where they no longer say what the code does
"""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from pydantic.fields import FieldInfo

from graphs import GRAPHS
from graphs.notebook.drawing import drawing
from graphs.prompt_settings import PromptSetting

HOME = Path(__file__).parent

HEADER = """\
# The variants

Written by `make drawings` from the code; a test holds the two equal. Each drawing shows the nodes
of the state machine, and on its edges the words with which a condition answers.
"""


def files(home: Path = HOME) -> dict[Path, str]:
    """Return what each written file holds: the page, and a picture of each variant as SVG."""
    pictures = {
        home / "pictures" / f"{name}.svg": drawing(module.graph).svg
        for name, module in GRAPHS.items()
    }
    return {home / "README.md": page(), **pictures}


def page() -> str:
    """Return the whole page."""
    return "\n".join([HEADER, *(section(name, module) for name, module in GRAPHS.items())])


def section(name: str, module: ModuleType) -> str:
    """Return a variant's heading, paragraph, settings and drawing."""
    mermaid = module.graph.get_graph().draw_mermaid().strip()
    paragraph = " ".join(inspect.cleandoc(module.__doc__ or "").split())
    fields = module.graph.builder.context_schema.model_fields
    settings = "\n".join(
        f"| `{field}` | `{_default(info)}` | {info.description} |" for field, info in fields.items()
    )
    return (
        f"## {name}\n\n{paragraph}\n\n```mermaid\n{mermaid}\n```\n\n"
        f"| setting | default | what it does |\n|---|---|---|\n{settings}\n"
    )


def _default(info: FieldInfo) -> str:
    """Tell what a setting is where none is given; a prompt's text stands in its file."""
    prompt = info.json_schema_extra
    return f"prompts/{prompt.file}.md" if isinstance(prompt, PromptSetting) else repr(info.default)


def main(arguments: Sequence[str], home: Path = HOME) -> int:
    """Write the files, or check them.

    Returns:
        The exit code: 0, 1 where a file is not up to date, 2 for an unknown argument.
    """
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m graphs.drawings [--check]\n")
        return 2
    written = files(home)
    if not arguments:
        for path, text in written.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    for path, text in written.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{path.name} is not what the code draws: run make drawings\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
