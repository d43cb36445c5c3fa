import type { JSONContent } from '@tiptap/core'
import {
  isSafeLink,
  parseMarkdown,
  sourceOf,
  type MarkdownNode,
  type MarkdownTree,
} from '../../../src/platform/text/markdown.ts'

export type EditorNode = JSONContent
type Mark = NonNullable<EditorNode['marks']>[number]

/** The document that the editor shows for a text. */
export function documentOf(text: string): EditorNode {
  return { type: 'doc', content: atLeastOne(blocksOf(parseMarkdown(text), text)) }
}

/** The top-level blocks of a text. */
export function blocksOf(tree: MarkdownTree, text: string): EditorNode[] {
  return tree.children.map((node) => block(node, text))
}

/** Markdown has no empty paragraphs. */
export function isEmpty({ type, content = [] }: EditorNode): boolean {
  const isBlank = ({ type: kind, text = '' }: EditorNode) =>
    kind === 'hardBreak' || (kind === 'text' && text.trim() === '')
  return (type === 'paragraph' || type === 'heading') && content.every(isBlank)
}

const paragraph = (content: EditorNode[]): EditorNode => ({ type: 'paragraph', content })

/** An editor's document, quote or list item is never empty. */
function atLeastOne(content: EditorNode[]): EditorNode[] {
  return content.length > 0 ? content : [{ type: 'paragraph' }]
}

function block(node: MarkdownNode, text: string): EditorNode {
  const blocks = () => ('children' in node ? node.children.map((child) => block(child, text)) : [])
  switch (node.type) {
    case 'paragraph':
      return paragraph(inline(node, text, []))
    case 'heading':
      return { type: 'heading', attrs: { level: node.depth }, content: inline(node, text, []) }
    case 'blockquote':
      return { type: 'blockquote', content: atLeastOne(blocks()) }
    case 'list':
      return node.ordered
        ? { type: 'orderedList', attrs: { start: node.start ?? 1 }, content: blocks() }
        : { type: 'bulletList', content: blocks() }
    case 'listItem': {
      const inside = blocks()
      return {
        type: 'listItem',
        content: inside[0]?.type === 'paragraph' ? inside : [{ type: 'paragraph' }, ...inside],
      }
    }
    default:
      return paragraph(plain(sourceOf(node, text), []))
  }
}

function inline(node: MarkdownNode, text: string, marks: readonly Mark[]): EditorNode[] {
  const inside = (mark: Mark) =>
    'children' in node ? node.children.flatMap((child) => inline(child, text, [...marks, mark])) : []
  switch (node.type) {
    case 'paragraph':
    case 'heading':
      return node.children.flatMap((child) => inline(child, text, marks))
    case 'text':
      return plain(node.value, marks)
    case 'break':
      return [{ type: 'hardBreak' }]
    case 'strong':
      return inside({ type: 'bold' })
    case 'emphasis':
      return inside({ type: 'italic' })
    case 'link':
      if (isSafeLink(node.url) && !node.title) return inside({ type: 'link', attrs: { href: node.url } })
      return plain(sourceOf(node, text), marks)
    default:
      return plain(sourceOf(node, text), marks)
  }
}

/** Lines with breaks between them. */
function plain(text: string, marks: readonly Mark[]): EditorNode[] {
  return text
    .split('\n')
    .flatMap((line, index) => [
      ...(index > 0 ? [{ type: 'hardBreak' }] : []),
      ...(line === '' ? [] : [{ type: 'text', text: line, ...(marks.length > 0 && { marks: [...marks] }) }]),
    ])
}
