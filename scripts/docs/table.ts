/** A Markdown table; a line break or a bar in a cell cannot break it. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(renderRow).join('')
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map(escape).join(' | ')} |\n`
}

/** The first lines of every generated page. */
export function renderHead(title: string, source: string): string {
  return `# ${title}\n\n<!-- Generated from ${source} by \`npm run docs\`. Do not edit. -->\n`
}

function escape(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
}
