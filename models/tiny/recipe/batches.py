"""The endless stream of training batches: examples of about one length together, each batch about as many tokens."""

import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import torch
from tokenizers import Tokenizer
from torch import Tensor

from corpus.examples import example, rendered

POOL = 768
ROUND = 8
CHUNK = 48
Pair = tuple[list[int], list[int]]


def encoded(tokenizer: Tokenizer, seed: int, held_out: bool = False) -> Pair:
    """The tokens of a prompt and of its reply. They are encoded apart, as the engine meets them."""
    drawn = example(seed, held_out)
    return tokenizer.encode(rendered(drawn.messages)).ids, tokenizer.encode(drawn.reply + "<|im_end|>").ids


def encoded_chunk(tokenizer: str, first_seed: int) -> list[Pair]:
    loaded = Tokenizer.from_str(tokenizer)
    return [encoded(loaded, seed) for seed in range(first_seed, first_seed + CHUNK)]


def pools(tokenizer: Tokenizer, first_seed: int, workers: int) -> Iterator[list[Pair]]:
    """The examples in the order of their seeds, a pool at a time; other processes prepare the next ones where allowed."""
    seed = first_seed
    if workers == 0:
        while True:
            yield [encoded(tokenizer, at) for at in range(seed, seed + POOL)]
            seed += POOL
    with ProcessPoolExecutor(workers) as processes:
        make = partial(encoded_chunk, tokenizer.to_str())
        ahead = []
        while True:
            while len(ahead) < workers:
                ahead.append([processes.submit(make, at) for at in range(seed, seed + POOL, CHUNK)])
                seed += POOL
            yield [pair for chunk in ahead.pop(0) for pair in chunk.result()]


def length(pair: Pair) -> int:
    """The length of a pair in a batch, rounded so that few different shapes occur."""
    return -(-(len(pair[0]) + len(pair[1])) // ROUND) * ROUND


def collated(pairs: list[Pair]) -> tuple[Tensor, Tensor]:
    """Inputs and targets; a target of -100 is not learnt: only replies are."""
    width = max(length(pair) for pair in pairs)
    inputs, targets = torch.zeros(len(pairs), width, dtype=torch.long), torch.full((len(pairs), width), -100)
    for row, (prompt, reply) in enumerate(pairs):
        tokens = prompt + reply
        inputs[row, : len(tokens)] = torch.tensor(tokens)
        targets[row, len(prompt) - 1 : len(tokens) - 1] = torch.tensor(reply)
    return inputs, targets


def batches(tokenizer: Tokenizer, first_seed: int, tokens: int, context: int, workers: int = 0) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Batches of at most `tokens` tokens, each with the seed after its pool, from which a run can be resumed."""
    seed = first_seed
    for pool in pools(tokenizer, first_seed, workers):
        seed += POOL
        fitting = sorted((pair for pair in pool if len(pair[0]) + len(pair[1]) <= context), key=length)
        groups: list[list[Pair]] = [[]]
        for pair in fitting:
            if groups[-1] and length(pair) * (len(groups[-1]) + 1) > tokens:
                groups.append([])
            groups[-1].append(pair)
        random.Random(seed).shuffle(groups)
        for group in groups:
            yield *collated(group), seed
