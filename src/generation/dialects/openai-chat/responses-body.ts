import { isFields, mustBe, withoutNullsIn, type Fields } from '../body.ts'
import type { DialectRequest, Permissions } from '../dialect.ts'
import { readResponsesRequest } from '../openai-responses/openai-responses.ts'
import { customNamesIn, withCustomInput } from './custom-tools.ts'
import { completion, eventWriter } from './reply.ts'
import { checkStreamOptions } from './schema.ts'

/**
 * The body of a response, sent to `/v1/chat/completions`: Cursor's agent does that with some models, and expects a chat completion. The body is
 * read as that of a response, with `stream_options` as in a chat.
 */
export const isResponsesBody = (raw: unknown): raw is Fields =>
  isFields(raw) && raw['input'] !== undefined && (raw['messages'] === undefined || raw['messages'] === null)

/** Throws a Problem for the first fault. */
export function readResponsesBody(raw: Fields, permitted: Permissions): DialectRequest {
  const { messages: _, stream_options: options, ...body } = withoutNullsIn(raw, ['stream_options'])
  const { stream_options: asked } = checkStreamOptions(
    options === null || options === undefined ? {} : { stream_options: options },
  )
  const customTools = customNamesIn(toolsIn(body))
  const { request, repeated } = readResponsesRequest(withCustomCalls(body, customTools), permitted)
  const special = Array.from(repeated.tools.named.values()).find(
    ({ type, namespace }) => type !== 'custom' || namespace,
  )
  if (special) throw mustBe('tools', 'functions and custom tools: a chat completion cannot call others')
  const write = { omitsReasoning: false, customTools }
  return {
    request,
    wholeBody: (reply) => JSON.stringify(completion(reply, write)),
    eventWriter: ({ id, model }) => eventWriter(id, model, { ...write, withUsage: asked?.include_usage === true }),
  }
}

/** The tools of a body, and those that the items of its input add. */
function toolsIn({ tools, input }: Fields): readonly unknown[] {
  const items: readonly unknown[] = Array.isArray(input) ? input : []
  return [tools, ...items.map((item) => (isFields(item) ? item['tools'] : []))].flat()
}

/** A body in which the calls of custom tools have arguments as models know them. Throws Problem `invalid_field`. */
function withCustomCalls(body: Fields, names: ReadonlySet<string>): Fields {
  const { input } = body
  if (names.size === 0 || !Array.isArray(input)) return body
  const items = input.map((item: unknown, index) => {
    if (!isFields(item) || item['type'] !== 'function_call') return item
    return withCustomInput(item, `input[${index}]`, names)
  })
  return { ...body, input: items }
}
