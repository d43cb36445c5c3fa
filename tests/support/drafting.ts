import assert from 'node:assert/strict'
import { readAnswer, type Answer } from './answer.ts'
import { fixture } from './fixture.ts'
import { startFirm, type Member } from './firm.ts'
import { listAt, objectAt, parseObject, type Json } from './json.ts'
import { upstreamModel } from './service.ts'
import { asSuperuser } from './superuser.ts'
import { until } from './until.ts'
import { startVendor } from './vendor.ts'

/** A client with a note. */
export interface Subject {
  readonly client: string
  readonly note: string
  /** The path of its drafts. */
  readonly drafts: string
}

export const notice = 'Written with the help of a model.'

/** The settings of an instance that drafts letters with this stand-in. Its price is 12 tokens × 0.15 + 3 × 0.60. */
export function draftingSettings(vendorUrl: string) {
  const drafting = { account: 'Portal', model: 'fast', notice }
  return { models: [upstreamModel(vendorUrl)], drafting, recoveryPause: 100 }
}

/** A firm whose letters a stand-in for a vendor drafts, for the tests of a file. */
export function openDrafting() {
  const vendor = fixture(() => startVendor())
  const firm = fixture(() => startFirm(draftingSettings(vendor.url)))
  const payer = fixture(() => firm.service.customer({ name: 'Portal', own: true }))
  const anna = fixture(() => firm.join('Anna', 'consultant'))

  /** Creates a client of a person, with a note. */
  async function record(text = 'We agreed on a fee.', by = anna): Promise<Subject> {
    const client = await firm.client(by)
    const body = { date: '2026-03-12', participants: ['Anna Berg'], text }
    const note = await by.send('POST', `/clients/${client}/notes`, body)
    assert.equal(note.status, 201, note.text)
    return { client, note: String(note.json['id']), drafts: `/clients/${client}/drafts` }
  }

  /**
   * Starts a letter and holds it back after its first word, or before it. Resolves once that word has been received, or once
   * the model has been asked.
   */
  async function holdBack({ note, drafts }: Subject, { by = anna, body = {}, accept = stream.accept, words = 1 } = {}) {
    const { promise, resolve } = Promise.withResolvers<void>()
    vendor.set({ gate: (step) => (step < words ? Promise.resolve() : promise) })
    const calls = vendor.calls
    const sent = fetch(firm.service.url + drafts, {
      method: 'POST',
      headers: { cookie: by.cookie, accept, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ instructions: 'Write.', notes: [note], ...body }),
    })
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const answer = sent.then(async (response) => {
      const text = await readText(response, (part) => part.includes('event: delta') && begin())
      return readAnswer(new Response(text, response))
    })
    await (accept === stream.accept && words > 0 ? begun : until(() => vendor.calls > calls))
    const running = (await draftsOf(drafts)).find(({ status }) => status === 'running')
    return {
      id: String(running?.['id']),
      answer,
      /** Lets the letter be finished. */
      letOn: () => {
        resolve()
        vendor.set({})
      },
    }
  }

  const rows = (query: string, values: readonly unknown[] = []) =>
    asSuperuser(firm.service.database, (tx) => tx.rows<Json>(query, values))

  /** All drafts of a record, including those that the person may not see. */
  const draftsOf = (drafts: string) =>
    rows('select id, status, failure, letter_id from draft where client_id = $1', [drafts.split('/')[2]])

  return { vendor, firm, payer, anna, record, holdBack, rows, draftsOf }
}

/** Reads a response to its end. `onText` is called with the text that has arrived so far. */
export async function readText({ body }: Response, onText: (text: string) => unknown): Promise<string> {
  let text = ''
  const chunks: AsyncIterable<Uint8Array> | null = body
  for await (const chunk of chunks ?? []) {
    text += Buffer.from(chunk).toString()
    onText(text)
  }
  return text
}

export const stream = { accept: 'text/event-stream' }

/** The events of a streamed draft. */
export const eventsOf = ({ text }: Answer) =>
  text
    .split('\n\n')
    .filter((each) => each.startsWith('event: '))
    .map((each) => {
      const [name = '', data = ''] = each.split('\ndata: ')
      return { name: name.slice(7), data: parseObject(data) }
    })

/** The objects of a list in a reply. */
export const objectsAt = (json: unknown, name: string): Json[] =>
  listAt(json, name).map((_, index) => objectAt(json, name, index))

/** The letters of a client. */
export const lettersOf = async (by: Member, { client }: Subject): Promise<Json[]> =>
  objectsAt((await by.get(`/clients/${client}/letters`)).json, 'letters')
