import assert from 'node:assert/strict'
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

/** The response, if it has this status. */
export function ok<Reply extends Pick<Answer, 'status' | 'text'>>(reply: Reply, status = 200): Reply {
  assert.equal(reply.status, status, reply.text)
  return reply
}

/** Asserts that a request was refused with this code, which concerns this field or none. */
export function assertRefused(answer: Answer, code: string, field?: string): void {
  assert.deepEqual([answer.error['code'], answer.error['field']], [code, field], answer.text)
}
