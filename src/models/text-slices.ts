/**
 * Cuts a long text into slices of at most `length` characters. A cut falls before a space between two words, where every
 * tokenizer has a boundary; in text without such a place it falls between two characters.
 */
export function* slicesOf(text: string, length: number): Generator<string, void, void> {
  for (let start = 0; start < text.length;) {
    const end = sliceEnd(text, start, length)
    yield text.slice(start, end)
    start = end
  }
}

function sliceEnd(text: string, start: number, length: number): number {
  const most = start + length
  if (most >= text.length) return text.length
  for (let at = most; at > start; at -= 1) {
    if (text[at] === ' ' && isWord(text[at - 1]) && isWord(text[at + 1])) return at
  }
  const isInsidePair = /[\uDC00-\uDFFF]/.test(text[most] ?? '')
  return isInsidePair ? most - 1 : most
}

function isWord(character = ''): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}
