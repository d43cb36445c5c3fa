import type { Logger } from 'pino'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Feature } from '../platform/feature.ts'
import { startErasing } from './erasing.ts'
import { dataExamples, registerClientData, type ClientDataNeeds } from './routes.ts'

interface OpenNeeds extends Omit<ClientDataNeeds, 'retention' | 'firm' | 'notice'> {
  readonly config: Pick<Config, 'retention' | 'firm' | 'drafting'>
  readonly database: Database
  readonly databaseUrl: string
  readonly log: Logger
}

export interface ClientDataFeature extends Feature {
  close(this: void): Promise<void>
}

/** Opens exports and erasures, and erases what is due. */
export function openClientData(needs: OpenNeeds): ClientDataFeature {
  const { retention, firm, drafting } = needs.config
  const erasing = startErasing({ ...needs, retention })
  return Object.freeze({
    routes: (server) => registerClientData(server, { ...needs, retention, firm, notice: drafting?.notice }),
    examples: dataExamples,
    close: () => erasing.close(),
  } satisfies ClientDataFeature)
}
