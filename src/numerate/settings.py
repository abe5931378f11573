"""The base class of the sections of a config; the only module at the root that needs pydantic."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Settings that cannot be changed; a key without a field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
