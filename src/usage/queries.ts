import { idIfAny, isUuid } from '../platform/database/uuid.ts'
import { Problem } from '../platform/problems.ts'
import type { Dimension, FigureFilter } from './figures.ts'
import type { LogFilter } from './requests/request-log.ts'
import type { RequestsQuery, UsageQuery } from './schema.ts'
import { spanOf } from './span.ts'

/** What a query selects. Throws Problem `invalid_field`. */
export function usageFilterOf({ from, to, account, key, model, client }: UsageQuery): FigureFilter {
  return { ...spanOf({ from, to }), accountId: idIfAny(account), keyId: idIfAny(key), model, clientId: idIfAny(client) }
}

/** Every day of which there can be requests. */
const always = { from: '1970-01-01', to: '9998-12-31' }

/** The same for requests. The id of a request selects it on any day. */
export function logFilterOf(query: RequestsQuery): LogFilter {
  const { request, stop_reason: stopReason, code, account, key, model, client } = query
  const filter = {
    accountId: idIfAny(account),
    keyId: idIfAny(key),
    model,
    clientId: idIfAny(client),
    stopReason,
    code,
  }
  return request === undefined ? { ...spanOf(query), ...filter } : { ...always, ...filter, requestId: idIfAny(request) }
}

/** The filter of one request. */
export const requestFilter = (id: string): LogFilter => ({ ...always, requestId: idIfAny(id) })

/** The id in a cursor. Throws Problem `invalid_field`. */
export function cursorIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined || isUuid(cursor)) return cursor?.toLowerCase()
  throw new Problem('invalid_field', 'The field cursor must be `next` of the previous page.', { field: 'cursor' })
}

/** Reads what to group by, such as `day,model`. Throws Problem `invalid_field`. */
export function dimensionsOf(text: string | undefined, known: readonly Dimension[]): Dimension[] {
  const named = [...new Set((text ?? 'day').split(','))]
  const dimensions = known.filter((dimension) => named.includes(dimension))
  if (dimensions.length === named.length) return dimensions
  const choices = known.join(', ')
  throw new Problem('invalid_field', `The field by must be one or more of these, separated by commas: ${choices}.`, {
    field: 'by',
  })
}

/** The maximum number of rows of one report. */
export const mostRows = 10_000

export const tooManyRows = (): Problem =>
  new Problem('invalid_field', `This report has more than ${mostRows} rows. Choose fewer days or fewer groups.`, {
    field: 'by',
  })
