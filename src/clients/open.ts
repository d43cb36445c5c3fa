import type { RecordAccess } from '../access/access.ts'
import type { WritingThread } from '../documents/writing-thread.ts'
import { invoiceSettings } from '../invoicing/settings.ts'
import type { Config } from '../platform/config/config.ts'
import type { Feature } from '../platform/feature.ts'
import { createLetterFiles } from './letters/files.ts'
import { createRecords, type Records } from './records.ts'
import { recordExamples, registerClients, type ClientRouteNeeds } from './routes.ts'

interface ClientsNeeds extends Omit<ClientRouteNeeds, 'records' | 'letterFiles'> {
  readonly access: RecordAccess
  readonly config: Pick<Config, 'currency' | 'firm' | 'invoicing' | 'drafting'>
  readonly thread: WritingThread
}

export interface ClientsFeature extends Feature {
  readonly records: Records
}

/** Clients with their items, and letters as files. */
export function openClients(needs: ClientsNeeds): ClientsFeature {
  const { access, config, thread } = needs
  const { firm, currency, invoicing, drafting } = config
  const records = createRecords({
    access,
    currency,
    billing: {
      hourlyRate: invoicing.hourly_rate,
      taxes: [...invoiceSettings(config).taxes.keys()],
      timeZone: firm.time_zone,
    },
  })
  const letterFiles = createLetterFiles({ access, firm, notice: drafting?.notice, thread })
  return Object.freeze({
    records,
    routes: (server) => registerClients(server, { ...needs, records, letterFiles }),
    examples: recordExamples,
  } satisfies ClientsFeature)
}
