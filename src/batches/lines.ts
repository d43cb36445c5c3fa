import { isUtf8 } from 'node:buffer'
import { isFields, queuedUrls, type Fields, type QueuedUrl } from '../generation/calls/queued-calls.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { parseBytes } from '../platform/http/input/body.ts'
import { Problem } from '../platform/problems.ts'
import type { BatchDialect } from './batch.ts'

/** A line of a batch, as far as it does not depend on its URL. */
export interface Line {
  /** The caller's name of it, by which its result is found. */
  readonly customId: string
  readonly url: QueuedUrl
  readonly body: unknown
}

interface LineForm {
  /** What errors call a line. */
  readonly noun: 'line' | 'request'
  /** The field with the body. */
  readonly bodyField: string
  readonly fields: readonly string[]
  readonly customId: { readonly pattern: RegExp; readonly expects: string }
  /** Where the line is, as the beginning of a field. */
  readonly place: (line: number) => string
}

/** In OpenAI's form a line is `{custom_id, method, url, body}`, and in Anthropic's `{custom_id, params}`. */
export const lineForms: Readonly<Record<BatchDialect, LineForm>> = {
  openai: {
    noun: 'line',
    bodyField: 'body',
    fields: ['custom_id', 'method', 'url', 'body'],
    customId: { pattern: /^[^\0]{1,512}$/su, expects: 'a text of 1 to 512 characters' },
    place: (line) => `line ${line}`,
  },
  anthropic: {
    noun: 'request',
    bodyField: 'params',
    fields: ['custom_id', 'params'],
    customId: { pattern: /^[\w-]{1,64}$/, expects: '1 to 64 letters, digits, hyphens and underscores' },
    place: (line) => `requests[${line - 1}]`,
  },
}

/** Reads a line. Throws a Problem for its first fault, whose reason says "the line", or "the request", or names a field. */
export function readLine(dialect: BatchDialect, bytes: Buffer): Line {
  const { noun, bodyField, fields } = lineForms[dialect]
  const parsed = parseBytes(bytes)
  if (parsed instanceof Problem) {
    const { code, message, details } = parsed
    throw new Problem(code, message.replace(/^The body/, `The ${noun}`), details)
  }
  const { value } = parsed
  if (!isFields(value)) throw new Problem('malformed_json', `The ${noun} must be a JSON object.`)
  const unknown = Object.keys(value).find((name) => !fields.includes(name))
  if (unknown !== undefined) {
    const reason = `A ${noun} has only the fields ${fields.join(', ')}.`
    throw new Problem('unknown_field', reason, { field: /^\w{1,40}$/.test(unknown) ? unknown : '?' })
  }
  const customId = readCustomId(dialect, value['custom_id'])
  const url = dialect === 'anthropic' ? '/v1/messages' : readUrl(value)
  const body = value[bodyField]
  if (!isFields(body)) throw faulty(bodyField, body, 'a JSON object: the body of the request')
  return { customId, url, body }
}

/** The client that a line of a file names, before it is checked whether it can be read. */
export function clientNamedIn(text: string): string | null {
  if (!text.includes('client_id')) return null
  const parsed = parseBytes(Buffer.from(text))
  const { body } = parsed instanceof Problem ? {} : fieldsOf(parsed.value)
  const { client_id: id } = fieldsOf(fieldsOf(body)['metadata'])
  return typeof id === 'string' && isUuid(id) ? id : null
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** What names a line that cannot be read. */
export const unnamed = (number: number): string => `line ${number}`

function readCustomId(dialect: BatchDialect, value: unknown): string {
  const { pattern, expects } = lineForms[dialect].customId
  if (typeof value === 'string' && value.isWellFormed() && pattern.test(value)) return value
  throw faulty('custom_id', value, expects)
}

function readUrl({ method, url }: Fields): QueuedUrl {
  if (method !== 'POST') throw faulty('method', method, 'POST')
  const found = queuedUrls.find((each) => each === url && each !== '/v1/messages')
  if (found === undefined) throw faulty('url', url, openAiUrls.join(' or '))
  return found
}

/** The URLs of OpenAI's batches. */
export const openAiUrls = queuedUrls.filter((url) => url !== '/v1/messages')

function faulty(field: string, value: unknown, expects: string): Problem {
  const code = value === undefined ? 'missing_field' : 'invalid_field'
  return new Problem(code, `The field ${field} must be ${expects}.`, { field })
}

/** The pages of lines that are read after the number of the last one, to the end. */
export async function* pagesOf<Row extends { readonly number: number }>(
  read: (after: number) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  for (let after = 0; ;) {
    const rows = await read(after)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = last.number
  }
}

const [newline, carriageReturn] = [0x0a, 0x0d]
const byteOrderMark = Buffer.from('\u{feff}')

/** A line of a file that is not empty, with its number in the file. */
export interface NumberedLine {
  readonly number: number
  readonly bytes: Buffer
}

/**
 * Splits a file into its lines, as it arrives. Throws Problem `request_too_large` for a line of more than `most` bytes, and `invalid_field`
 * for one that is not UTF-8. Both name the line.
 */
export function createLineSplitter(most: number) {
  let number = 1
  let pending: Buffer[] = []
  let pendingBytes = 0

  function take(bytes: Buffer): NumberedLine[] {
    const marked = number === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    const unmarked = marked ? bytes.subarray(byteOrderMark.length) : bytes
    const line = unmarked.at(-1) === carriageReturn ? unmarked.subarray(0, -1) : unmarked
    if (!isUtf8(line)) {
      const reason = `Line ${number} is not valid UTF-8: encode the file as UTF-8.`
      throw new Problem('invalid_field', reason, { field: 'file' })
    }
    const isEmpty = line.every((byte) => byte === 0x20 || byte === 0x09 || byte === carriageReturn)
    return isEmpty ? [] : [{ number, bytes: line }]
  }
  function keep(bytes: Buffer): void {
    pending.push(bytes)
    pendingBytes += bytes.length
    if (pendingBytes <= most) return
    throw new Problem('request_too_large', `Line ${number} is longer than ${most} bytes. Send less in it.`, {
      field: 'file',
    })
  }
  function end(): NumberedLine[] {
    const line = take(pending.length === 1 ? (pending[0] ?? Buffer.alloc(0)) : Buffer.concat(pending))
    number += 1
    pending = []
    pendingBytes = 0
    return line
  }

  return {
    push(chunk: Buffer): NumberedLine[] {
      const lines: NumberedLine[] = []
      let start = 0
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, start)) {
        keep(chunk.subarray(start, at))
        lines.push(...end())
        start = at + 1
      }
      if (start < chunk.length) keep(chunk.subarray(start))
      return lines
    },
    /** The last line, if it has no end. */
    end,
    /** The bytes of the line that has not ended. */
    pending: () => pendingBytes,
  }
}
