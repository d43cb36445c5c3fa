import { zonedTime } from '../platform/text/calendar.ts'
import { csvLine, spreadsheetCsv, type CsvCell } from '../platform/text/csv.ts'
import type { UsageRequest, UsageRow } from './schema.ts'

/** A column of a file: its title, and its cell in a row. */
type Column<Row> = readonly [title: string, cell: (row: Row) => CsvCell]

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
  ['cost', ({ cost }) => ({ decimal: cost })],
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
  ['cost', ({ cost }) => ({ decimal: cost })],
  ['currency', ({ currency }) => currency],
  ['milliseconds', ({ milliseconds }) => milliseconds],
  ['usage_source', (row) => row.usage_source],
  ['tags', ({ tags }) => tags && JSON.stringify(tags)],
  ['field', ({ call }) => call && call.field],
  ['reason', ({ call }) => call && call.reason],
  ['route', ({ call }) => call && call.route],
  ['dialect', ({ call }) => call && call.dialect],
  ['user_agent', ({ call }) => call && call.user_agent],
  ['streamed', ({ call }) => call && String(call.streamed)],
]

/** The firm whose spreadsheets open the file. */
interface Firm {
  readonly locale: string
  readonly timeZone: string
}

/** Writes pages of rows as a CSV file, with a line of titles. */
async function* file<Row>(
  columns: readonly Column<Row>[],
  pages: AsyncIterable<readonly Row[]>,
  { locale }: Pick<Firm, 'locale'>,
): AsyncIterable<string> {
  const format = spreadsheetCsv(locale)
  const line = (cells: readonly CsvCell[]) => csvLine(cells, format)
  yield format.mark + line(columns.map(([title]) => title))
  for await (const rows of pages) yield rows.map((row) => line(columns.map(([, cell]) => cell(row)))).join('')
}

export const usageFile = (
  pages: AsyncIterable<readonly UsageRow[]>,
  firm: Pick<Firm, 'locale'>,
): AsyncIterable<string> => file(usageColumns, pages, firm)

/** Times are in the time zone, with its offset. */
export const requestsFile = (pages: AsyncIterable<readonly UsageRequest[]>, firm: Firm): AsyncIterable<string> =>
  file(requestColumns(firm.timeZone), pages, firm)
