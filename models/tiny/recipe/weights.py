"""The GGUF file: writing a model into one, and reading one back to continue its training."""

import json
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGUFReader, GGUFWriter, TokenType
from tokenizers import Tokenizer

from model import Model, Shape
from tokens import SPECIAL, new_tokenizer

TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
PARTS = {
    "attention_norm": "attn_norm", "query": "attn_q", "key": "attn_k", "value": "attn_v", "output": "attn_output",
    "inner_norm": "ffn_norm", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}  # fmt: skip


def tensor_name(name: str) -> str:
    """The GGUF name of a parameter: 'blocks.0.query.weight' → 'blk.0.attn_q.weight'."""
    if name == "embedding.weight":
        return "token_embd.weight"
    if name == "norm.weight":
        return "output_norm.weight"
    if name == "head.weight":
        return "output.weight"
    _, index, part, kind = name.split(".")
    return f"blk.{index}.{PARTS[part]}.{kind}"


def write_gguf(path: Path, model: Model, tokenizer: Tokenizer) -> None:
    """Write F16 matrices, F32 vectors and the tokenizer. No `bos_token_id`: with one, the chat wrapper would emit it."""
    shape, parts = model.shape, json.loads(tokenizer.to_str())["model"]
    order = sorted(parts["vocab"], key=parts["vocab"].get)
    writer = GGUFWriter(str(path), "llama")
    writer.add_name("tollgate-tiny")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.blocks)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.theta)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(order)
    writer.add_token_types([TokenType.CONTROL if token in SPECIAL else TokenType.NORMAL for token in order])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in parts["merges"]])
    writer.add_eos_token_id(parts["vocab"]["<|im_end|>"])
    writer.add_eot_token_id(parts["vocab"]["<|im_end|>"])
    writer.add_pad_token_id(parts["vocab"]["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in model.state_dict().items():
        array = tensor.float().cpu().numpy()
        writer.add_tensor(tensor_name(name), array.astype(np.float16 if array.ndim == 2 else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_gguf(path: Path) -> tuple[Model, Tokenizer]:
    """The model and the tokenizer of a file that `write_gguf` wrote."""
    reader = GGUFReader(str(path))

    def field(name: str):
        return reader.fields[name].contents()

    vocabulary = {token: index for index, token in enumerate(field("tokenizer.ggml.tokens"))}
    merges = [tuple(merge.split(" ")) for merge in field("tokenizer.ggml.merges")]
    stored = {tensor.name: tensor.data for tensor in reader.tensors}
    shape = Shape(
        len(vocabulary), field("llama.embedding_length"), field("llama.block_count"), field("llama.attention.head_count"), field("llama.feed_forward_length"),
        field("llama.context_length"), field("llama.rope.freq_base"), field("llama.attention.layer_norm_rms_epsilon"),
        "output.weight" not in stored,
    )  # fmt: skip
    model = Model(shape)
    model.load_state_dict({name: torch.from_numpy(np.array(stored[tensor_name(name)], dtype=np.float32)) for name in model.state_dict()})
    return model, new_tokenizer((vocabulary, merges))
