import { readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { statementsIn, type SentStatement } from './logged-statements.ts'

interface CaptureOptions {
  /** As a superuser. */
  readonly client: Client
  /** PostgreSQL's log. */
  readonly log: string
  /** What sends the statements, once each time. */
  readonly act: () => Promise<void>
}

const times = 20

/** The reads as the service itself, and those in the role of a person, which the first of them sets. */
export type Reads = readonly [service: readonly SentStatement[], portal: readonly SentStatement[]]

/**
 * The reads that PostgreSQL logs while `act` is repeated: those statements that each repetition sends. What other loops of the service
 * send meanwhile is rarer.
 */
export async function captureReads({ client, log, act }: CaptureOptions): Promise<Reads> {
  const { size } = await stat(log)
  await configure(client, ['set log_min_duration_statement = 0', 'set log_parameter_max_length = -1'])
  try {
    for (let time = 0; time < times; time++) await act()
  } finally {
    await configure(client, ['reset log_min_duration_statement', 'reset log_parameter_max_length'])
  }
  const written = statementsIn((await readFile(log)).subarray(size).toString())
  const byText = Map.groupBy(written, ({ text }) => text)
  const repeated = [...byText].flatMap(([text, sent]) => {
    const each = Math.floor(sent.length / times)
    // A person's role is set once, however many transactions a repetition has.
    return isRead(text) ? sent.slice(0, setsRole(text) ? Math.min(1, each) : each) : []
  })
  const portals = new Set(written.flatMap(({ text, backend }) => (setsRole(text) ? [backend] : [])))
  const isPortal = ({ backend }: SentStatement): boolean => portals.has(backend)
  return [
    repeated.filter((each) => !isPortal(each)),
    repeated.filter(isPortal).toSorted((a, b) => Number(setsRole(b.text)) - Number(setsRole(a.text))),
  ]
}

const setsRole = (text: string): boolean => text.startsWith("select set_config('role'")

async function configure(client: Client, settings: readonly string[]): Promise<void> {
  for (const setting of settings) await client.query(`alter system ${setting}`)
  await client.query('select pg_reload_conf()')
  // Each backend reads its configuration again before its next statement, once the signal has reached it.
  await sleep(500)
}

const isRead = (text: string): boolean => /^\s*(?:select|with)\b/i.test(text)

/** Sends the statements, one after the other, in two transactions. */
export async function replay(client: Client, reads: Reads): Promise<void> {
  for (const statements of reads) {
    await client.query('begin')
    for (const { text, parameters } of statements) await client.query(text, [...parameters])
    await client.query('rollback')
  }
}
