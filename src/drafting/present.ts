import { formatMoney } from '../billing/prices/money.ts'
import type { LetterCheck } from './check/check.ts'
import type { DraftJson, PresentSource } from './drafting-store.ts'
import type { ShownCheck, ShownDraft } from './schema.ts'

export function presentDraft(row: DraftJson, currency: string): ShownDraft {
  const { created_by: by, created_by_name: name, cost, ...draft } = row
  return {
    ...draft,
    sources: draft.sources.map(({ pages, ...source }) => ({ ...source, ...(pages && { pages }) })),
    cost: cost === null ? null : formatMoney(BigInt(cost)),
    currency,
    created_at: new Date(draft.created_at).toISOString(),
    created_by: name === null ? null : { id: by, name },
    finished_at: draft.finished_at === null ? null : new Date(draft.finished_at).toISOString(),
  }
}

/** @param sources those that the letter was compared with, in order */
export function presentCheck(
  letter: ShownCheck['letter'],
  sources: readonly PresentSource[],
  { sentences, unused }: LetterCheck,
): ShownCheck {
  return {
    letter,
    sources: sources.map(({ kind, id, version, title, pages, present_version: now }, index) => ({
      kind,
      id,
      version,
      title,
      ...(pages && { pages }),
      state: now === null ? 'gone' : now === version ? 'unchanged' : 'changed',
      used: !unused.includes(index),
    })),
    sentences: sentences.map(({ missing, ...sentence }) => ({ ...sentence, missing: [...missing] })),
  }
}
