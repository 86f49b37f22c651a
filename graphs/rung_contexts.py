"""The settings of the rungs that have no cap of their own, and of the ladder."""

from graphs.context import Context, StepsContext
from graphs.prompt_settings import prompt_setting


class OneCallContext(Context):
    """Settings of the rung with one round of tool calls."""

    one_call_prompt: str = prompt_setting(
        "one_call", "What the model is told first.", nodes=("call_model", "answer")
    )


class WorkflowContext(Context):
    """Settings of the fixed workflow: the prompt of each shipped step."""

    retrieve_prompt: str = prompt_setting(
        "workflow_retrieve", "What the first step is told.", nodes=("retrieve",)
    )
    retrieve_again_prompt: str = prompt_setting(
        "workflow_retrieve_again", "What the second step is told.", nodes=("retrieve_again",)
    )
    synthesize_prompt: str = prompt_setting(
        "workflow_synthesize", "What the step that answers is told.", nodes=("synthesize",)
    )


class LadderContext(StepsContext):
    """Settings of the ladder: those of its three rungs, to which it hands them on."""

    one_call_prompt: str = prompt_setting(
        "one_call", "What the model is told first on the lowest rung.", nodes=("one_call",)
    )
    retrieve_prompt: str = prompt_setting(
        "workflow_retrieve", "What the workflow's first step is told.", nodes=("fixed_workflow",)
    )
    retrieve_again_prompt: str = prompt_setting(
        "workflow_retrieve_again",
        "What the workflow's second step is told.",
        nodes=("fixed_workflow",),
    )
    synthesize_prompt: str = prompt_setting(
        "workflow_synthesize",
        "What the workflow's step that answers is told.",
        nodes=("fixed_workflow",),
    )
    full_agent_prompt: str = prompt_setting(
        "full_agent", "What the agent is told first on the highest rung.", nodes=("full_agent",)
    )
