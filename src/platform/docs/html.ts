/** Escapes text for an element or for a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Text with `code` in backquotes, as HTML. The URL of a page of the documentation becomes a link. */
export function prose(text: string): string {
  return escapeHtml(text)
    .replace(/`(\/docs[/a-z]*)`/g, '<a href="$1">$1</a>')
    .replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Prose whose parts are separated by empty lines. */
export function paragraphs(text: string): string {
  return text
    .split(/\n{2,}/)
    .filter((part) => part !== '')
    .map((part) => `<p>${prose(part)}</p>`)
    .join('\n')
}

/** A block of code. It can be focused, to scroll in it with the keyboard. */
export function codeBlock(source: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(source)}</code></pre>`
}

/** The same program in several languages. The script of the pages shows one of them at a time. */
export function codeTabs(variants: readonly CodeVariant[]): string {
  const figures = variants.map(
    ({ id, label, source }) =>
      `<figure data-language="${id}"><figcaption>${escapeHtml(label)}</figcaption>${codeBlock(source)}</figure>`,
  )
  return `<div class="tabs">\n${figures.join('\n')}\n</div>`
}

export interface CodeVariant {
  /** What the script remembers: `python`, `python-openai`. */
  readonly id: string
  readonly label: string
  readonly source: string
}
