import { formatMoney } from '../../billing/prices/money.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { groupFigures, presentFigures, refusalReasons, totalFigures, type GroupedFigures } from '../figures.ts'
import { dimensionsOf, mostRows, requestFilter, tooManyRows } from '../queries.ts'
import { readLog, type LoggedRequest, type LogPageAsked } from '../requests/request-log.ts'
import type { DaySpan } from '../span.ts'
import { readKeyNames } from '../store.ts'
import type { OwnRequest, OwnUsageReport, OwnUsageRow } from './schema.ts'

/** What an account may know about itself: with one of its keys, or as a developer who is granted the account. */

interface ReportAsked {
  readonly accountId: string
  readonly span: DaySpan
  /** Any of `day`, `model` and `key`, separated by commas. Default: `day`. */
  readonly by: string | undefined
  readonly currency: string
}

/** The usage of an account in groups. Throws Problem `invalid_field`. */
export async function reportGroups(
  database: Queryable,
  { accountId, span, by, currency }: ReportAsked,
): Promise<OwnUsageReport> {
  const filter = { ...span, accountId }
  const [groups, total, refusals] = await Promise.all([
    groupFigures(database, filter, dimensionsOf(by, ['day', 'model', 'key']), mostRows),
    totalFigures(database, filter),
    refusalReasons(database, filter),
  ])
  if (groups === undefined) throw tooManyRows()
  const names = await readKeyNames(
    database,
    groups.flatMap(({ group }) => group.keyId ?? []),
  )
  const rows = groups.map((each) => presentRow(each, names))
  return { ...span, currency, total: presentFigures(total), rows, refusals }
}

function presentRow(grouped: GroupedFigures, names: ReadonlyMap<string, string>): OwnUsageRow {
  const { day, model, keyId } = grouped.group
  return {
    ...(day !== undefined && { day }),
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { key: keyId === null ? null : { id: keyId, name: names.get(keyId) ?? '' } }),
    ...presentFigures(grouped),
  }
}

/** One page of the requests of an account, as `readLog`. */
export async function readOwnRequests(
  database: Queryable,
  { currency, ...asked }: Omit<LogPageAsked, 'reader'> & { readonly currency: string },
): Promise<{ readonly requests: OwnRequest[]; readonly next: string | null }> {
  const { requests, next } = await readLog(database, { ...asked, reader: 'account' })
  const names = await readKeyNames(
    database,
    requests.flatMap(({ keyId }) => keyId ?? []),
  )
  return { requests: requests.map((each) => presentOwnRequest(each, names, currency)), next }
}

/** One request of the account. Undefined if it has none with this id, charged or refused and kept. Throws Problem `invalid_field`. */
export async function readOwnRequest(
  database: Queryable,
  { accountId, id, currency }: { readonly accountId: string; readonly id: string; readonly currency: string },
): Promise<OwnRequest | undefined> {
  const filter = { ...requestFilter(id), accountId }
  const { requests } = await readOwnRequests(database, { filter, limit: 1, currency })
  return requests[0]
}

/** Without tags and client: they may have text of a customer. */
function presentOwnRequest(request: LoggedRequest, names: ReadonlyMap<string, string>, currency: string): OwnRequest {
  const { requestId, at, keyId, model, status, code, call, milliseconds } = request
  return {
    request_id: requestId,
    at,
    key: keyId === null ? null : { id: keyId, name: names.get(keyId) ?? '' },
    model,
    outcome: code === null ? 'charged' : 'refused',
    status,
    code,
    call,
    stop_reason: request.stopReason,
    input_tokens: request.inputTokens,
    output_tokens: request.outputTokens,
    cost: formatMoney(request.cost),
    milliseconds,
    currency,
  }
}
