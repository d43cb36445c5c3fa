import { CsvError, parse } from 'csv-parse'
import { csvFault, csvSyntax, delimiterOf, withoutSeparator, type CsvRecord } from './csv-records.ts'
import { UnreadableLine } from './text-stream.ts'

/**
 * The records of a CSV file that may not fit in memory, as `readCsv` reads them, but with `\n` for line ends within cells. Throws
 * UnreadableLine at the first syntax error.
 */
export async function* csvRecords(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let head = ''
  let parser: CsvParser | undefined
  for await (const text of withLineFeeds(texts)) {
    if (parser !== undefined) yield* await parser.read(text)
    else {
      head += text
      if (!head.includes('\n') && head.length < csvSyntax.max_record_size) continue
      parser = openParser(head)
      yield* await parser.read(withoutSeparator(head)[0])
    }
  }
  if (parser === undefined) {
    parser = openParser(head)
    yield* await parser.read(head)
  }
  yield* await parser.end()
}

/** Every line end as a line feed: csv-parse counts two lines for `\r\n` within quotes. */
async function* withLineFeeds(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let held = ''
  for await (const text of texts) {
    const whole = held + text
    held = whole.endsWith('\r') ? '\r' : ''
    yield whole.slice(0, whole.length - held.length).replaceAll(/\r\n?/g, '\n')
  }
  if (held !== '') yield '\n'
}

/** Returns the records that are complete. */
interface CsvParser {
  read(this: void, text: string): Promise<CsvRecord[]>
  end(this: void): Promise<CsvRecord[]>
}

/** The first line decides what separates the cells. */
function openParser(head: string): CsvParser {
  const [text, separator] = withoutSeparator(head)
  let found: CsvRecord[] = []
  let end = 0
  const parser = parse({
    ...csvSyntax,
    delimiter: separator ?? delimiterOf(text.split('\n', 1)[0] ?? ''),
    // An empty line is a record of one empty cell, so that every record begins on the line after the end of the one before.
    on_record(cells: string[], { lines }) {
      if (cells.some((cell) => cell.trim() !== '')) found.push({ line: end + 1, cells })
      end = lines
      return null
    },
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  parser.on('error', failed.reject)

  async function taken(work: Promise<void>): Promise<CsvRecord[]> {
    try {
      await Promise.race([work, failed.promise])
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
      throw new UnreadableLine(end + 1, csvFault(error.code))
    }
    const records = found
    found = []
    return records
  }
  return {
    read: (more) => taken(new Promise((resolve) => parser.write(more, () => resolve()))),
    end: () =>
      taken(
        new Promise((resolve) => {
          parser.on('end', resolve).resume().end()
        }),
      ),
  }
}
