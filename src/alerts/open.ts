import type { Logger } from 'pino'
import type { Accounts } from '../accounts/accounts.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import type { Feature } from '../platform/feature.ts'
import { createAlerts } from './alerts.ts'
import { alertExamples, registerAlerts, type AlertRouteNeeds } from './routes.ts'
import { startAlerts } from './watch.ts'

interface AlertsNeeds extends Omit<AlertRouteNeeds, 'alerts'> {
  readonly config: Pick<Config, 'alerts'>
  readonly database: Database
  readonly accounts: Pick<Accounts, 'show'>
  readonly encryption: Encryption
  readonly mailer: Mailer | undefined
  readonly currency: string
  readonly log: Logger
}

export interface AlertsFeature extends Feature {
  close(this: void): Promise<void>
}

/** Opens the alerts of accounts, and watches for them. */
export function openAlerts(needs: AlertsNeeds): AlertsFeature {
  const parts = { ...needs, hasMail: needs.mailer !== undefined, allowedNetworks: needs.config.alerts.allowed_networks }
  const alerts = createAlerts(parts)
  const watch = startAlerts(parts)
  return Object.freeze({
    routes: (server) => registerAlerts(server, { ...needs, alerts }),
    examples: alertExamples,
    close: () => watch.close(),
  } satisfies AlertsFeature)
}
