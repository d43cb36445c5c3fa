/** The vocabulary of a GGUF file: its tokenizer (`tokenizer.ggml.model`) and the texts of its tokens, by id. */
export interface Vocabulary {
  readonly tokenizer: string
  readonly texts: readonly string[]
}

/** The bytes that a token adds to a reply; of a control token, those of its name. A token may begin or end within a character. */
export function bytesOfTokens({ tokenizer, texts }: Vocabulary): readonly Uint8Array[] {
  return texts.map(tokenizer === 'gpt2' ? bytesOfSymbols : bytesOfText)
}

/** GPT-2's notation, which its successors share: one printable character per byte. */
function bytesOfSymbols(text: string): Uint8Array {
  const bytes = Array.from(text, (symbol) => bytesBySymbol.get(symbol))
  return bytes.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : encoder.encode(text)
}

/** SentencePiece's notation: text, or `<0xE2>` for a single byte. */
function bytesOfText(text: string): Uint8Array {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(text)?.[1]
  return byte === undefined ? encoder.encode(text) : Uint8Array.of(Number.parseInt(byte, 16))
}

const encoder = new TextEncoder()

/** Printable characters of Latin-1 stand for themselves, and the other bytes, in order, for the characters from U+0100 on. */
const bytesBySymbol: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => byte)
    .toSorted((one, other) => Number(isPrintable(other)) - Number(isPrintable(one)))
    .map((byte, index) => [
      isPrintable(byte) ? String.fromCodePoint(byte) : String.fromCodePoint(256 + index - 188),
      byte,
    ]),
)

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad)
}

/** The second bytes that these first bytes must not have: the character would be overlong, a surrogate or beyond U+10FFFF (RFC 3629). */
const badSeconds: ReadonlyMap<number, readonly [from: number, to: number]> = new Map([
  [0xe0, [0x80, 0x9f]],
  [0xed, [0xa0, 0xbf]],
  [0xf0, [0x80, 0x8f]],
  [0xf4, [0x90, 0xbf]],
])

/** The first bytes after which not every second byte is UTF-8. */
export const narrowFirsts: readonly number[] = [...badSeconds.keys()]

/** Whether the second byte cannot follow the first in UTF-8, although it continues a character. */
export function isBadPair(first: number | undefined, second: number | undefined): boolean {
  const bad = first === undefined ? undefined : badSeconds.get(first)
  return bad !== undefined && second !== undefined && second >= bad[0] && second <= bad[1]
}

/** Whether no UTF-8 has these bytes. Does not look at the number of bytes of a character. */
export function isNeverUtf8(bytes: Uint8Array): boolean {
  return bytes.some((byte, index) => byte === 0xc0 || byte === 0xc1 || byte > 0xf4 || isBadPair(bytes[index - 1], byte))
}
