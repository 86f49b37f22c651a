"""The tool contract: one object that a model is shown and that every call is checked against.

A tool is called in two steps that may lie in different processes: `check` turns what the model
sent into the arguments that are recorded, `fill` turns those into what the function takes:

    checked = contract.check(arguments)                # validate_calls: plain JSON in, JSON out
    values = contract.fill(checked.arguments, scope)   # run_tools: typed, with injected values
    result = contract.sync(**values)                   # or: await contract.asynchronous(**values)

At least one of `sync` and `asynchronous` is there; LangChain tools that can do both have both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tools.availability import check_of
from tools.coercion import Plan, Plans
from tools.errors import ArgumentsError, ContractError
from tools.fingerprint import fingerprint
from tools.flat_schema import flat_schema
from tools.injection import OMIT, CallScope, Injection
from tools.plain import clean, copied
from tools.redact import redact
from tools.redaction_policy import DEFAULT_POLICY, RedactionPolicy
from tools.schema import closed
from tools.sources import Source, read
from tools.text import one_line, seen, shorten
from tools.tool_names import check_name
from tools.validation import problems
from tools.validator import Validator, compiled
from tools.wrapper import Failure, Wrapper

__all__ = ["CallScope", "Checked", "Contract", "ContractError", "Effect", "contract"]

Effect = Literal["read_only", "state_changing"]

DESCRIPTION_CHARACTERS = 1024
ERROR_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Checked:
    """What `Contract.check` found: the arguments to record and run, or one error sentence."""

    arguments: dict[str, Any] | None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contract:
    """A tool, as it is shown, checked and called.

    Attributes:
        name: Unique in a run; letters, digits, `_` and `-`, at most 64.
        description: One line that says when to use it.
        parameters: The JSON schema of the arguments, closed, as the model is shown it.
        schema: What calls are checked against: the same object, but where providers would refuse
            it, for the branches at its top say.
        sync: Called in a thread with what `fill` returns; None for an async-only tool.
        asynchronous: Awaited on the loop with what `fill` returns; None for a sync-only tool.
        injected: Parameters that the application fills; never shown, never quoted in errors.
        effect: What running it does; a tool of unknown effect counts as state-changing.
        requires_confirmation: Whether a person must say yes to each call.
        once: Whether a call may take effect only once, whatever crashes: not only what is known to
            change state, but all that is not known to leave it.
        timeout: Seconds, instead of the run's `tool_timeout`.
        origin: Whose tool it is, where it is not of this process: told to whoever approves a call.
        cache_seconds: How long a result may be reused; read-only tools alone.
        fingerprint: Changes with name, description, schema or code; part of persistent cache keys.
        wrapper: What tool a call of this one really calls; None for a tool that runs itself.
        redaction: What its tools file says is taken out of what a run stores, streams and sends.
        failure: Puts an error into a shape of the tool's own; None leaves it a sentence.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    schema: dict[str, Any]
    sync: Callable[..., Any] | None
    asynchronous: Callable[..., Awaitable[Any]] | None
    injected: Mapping[str, Injection]
    effect: Effect = "state_changing"
    requires_confirmation: bool = True
    once: bool = True
    timeout: float | None = None
    cache_seconds: int | None = None
    origin: str = ""
    fingerprint: str = ""
    wrapper: Wrapper | None = None
    redaction: RedactionPolicy = DEFAULT_POLICY
    failure: Callable[[Failure], str] | None = None
    validator: Validator = field(repr=False)
    plan: Plan = field(repr=False)
    source: Source = field(repr=False)

    def why_unavailable(self, scope: CallScope) -> str | None:
        """Return in a sentence why the tool can't run in this run, or None."""
        check = check_of(self.source.code[0]) if self.source.code else None
        return check(scope.runtime) if check else None

    def openai(self) -> dict[str, Any]:
        """Return the tool as chat-completion APIs take it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}

    def check(self, arguments: Mapping[str, Any]) -> Checked:
        """Clean, coerce, complete and validate what a model sent; nothing runs.

        Returns:
            `Checked` with plain JSON arguments, defaults filled in; or with a sentence that names
            the tool, the field, what was expected and what came, at most 1,000 characters.
        """
        try:
            given = clean(arguments)
        except ArgumentsError as exc:
            return self._refuse([str(exc)], after=": ")
        given = self.plan.object(given)
        if self.injected and not self.injected.keys().isdisjoint(given):
            forged = sorted(self.injected.keys() & given.keys())
            return self._refuse([f"does not take argument {name!r}" for name in forged])
        if not self.validator.is_valid(given):
            return self._refuse(problems(self.validator, self.schema, given))
        if self.source.signature and (faults := self.source.signature.faults(given)):
            return self._refuse(faults)
        return Checked(given)

    def fill(self, arguments: Mapping[str, Any], scope: CallScope) -> dict[str, Any]:
        """Return the keyword arguments for `sync` or `asynchronous`.

        Args:
            arguments: What `check` returned, or the same read back from a checkpoint.
            scope: Where injected values come from.

        Raises:
            InjectionError: An injected value is not there. The model can't mend that.
        """
        values: dict[str, Any] = copied(dict(arguments))
        if self.source.signature:
            values = self.source.signature.convert(values)
        for name, inject in self.injected.items():
            value = inject(scope)
            if value is not OMIT:
                values[name] = value
        return self.source.pack(values, scope) if self.source.pack else values

    def _refuse(self, faults: list[str], after: str = " ") -> Checked:
        sentence = redact(one_line(f"{self.name}{after}{'; '.join(faults)}"))
        return Checked(None, shorten(sentence, ERROR_CHARACTERS))


def contract(
    tool: Any,
    *,
    effect: Effect | None = None,
    requires_confirmation: bool | None = None,
    timeout: float | None = None,
    cache_seconds: int | None = None,
    name: str | None = None,
    description: str | None = None,
    wrapper: Wrapper | None = None,
    spoken: bool = False,
) -> Contract:
    """Make the contract of a tool, once; everything a call needs is derived here.

    Args:
        tool: A function with annotations and a docstring, a LangChain `BaseTool`, a mapping with
            `name`, `description`, `parameters` (a JSON schema) and `function`, a source that has
            been read, or a contract.
        effect: `read_only` or `state_changing`, the default: a tool's own word is no permission.
        requires_confirmation: Defaults to True for state-changing tools.
        timeout: Seconds, instead of the run's `tool_timeout`.
        cache_seconds: How long results may be reused; for read-only tools.
        name: Instead of the tool's own.
        description: Instead of the tool's own.
        wrapper: Makes a call of this tool a call of another, whose own policy alone counts.
        spoken: Whether its name need not be one that a provider takes, because its calls are
            written as text: dots and letters of any script may be in it.

    Raises:
        ContractError: The tool can't be offered; the message names it and says why.
    """
    tool = tool.as_contract() if hasattr(tool, "as_contract") else tool
    if isinstance(tool, Contract):
        wrapper = wrapper or tool.wrapper
        effect = effect or tool.effect
        if requires_confirmation is None and effect == tool.effect:
            requires_confirmation = tool.requires_confirmation
        timeout = tool.timeout if timeout is None else timeout
        cache_seconds = tool.cache_seconds if cache_seconds is None else cache_seconds
        source = dataclasses.replace(
            tool.source, name=tool.name, description=tool.description, parameters=tool.schema
        )
    else:
        source = read(tool, name=name)
    check_name(name := name or source.name, spoken=spoken)
    line = shorten(seen(description or source.description), DESCRIPTION_CHARACTERS)
    if not line:
        raise ContractError(name, "it has no description; say in one line when to use it")
    effect = effect or ("read_only" if wrapper else "state_changing")
    if wrapper and (effect != "read_only" or requires_confirmation or timeout or cache_seconds):
        raise ContractError(name, "a wrapper has no policy of its own: the tool it calls has")
    _check_policy(name, effect, timeout, cache_seconds)
    schema = closed(name, source.parameters, generated=source.generated)
    parameters = flat_schema(name, schema)
    if forged := sorted(source.injected.keys() & parameters["properties"].keys()):
        raise ContractError(name, f"its schema shows the injected argument {forged[0]!r}")
    confirm = effect != "read_only" if requires_confirmation is None else requires_confirmation
    return Contract(
        name=name,
        description=line,
        parameters=parameters,
        schema=schema,
        sync=source.sync,
        asynchronous=source.asynchronous,
        injected=source.injected,
        effect=effect,
        requires_confirmation=confirm,
        once=effect == "state_changing",
        timeout=timeout,
        cache_seconds=cache_seconds,
        origin=source.origin,
        fingerprint=fingerprint(name, line, schema, source.code),
        wrapper=wrapper,
        redaction=tool.redaction if isinstance(tool, Contract) else DEFAULT_POLICY,
        failure=tool.failure if isinstance(tool, Contract) else None,
        validator=compiled(name, schema),
        plan=Plans(schema)(schema),
        source=source,
    )


def _check_policy(name: str, effect: str, timeout: float | None, cache_seconds: int | None) -> None:
    if effect not in ("read_only", "state_changing"):
        raise ContractError(name, f"effect is 'read_only' or 'state_changing', not {effect!r}")
    if timeout is not None and not 0 < timeout < float("inf"):
        raise ContractError(name, f"timeout is a number of seconds above 0, not {timeout!r}")
    if cache_seconds is not None and cache_seconds < 1:
        raise ContractError(name, f"cache_seconds is at least 1, not {cache_seconds!r}")
    if cache_seconds is not None and effect != "read_only":
        raise ContractError(name, "only a read_only tool may be cached")
