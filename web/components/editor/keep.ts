import { isIntricate, parseMarkdown } from '../../../src/platform/text/markdown.ts'
import { keyOf } from './document-key.ts'
import { blocksOf, isEmpty, type EditorNode } from './document.ts'
import { markerAt, rawMarkdown, safeMarkdown } from './markdown-of.ts'

/**
 * Returns the function that makes the text of an edited document. Blocks that were not edited keep what was typed for them in
 * the text `before`, so that an edit changes only the blocks that it touches.
 */
export function createKeeper(before: string): (document: EditorNode) => string {
  /** Parsed once, when the first edit needs it: that takes long if there is much of it. */
  let origins: readonly Origin[] | undefined
  return (document) => {
    origins ??= originsOf(before)
    const blocks = (document.content ?? []).filter((block) => !isEmpty(block))
    const kept = compose(blocks, origins, before)
    return means(kept, blocks) ? kept : compose(blocks, [], '')
  }
}

/** Whether the editor shows all of a text, so that editing it loses nothing: it drops the indentation of lines. */
export function isFaithful(text: string): boolean {
  if (isIntricate(text)) return false
  return originsOf(text).every(({ block, source, start }) => {
    const isIndented = /\n[ \t]/.test(source) || /[ \t]$/.test(text.slice(0, start))
    return block.type !== 'paragraph' || !isIndented
  })
}

interface Origin {
  readonly block: EditorNode
  readonly key: string
  readonly source: string
  readonly start: number
  readonly end: number
}

function originsOf(text: string): Origin[] {
  const tree = parseMarkdown(text)
  const blocks = blocksOf(tree, text)
  return tree.children.flatMap(({ position }, index) => {
    const block = blocks[index]
    if (!block) return []
    const [start, end] = [position?.start.offset ?? 0, position?.end.offset ?? text.length]
    return [{ block, key: keyOf(block), source: text.slice(start, end), start, end }]
  })
}

function compose(blocks: readonly EditorNode[], origins: readonly Origin[], before: string): string {
  let next = 0
  let text = ''
  let last: Origin | undefined
  for (const [index, block] of blocks.entries()) {
    const own = keyOf(block)
    const found = origins.findIndex(({ key }, at) => at >= next && key === own)
    const origin = origins[found]
    const isNext = origin !== undefined && found === next && (index === 0 || last !== undefined)
    if (isNext) text += before.slice(last?.end ?? 0, origin.start)
    else if (index > 0) text += '\n\n'
    text += origin?.source ?? ownText(block, markerAt(blocks, index))
    if (origin) next = found + 1
    last = origin
  }
  return last && next === origins.length ? text + before.slice(last.end) : text
}

/** Escapes only where the text would otherwise mean something else. */
function ownText(block: EditorNode, marker: ReturnType<typeof markerAt>): string {
  const raw = rawMarkdown(block, marker)
  return means(raw, [block]) ? raw : safeMarkdown(block, marker)
}

function means(text: string, blocks: readonly EditorNode[]): boolean {
  return keyOf({ content: blocksOf(parseMarkdown(text), text) }) === keyOf({ content: [...blocks] })
}
