import { problems, type ProblemCode } from '../problems.ts'
import { at, entriesOf, listOf, textOf } from '../text/json.ts'

/** One operation of the OpenAPI document, as its page shows it. */
export interface ApiCall {
  readonly id: string
  /** Upper case. */
  readonly method: string
  /** With parameters in braces: `/v1/models/{id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  /** How the sender proves who they are. */
  readonly needs: 'key' | 'session' | 'nothing'
  readonly parameters: readonly Parameter[]
  /** The JSON schema of the body, and an example; undefined without a body. */
  readonly body: Content | undefined
  /** The successful response. */
  readonly reply: ApiReply
  readonly errors: readonly ProblemCode[]
  /** Samples in addition to those of every call. */
  readonly samples: readonly Sample[]
}

export interface Parameter {
  readonly name: string
  readonly place: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: unknown
}

export interface Content {
  readonly schema: unknown
  readonly example: unknown
}

export interface ApiReply {
  readonly status: string
  readonly description: string
  readonly headers: readonly { readonly name: string; readonly description: string }[]
  /** Undefined for a response without a body. */
  readonly body: Content | undefined
  /** The server-sent events of the same response as a stream, if the request can ask for one. */
  readonly events: { readonly description: string; readonly example: string } | undefined
}

/** A program, or a command, that makes the call. */
export interface Sample {
  readonly language: 'sh' | 'javascript' | 'python'
  /** The library it uses; undefined for none. */
  readonly library: string | undefined
  readonly streams: boolean
  readonly source: string
}

/** Every operation of an OpenAPI document, in its order. */
export function callsOf(document: unknown): ApiCall[] {
  return entriesOf(at(document, 'paths')).flatMap(([path, methods]) =>
    entriesOf(methods).map(([method, operation]) => callOf(path, method.toUpperCase(), operation)),
  )
}

function callOf(path: string, method: string, operation: unknown): ApiCall {
  const replies = entriesOf(at(operation, 'responses'))
  const [status, success] = replies.find(([code]) => code.startsWith('2') || code.startsWith('3')) ?? ['', undefined]
  return {
    id: textOf(at(operation, 'operationId')),
    method,
    path,
    tag: textOf(listOf(at(operation, 'tags'))[0]),
    summary: textOf(at(operation, 'summary')),
    description: textOf(at(operation, 'description')),
    needs: needsOf(operation),
    parameters: listOf(at(operation, 'parameters')).map(parameterOf),
    body: contentOf(at(operation, 'requestBody')),
    reply: replyOf(status, success),
    errors: replies.flatMap(([, reply]) => codesIn(textOf(at(reply, 'description')))),
    samples: listOf(at(operation, 'x-codeSamples')).map(sampleOf),
  }
}

function needsOf(operation: unknown): ApiCall['needs'] {
  const names = listOf(at(operation, 'security')).flatMap((scheme) => entriesOf(scheme).map(([name]) => name))
  if (names.includes('apiKey')) return 'key'
  return names.includes('session') ? 'session' : 'nothing'
}

function parameterOf(parameter: unknown): Parameter {
  const place = textOf(at(parameter, 'in'))
  return {
    name: textOf(at(parameter, 'name')),
    place: place === 'path' || place === 'query' ? place : 'header',
    required: at(parameter, 'required') === true,
    description: textOf(at(parameter, 'description')),
    schema: { ...Object.fromEntries(entriesOf(at(parameter, 'schema'))), example: at(parameter, 'example') },
  }
}

function contentOf(part: unknown): Content | undefined {
  const media = at(part, 'content', 'application/json')
  return media === undefined ? undefined : { schema: at(media, 'schema'), example: at(media, 'example') }
}

function replyOf(status: string, reply: unknown): ApiReply {
  const events = at(reply, 'content', 'text/event-stream')
  return {
    status,
    description: textOf(at(reply, 'description')),
    headers: entriesOf(at(reply, 'headers')).map(([name, header]) => ({
      name,
      description: textOf(at(header, 'description')),
    })),
    body: contentOf(reply),
    events: events === undefined ? undefined : eventsOf(events),
  }
}

function eventsOf(media: unknown) {
  return { description: textOf(at(media, 'schema', 'description')), example: textOf(at(media, 'example')) }
}

/** The description of a refusal names its codes, one in each paragraph. */
function codesIn(description: string): ProblemCode[] {
  return [...description.matchAll(/^`(\w+)`: /gm)].map(([, code = '']) => code).filter(isProblemCode)
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code)
}

function sampleOf(sample: unknown): Sample {
  const language = textOf(at(sample, 'lang'))
  return {
    language: language === 'javascript' || language === 'python' ? language : 'sh',
    library: textOf(at(sample, 'label')),
    streams: at(sample, 'streams') === true,
    source: textOf(at(sample, 'source')),
  }
}
