import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readGgufFileInfo } from 'node-llama-cpp'
import { tinyFile } from './engine.ts'

/** How the shipped model splits text before merging bytes. */
const split = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

/** The type of a control token in a GGUF file. */
const control = 3

/** Writes the shipped model's tokenizer as `tokenizer.json` with its chat template next to it. Returns the path. */
export async function writeTokenizerFile(folder: string, { withTemplate = true } = {}): Promise<string> {
  const { metadata } = await readGgufFileInfo(tinyFile)
  const { ggml, chat_template: template } = metadata.tokenizer
  const types = ggml.token_type ?? []
  const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
  const file = path.join(folder, 'tokenizer.json')
  await writeFile(
    file,
    JSON.stringify({
      version: '1.0',
      added_tokens: ggml.tokens.flatMap((content, id) =>
        Number(types[id]) === control ? [{ id, content, ...special }] : [],
      ),
      normalizer: null,
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [
          { type: 'Split', pattern: { Regex: split }, behavior: 'Isolated', invert: false },
          { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
        ],
      },
      post_processor: null,
      decoder: { type: 'ByteLevel' },
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(ggml.tokens.map((token, id) => [token, id])),
        merges: ggml.merges,
      },
    }),
  )
  if (withTemplate)
    await writeFile(path.join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template: template }))
  return file
}
