import { isEmpty, type EditorNode } from './document.ts'

/** Equal for documents that are equal in everything that Markdown distinguishes. */
export function keyOf(node: EditorNode): string {
  return JSON.stringify(plainOf(node))
}

function plainOf({ type, attrs, content = [] }: EditorNode): unknown {
  if (content.some((child) => child.type === 'text')) return [type, attrs?.['level'], runsOf(content)]
  return [type, attrs?.['start'], content.filter((child) => !isEmpty(child)).map(plainOf)]
}

/** The characters with their marks. Space has none, and there is none at the ends of lines. */
function runsOf(content: readonly EditorNode[]): string {
  const runs: { marks: string; text: string }[] = []
  for (const { text = '\n', marks = [] } of content) {
    const names = marks.map((mark) => mark.type + String(mark.attrs?.['href'] ?? '')).toSorted()
    for (const part of text.split(/(\s+)/)) {
      const own = part.trim() === '' ? '' : names.join(' ')
      const last = runs.at(-1)
      if (last?.marks === own) last.text += part
      else if (part !== '') runs.push({ marks: own, text: part })
    }
  }
  const lines = runs.map(({ marks, text }) => (marks === '' ? text : `\u0000${marks}\u0000${text}\u0000`)).join('')
  return lines.replace(/[ \t]*\n\s*/g, '\n').trim()
}
