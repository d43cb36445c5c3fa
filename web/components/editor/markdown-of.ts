import { isEmpty, type EditorNode } from './document.ts'

/** Whether characters that Markdown gives a meaning are escaped. */
type Escape = (text: string) => string

const asIs: Escape = (text) => text
const escaped: Escape = (text) => text.replace(/[\\*_[\]<]/g, '\\$&')

/** A block as Markdown without escapes, which may mean something else. */
export const rawMarkdown = (block: EditorNode, marker: Marker) => blockText(block, asIs, marker)

/** A block as Markdown that means exactly this block. */
export const safeMarkdown = (block: EditorNode, marker: Marker) => blockText(block, escaped, marker)

type Marker = 'usual' | 'other'

/** A list directly after a list of the same kind needs another marker, or they are one list. */
export function markerAt(blocks: readonly EditorNode[], index: number): Marker {
  const first = blocks.findLastIndex(({ type }, at) => at < index && type !== blocks[index]?.type)
  return (index - first) % 2 === 1 ? 'usual' : 'other'
}

const markers = { usual: { bullet: '-', number: '.' }, other: { bullet: '*', number: ')' } } as const

function blockText(block: EditorNode, escape: Escape, marker: Marker): string {
  const { type, content = [], attrs } = block
  switch (type) {
    case 'heading': {
      const text = lines(content, escape).replaceAll('\n', ' ')
      return `${'#'.repeat(Number(attrs?.['level']))} ${escape === asIs ? text : text.replaceAll('#', '\\#')}`
    }
    case 'bulletList':
      return content.map((item) => listItem(item, `${markers[marker].bullet} `, escape)).join('\n')
    case 'orderedList': {
      const start = Number(attrs?.['start'] ?? 1)
      return content.map((item, at) => listItem(item, `${start + at}${markers[marker].number} `, escape)).join('\n')
    }
    case 'blockquote':
      return joined(content, escape, '\n\n').replace(/^(?=(.?))/gm, (_, next: string) => (next === '' ? '>' : '> '))
    default: {
      const text = lines(content, escape)
      return escape === asIs ? text : text.replace(/^(?:#|>|[-+](?=\s|$)|\d{1,9}(?=[.)](?:\s|$)))/gm, escapedStart)
    }
  }
}

/** `#` → `\#`, `1` of `1.` → `1\`. */
function escapedStart(start: string): string {
  return /^\d/.test(start) ? `${start}\\` : `\\${start}`
}

function listItem({ content = [] }: EditorNode, marker: string, escape: Escape): string {
  const text = joined(content, escape, '\n')
  return (marker + text.replace(/\n(?=.)/g, `\n${' '.repeat(marker.length)}`)).trimEnd()
}

/** The blocks, with a blank line between those that would otherwise be one. */
function joined(blocks: readonly EditorNode[], escape: Escape, usual: string): string {
  return blocks
    .filter((block) => !isEmpty(block))
    .map((block, index, all) => {
      const before = all[index - 1]
      const gap = isList(block) && !isList(before) ? usual : '\n\n'
      return (index > 0 ? gap : '') + blockText(block, escape, markerAt(all, index))
    })
    .join('')
}

const isList = (block: EditorNode | undefined) => block?.type?.endsWith('List') ?? false

const inside = [
  { type: 'link', wrap: (text: string, mark: EditorNode) => `[${text}](${String(mark.attrs?.['href'])})` },
  { type: 'bold', wrap: (text: string) => `**${text}**` },
  { type: 'italic', wrap: (text: string) => `*${text}*` },
]

/** The text of a paragraph. Markdown has no space at the ends of a line. */
function lines(content: readonly EditorNode[], escape: Escape): string {
  return marked(content, escape, 0)
    .replace(/[ \t]*\n[ \t]*/g, '\n')
    .replace(/\n{2,}/g, '\n')
    .trim()
}

/** Wraps runs of text with the same mark, the outermost first. */
function marked(content: readonly EditorNode[], escape: Escape, depth: number): string {
  const mark = inside[depth]
  if (!mark) return content.map(({ type, text = '' }) => (type === 'hardBreak' ? '\n' : escape(text))).join('')
  const runs: { key: string; nodes: EditorNode[] }[] = []
  for (const node of content) {
    const key = keyOf(node, mark.type)
    const last = runs.at(-1)
    if (last?.key === key) last.nodes.push(node)
    else runs.push({ key, nodes: [node] })
  }
  return runs
    .map(({ key, nodes }) => {
      const text = marked(nodes, escape, depth + 1)
      const [, before = '', core = '', after = ''] = /^(\s*)([^]*?)(\s*)$/.exec(text) ?? []
      const own = nodes[0]?.marks?.find(({ type }) => type === mark.type)
      return key === '' || !own || core === '' ? text : before + mark.wrap(core, own) + after
    })
    .join('')
}

function keyOf({ marks = [] }: EditorNode, type: string): string {
  const mark = marks.find((each) => each.type === type)
  return mark ? type + String(mark.attrs?.['href'] ?? '') : ''
}
