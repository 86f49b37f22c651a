"""Run-time settings: what Studio draws as a form, and Python callers pass as `context=`."""

import difflib
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from graphs.errors import UsageError
from graphs.prompt_settings import PromptSetting, prompt_setting, prompts_among
from prompts import TemplateError

_MISSPELLED = 0.9


def whole_number(default: int, description: str, *, least: int = 1, most: int = 1000) -> Any:
    """Make a setting that is a whole number within bounds; text and fractions are refused."""
    return Field(default=default, strict=True, ge=least, le=most, description=description)


class Context(BaseModel):
    """Settings that every variant has.

    Unknown keys are ignored, because Studio and the servers send keys of their own, and one
    context may serve several variants. A key that is a setting but for its spelling is an error.

    Attributes:
        prompt_settings: Of the class: which of its fields are prompts.
    """

    prompt_settings: ClassVar[Mapping[str, PromptSetting]] = {}

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    model: str | None = Field(
        default=None,
        max_length=200,
        description="The model as provider:name, for example openai:gpt-5-mini. "
        "Empty takes RUNGS_MODEL, or the offline controller.",
    )
    user_id: str | None = Field(
        default=None,
        max_length=256,
        description="Whose notes are read and written. Empty turns notes off.",
    )
    user_email: str | None = Field(
        default=None,
        max_length=320,
        description="The user's own address, which is not taken out of results and answers. "
        "Empty: what the user writes, and a user_id that is an address, tells.",
    )
    company: str = Field(
        default="Globex",
        min_length=1,
        max_length=200,
        description="The company the assistant works for.",
    )
    tool_timeout: float = Field(
        default=10.0, gt=0, le=3600, description="Seconds one tool call may take."
    )
    read_only: bool = Field(default=False, description="Let no tool run that changes state.")
    tool_result_limit: int = whole_number(
        20_000,
        "Characters of one tool result that are kept and shown to the model.",
        least=100,
        most=1_000_000,
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls.prompt_settings = prompts_among(cls.model_fields)

    @model_validator(mode="before")
    @classmethod
    def _check_names_and_prompts(cls, data: Any) -> Any:
        if not data or not isinstance(data, dict):
            return data
        for key in data.keys() - cls.model_fields.keys():
            if meant := _meant(str(key), cls.model_fields.keys() - data.keys()):
                raise PydanticCustomError(
                    "misspelled",
                    "{key} is no setting: did you mean {meant}?",
                    {"key": str(key), "meant": meant},
                )
        for name in cls.prompt_settings.keys() & data.keys():
            if isinstance(text := data[name], str) and text.strip():
                try:
                    cls.prompt_settings[name].parse(text, name)
                except TemplateError as error:
                    raise PydanticCustomError("prompt", "{why}", {"why": str(error)}) from None
        return data

    @property
    def user(self) -> str | None:
        """The user's id, or None where it is missing or blank."""
        return self.user_id or None

    @property
    def cap(self) -> int:
        """Rounds that a run may have; a variant with a cap says which."""
        return 1

    @property
    def max_calls(self) -> int | None:
        """Tool calls that a run may make, where the variant counts them."""
        return None


def _told_first(prompt: str) -> Any:
    about = "What the model is told first."
    return prompt_setting(prompt, about, nodes=("call_model", "finalize"))


class ToolRoundsContext(Context):
    """Settings of a variant that stops after a number of tool rounds."""

    max_tool_rounds: int = whole_number(
        5, "Tool rounds before the one last call, which has no tools."
    )
    system_prompt: str = _told_first("system_prompt_with_tools")

    @property
    def cap(self) -> int:
        """The cap on tool rounds."""
        return self.max_tool_rounds


class DeferredContext(ToolRoundsContext):
    """Settings of a variant whose searches load the tools that they find."""

    max_tool_rounds: int = whole_number(
        6, "Tool rounds, searches included, before the one last call without tools."
    )
    search_results: int = whole_number(3, "Tools that one search loads at most.", most=20)
    system_prompt: str = _told_first("system_prompt_with_tool_search")


class ToolSearchContext(ToolRoundsContext):
    """Settings of a variant that searches its tools and calls them by name."""

    max_tool_rounds: int = whole_number(
        10, "Tool rounds, searches included, before the one last call without tools."
    )
    search_results: int = whole_number(
        5, "Tools that one search returns where it does not ask for a number.", most=20
    )
    system_prompt: str = _told_first("system_prompt_with_tool_search")


class ToolCallsContext(Context):
    """Settings of a variant that stops after a number of tool calls."""

    max_tool_calls: int = whole_number(
        10, "Tool calls for one question before the last call, which has no tools."
    )
    system_prompt: str = _told_first("system_prompt_with_tools")

    @property
    def cap(self) -> int:
        """The cap on tool calls: no run has more rounds with calls than calls."""
        return self.max_tool_calls

    @property
    def max_calls(self) -> int:
        """The cap on tool calls."""
        return self.max_tool_calls


class StepsContext(Context):
    """Settings of a variant that stops after a number of steps."""

    max_steps: int = whole_number(
        10,
        "Steps, each a model call and its tool calls, before the one last call, which "
        "has no tools.",
    )
    full_agent_prompt: str = _told_first("full_agent")

    @property
    def cap(self) -> int:
        """The step budget."""
        return self.max_steps


def _meant(key: str, names: set[str]) -> str | None:
    """Return the setting that a key is but for its spelling: `maxSteps`, `max_step`."""
    plain = {name.replace("_", ""): name for name in sorted(names)}
    near = difflib.get_close_matches(
        key.lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=_MISSPELLED
    )
    return plain[near[0]] if near else None


def read_context(schema: type[Context], value: object) -> Context:
    """Make a context of what a caller passed; None means the defaults.

    Args:
        schema: The variant's context class.
        value: None, a mapping, or an instance of the class or of one like it.

    Raises:
        UsageError: A value is out of its bounds or of a wrong type; every such field is named.
    """
    if value is None:
        return schema()
    if isinstance(value, schema):
        return value
    data = value.model_dump() if isinstance(value, BaseModel) else value
    if not isinstance(data, dict):
        raise UsageError(
            f"context must be a mapping or a {schema.__name__}, got {type(value).__name__}"
        )
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        problems = "; ".join(
            ": ".join(filter(None, [".".join(str(part) for part in item["loc"]), item["msg"]]))
            for item in error.errors(include_url=False, include_context=False)
        )
        raise UsageError(f"context: {problems}") from None
