import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { TillRefusal, type Levels, type Till } from '../billing/till.ts'

/** Milliseconds that a refusal waits to learn how the limits stand. */
const patience = 250

/** How the limits stand after a refusal, if that can be had at once: the refusal must not fail over it. */
export async function levelsAt(till: Till, { caller }: FastifyRequest, error: Error): Promise<Levels | undefined> {
  if (error instanceof TillRefusal && error.levels) return error.levels
  if (!caller) return undefined
  const asked = till.levels(caller.accountId).catch(() => undefined)
  return Promise.race([asked, sleep(patience, undefined, { ref: false })])
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
