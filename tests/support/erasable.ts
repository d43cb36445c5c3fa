import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Database } from '../../src/platform/database/database.ts'
import type { Member } from './firm.ts'
import { at } from './json.ts'
import { asSuperuser } from './superuser.ts'
import { announced } from './tamper.ts'

/** A word that is in every text and name of a client made by `fillClient`, and nowhere else. */
export const marker = 'quibblewick'

/** References are unique per consultant. */
let fillings = 0

/** Makes a client of a consultant, with everything that a record can have. Returns its id. */
export async function fillClient(of: Member): Promise<string> {
  const send = async (method: string, address: string, body?: object, version = '*'): Promise<string> => {
    const answer = await of.send(method, address, body, { 'if-match': version })
    assert.ok(answer.status < 300, `${method} ${address}: ${answer.text}`)
    return answer.text === '' ? '' : String(answer.json['id'] ?? at(answer.json, 'draft', 'id'))
  }
  const client = `/clients/${await send('POST', '/clients', {
    name: `Anna ${marker}`,
    reference: `R-${marker}-${(fillings += 1)}`,
    email: `${marker}@example.com`,
  })}`
  await send('PATCH', client, {
    address: `1 ${marker} Street`,
    name: `Berta ${marker}`,
    vat_number: `DE1${marker}`,
    billing_street: `2 ${marker} Street`,
    billing_extra: `${marker} House`,
    billing_postcode: `P ${marker}`,
    billing_city: `${marker} Town`,
    buyer_reference: `for ${marker}`,
    order_number: `O ${marker}`,
    billing_language: 'fr',
  })
  const note = await send('POST', `${client}/notes`, {
    date: '2026-03-12',
    participants: [`Carl ${marker}`],
    text: `first ${marker}`,
  })
  await send('PATCH', `${client}/notes/${note}`, { text: `second ${marker}` })
  const dispute = { invoice: `I-${marker}`, amount: '12.50', position: `a position ${marker}` }
  const removed = await send('POST', `${client}/disputes`, dispute)
  await send('DELETE', `${client}/disputes/${removed}`)
  await send('POST', `${client}/disputes`, dispute)
  const work = { date: '2026-03-12', minutes: 20, rate: '100', text: `advice ${marker}` }
  const entry = await send('POST', `${client}/time_entries`, work)
  await send('PATCH', `${client}/time_entries/${entry}`, { text: `longer advice ${marker}` })
  await send('POST', `${client}/expenses`, { date: '2026-03-12', amount: '34.50', text: `train ${marker}` })
  // One at a time: that of an earlier client ends.
  const { timer } = (await of.get('/timer')).json
  if (timer !== null) await send('DELETE', `/timer/${String(at(timer, 'id'))}`)
  await send('POST', `${client}/timer`, { text: `a call with ${marker}` })
  const file = Buffer.from(`the file of ${marker}`)
  const digest = createHash('sha256').update(file).digest('hex')
  await send('POST', `${client}/uploads`, file)
  const document = await send('POST', `${client}/documents`, { name: `First ${marker}.txt`, digest })
  await send('PATCH', `${client}/documents/${document}`, { name: `${marker}.txt` })
  const task = await send('POST', `${client}/tasks`, { title: `Call ${marker}` })
  await send('PATCH', `${client}/tasks/${task}`, { title: `Write to ${marker}`, status: 'done' })
  const person = { name: `Maria ${marker}`, email: `maria@${marker}.example`, phone: '+49 30 555', language: 'pt' }
  const contact = await send('POST', `${client}/contacts`, person)
  await send('PATCH', `${client}/contacts/${contact}`, { job_title: `Friend of ${marker}` })
  const sent = await send('POST', `${client}/letters`, { subject: `Offer ${marker}`, body: `Dear ${marker}` })
  await send('PATCH', `${client}/letters/${sent}`, { status: 'sent' })
  await send('POST', `${client}/letters/${sent}/send`, {
    to: [{ contact, email: `maria@${marker}.example` }],
    message: `Hello ${marker}`,
  })
  const version = await send('POST', `${client}/letters/${sent}/versions`)
  await send('PATCH', `${client}/letters/${version}`, { body: `Dear ${marker} 𒀀` })
  const reviewed = await send('POST', `${client}/letters`, { subject: `../../${marker}`, body: `Dear ${marker}` })
  const reviews = `${client}/letters/${reviewed}/reviews`
  const reviewer = at((await of.get(reviews)).json, 'reviewers', 0, 'id')
  // A firm without partners has nobody to ask.
  if (reviewer !== undefined) await send('POST', reviews, { reviewer, message: `What of ${marker}?` })
  await send('POST', `${client}/drafts`, {
    instructions: `Write to ${marker}.`,
    notes: [note],
    subject: `Drafted ${marker}`,
  })
  return client.slice('/clients/'.length)
}

/** Every row of every table as text, by table. */
export function dumpTables(database: Database): Promise<Map<string, string>> {
  return asSuperuser(database, async (tx) => {
    const tables = await tx.rows<{ name: string }>(
      `select relname::text as name from pg_class
       where relnamespace = current_schema::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
    )
    const dump = new Map<string, string>()
    for (const { name } of tables) {
      const [row] = await tx.rows<{ text: string }>(
        `select coalesce(string_agg(t::text, E'\\n'), '') as text from "${name}" t`,
      )
      dump.set(name, row?.text ?? '')
    }
    return dump
  })
}

/** The tables with the marker anywhere in their rows. */
export async function markedTables(database: Database): Promise<string[]> {
  const dump = await dumpTables(database)
  return [...dump].filter(([, text]) => text.toLowerCase().includes(marker)).map(([name]) => name)
}

/** The columns whose values in the planner's statistics contain the marker. */
export function markedStatistics(database: Database): Promise<string[]> {
  return asSuperuser(database, async (tx) => {
    const found = await tx.rows<{ name: string }>(
      `select tablename || '.' || attname as name from pg_stats s
       where schemaname = current_schema and to_jsonb(s)::text ~* $1 order by 1`,
      [marker],
    )
    return found.map(({ name }) => name)
  })
}

/** Makes the erasure of a client due now, as if it had been scheduled long ago. */
export async function makeDue(database: Database, client: string): Promise<void> {
  await asSuperuser(database, (tx) =>
    tx.rows(
      announced(`update erasure set scheduled_at = scheduled_at - interval '60 days', due_at = due_at - interval '60 days'
       where client_id = $1`),
      [client],
    ),
  )
}
