"""The tool that ends an agent's loop."""


def finish(answer: str) -> str:
    """End with the answer; call it once you know it, and say in it what could not be found.

    Args:
        answer: The whole answer, in plain language.

    Returns:
        The answer.

    Raises:
        ValueError: It is blank.
    """
    if not answer.strip():
        raise ValueError("the answer is empty: give it in plain language")
    return answer.strip()
