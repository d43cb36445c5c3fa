import type { Block, Span } from './document.ts'

/** The end of a letter: the closing, and the lines below the signature. */
export interface SignOff {
  readonly closing: string
  readonly names: readonly string[]
}

/**
 * Splits a text into its body and its sign-off. A text that ends with a closing or with the author's name keeps its own
 * words; to any other, the closing and the name are added.
 */
export function splitSignOff(
  blocks: readonly Block[],
  { closing, author }: { readonly closing: string; readonly author: string },
): { readonly body: readonly Block[]; readonly signOff: SignOff } {
  const last = blocks.at(-1)
  const lines = last?.kind === 'paragraph' ? linesOf(last.spans) : []
  const [first = '', ...names] = lines
  const body = blocks.slice(0, -1)
  if (isClosing(first, closing) && names.length <= 3) {
    return { body, signOff: { closing: first, names: names.length === 0 ? [author] : names } }
  }
  if (lines.length === 1 && isSame(first, author)) return { body, signOff: { closing: '', names: [first] } }
  return { body: blocks, signOff: { closing, names: author === '' ? [] : [author] } }
}

/** "Kind regards," and "Mit freundlichen Grüßen". */
function isClosing(line: string, closing: string): boolean {
  if (isSame(line, closing)) return true
  return (
    line.length <= 40 && /(?:regards|sincerely|faithfully|truly|wishes|grüßen|grüsse|salutations)[,.]?$/i.test(line)
  )
}

const isSame = (one: string, other: string) => bare(one) === bare(other)
const bare = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

function linesOf(spans: readonly Span[]): string[] {
  const lines = spans
    .map(({ text }) => text)
    .join('')
    .split('\n')
  return lines.flatMap((line) => line.trim() || [])
}
