"""A module for sentence-transformers that primes text, the first in `modules.json` of a model.

sentence-transformers imports it through a small file in the model folder, which says what to
install if numerate is missing. As for all modules of others, it requires `trust_remote_code=True`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sentence_transformers.base.modules import Transformer

from numerate.models.pretrained import find_kind
from numerate.options import Anchor, LmKind, check_option, check_shown
from numerate.prime.scheme import CONFIG_KEY, Priming
from numerate.prime.text import MARKERS


class PrimedTransformer(Transformer):
    """A transformer that primes its sentences first.

    `anchor` may be changed at any time: `visible`, `masked`, or `absent` for unprimed text; a
    causal model has `unsaid` in place of `masked`. The vector of a token is the sum of its
    `layers`.
    """

    config_keys = [*Transformer.config_keys, "anchor", "layers"]  # noqa: RUF012

    def __init__(
        self,
        model_name_or_path: str,
        *,
        anchor: Anchor = "visible",
        layers: Sequence[int] = (-1,),
        **options: Any,
    ) -> None:
        super().__init__(model_name_or_path, **options)
        check_option("anchor", anchor, Anchor)
        self.anchor: Anchor = anchor
        self.layers = list(layers)
        self.priming = Priming.read(getattr(self.config, CONFIG_KEY, None), model_name_or_path)
        self._kind: LmKind = find_kind(self.model.config) or "masked"
        tokenizer: Any = self.tokenizer
        if tokenizer.pad_token is None:  # any token that is special already: nothing attends to it
            tokenizer.pad_token = MARKERS[self.priming.marker][0]
        tokenizer.padding_side = "right"  # as in training: some models count positions from there

    def preprocess(  # type: ignore[override]  # its other arguments are passed on by name
        self, inputs: Sequence[Any], prompt: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """Prime the texts with their prompt, then tokenize them."""
        if not prompt:
            return dict(super().preprocess(self._prime(inputs), **options))
        prompted = [_map_texts(item, lambda text: prompt + text) for item in inputs]
        features = dict(super().preprocess(self._prime(prompted), **options))
        return {**features, "prompt_length": self._get_prompt_length(prompt, **options)}

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Compute token vectors, the sum of the chosen layers."""
        config = self.model.config
        before, config.output_hidden_states = config.output_hidden_states, True
        try:  # sentence-transformers returns all layers if the config says so
            features = dict(super().forward(features, **options))
        finally:
            config.output_hidden_states = before
        states = features.pop("all_layer_embeddings")
        features[self.module_output_name] = sum(states[layer] for layer in self.layers)
        return features

    def _prime(self, inputs: Sequence[Any]) -> list[Any]:
        """Return inputs of the same structure with all texts primed, in one pass."""
        texts: list[str] = []
        for item in inputs:
            _map_texts(item, texts.append)
        tokenizer: Any = self.tokenizer
        check_shown(str(self.model.config.name_or_path), self.anchor, self._kind)
        shown = iter(self.priming.show(texts, self.anchor, tokenizer))
        return [_map_texts(item, lambda _: next(shown).text) for item in inputs]


def _map_texts(item: Any, change: Callable[[str], Any]) -> Any:
    """Apply a function to the text, the pair of texts or the dict with texts of an input."""
    if isinstance(item, str):
        return change(item)
    if isinstance(item, list | tuple):
        return [_map_texts(part, change) for part in item]
    if isinstance(item, dict) and "text" in item:
        return {**item, "text": _map_texts(item["text"], change)}
    return item
