import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { scopeOf } from '../../access/policy.ts'
import { newId } from '../../access/new-id.ts'
import { createItemOutcomes } from '../items/outcomes.ts'
import { readArchivable } from '../items/store.ts'
import { letters } from './letters.ts'
import { insertVersion } from './store.ts'
import { presentItem, type Item } from '../present.ts'

/** New versions of letters. */
export interface LetterVersions {
  /**
   * Creates a draft with the subject and the text of a letter. Idempotent per person and `key`. Writes an audit event
   * whether it allows or refuses. Throws what `RecordAccess.refuse` throws, and Problem `conflict` for an archived client or
   * letter and for a full record.
   */
  start(visit: Visit, clientId: string, letterId: string, key?: string): Promise<Item>
}

export function createLetterVersions(needs: { access: RecordAccess; currency: string }): LetterVersions {
  const { access, currency } = needs
  const present = (row: Parameters<typeof presentItem>[1]) => presentItem(letters, row, currency)
  const { outcome, refused } = createItemOutcomes({ access, kind: letters, present })

  return Object.freeze({
    async start(visit: Visit, clientId: string, letterId: string, key?: string) {
      const scope = scopeOf(visit.actor, 'create', 'letter')
      const id = newId(visit, `${clientId}/letters/${letterId}/versions`, key)
      const audited = (action: string): AuditedAction => ({ action, noun: 'letter', clientId, nounId: id })
      const done = audited('letter_version_created')
      const [[inserted], [row], [copied]] = await access
        .as(visit, [
          insertVersion(scope, { visit, clientId, letterId, id }),
          readArchivable(letters, scope, clientId, id),
          readArchivable(letters, scope, clientId, letterId),
        ])
        .catch(refused(visit, done))
      const exists = row?.item !== null && row !== undefined
      if (exists && !inserted) await access.note(visit, audited('letter_read'))
      const isArchived = !exists && copied?.item?.archived_at
      return outcome(visit, { audited: done, action: 'create', row: isArchived ? copied : row, changed: exists })
    },
  } satisfies LetterVersions)
}
