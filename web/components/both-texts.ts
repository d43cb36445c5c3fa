import { compared } from './differences.ts'

/**
 * Two versions of a text in one, to be edited: what they share stands once. Where they differ, theirs comes before mine,
 * as lines if they are in the same paragraph or list, otherwise as paragraphs.
 */
export function bothTexts(theirs: string, mine: string): string {
  const blocks: string[] = []
  const open = { removed: [] as string[], added: [] as string[] }
  const close = () => {
    const [one, other] = [open.removed.splice(0).join('\n\n'), open.added.splice(0).join('\n\n')]
    blocks.push(...bothBlocks(one, other))
  }
  for (const { kind, text } of compared(blocksOf(theirs), blocksOf(mine))) {
    if (kind !== 'same') open[kind].push(text)
    else {
      close()
      blocks.push(text)
    }
  }
  close()
  return blocks.join('\n\n')
}

function bothBlocks(theirs: string, mine: string): string[] {
  const lines = compared(theirs.split('\n'), mine.split('\n'))
  const isShared = lines.some(({ kind, text }) => kind === 'same' && text !== '')
  return isShared ? [lines.map(({ text }) => text).join('\n')] : [theirs, mine].filter((text) => text !== '')
}

const blocksOf = (text: string): string[] => text.split(/\n(?:[ \t]*\n)+/).filter((block) => block.trim() !== '')
