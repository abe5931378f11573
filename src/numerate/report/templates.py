"""HTML from the Jinja templates in `data/`; every value that is filled in is escaped."""

from typing import TYPE_CHECKING

from numerate.errors import needs_extra

if TYPE_CHECKING:
    from markupsafe import Markup


def render_template(name: str, **values: object) -> "Markup":
    """Return a template with its values, as HTML that other templates do not escape again."""
    with needs_extra("the page", "report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    environment = Environment(
        loader=PackageLoader("numerate", "data"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return Markup(environment.get_template(name).render(values))
