import type { Logger } from 'pino'
import type { Audit } from '../access/audit/audit.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Config } from '../platform/config/config.ts'
import type { Feature } from '../platform/feature.ts'
import { overviewExamples, registerOverview, type OverviewRouteNeeds } from './routes.ts'
import { startTaskMail } from './task-mail.ts'

interface OverviewNeeds extends OverviewRouteNeeds {
  readonly config: Pick<Config, 'tasks'>
  readonly audit: Audit
  readonly mailer: Mailer | undefined
  readonly log: Logger
}

/** /, the home page, and the calendar and the mail of people's tasks. */
export function openOverview(needs: OverviewNeeds): Feature & { close(this: void): Promise<void> } {
  const mailing = startTaskMail({ ...needs, mailFrom: needs.config.tasks.mail_from })
  return Object.freeze({
    routes: (server) => registerOverview(server, needs),
    examples: overviewExamples,
    close: () => mailing.close(),
  } satisfies Feature & { close(): Promise<void> })
}
