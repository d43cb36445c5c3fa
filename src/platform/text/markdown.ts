import { fromMarkdown } from 'mdast-util-from-markdown'

/** The Markdown of notes and letters, the same on the pages and in files. The pages are built with this file. */

export type MarkdownTree = ReturnType<typeof fromMarkdown>
/** A paragraph, heading, list or quote. */
export type MarkdownBlock = MarkdownTree['children'][number]
/** Any part of a text. */
export type MarkdownNode = MarkdownBlock | Extract<MarkdownBlock, { readonly type: 'paragraph' }>['children'][number]

/**
 * The rest of Markdown is text here, so that nothing typed disappears: HTML, code, rules, definitions and entities. Notes
 * written as plain text indent lines and draw lines of dashes.
 */
const asText = [
  'characterReference',
  'codeFenced',
  'codeIndented',
  'codeText',
  'definition',
  'htmlFlow',
  'htmlText',
  'labelStartImage',
  'setextUnderline',
  'thematicBreak',
]

/**
 * The paragraphs, headings, lists, quotes, emphasis and links of a text. A text that would take long to parse is one
 * paragraph.
 */
export function parseMarkdown(text: string): MarkdownTree {
  if (!isIntricate(text)) return fromMarkdown(text, { extensions: [{ disable: { null: asText } }] })
  return { type: 'root', children: [{ type: 'paragraph', children: [{ type: 'text', value: text }] }] }
}

/** The time to parse grows with the square of these. No letter comes near. */
const most = { nested: 12, indent: 40, marks: 1000 }

const deep = new RegExp(`^(?:[ \\t]{${most.indent},}|(?:[ \\t]*(?:>|[-+*]|\\d{1,9}[.)])){${most.nested}})`, 'm')

/** Whether a text would take long to parse. */
export function isIntricate(text: string): boolean {
  if (deep.test(text)) return true
  return text.split(/\n\s*\n/).some((part) => (part.match(/[*_<[\]\\]/g)?.length ?? 0) > most.marks)
}

/** Whether a link may be followed. Other targets could run a script. */
export function isSafeLink(target: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s]/i.test(target)
}

/** Splits a text into other text and web addresses, in turn, other text first. Punctuation after an address is not part of it. */
export function splitAtAddresses(text: string): string[] {
  return text.split(/(\bhttps?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]'*_])/)
}

/** What a person typed for this part. */
export function sourceOf({ position }: MarkdownNode, text: string): string {
  return text.slice(position?.start.offset ?? 0, position?.end.offset ?? text.length)
}
