import { objectAt, parseObject, type Json } from './json.ts'

/** A response of the service. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, parsed as JSON. */
  readonly json: Json
  /** The `error` object of a refusal. */
  readonly error: Json
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return parseObject(text)
    },
    get error() {
      return objectAt(parseObject(text), 'error')
    },
  }
}
