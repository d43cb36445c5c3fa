"""The model: a small Llama (RMS norm, interleaved RoPE, SwiGLU, an output matrix of its own, biases on queries and keys)."""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The sizes that the GGUF header repeats."""

    vocabulary: int = 2048
    width: int = 256
    blocks: int = 5
    heads: int = 4
    inner: int = 640
    context: int = 1024
    theta: float = 1e7
    epsilon: float = 1e-5
    tied: bool = False  # whether the output matrix is the embedding, and no copying circuit was set up (the older weights)

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    def as_dict(self) -> dict:
        return asdict(self)


def frequencies(shape: Shape) -> Tensor:
    return 1.0 / shape.theta ** (torch.arange(0, shape.head_width, 2).float() / shape.head_width)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE on neighbouring pairs, as llama.cpp does for `llama`: the export needs no permutation."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.attention_norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.inner_norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.query = nn.Linear(shape.width, shape.width)
        self.key = nn.Linear(shape.width, shape.width)
        self.value = nn.Linear(shape.width, shape.width, bias=False)
        self.output = nn.Linear(shape.width, shape.width, bias=False)
        self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.up = nn.Linear(shape.width, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def attend(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        rows, length, width = x.shape
        heads, size = self.shape.heads, self.shape.head_width
        query, key, value = (part(x).view(rows, length, heads, size).transpose(1, 2) for part in (self.query, self.key, self.value))
        query, key = rotate(query, cos, sin).to(value.dtype), rotate(key, cos, sin).to(value.dtype)
        if self.training and not x.is_cuda:
            # On a CPU, plain products in bfloat16 are some three times faster than the fused kernel at these lengths.
            mask = torch.full((length, length), float("-inf"), dtype=query.dtype).triu(1).expand(rows * heads, length, length)
            scores = torch.baddbmm(mask, query.reshape(-1, length, size), key.reshape(-1, length, size).mT, alpha=size**-0.5)
            mixed = torch.bmm(torch.softmax(scores, -1).to(value.dtype), value.reshape(-1, length, size)).view(rows, heads, length, size)
        else:
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(mixed.transpose(1, 2).reshape(rows, length, width))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, places: Tensor | None = None) -> Tensor:
        """With `places`, the result holds only these places of all rows together."""
        x = x + self.attend(self.attention_norm(x), cos, sin)
        if places is not None:
            x = x.flatten(0, 1)[places]
        normed = self.inner_norm(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Model(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.blocks))
        self.norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.head = None if shape.tied else nn.Linear(shape.width, shape.vocabulary, bias=False)
        angles = torch.outer(torch.arange(shape.context).float(), frequencies(shape))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def hidden(self, ids: Tensor, places: Tensor | None = None) -> Tensor:
        """The state after the last norm, at `places` alone where they are given; `logits` makes the logits of it."""
        x, length = self.embedding(ids), ids.shape[1]
        for block in self.blocks:
            x = block(x, self.cos[:length], self.sin[:length], places if block is self.blocks[-1] else None)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, (self.head or self.embedding).weight)

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.hidden(ids))


@torch.no_grad()
def initialise(model: Model) -> None:
    """Fresh weights: random ones, with the circuit for copying already in place."""
    nn.init.normal_(model.embedding.weight)
    for block in model.blocks:
        for layer in (block.query, block.key, block.value, block.gate, block.up):
            nn.init.normal_(layer.weight, std=model.shape.width**-0.5 * 0.7)
        for tensor in (block.output.weight, block.down.weight, block.query.bias, block.key.bias):
            nn.init.zeros_(tensor)
    copy_circuit(model)
    model.norm.weight.fill_(2.0)


# The copying circuit has this many heads in each of the first two blocks.
HEADS = 3
# How many dimensions of each induction head compare the token itself, the one before it and the one before that.
MATCHED = (18, 14, 8)
# How strongly each of these is compared.
MATCHES = (3.2, 2.0, 1.7)
# The first dimensions of the residual stream carry the three tokens before, the next ones what is compared of the token itself.
CARRIED = HEADS * sum(MATCHED)
FIXED = CARRIED + HEADS * MATCHED[0]


@torch.no_grad()
def copy_circuit(model: Model, sharpness: float = 100.0, strength: float = 10.0) -> None:
    """Set up by hand what does not emerge in so short a training: three heads that look one, two and three tokens back
    (block 0, by their biases through RoPE), and three induction heads (block 1) that find where the last three tokens
    stood before and copy what followed; the output matrix, which starts as the embedding, turns that into logits. Three and
    not one, since figures are read digit by digit: after a single digit there are many places to go on from."""
    shape, size = model.shape, model.shape.head_width
    dimensions, stored, at = torch.eye(shape.width), [], 0
    for matched in MATCHED:
        stored.append(dimensions[at : at + HEADS * matched])
        at += HEADS * matched
    identity = dimensions[CARRIED:]
    embedding = model.embedding.weight
    embedding[:, :CARRIED] = 0
    embedding.div_(embedding.pow(2).mean().sqrt())
    model.head.weight.copy_(embedding * 0.02)
    first, second = model.blocks[0], model.blocks[1]
    turns, root, fast = frequencies(shape), sharpness**0.5, 11
    for head, place in enumerate(stored):
        rows = slice(head * size, (head + 1) * size)
        first.query.weight[rows] *= 0.05
        first.key.weight[rows] *= 0.05
        for pair in range(fast):
            first.query.bias[head * size + 2 * pair] = root
            first.key.bias[head * size + 2 * pair] = root * (turns[pair] * (head + 1)).cos()
            first.key.bias[head * size + 2 * pair + 1] = root * (turns[pair] * (head + 1)).sin()
        used = slice(head * size, head * size + len(place))
        first.value.weight[used] = identity[: len(place)]
        first.output.weight[:, used] = place.T * 2.0
    slow = size - sum(MATCHED)  # from here on the pairs turn slowly enough to match content at any distance
    for head in range(HEADS):
        rows = slice(head * size, (head + 1) * size)
        second.query.weight[rows] = 0
        second.key.weight[rows] = 0
        row = head * size + slow
        for back, matched in enumerate(MATCHED):
            part = slice(head * matched, (head + 1) * matched)
            here = identity if back == 0 else stored[back - 1]
            second.query.weight[row : row + matched] = MATCHES[back] * here[part]
            second.key.weight[row : row + matched] = MATCHES[back] * stored[back][part]
            row += matched
        share = len(identity) // HEADS
        copied = identity[head * share : (head + 1) * share]
        second.value.weight[head * size : head * size + share] = copied
        second.output.weight[:, head * size : head * size + share] = copied.T * strength


def trainable(model: Model) -> dict[str, Tensor]:
    """Where the parameters of the circuit, and of what it reads, may change: masks of 0 and 1 by name. Everything else is free.
    Muon turns each matrix in all directions alike: left free, the circuit is worn away (from 100 % of random text copied to
    67 % within 7.6 million tokens)."""
    if model.shape.tied:
        return {}
    masks = {name: torch.ones_like(parameter) for name, parameter in model.named_parameters()}
    rows = slice(0, HEADS * model.shape.head_width)
    for index in (0, 1):
        for part in ("query", "key", "value"):
            masks[f"blocks.{index}.{part}.weight"][rows] = 0
        masks[f"blocks.{index}.output.weight"][:, rows] = 0
    masks["blocks.0.query.bias"][rows] = 0
    masks["blocks.0.key.bias"][rows] = 0
    masks["blocks.0.attention_norm.weight"][:] = 0
    masks["embedding.weight"][:, :FIXED] = 0
    for part in ("output", "down"):
        masks[f"blocks.0.{part}.weight"][:FIXED] = 0
    return {name: mask for name, mask in masks.items() if not mask.all()}
