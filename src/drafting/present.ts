import { formatMoney } from '../billing/prices/money.ts'
import type { DraftJson } from './drafting-store.ts'
import type { ShownDraft } from './schema.ts'

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
