"""Models, shared by pretrain, embed and probe: a name goes in, a base model comes out.

It comes with its tokenizer and is taught the markers. The room also holds the masked-LM head, the
tokenizer that splits digits, and what a model folder has beside its weights.
"""
