import type { Content } from '../../content.ts'

export let content: Content = { address: '/', status: 200 }

/** Sets the content of the page that is rendered next. */
export function setContent(next: Content): void {
  content = next
}
