import { csvCell } from '../access/csv-cell.ts'
import type { UsageRequest, UsageRow } from './schema.ts'

/** A column of a file: its title, and its text in a row. */
type Column<Row> = readonly [title: string, text: (row: Row) => string | number | null | undefined]

/** The columns of a report by group; the account, key, person and client with their ids. */
const usageColumns: readonly Column<UsageRow>[] = [
  ['day', ({ day }) => day],
  ['account_id', ({ account }) => account?.id],
  ['account', ({ account }) => account?.name],
  ['key_id', ({ key }) => key?.id],
  ['key', ({ key }) => key?.name],
  ['person_id', ({ person }) => person?.id],
  ['person', ({ person }) => person?.name],
  ['client_id', ({ client }) => client?.id],
  ['client', ({ client }) => client?.name],
  ['model', ({ model }) => model],
  ['requests', ({ requests }) => requests],
  ['input_tokens', (row) => row.input_tokens],
  ['output_tokens', (row) => row.output_tokens],
  ['cost', ({ cost }) => cost],
  ['refused', ({ refused }) => refused],
]

const requestColumns: readonly Column<UsageRequest>[] = [
  ['request_id', (row) => row.request_id],
  ['at', ({ at }) => at],
  ['account_id', ({ account }) => account.id],
  ['account', ({ account }) => account.name],
  ['key_id', ({ key }) => key?.id],
  ['key', ({ key }) => key?.name],
  ['person_id', ({ person }) => person?.id],
  ['person', ({ person }) => person?.name],
  ['client_id', ({ client }) => client?.id],
  ['client', ({ client }) => client?.name],
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

export const requestsFile = (pages: AsyncIterable<readonly UsageRequest[]>): AsyncIterable<string> =>
  file(requestColumns, pages)
