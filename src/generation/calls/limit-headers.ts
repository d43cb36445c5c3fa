import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { TillRefusal, type Levels, type Till } from '../../billing/till/till.ts'

/** Milliseconds that a refusal waits for the levels. */
const patience = 250

/** The levels for the headers of a refusal. Undefined if they cannot be read at once: that must not fail the refusal. */
export async function levelsForRefusal(
  till: Till,
  { caller }: FastifyRequest,
  error: Error,
): Promise<Levels | undefined> {
  if (error instanceof TillRefusal && error.levels) return error.levels
  if (!caller) return undefined
  const levels = till.levels(caller).catch(() => undefined)
  return Promise.race([levels, sleep(patience, undefined, { ref: false })])
}

export function limitHeaders({ requests, tokens }: Levels): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(requests.limit),
    'x-ratelimit-remaining-requests': String(requests.remaining),
    'x-ratelimit-reset-requests': String(requests.resetSeconds),
    'x-ratelimit-limit-tokens': String(tokens.limit),
    'x-ratelimit-remaining-tokens': String(tokens.remaining),
    'x-ratelimit-reset-tokens': String(tokens.resetSeconds),
  }
}
