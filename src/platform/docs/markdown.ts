import { codeBlock, codeTabs, escapeHtml, type CodeVariant } from './html.ts'

/** The HTML of a link's target. Undefined if nothing is served there: then the link's text remains. */
export type LinkTarget = (target: string) => string | undefined

/**
 * Renders the Markdown of our own pages: headings, paragraphs, lists, tables, code blocks, code, bold text and links.
 * Code blocks that follow one another are the same program in several languages. Everything else is text.
 */
export function renderMarkdown(source: string, linkTo: LinkTarget): string {
  const parts: (string | CodeVariant[])[] = []
  for (const block of blocksOf(source)) {
    const [variant, last] = [codeIn(block), parts.at(-1)]
    if (variant && Array.isArray(last)) last.push(variant)
    else parts.push(variant ? [variant] : renderBlock(block, (text) => renderInline(escapeHtml(text), linkTo)))
  }
  return parts.map((part) => (Array.isArray(part) ? renderCode(part) : part)).join('\n')
}

const languages: Readonly<Record<string, Omit<CodeVariant, 'source'>>> = {
  sh: { id: 'sh', label: 'curl' },
  js: { id: 'javascript', label: 'JavaScript' },
  python: { id: 'python', label: 'Python' },
}

function codeIn(block: string): CodeVariant | undefined {
  const [, language = '', source] = /^```(.*)\n([^]*)\n```$/.exec(block) ?? []
  return source === undefined ? undefined : { id: language, label: language, ...languages[language], source }
}

function renderCode(variants: readonly CodeVariant[]): string {
  const [first, ...others] = variants
  return first && others.length === 0 ? codeBlock(first.source) : codeTabs(variants)
}

/** The parts between blank lines. A code block is one part. */
function blocksOf(source: string): string[] {
  const blocks: string[][] = [[]]
  let isCode = false
  for (const line of source.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    if (line === '' && !isCode) blocks.push([])
    else blocks.at(-1)?.push(line)
  }
  return blocks.filter(({ length }) => length > 0).map((lines) => lines.join('\n'))
}

type Inline = (text: string) => string

function renderBlock(block: string, inline: Inline): string {
  const [, level = '', title = ''] = /^(#{1,6}) (.*)$/.exec(block) ?? []
  if (level) return `<h${level.length} id="${anchorOf(title)}">${inline(title)}</h${level.length}>`
  if (block.startsWith('|')) return renderTable(block, inline)
  if (block.startsWith('- ')) return renderList(block, inline)
  return `<p>${inline(block)}</p>`
}

function renderList(block: string, inline: Inline): string {
  const items = block.slice(2).split('\n- ')
  return `<ul>\n${items.map((item) => `<li>${inline(item)}</li>`).join('\n')}\n</ul>`
}

function renderTable(block: string, inline: Inline): string {
  const [head = '', , ...rows] = block.split('\n')
  const cells = (row: string, tag: string) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join('')
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
  return `<table>\n<thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>`
}

/** `escaped` is escaped text. In code nothing else has a meaning. */
function renderInline(escaped: string, linkTo: LinkTarget): string {
  return escaped.replace(
    /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/gs,
    (_, code?: string, bold?: string, label: string = '', target: string = '') => {
      if (code !== undefined) return `<code>${code}</code>`
      if (bold !== undefined) return `<strong>${renderInline(bold, linkTo)}</strong>`
      const href = linkTo(target)
      const text = renderInline(label, linkTo)
      return href === undefined ? text : `<a href="${href}">${text}</a>`
    },
  )
}

/** The anchor that GitHub makes from a heading. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
