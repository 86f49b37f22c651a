"""A function's parameters as a JSON schema, and arguments as its annotations say."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Annotated, Any

from tools.errors import ContractError
from tools.text import one_line, shorten


class Signature:
    """The shown parameters of one function.

    The model behind it has fields of its own naming, with the parameters' names as aliases, so that
    a parameter may be called anything, `schema` and `model_config` too.

    Attributes:
        schema: The JSON schema that Pydantic derives.
    """

    __slots__ = ("_fields", "_open", "_validate", "schema")

    def __init__(
        self,
        tool: str,
        parameters: Mapping[str, inspect.Parameter],
        annotations: Mapping[str, Any],
        descriptions: Mapping[str, str],
    ) -> None:
        from pydantic import ConfigDict, Field, create_model
        from pydantic.errors import PydanticUserError
        from pydantic.fields import FieldInfo

        fields: dict[str, Any] = {}
        self._fields: dict[str, str] = {}
        self._open = False
        for name, parameter in parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                self._open = True
                continue
            if parameter.kind in {parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY}:
                raise ContractError(tool, f"its parameter {name!r} can't be given by name")
            marks: list[Any] = []
            own_field = isinstance(parameter.default, FieldInfo)
            if own_field:
                marks.append(parameter.default)
            elif name in descriptions and not _described(annotations.get(name)):
                marks.append(Field(description=descriptions[name]))
            kind: Any = annotations.get(name, Any)
            for mark in (*marks, Field(alias=name)):
                kind = Annotated[kind, mark]
            given = parameter.default is not parameter.empty and not own_field
            own = f"p{len(fields)}"
            fields[own] = (kind, parameter.default) if given else kind
            self._fields[own] = name
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = create_model(
                    tool,
                    __config__=ConfigDict(extra="allow" if self._open else "forbid"),
                    **fields,
                )
                self.schema: dict[str, Any] = model.model_json_schema()
        except (PydanticUserError, TypeError, NameError) as exc:
            reason = shorten(one_line(str(exc)), 300)
            raise ContractError(tool, f"its parameters have no JSON schema: {reason}") from None
        self._validate = model.__pydantic_validator__.validate_python

    def convert(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return one value for every parameter: models, dates and enums, defaults included.

        Raises:
            pydantic.ValidationError: The annotations refuse what the schema let pass.
        """
        model = self._validate(dict(arguments))
        values = {name: getattr(model, own) for own, name in self._fields.items()}
        if self._open:
            values.update(model.__pydantic_extra__ or {})
        return values

    def faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return what the annotations refuse beyond the schema; input values are not quoted."""
        from pydantic import ValidationError

        try:
            self._validate(dict(arguments))
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_context=False, include_input=False)
            return [
                f"argument '{'.'.join(map(str, error['loc']))}' is not valid: {error['msg']}"
                for error in errors[:5]
            ]
        return []


def _described(annotation: Any) -> bool:
    marks = getattr(annotation, "__metadata__", ())
    return any(getattr(mark, "description", None) for mark in marks)
