import { csvCell } from '../access/csv-cell.ts'
import { zonedTime } from '../platform/calendar.ts'
import type { UsageRequest, UsageRow } from './schema.ts'

/** A column of a file: its title, and its text in a row. */
type Column<Row> = readonly [title: string, text: (row: Row) => string | number | null | undefined]

/** Whom a row concerns, with their ids. */
const subjects: readonly Column<Partial<Pick<UsageRequest, 'account' | 'key' | 'person' | 'client'>>>[] = [
  ['account_id', ({ account }) => account?.id],
  ['account', ({ account }) => account?.name],
  ['key_id', ({ key }) => key?.id],
  ['key', ({ key }) => key?.name],
  ['person_id', ({ person }) => person?.id],
  ['person', ({ person }) => person?.name],
  ['client_id', ({ client }) => client?.id],
  ['client', ({ client }) => client?.name],
]

/** The columns of a report by group. */
const usageColumns: readonly Column<UsageRow>[] = [
  ['day', ({ day }) => day],
  ...subjects,
  ['model', ({ model }) => model],
  ['requests', ({ requests }) => requests],
  ['input_tokens', (row) => row.input_tokens],
  ['output_tokens', (row) => row.output_tokens],
  ['cost', ({ cost }) => cost],
  ['refused', ({ refused }) => refused],
  ['cached_tokens', (row) => row.cached_tokens],
  ['cache_write_tokens', (row) => row.cache_write_tokens],
]

const requestColumns = (timeZone: string): readonly Column<UsageRequest>[] => [
  ['request_id', (row) => row.request_id],
  ['at', ({ at }) => zonedTime(new Date(at), timeZone)],
  ...subjects,
  ['model', ({ model }) => model],
  ['status', ({ status }) => status],
  ['code', ({ code }) => code],
  ['stop_reason', (row) => row.stop_reason],
  ['input_tokens', (row) => row.input_tokens],
  ['output_tokens', (row) => row.output_tokens],
  ['cost', ({ cost }) => cost],
  ['currency', ({ currency }) => currency],
  ['milliseconds', ({ milliseconds }) => milliseconds],
  ['usage_source', (row) => row.usage_source],
  ['tags', ({ tags }) => tags && JSON.stringify(tags)],
]

/** Writes pages of rows as a CSV file (RFC 4180), with a line of titles. */
async function* file<Row>(
  columns: readonly Column<Row>[],
  pages: AsyncIterable<readonly Row[]>,
): AsyncIterable<string> {
  yield line(columns.map(([title]) => title))
  for await (const rows of pages) yield rows.map((row) => line(columns.map(([, text]) => text(row)))).join('')
}

const line = (cells: readonly (string | number | null | undefined)[]): string =>
  `${cells.map((cell) => csvCell(cell?.toString() ?? null)).join(',')}\r\n`

export const usageFile = (pages: AsyncIterable<readonly UsageRow[]>): AsyncIterable<string> => file(usageColumns, pages)

/** Times are in the time zone, with its offset. */
export const requestsFile = (pages: AsyncIterable<readonly UsageRequest[]>, timeZone: string): AsyncIterable<string> =>
  file(requestColumns(timeZone), pages)
