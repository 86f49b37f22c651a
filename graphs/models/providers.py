"""The providers of LangChain's `init_chat_model`: who there is, and which package has each."""

from __future__ import annotations

from tools.text import nearest

PACKAGES = {
    "anthropic": "langchain-anthropic",
    "anthropic_bedrock": "langchain-aws",
    "azure_ai": "langchain-azure-ai",
    "azure_openai": "langchain-openai",
    "baseten": "langchain-baseten",
    "bedrock": "langchain-aws",
    "bedrock_converse": "langchain-aws",
    "cohere": "langchain-cohere",
    "deepseek": "langchain-deepseek",
    "fireworks": "langchain-fireworks",
    "google_anthropic_vertex": "langchain-google-vertexai",
    "google_genai": "langchain-google-genai",
    "google_vertexai": "langchain-google-vertexai",
    "groq": "langchain-groq",
    "huggingface": "langchain-huggingface",
    "ibm": "langchain-ibm",
    "litellm": "langchain-litellm",
    "mistralai": "langchain-mistralai",
    "nvidia": "langchain-nvidia-ai-endpoints",
    "ollama": "langchain-ollama",
    "openrouter": "langchain-openrouter",
    "perplexity": "langchain-perplexity",
    "together": "langchain-together",
    "upstage": "langchain-upstage",
    "xai": "langchain-xai",
}
"""The package of each provider that is installed by name."""

_OURS = ("offline", "openai", "scripted")


def is_known(provider: str) -> bool:
    """Say whether LangChain has this provider; `openai` is ours, in that spelling alone."""
    name = canonical(provider)
    return name in PACKAGES or (name not in _OURS and name in _names())


def _names() -> list[str]:
    """List the providers: ours, those above, and those the installed LangChain knows."""
    try:
        from langchain.chat_models import base
    except ImportError:
        theirs: list[str] = []
    else:
        theirs = list(getattr(base, "_BUILTIN_PROVIDERS", ()))
    return list(dict.fromkeys([*_OURS, *PACKAGES, *theirs]))


def canonical(provider: str) -> str:
    """Spell a provider as LangChain does."""
    return provider.strip().lower().replace("-", "_")


def package_of(provider: str) -> str:
    """Return the name of the package that has a provider, by LangChain's habit if unknown."""
    name = canonical(provider)
    return PACKAGES.get(name) or f"langchain-{name.replace('_', '-')}"


def near_miss(provider: str) -> str:
    """Ask whether another provider was meant, where one is spelt much alike; else ""."""
    near = nearest(provider, [name for name in _names() if name != "scripted"])
    return f"did you mean {near!r}?" if near else ""
