import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { may, roleOf, scopeOf } from '../access/policy.ts'
import { foldCharges } from '../billing/appended-charges.ts'
import { shownMoney } from '../clients/money.ts'
import { today } from '../platform/text/calendar.ts'
import type { Database } from '../platform/database/database.ts'
import {
  anyActiveClient,
  readAccountCredit,
  readChanges,
  readDayCost,
  readOpenDisputes,
  readOverdue,
  readWaitingLetters,
} from './store.ts'
import {
  mostAccounts,
  presentChanges,
  presentDisputes,
  presentFirm,
  presentLetters,
  presentReviews,
  presentTasks,
} from './present.ts'
import type { FirmFigures, OverviewData } from './schema.ts'
import { readLettersToReview, readReturnedLetters } from './reviews-store.ts'
import { readDueTasks } from './tasks-store.ts'
import { lastWorkingDay, weekEnd } from './working-day.ts'

/** What a person sees first. It applies the policy and writes an audit event. */
export interface Overview {
  read(visit: Visit): Promise<OverviewData>
}

interface OverviewNeeds {
  readonly access: Pick<RecordAccess, 'as' | 'note'>
  readonly database: Database
  readonly currency: string
  /** The time zone of the firm, a name of the IANA database. */
  readonly timeZone: string
}

const dayLength = 86_400_000

export function createOverview({ access, database, currency, timeZone }: OverviewNeeds): Overview {
  return Object.freeze<Overview>({
    async read(visit) {
      const now = Date.now()
      const since = lastWorkingDay(now, timeZone)
      const scope = scopeOf(visit.actor, 'list', 'client')
      const day = today(timeZone)
      const week = {
        personId: visit.actor.kind === 'person' ? visit.actor.id : null,
        today: day,
        weekEnd: weekEnd(day),
      }
      const [[changes, [tasks], [disputes], [toReview], [returned], [drafts], [approved], [anyClient]], firm] =
        await Promise.all([
          access.as(visit, [
            readChanges(scope, since.startsAt),
            readDueTasks(scope, week),
            readOpenDisputes(scope),
            readLettersToReview(scope, week.personId),
            readReturnedLetters(scope, week.personId),
            readWaitingLetters(scope, 'draft'),
            readWaitingLetters(scope, 'approved'),
            anyActiveClient(scope),
          ]),
          maySeeFigures(visit) ? firmFigures(visit, new Date(now - dayLength)) : undefined,
        ])
      await access.note(visit, { action: 'overview_read' })
      return {
        since: since.day,
        currency,
        has_clients: anyClient?.yes === true,
        changes: presentChanges(changes),
        tasks: presentTasks(tasks, week, roleOf(visit.actor)),
        open_disputes: presentDisputes(disputes, currency),
        letters_to_review: presentReviews(toReview),
        letters_returned: presentReviews(returned),
        letters_to_approve: presentLetters(drafts),
        letters_to_send: presentLetters(approved),
        ...(firm && { firm }),
      }
    },
  })

  async function firmFigures(visit: Visit, yesterday: Date): Promise<FirmFigures> {
    const day = yesterday.toISOString().slice(0, 10)
    await foldCharges(database)
    const [accounts, [cost], [[overdue]]] = await Promise.all([
      readAccountCredit(database, mostAccounts),
      readDayCost(database, day),
      access.as(visit, [readOverdue(today(timeZone), currency)]),
    ])
    const { invoices = 0n, open = 0n, oldest = null } = overdue ?? {}
    return presentFirm(
      accounts,
      { day, cost: cost?.cost ?? 0n, requests: cost?.requests ?? 0n },
      { invoices: Number(invoices), amount: shownMoney(String(open), currency) ?? '', oldest },
    )
  }
}

const maySeeFigures = ({ actor }: Visit) =>
  may(actor, 'list', 'account') && may(actor, 'read', 'usage') && may(actor, 'list', 'invoice')
