"""The tokenizer: byte-level BPE with the split of Qwen2, which llama.cpp knows as `tokenizer.ggml.pre = "qwen2"`."""

from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from corpus.examples import example

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
FIRST_SEED = 900_000_000


def new_tokenizer(merges_of: tuple[dict[str, int], list[tuple[str, str]]] | None = None) -> Tokenizer:
    """A tokenizer with the split in place: empty, or with the vocabulary and merges of a finished model."""
    tokenizer = Tokenizer(models.BPE(*merges_of) if merges_of else models.BPE())
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    if merges_of:
        tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def train_tokenizer(path: Path, size: int, examples: int = 30_000) -> Tokenizer:
    """Learn the merges on the text of the corpus and write them to `path`."""
    tokenizer = new_tokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), min_frequency=2, show_progress=True
    )

    def texts():
        for seed in range(FIRST_SEED, FIRST_SEED + examples):
            drawn = example(seed)
            for message in drawn.messages:
                yield f"{message['role']}\n{message['content']}"
            yield f"assistant\n{drawn.reply}"

    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.save(str(path))
    return tokenizer
