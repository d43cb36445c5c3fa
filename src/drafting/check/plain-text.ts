import { parseMarkdown, type MarkdownNode } from '../../platform/text/markdown.ts'

/** The words of a Markdown text as a reader sees them: blocks are parted by an empty line. */
export function plainText(markdown: string): string {
  return parseMarkdown(markdown).children.map(textOf).join('\n\n')
}

function textOf(node: MarkdownNode): string {
  if ('value' in node) return node.value
  if (node.type === 'break') return '\n'
  if (!('children' in node)) return ''
  const isOfBlocks = node.type === 'list' || node.type === 'listItem' || node.type === 'blockquote'
  return node.children.map(textOf).join(isOfBlocks ? '\n' : '')
}
