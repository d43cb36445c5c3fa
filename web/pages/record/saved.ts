import { useSyncExternalStore } from 'react'
import { noteRecorded } from '../../components/timer/recorded.ts'
import type { Item, ItemNoun } from './items.tsx'

/** What the person has just saved on a record, after which the page offers what usually follows. */
export interface Saved {
  readonly clientId: string
  readonly noun: ItemNoun
  readonly item: Item
  /** As it was before. Absent for something new. */
  readonly before?: Item
}

let saved: Saved | undefined
const listeners = new Set<() => void>()

export function tellSaved(what: Saved): void {
  if (what.noun === 'time_entry') noteRecorded(what.clientId)
  saved = what
  for (const listener of listeners) listener()
}

/** The last thing that was saved on a record, as long as nothing was saved on another one. */
export function useSaved(clientId: string): Saved | undefined {
  const last = useSyncExternalStore(watch, () => saved)
  return last?.clientId === clientId ? last : undefined
}

function watch(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
