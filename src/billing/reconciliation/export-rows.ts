import { csvRecords } from '../../platform/text/csv-stream.ts'
import { isJsonObject, type Json } from '../../platform/text/json.ts'
import { createJsonSplitter, type JsonPiece } from '../../platform/text/json-items.ts'
import { lineOfSyntaxError, parseNumbersAsText } from '../../platform/text/number-texts.ts'
import { UnreadableLine, utf8Texts } from '../../platform/text/text-stream.ts'

/** A row of a file: the texts of its cells, by their columns. */
export interface ExportRow {
  readonly line: number
  readonly cells: ReadonlyMap<string, string>
}

/** A file's rows, one after the other, with all columns of each. The last page of JSON says whether the vendor has more. */
export interface ExportRows extends AsyncIterable<ExportRow> {
  readonly hasMore: () => boolean
}

/** Reads CSV, or JSON as vendors send it: pages of buckets of results, or lists of them. Throws UnreadableLine. */
export async function openRows(chunks: AsyncIterable<Uint8Array>): Promise<ExportRows> {
  const texts = utf8Texts(chunks)
  let head = ''
  for (let next = await texts.next(); next.done !== true; next = await texts.next()) {
    head += next.value
    if (head.trim() !== '') break
  }
  async function* all(): AsyncGenerator<string> {
    yield head
    yield* texts
  }
  if (head.trim() === '') throw new UnreadableLine(1, 'the file is empty')
  return /^\s*[[{]/.test(head) ? jsonRows(all()) : { ...iterable(csvRows(all())), hasMore: () => false }
}

const iterable = (rows: AsyncGenerator<ExportRow>) => ({ [Symbol.asyncIterator]: () => rows })

async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<ExportRow> {
  let header: readonly string[] | undefined
  for await (const { line, cells } of csvRecords(texts)) {
    if (header === undefined) {
      header = cells.map((cell) => cell.trim())
      const twice = header.find((name, index) => name !== '' && header?.indexOf(name) !== index)
      if (twice !== undefined) throw new UnreadableLine(line, `the column ${twice} appears twice`)
      // The names alone, so that a file without rows is recognised.
      yield { line, cells: new Map(header.filter((name) => name !== '').map((name) => [name, ''])) }
      continue
    }
    const extra = cells.findIndex((cell, index) => index >= (header?.length ?? 0) && cell.trim() !== '')
    if (extra >= 0 || cells.length < header.findLastIndex((name) => name !== '') + 1) {
      throw new UnreadableLine(line, `it has ${cells.length} cells, but the header has ${header.length}`)
    }
    yield { line, cells: new Map(header.map((name, index) => [name, (cells[index] ?? '').trim()])) }
  }
}

const lists = ['data', 'results']
const mostLevels = 3
/** Fields of a page, which is a list with a cursor. */
const pageFields: ReadonlySet<string> = new Set([
  'object',
  'has_more',
  'next_page',
  'data_refreshed_at',
  'organization_id',
])

function jsonRows(texts: AsyncIterable<string>): ExportRows {
  let hasMore = false
  const page = (fields: Json, line: number) => {
    const unknown = Object.keys(fields).find((name) => !lists.includes(name) && !pageFields.has(name))
    if (unknown !== undefined) throw new UnreadableLine(line, `unknown field ${unknown} beside the list of usage`)
    hasMore = fields['has_more'] === true
  }

  /** The rows of a page, a bucket or a result. */
  function* rowsOf(piece: JsonPiece, level: number): Generator<ExportRow> {
    const splitter = createJsonSplitter(lists, { firstLine: piece.line })
    const { items, rests } = join(splitter.push(piece.text), splitter.end())
    const [rest] = rests
    if (rest === undefined || level > mostLevels) throw new UnreadableLine(piece.line, 'this is no entry of usage')
    const fields = parsed(rest)
    if (!rest.hasList) {
      yield { line: piece.line, cells: flat(fields) }
      return
    }
    if ('data' in fields) page(fields, piece.line)
    const own = 'data' in fields ? {} : withoutLists(fields)
    // The time of an empty bucket is in the export as well.
    if (items.length === 0 && Object.keys(own).length > 0) yield { line: piece.line, cells: flat(own) }
    for (const item of items) {
      for (const row of rowsOf(item, level + 1)) yield { ...row, cells: new Map([...flat(own), ...row.cells]) }
    }
  }

  async function* rows(): AsyncGenerator<ExportRow> {
    const splitter = createJsonSplitter(lists)
    const split = function* ({ items, rests }: ReturnType<typeof splitter.push>): Generator<ExportRow> {
      for (const item of items) yield* rowsOf(item, 1)
      for (const rest of rests) {
        if (!rest.hasList) throw new UnreadableLine(rest.line, 'there is no list of usage here')
        page(parsed(rest), rest.line)
      }
    }
    for await (const text of texts) yield* split(splitter.push(text))
    yield* split(splitter.end())
  }
  return { ...iterable(rows()), hasMore: () => hasMore }
}

type Split = ReturnType<ReturnType<typeof createJsonSplitter>['end']>

const join = (one: Split, other: Split): Split => ({
  items: [...one.items, ...other.items],
  rests: [...one.rests, ...other.rests],
})

/** An object, or the list without its items. */
function parsed({ line, text }: JsonPiece): Json {
  let value: unknown
  try {
    value = parseNumbersAsText(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UnreadableLine(lineOfSyntaxError(error, line), 'this is not JSON')
  }
  if (isJsonObject(value)) return value
  if (Array.isArray(value) && value.length === 0) return {}
  throw new UnreadableLine(line, 'this is no entry of usage')
}

const withoutLists = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !lists.includes(name)))

/** The fields as cells; null is no cell. Fields of fields are joined by a point. */
function flat(fields: Json, prefix = ''): Map<string, string> {
  const cells = new Map<string, string>()
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue
    if (isJsonObject(value)) for (const [inner, cell] of flat(value, `${prefix}${name}.`)) cells.set(inner, cell)
    else cells.set(prefix + name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return cells
}
