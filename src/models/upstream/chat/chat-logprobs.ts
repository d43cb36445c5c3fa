import type { Logprob, TokenLogprob } from '../../conversation.ts'
import type { RunLimits } from '../../model.ts'
import { at, listOf } from '../../../platform/text/json.ts'

/**
 * The log probabilities in the field `logprobs` of a choice. Undefined if none were asked for, or none were sent. What is no token with a
 * number is left out, because it never spoils a reply.
 */
export function readLogprobs(field: unknown, { logprobs }: RunLimits): readonly TokenLogprob[] | undefined {
  if (logprobs === undefined) return undefined
  const listed = listOf(at(field, 'content'))
  if (listed.length === 0) return undefined
  return listed.flatMap((each) => readLogprob(each).map((token) => ({ ...token, top: topIn(each) })))
}

const topIn = (token: unknown): readonly Logprob[] => listOf(at(token, 'top_logprobs')).flatMap(readLogprob)

function readLogprob(value: unknown): readonly Logprob[] {
  const [token, logprob, bytes] = [at(value, 'token'), at(value, 'logprob'), at(value, 'bytes')]
  if (typeof token !== 'string' || typeof logprob !== 'number') return []
  return [{ token: token.toWellFormed(), logprob, bytes: Array.isArray(bytes) && bytes.every(isByte) ? bytes : null }]
}

const isByte = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 255
