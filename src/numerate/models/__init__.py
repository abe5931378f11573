"""Models, shared by pretrain, embed and probe. Input: a name. Output: a model and its tokenizer."""
