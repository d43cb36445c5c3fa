import type { RecordAccess } from '../access/access.ts'
import { byService, type Visit } from '../access/actor.ts'
import { scopeOf } from '../access/policy.ts'
import { createClients, type Clients } from './record/clients.ts'
import { contacts } from './contacts/contacts.ts'
import { disputes } from './items/disputes.ts'
import { documents } from './documents/documents.ts'
import { expenses } from './items/expenses.ts'
import { createHandover, createSelectedHandover, type Handover } from './handover/handover.ts'
import { createHistory, type History } from './record/history.ts'
import { createItems, type Items } from './items/items.ts'
import { createLetterVersions, type LetterVersions } from './letters/versions.ts'
import { letters } from './letters/letters.ts'
import { notes } from './items/notes.ts'
import { createSearch, type Search } from './search/search.ts'
import { tasks } from './tasks/tasks.ts'
import { timeEntries } from './items/time-entries.ts'
import { createTimers, type Timers } from './timer/timer.ts'
import { createWholeRecords, type WholeRecords } from './record/whole.ts'
import { clientExists, countByConsultant } from './record/store.ts'

export interface Records {
  readonly access: RecordAccess
  readonly clients: Clients
  readonly notes: Items
  readonly disputes: Items
  readonly letters: Items
  readonly documents: Items
  readonly tasks: Items
  readonly contacts: Items
  readonly timeEntries: Items
  readonly expenses: Items
  readonly timers: Timers
  readonly letterVersions: LetterVersions
  readonly history: History
  readonly search: Search
  readonly handover: Handover
  readonly whole: WholeRecords
  readonly handOverSelected: ReturnType<typeof createSelectedHandover>
  /** The number of active clients that the actor may see, by consultant id. */
  counts(visit: Visit): Promise<ReadonlyMap<string, number>>
  /** Whether any client has this id, a UUID, and is not deleted. */
  exists(this: void, id: string): Promise<boolean>
}

interface RecordsNeeds {
  readonly access: RecordAccess
  readonly currency: string
  /** What time entries and expenses take from the configuration. */
  readonly billing?: {
    readonly hourlyRate: bigint | undefined
    readonly taxes: readonly string[]
    readonly timeZone: string
  }
}

export function createRecords({ access, currency, billing }: RecordsNeeds): Records {
  return Object.freeze<Records>({
    access,
    clients: createClients({ access, currency }),
    notes: createItems({ access, currency, kind: notes }),
    disputes: createItems({ access, currency, kind: disputes }),
    letters: createItems({ access, currency, kind: letters }),
    documents: createItems({ access, currency, kind: documents }),
    tasks: createItems({ access, currency, kind: tasks }),
    contacts: createItems({ access, currency, kind: contacts }),
    timeEntries: createItems({ access, currency, kind: timeEntries(billing) }),
    expenses: createItems({ access, currency, kind: expenses(billing) }),
    timers: createTimers({ access }),
    letterVersions: createLetterVersions({ access, currency }),
    history: createHistory({ access, currency }),
    search: createSearch({ access }),
    handover: createHandover({ access }),
    whole: createWholeRecords({ access, currency }),
    handOverSelected: createSelectedHandover(access),
    async counts(visit) {
      const [rows] = await access.as(visit, [countByConsultant(scopeOf(visit.actor, 'list', 'client'))])
      return new Map(rows.map(({ consultant_id, clients }) => [consultant_id, clients]))
    },
    async exists(id) {
      const [rows] = await access.as(byService, [clientExists(id)])
      return rows.length > 0
    },
  })
}
