"""The two searches of the ladder: the policies, and the products, each over its own documents.

Which document belongs to which is declared in the folder's `parts.toml` (see `tools.docs_parts`);
a folder of one's own without that file is searched whole by both.
"""

import os

from tools.docs_folder import resolve_folder
from tools.docs_parts import part_of
from tools.docs_shared import shared_index
from tools.search_docs import HELP_CENTER, RESULTS, found_as_text


def search_policy(query: str) -> str:
    """Search the support and policy index: refunds, returns, shipping, payment, plans, error codes.

    Args:
        query: A few telling words, an error code, or a whole question.

    Returns:
        The best passages, each below the title and the file of its document, or a sentence that
        says that nothing matches.

    Raises:
        ValueError: `query` has no words, or the folder can't be searched.
    """
    return _search("policy", query)


def search_products(query: str) -> str:
    """Search the products index: who acquired or makes what, devices, their warranty and battery.

    Args:
        query: A few telling words, the name of a company or a product, or a whole question.

    Returns:
        The best passages, each below the title and the file of its document, or a sentence that
        says that nothing matches.

    Raises:
        ValueError: `query` has no words, or the folder can't be searched.
    """
    return _search("products", query)


def _search(name: str, query: str) -> str:
    folder = resolve_folder(os.environ.get("RUNGS_DOCS") or HELP_CENTER)
    index = shared_index(folder, part_of(folder, name))
    return found_as_text(query, index.search(query, RESULTS))
