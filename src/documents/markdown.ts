import {
  isIntricate,
  isSafeLink,
  parseMarkdown,
  sourceOf,
  splitAtAddresses,
  type MarkdownBlock,
  type MarkdownNode,
} from '../platform/text/markdown.ts'
import type { Block, Span } from './document.ts'

/**
 * The paragraphs, headings, lists, quotes, emphasis and links of a text. Everything else, such as HTML, is text. Line
 * breaks are kept; control characters, which no file can show, are not.
 */
export function readMarkdown(markdown: string): Block[] {
  const text = printable(markdown)
  if (isIntricate(text))
    return text.split(/\n{2,}/).map((part) => ({ kind: 'paragraph', spans: linked({ text: part }) }))
  return blocksOf(parseMarkdown(text).children, text)
}

/** The text without control characters and noncharacters, with `\n` for line breaks and composed accents. */
export function printable(text: string): string {
  return text
    .replaceAll(/\r\n?|[\u0085\u2028\u2029\v\f]/g, '\n')
    .replaceAll('\t', '    ')
    .replaceAll(/(?!\n)[\p{Cc}\p{Noncharacter_Code_Point}\ufeff]/gu, '')
    .toWellFormed()
    .normalize('NFC')
}

function blocksOf(nodes: readonly MarkdownBlock[], source: string): Block[] {
  return nodes.flatMap((node) => blockOf(node, source))
}

function blockOf(node: MarkdownBlock, source: string): readonly Block[] {
  switch (node.type) {
    case 'paragraph':
      return [{ kind: 'paragraph', spans: spansOf(node.children, source, {}) }]
    case 'heading': {
      const depth = node.depth === 1 ? 1 : node.depth === 2 ? 2 : 3
      return [{ kind: 'heading', depth, spans: spansOf(node.children, source, {}) }]
    }
    case 'blockquote':
      return [{ kind: 'quote', blocks: blocksOf(node.children, source) }]
    case 'list': {
      const items = node.children.map((item) => blocksOf(item.children, source))
      return [{ kind: 'list', first: node.ordered === true ? (node.start ?? 1) : undefined, items }]
    }
    default:
      return [{ kind: 'paragraph', spans: [{ text: sourceOf(node, source) }] }]
  }
}

type Look = Omit<Span, 'text'>

function spansOf(nodes: readonly MarkdownNode[], source: string, look: Look): Span[] {
  return nodes.flatMap((node) => spanOf(node, source, look))
}

function spanOf(node: MarkdownNode, source: string, look: Look): Span[] {
  switch (node.type) {
    case 'text':
      return look.link === undefined ? linked({ ...look, text: node.value }) : [{ ...look, text: node.value }]
    case 'strong':
      return spansOf(node.children, source, { ...look, isStrong: true })
    case 'emphasis':
      return spansOf(node.children, source, { ...look, isEmphasized: true })
    case 'break':
      return [{ ...look, text: '\n' }]
    case 'link':
      if (!isSafeLink(node.url)) return [{ ...look, text: sourceOf(node, source) }]
      return spansOf(node.children, source, { ...look, link: node.url })
    default:
      return [{ ...look, text: sourceOf(node, source) }]
  }
}

/** Addresses within a text become links. */
function linked(span: Span): Span[] {
  return splitAtAddresses(span.text).flatMap((text, index) =>
    text === '' ? [] : index % 2 === 0 ? { ...span, text } : { ...span, text, link: text },
  )
}
