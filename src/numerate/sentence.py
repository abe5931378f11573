"""The home of `PrimedTransformer` that saved model folders import."""

from numerate.embed.sentence_transformer import PrimedTransformer as PrimedTransformer
