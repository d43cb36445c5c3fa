import type { CacheMark } from '../../models/conversation.ts'
import { isFields, mustBe } from './body.ts'

/** Reads `cache_control`, as Anthropic and those that follow it write it; undefined if there is none. */
export function readCacheMark(value: unknown, field: string): CacheMark | undefined {
  if (value === undefined || value === null) return undefined
  if (!isFields(value) || value['type'] !== 'ephemeral') throw mustBe(field, 'an object of type ephemeral')
  const { ttl } = value
  if (ttl === undefined || ttl === null) return {}
  if (ttl === '5m' || ttl === '1h') return { ttl }
  throw mustBe(`${field}.ttl`, '5m or 1h')
}
