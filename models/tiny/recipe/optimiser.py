"""Muon for the matrices of the blocks, AdamW for the embedding, the output matrix and the vectors. The copying circuit stays as it is."""

import torch
from torch import Tensor, nn

from model import Model, trainable


class Optimiser:
    """One `step(scale)` updates every parameter; `scale` is the position in the learning-rate schedule, 0 to 1."""

    def __init__(self, model: Model, matrix_rate: float, embedding_rate: float, head_rate: float, vector_rate: float):
        self.matrix_rate, self.momentum = matrix_rate, 0.95
        named, masks = dict(model.named_parameters()), trainable(model)
        self.masked = [(named[name], mask) for name, mask in masks.items()]
        matrices = [name for name, p in named.items() if p.ndim == 2 and name.startswith("blocks.")]
        self.matrices = [named[name] for name in matrices]
        self.kept = [masks.get(name) for name in matrices]
        self.vectors = [p for p in model.parameters() if p.ndim == 1]
        self.buffers = [torch.zeros_like(p) for p in self.matrices]
        head = [] if model.head is None else [([model.head.weight], head_rate)]
        groups = [([model.embedding.weight], embedding_rate), *head, (self.vectors, vector_rate)]
        self.adam = torch.optim.AdamW([{"params": params, "lr": rate} for params, rate in groups], betas=(0.9, 0.98), weight_decay=0.0)
        self.rates = [rate for _, rate in groups]

    @torch.no_grad()
    def step(self, scale: float) -> None:
        for parameter, mask in self.masked:
            parameter.grad.mul_(mask)
        nn.utils.clip_grad_norm_(self.vectors, 1.0)
        for group, rate in zip(self.adam.param_groups, self.rates, strict=True):
            group["lr"] = rate * scale
        self.adam.step()
        self.step_matrices(self.matrix_rate * scale)

    def step_matrices(self, rate: float) -> None:
        """Momentum, then the nearest orthogonal matrix by Newton-Schulz; matrices of one shape go together."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for index, matrix in enumerate(self.matrices):
            shapes.setdefault(tuple(sorted(matrix.shape)), []).append(index)
        for indices in shapes.values():
            updates = []
            for index in indices:
                gradient = self.matrices[index].grad
                self.buffers[index].lerp_(gradient, 1 - self.momentum)
                update = gradient.lerp(self.buffers[index], self.momentum)
                updates.append(update.T if update.shape[0] > update.shape[1] else update)
            for index, update in zip(indices, orthogonal(torch.stack(updates)), strict=True):
                matrix = self.matrices[index]
                tall = matrix.shape[0] > matrix.shape[1]
                kept = self.kept[index]
                matrix.mul_(1 - rate * 0.01 * (1 if kept is None else kept))
                matrix.add_(update.T if tall else update, alpha=-rate * max(1, matrix.shape[0] / matrix.shape[1]) ** 0.5)

    def state(self) -> dict:
        return {"adam": self.adam.state_dict(), "buffers": self.buffers}

    def restore(self, state: dict) -> None:
        self.adam.load_state_dict(state["adam"])
        for buffer, saved in zip(self.buffers, state["buffers"], strict=True):
            buffer.copy_(saved)


def orthogonal(x: Tensor) -> Tensor:
    """The orthogonal factor of each matrix, roughly (five rounds of a quintic iteration in bfloat16)."""
    x = x.bfloat16()
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.mT
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.float()
