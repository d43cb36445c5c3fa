import { formatMoney } from '../billing/prices/money.ts'
import { shownMoney } from '../clients/money.ts'
import { boundedTotal } from '../platform/http/input/paging.ts'
import {
  countedDisputes,
  countedWaiting,
  type AccountCreditRow,
  type ChangedRow,
  type ChangeJson,
  type DisputeJson,
  type LetterJson,
  type WaitingRow,
} from './store.ts'
import { countedReviews, type ReviewsRow } from './reviews-store.ts'
import type { Role } from '../access/actor.ts'
import type { TaskJson, TasksRow } from './tasks-store.ts'
import type {
  ChangedClient,
  ChangedItem,
  FirmFigures,
  OpenDisputes,
  OverviewData,
  ReviewedLetters,
  WaitingLetters,
} from './schema.ts'

const shownClients = 15
const shownItems = 6
export const mostAccounts = 10

export function presentChanges(rows: readonly ChangedRow[]): OverviewData['changes'] {
  return { clients: rows.slice(0, shownClients).map(presentChanged), more: rows.length > shownClients }
}

function presentChanged({ client, status, events }: ChangedRow): ChangedClient {
  const items = [...Map.groupBy(events ?? [], ({ noun, id }) => `${noun} ${id}`).values()].flatMap(presentItem)
  return { client, status, items: items.slice(0, shownItems), more: items.length > shownItems }
}

/** One item of all its events, newest first. */
function presentItem(events: readonly ChangeJson[]): ChangedItem[] {
  const people = new Map(events.flatMap(({ by }) => (by === null ? [] : [[by.id, by] as const])))
  return events.slice(0, 1).map(({ noun, id, title, at }) => ({
    noun,
    id,
    title,
    actions: [...new Set(events.map(({ action }) => action).toReversed())],
    by: [...people.values()],
    at: timeOf(at),
  }))
}

export function presentDisputes(
  row: (WaitingRow<DisputeJson> & { readonly amount: string }) | undefined,
  currency: string,
): OpenDisputes {
  const { items, total = 0, amount = '0' } = row ?? {}
  const shown = (text: string) => shownMoney(text, currency) ?? ''
  return {
    items: (items ?? []).map((each) => ({ ...each, amount: shown(each.amount), created_at: timeOf(each.created_at) })),
    ...boundedTotal(total, countedDisputes),
    amount: total > countedDisputes ? null : shown(amount),
  }
}

/** What is to be done, for mails and calendars: the title of a task, or the answer to a dispute. */
export const titleOf = ({ noun, title }: Pick<TaskJson, 'noun' | 'title'>): string =>
  noun === 'dispute' ? `Answer the dispute of ${title}` : title

/** The tasks of a person, and for partners how many each person has. */
export function presentTasks(
  row: TasksRow | undefined,
  { personId, today, weekEnd }: { readonly personId: string | null; readonly today: string; readonly weekEnd: string },
  role: Role | undefined,
): OverviewData['tasks'] {
  const { items, people } = row ?? {}
  const own = people?.find(({ id }) => id === personId)
  return {
    today,
    week_end: weekEnd,
    overdue: own?.overdue ?? 0,
    due_today: own?.today ?? 0,
    this_week: own?.this_week ?? 0,
    items: [...(items ?? [])],
    ...(role === 'partner' && { people: [...(people ?? [])] }),
  }
}

export function presentLetters(row: WaitingRow<LetterJson> | undefined): WaitingLetters {
  const { items, total = 0 } = row ?? {}
  return {
    items: (items ?? []).map((each) => ({ ...each, updated_at: timeOf(each.updated_at) })),
    ...boundedTotal(total, countedWaiting),
  }
}

export function presentReviews(row: ReviewsRow | undefined): ReviewedLetters {
  const { items, total = 0 } = row ?? {}
  return {
    items: (items ?? []).map((each) => ({ ...each, at: timeOf(each.at) })),
    ...boundedTotal(total, countedReviews),
  }
}

export function presentFirm(
  accounts: readonly AccountCreditRow[],
  { day, cost, requests }: { readonly day: string; readonly cost: bigint; readonly requests: bigint },
  overdue: FirmFigures['overdue'],
): FirmFigures {
  return {
    accounts: accounts.map(({ id, name, own, creditLeft, monthlyLimit, usedPercent }) => ({
      id,
      name,
      own,
      credit_left: formatMoney(creditLeft),
      monthly_limit: monthlyLimit === null ? null : formatMoney(monthlyLimit),
      used_percent: usedPercent,
    })),
    yesterday: { day, cost: formatMoney(cost), requests: Number(requests) },
    overdue,
  }
}

const timeOf = (text: string): string => new Date(text).toISOString()
