"""Train the demonstration model. See README.md for the one command that makes everything."""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from batches import batches, collated, encoded
from export import export
from model import Model, Shape, initialise
from optimiser import Optimiser
from tokens import train_tokenizer
from weights import read_gguf

FIRST_SEED = 20_000_000
HELD_OUT_SEED = 5_000
BATCH_TOKENS = {"cpu": 8192, "cuda": 32_768}
SAVE_SECONDS = 120


def loss_of(model: Model, inputs: Tensor, targets: Tensor) -> Tensor:
    """The mean loss on the tokens of the replies; what only other places would need is never computed."""
    device = model.embedding.weight.device
    inputs, targets = inputs.to(device), targets.to(device).view(-1)
    places = (targets >= 0).nonzero()[:, 0]
    with torch.autocast(device.type, dtype=torch.bfloat16):
        logits = model.logits(model.hidden(inputs, places))
    return F.cross_entropy(logits.float(), targets[places])


def schedule(share: float, step: int) -> float:
    """The learning rate as a share of its peak, by tokens and not by time: a short rise, a fifth at the peak, then down to
    nearly nothing."""
    return min(1.0, (step + 1) / 100) * min(1.0, max(0.01, (1 - share) / 0.8))


def held_out_loss(model: Model, held_out: list[tuple[Tensor, Tensor]]) -> float:
    model.eval()
    with torch.no_grad():
        mean = sum(loss_of(model, *batch).item() for batch in held_out) / len(held_out)
    model.train()
    return mean


def start(arguments: argparse.Namespace) -> tuple[Model, Tokenizer]:
    """The weights and the tokenizer to begin with: those of a finished model, or fresh ones."""
    if arguments.start_from:
        return read_gguf(arguments.start_from)
    path = arguments.work / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path)) if path.exists() else train_tokenizer(path, arguments.vocabulary)
    model = Model(
        Shape(
            vocabulary=tokenizer.get_vocab_size(), width=arguments.width, blocks=arguments.blocks, heads=arguments.width // 64, inner=arguments.inner
        )
    )
    initialise(model)
    return model, tokenizer


def train(arguments: argparse.Namespace) -> Path:
    """Train until `tokens` tokens are seen, going on from the last checkpoint of the work folder where there is one. Returns the checkpoint."""
    torch.manual_seed(arguments.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        torch.set_num_threads(arguments.threads)
    model, tokenizer = start(arguments)
    model.to(device)
    optimiser = Optimiser(model, *((0.007, 0.003, 0.0015, 0.002) if arguments.start_from else (0.01, 0.006, 0.003, 0.003)))
    checkpoint, step, seen, seed = arguments.work / "checkpoint.pt", 0, 0, FIRST_SEED
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        model.load_state_dict(saved["model"])
        optimiser.restore(saved["optimiser"])
        step, seen, seed = saved["step"], saved["seen"], saved["seed"]
        print(f"resumed at step {step}, {seen / 1e6:.2f} M tokens", flush=True)

    def save() -> None:
        place = {"step": step, "seen": seen, "seed": seed}
        made_of = {"shape": model.shape.as_dict(), "tokenizer": tokenizer.to_str()}
        torch.save({"model": model.state_dict(), "optimiser": optimiser.state(), **place, **made_of}, f"{checkpoint}.new")
        os.replace(f"{checkpoint}.new", checkpoint)

    pairs = [encoded(tokenizer, HELD_OUT_SEED + index, held_out=True) for index in range(128)]
    held_out = [collated(group) for group in (pairs[at : at + 16] for at in range(0, len(pairs), 16))]
    print(
        f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters, {device}, held-out loss {held_out_loss(model, held_out):.4f}",
        flush=True,
    )
    saved_at, losses, seen_then, clock = time.monotonic(), [], seen, time.monotonic()
    for inputs, targets, next_seed in batches(tokenizer, seed, arguments.batch or BATCH_TOKENS[device], model.shape.context, arguments.workers):
        if seen >= arguments.tokens:
            break
        loss = loss_of(model, inputs, targets)
        loss.backward()
        optimiser.step(schedule(seen / arguments.tokens, step))
        model.zero_grad(set_to_none=True)
        step, seen, seed = step + 1, seen + inputs.numel(), next_seed
        losses.append(loss.item())
        if time.monotonic() - saved_at > SAVE_SECONDS:
            spent, clock = time.monotonic() - clock, time.monotonic()
            print(
                f"step {step}  {seen / 1e6:.2f} of {arguments.tokens / 1e6:.0f} M tokens  loss {sum(losses) / len(losses):.4f}  held out {held_out_loss(model, held_out):.4f}  {(seen - seen_then) / spent:.0f} tokens/s",
                flush=True,
            )
            save()
            saved_at, losses, seen_then = time.monotonic(), [], seen
    save()
    print(f"done: {step} steps, {seen / 1e6:.2f} M tokens, held-out loss {held_out_loss(model, held_out):.4f}", flush=True)
    return checkpoint


def arguments_of(line: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("work"), help="folder for the tokenizer and the checkpoint")
    parser.add_argument("--out", type=Path, default=Path("work/tiny.gguf"), help="the GGUF file to write")
    parser.add_argument("--start-from", type=Path, help="go on from the weights and the tokenizer of this GGUF file")
    parser.add_argument("--tokens", type=float, default=60e6, help="tokens to train on")
    parser.add_argument("--batch", type=int, help="tokens in a batch")
    parser.add_argument("--workers", type=int, default=os.cpu_count() - 2 if torch.cuda.is_available() else 0, help="processes that prepare examples")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--vocabulary", type=int, default=3072)
    parser.add_argument("--width", type=int, default=256, help="a multiple of 64, at least 256")
    parser.add_argument("--blocks", type=int, default=5, help="at least 2")
    parser.add_argument("--inner", type=int, default=640)
    return parser.parse_args(line)


if __name__ == "__main__":
    chosen = arguments_of()
    chosen.work.mkdir(parents=True, exist_ok=True)
    export(train(chosen), chosen.out, chosen.out.with_name("tokenizer.expected.json"))
