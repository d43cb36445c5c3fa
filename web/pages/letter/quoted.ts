/** A text as a Markdown quote. */
export function quoted(text: string): string {
  return text.trim().replace(/^(?=(.?))/gm, (_, next: string) => (next === '' ? '>' : '> '))
}
