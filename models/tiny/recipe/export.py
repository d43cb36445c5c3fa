"""Write the GGUF file of a checkpoint, and what its tokenizer makes of some hard texts."""

import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer

from model import Model, Shape
from weights import write_gguf

# Accents in both Unicode forms, digits, line breaks, emoji, scripts that the corpus never shows, spaces of all kinds.
HARD_TEXTS = [
    "Dear Ms Müller,\n\nThank you for meeting with us on 12 March 2026.",
    "Łukasz Dvořák, Åse Ødegård & Nguyễn Thảo – Ångström",
    "cafe\u0301 caf\u00e9 A\u030a \u00c5 \ufb01n",
    "£1,234.56 €2.400,00 CHF 12'500 $1e6 0x1F 1234567890 ½ ² ١٢٣",
    "a\nb\r\nc\n\n\nd\r\r e\t\tf \n g\n ",
    "👋 👩‍👩‍👧‍👦 🇨🇭 ✅ ➡️ 🙂🙂",
    "日本語のテキスト 中文 한국어 Русский עברית العربية हिन्दी ไทย",
    "  leading, trailing   and    many     spaces  ",
    "I'm you're we've SHE'LL they'd don't O'Neill's ''' ``` --- ... ?!",
    "no\u00a0break\u2009thin\u200bzero\ufeffmark\u3000wide",
    "x^2+y_2=z|a\\b/c~d`e{f}[g](h)<i>@j#k%l&m*",
    "InvoiceINV-2026/017dated2026-03-12due14:30h",
]


def expectations(tokenizer: Tokenizer) -> list[dict]:
    return [{"text": text, "tokens": tokenizer.encode(text).ids} for text in HARD_TEXTS]


def export(checkpoint: Path, out: Path, expected: Path) -> None:
    """Write the GGUF file of a checkpoint to `out` and what its tokenizer should do to `expected`."""
    saved = torch.load(checkpoint, map_location="cpu")
    model, tokenizer = Model(Shape(**saved["shape"])), Tokenizer.from_str(saved["tokenizer"])
    model.load_state_dict(saved["model"])
    write_gguf(out, model, tokenizer)
    expected.write_text(json.dumps(expectations(tokenizer), ensure_ascii=True, indent=1) + "\n")
    print(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB) after {saved['seen'] / 1e6:.1f} M tokens", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=Path("work/checkpoint.pt"))
    parser.add_argument("--out", type=Path, default=Path("../tiny.gguf"))
    parser.add_argument("--expected", type=Path, default=Path("../tokenizer.expected.json"))
    chosen = parser.parse_args()
    export(chosen.checkpoint, chosen.out, chosen.expected)
