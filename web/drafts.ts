/** The forms of this page that hold something that is not saved. */
const unsaved = new Set<string>()
const listeners = new Set<() => void>()

/** Says whether a form, by an id of its own, holds something that is not saved. */
export function markDraft(form: string, isUnsaved: boolean): void {
  if (unsaved.has(form) === isUnsaved) return
  if (isUnsaved) unsaved.add(form)
  else unsaved.delete(form)
  for (const listener of listeners) listener()
}

/** Nothing of what is not saved is wanted any more. */
export function forgetDrafts(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

export function hasDrafts(): boolean {
  return unsaved.size > 0
}

export function watchDrafts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
