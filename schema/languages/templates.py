"""Templates whose texts are in the catalogues: `{% trans %}`, `_()` and `ngettext()`."""

from jinja2 import Environment

from schema.languages.speech import translated, translated_number


def translate(templates: Environment) -> None:
    """Let the templates speak the language of the page or email that they are rendered for."""
    templates.add_extension("jinja2.ext.i18n")
    templates.policies["ext.i18n.trimmed"] = True
    templates.install_gettext_callables(translated, translated_number, newstyle=True)  # type: ignore[attr-defined]
