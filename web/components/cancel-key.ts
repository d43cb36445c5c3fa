import type { KeyboardEvent } from 'react'

/** Whether the key cancels a form. Escape in a list of suggestions or in a small dialog of the form closes only that. */
export function isCancel({ key, target, defaultPrevented }: KeyboardEvent): boolean {
  if (key !== 'Escape' || defaultPrevented || !(target instanceof Element)) return false
  return !hasOpenList(target) && target.closest('form, [role=dialog]')?.matches('form') === true
}

function hasOpenList(target: Element): boolean {
  const list = target.getAttribute('aria-controls')
  return list !== null && document.getElementById(list)?.checkVisibility() === true
}
