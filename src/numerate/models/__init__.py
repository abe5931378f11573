"""Models, shared by pretrain, embed and probe. Input: a name. Output: a model and its tokenizer.

The room adds the markers to a base model, splits numbers into digits, computes the masked-LM head,
and writes the files of a model folder beside the weights.
"""
