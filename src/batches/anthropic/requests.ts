import { createJsonSplitter, LongItem, type JsonPiece } from '../../platform/text/json-items.ts'
import type { HeldBytes } from '../../platform/http/input/long-bodies.ts'
import { Problem } from '../../platform/problems.ts'
import { UnreadableLine, utf8Texts } from '../../platform/text/text-stream.ts'
import type { NumberedLine } from '../lines.ts'

/** The requests of a batch as they arrive: the items of the list `requests`, each of `most` bytes at most. Throws Problem. */
export async function* requestsIn(
  body: AsyncIterable<Buffer>,
  { most, held }: { readonly most: number; readonly held: HeldBytes },
): AsyncGenerator<NumberedLine, void, void> {
  const splitter = createJsonSplitter(['requests'], { longest: most })
  let number = 0
  let isComplete = false
  const linesOf = (items: readonly JsonPiece[]): NumberedLine[] =>
    items.map(({ text }) => {
      const bytes = Buffer.from(text)
      number += 1
      if (bytes.length > most) throw tooLong(number, most)
      return { number, bytes }
    })
  try {
    for await (const text of utf8Texts(body)) {
      const { items, rests } = splitter.push(text)
      yield* linesOf(items)
      for (const rest of rests) isComplete = checkRest(rest.text, isComplete)
      held(splitter.pending())
    }
    const { items, rests } = splitter.end()
    yield* linesOf(items)
    for (const rest of rests) isComplete = checkRest(rest.text, isComplete)
  } catch (error) {
    if (error instanceof LongItem) throw tooLong(number + 1, most)
    if (error instanceof UnreadableLine) throw malformed()
    throw error
  }
  if (!isComplete) throw malformed()
}

/** The document without its requests. */
function checkRest(text: string, isComplete: boolean): true {
  if (isComplete) throw malformed()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed()
  const names = Object.keys(value)
  if (!names.includes('requests'))
    throw new Problem('missing_field', 'The field requests is missing.', { field: 'requests' })
  const unknown = names.find((name) => name !== 'requests')
  if (unknown !== undefined) {
    const field = /^\w{1,40}$/.test(unknown) ? unknown : '?'
    throw new Problem('unknown_field', 'A batch has only the field requests.', { field })
  }
  return true
}

const tooLong = (number: number, most: number): Problem =>
  new Problem('request_too_large', `Request ${number} is longer than ${most} bytes. Send less in it.`, {
    field: `requests[${number - 1}]`,
  })

const malformed = (): Problem =>
  new Problem('malformed_json', 'The body is not valid JSON: send an object with the list requests.')
