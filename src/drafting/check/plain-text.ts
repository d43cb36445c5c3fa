import { pace } from '../../platform/flow/pace.ts'
import { parseMarkdown, type MarkdownNode } from '../../platform/text/markdown.ts'

/** The words of a Markdown text as a reader sees them: blocks are parted by an empty line. It is parsed in pieces, between which others get their turn. */
export async function plainText(markdown: string): Promise<string> {
  const blocks: string[] = []
  for (const piece of markdown.split(/\n[ \t]*\n/)) {
    await pace()
    blocks.push(...parseMarkdown(piece).children.map(textOf))
  }
  return blocks.join('\n\n')
}

function textOf(node: MarkdownNode): string {
  if ('value' in node) return node.value
  if (node.type === 'break') return '\n'
  if (!('children' in node)) return ''
  const isOfBlocks = node.type === 'list' || node.type === 'listItem' || node.type === 'blockquote'
  return node.children.map(textOf).join(isOfBlocks ? '\n' : '')
}
