import type { Item } from './items.tsx'

const mostText = 280

/** What a time entry says of the work on an item. Invoices show it, so it has nothing of the text of a note. */
export function workOn(item: Item): string {
  if ('subject' in item) return `Letter: ${item.subject}`.slice(0, mostText)
  return 'participants' in item ? 'Discussion and note' : ''
}
