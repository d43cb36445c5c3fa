import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Value } from 'typebox/value'
import * as schema from '../../src/clients/schema.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { at, listAt, valuesOf } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

const firm = fixture(() => startFirm())
const anna = fixture(() => firm.join('Anna Berg', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))

/** Whether the matches are guesses, and their ids. */
async function search(member: Member, q: string) {
  const { json } = await member.get(`/search?q=${q}`)
  return [json['similar'], listAt(json, 'results').map((result) => at(result, 'id'))]
}

async function list(member: Member, query: string) {
  const { json } = await member.get(`/clients?${query}`)
  return [json['similar'], listAt(json, 'clients').map((client) => at(client, 'id')), json['total'], json['next']]
}

async function basalt(member: Member) {
  const { json } = await member.get('/search?q=basalt')
  assert.equal(json['similar'], false)
  return listAt(json, 'results').map((result) => [at(result, 'noun'), at(result, 'archived')])
}

async function add(member: Member, name: string, reference: string): Promise<string> {
  const { json } = await member.send('POST', '/clients', { name, reference })
  return String(json['id'])
}

describe('search', () => {
  test('finds text in clients, notes, disputes and letters, and shows where it matched', async () => {
    const member = await firm.join('Searcher', 'consultant')
    const id = await firm.client(member, 'Quartz Mining')
    await member.send('POST', `/clients/${id}/notes`, {
      date: '2026-01-02',
      text: 'The quartz <b>vein</b> runs north.',
    })
    await member.send('POST', `/clients/${id}/disputes`, {
      invoice: 'I-9',
      amount: '1',
      position: 'quartz was not delivered',
    })
    await member.send('POST', `/clients/${id}/letters`, { subject: 'Your quartz', body: 'Dear Sir' })
    const { json } = await member.get('/search?q=quar')
    const results = json['results']
    assert.ok(Array.isArray(results))
    assert.deepEqual(
      results.map((found: unknown) => at(found, 'noun')),
      ['client', 'note', 'dispute', 'letter'],
    )
    assert.ok(results.every((found: unknown) => at(found, 'client', 'id') === id))
    assert.match(String(at(results, 1, 'snippet')), /The \ue000quartz\ue001 <b>vein/)
    assert.deepEqual((await anna.get('/search?q=quar')).json['results'], [])
  })

  test('finds archived items after the others, and nothing of a deleted client', async () => {
    const id = await firm.client(anna, 'Basalt')
    const addresses: string[] = []
    for (const [plural, body] of [
      ['notes', { date: '2026-01-02', text: 'basalt' }],
      ['notes', { date: '2026-01-03', text: 'basalt' }],
      ['disputes', { invoice: 'basalt', amount: '1' }],
      ['letters', { subject: 'basalt' }],
    ] as const) {
      const made = await anna.send('POST', `/clients/${id}/${plural}`, body)
      addresses.push(made.headers.get('location') ?? '')
    }
    const [earlier = '', later = ''] = addresses
    for (const address of addresses.slice(1)) await anna.send('DELETE', address, undefined)
    const expected = [
      ['client', false],
      ['note', false],
      ['note', true],
      ['dispute', true],
      ['letter', true],
    ]
    assert.deepEqual([await basalt(anna), await basalt(paula)], [expected, expected])
    const { json } = await anna.get('/search?q=basalt')
    const ids = listAt(json, 'results').map((result) => at(result, 'id'))
    assert.deepEqual(ids.slice(1, 3), [earlier.split('/')[4], later.split('/')[4]])
    await paula.send('DELETE', `/clients/${id}`, undefined)
    assert.deepEqual([await basalt(anna), await basalt(paula)], [[], []])
  })

  test('finds nothing for an empty query', async () => {
    const { status, json } = await anna.get('/search')
    assert.deepEqual([status, Value.Check(schema.searchResults, json)], [200, true])
    assert.deepEqual((await anna.get('/search?q=')).json, { results: [], similar: false })
  })

  test('finds a client by parts of words in any order, and by a reference with or without punctuation', async () => {
    const [vera, other] = [await firm.join('Vera', 'consultant'), await firm.join('Other', 'consultant')]
    const mine = await add(vera, 'Grönwald Immobilien', 'PA-1031')
    const joined = await add(vera, 'Hauser', 'PA1032')
    await add(other, 'Grönwald Immobilien', 'PA-1031')
    for (const [q, expected] of [
      ['PA1031', [mine]],
      ['pa 1031', [mine]],
      ['PA-1032', [joined]],
      ['1032', [joined]],
      ['wald immo', [mine]],
      ['MOBIL', [mine]],
      ['mobil groen', [mine]],
      ['%', []],
      ['wa', []],
      ['w_ld', []],
    ] as const) {
      const { json } = await vera.get(`/search?q=${encodeURIComponent(q)}`)
      assert.deepEqual(valuesOf(listAt(json, 'results'), 'id'), expected, q)
      const clients = await vera.get(`/clients?q=${encodeURIComponent(q)}`)
      assert.deepEqual([clients.json['total'], clients.json['similar']], [expected.length, false], q)
    }
  })

  test('finds letters by their plain spelling and umlauts by either, and shows where they matched', async () => {
    const member = await firm.join('Speller', 'consultant')
    for (const [name, ...queries] of [
      ['Łukasz Małolepszy', 'lukasz', 'malolepszy luk', 'Łuk', 'małolep'],
      ['Lukas Loch', 'Łukas'],
      ['Ødegård', 'odegard', 'oedegaard', 'Ode'],
      ['Müller & Söhne', 'mueller', 'muller', 'soehne muell'],
      ['Mueller', 'müller', 'Mülle'],
      ['Straßenbau', 'strasse', 'Straße'],
      ['Æther', 'aether', 'aeth'],
      ['Đorđević', 'dordevic'],
      ['Yıldız', 'yildiz'],
    ] as const) {
      const id = await firm.client(member, name)
      for (const q of queries) {
        const found = await member.get(`/search?q=${encodeURIComponent(q)}`)
        const result = listAt(found.json, 'results').find((each) => at(each, 'id') === id)
        assert.match(String(at(result, 'snippet')), /\ue000/, `${q} in ${name}`)
        const listed = await member.get(`/clients?q=${encodeURIComponent(q)}`)
        assert.equal(listed.json['similar'], false, q)
        assert.ok(
          listAt(listed.json, 'clients').some((each) => at(each, 'id') === id),
          q,
        )
      }
    }
    assert.equal((await search(member, 'moller'))[0], true, 'only alike')
  })

  test('puts an exact reference first, then whole words, beginnings and parts of words, however many others changed since', async () => {
    const member = await firm.join('Referrer', 'consultant')
    const part = await firm.client(member, 'Ahlholm 7')
    const exact = await add(member, 'Zoe', 'HOLM-7')
    const whole = await firm.client(member, 'Holm 7 Limited')
    const others = await Promise.all(
      Array.from({ length: 4 }, (_, index) => firm.client(member, `Holmes ${index} and 70`)),
    )
    const { json } = await member.get(`/search?q=holm-7&limit=3`)
    const ids = listAt(json, 'results').map((result) => at(result, 'id'))
    assert.deepEqual([ids.slice(0, 2), ids.length], [[exact, whole], 3])
    const best = [exact, whole, ...others, part]
    let address = '/clients?q=holm-7&limit=2'
    const listed: unknown[] = []
    for (let cursor: unknown = ''; cursor !== null; address = `/clients?q=holm-7&limit=2&cursor=${String(cursor)}`) {
      const page = await member.get(address)
      listed.push(...listAt(page.json, 'clients').map((client) => at(client, 'id')))
      cursor = page.json['next']
      assert.equal(page.json['total'], best.length)
    }
    assert.deepEqual(listed, best)
    const [, byName] = await list(member, 'q=holm-7&sort=name')
    assert.deepEqual(byName, [part, whole, ...others, exact], 'a chosen order is kept')
    assert.deepEqual((await list(anna, 'q=holm-7')).slice(1, 3), [[], 0])
  })

  test('puts disputes about the invoice and items with whole words first, before others that changed since', async () => {
    const client = await firm.client(anna, 'Somebody')
    const send = async (plural: string, body: object) => {
      const made = await anna.send('POST', `/clients/${client}/${plural}`, body)
      return made.json['id']
    }
    const about = await send('disputes', { invoice: 'KR-7', amount: '1' })
    const whole = await send('disputes', { invoice: 'Other', amount: '1', position: 'as for KR 7' })
    const begun = await send('disputes', { invoice: 'KR-70', amount: '1' })
    const note = await send('notes', { date: '2026-01-02', text: 'The kr is 7.' })
    const later = await send('notes', { date: '2026-01-02', text: 'KRONE 700' })
    for (const member of [anna, paula]) {
      assert.deepEqual((await search(member, 'kr-7'))[1], [note, later, about, whole, begun], member.id)
    }
  })

  test('guesses at a misspelt name only if nothing matches, and only among the clients that the person may see', async () => {
    const [vera, other] = [await firm.join('Vera', 'consultant'), await firm.join('Other', 'consultant')]
    const mine = await firm.client(vera, 'Lindqvist Shipping')
    const archived = await firm.client(vera, 'Lindqvist Holding')
    await vera.send('PATCH', `/clients/${archived}`, { status: 'archived' }, { 'if-match': '"1"' })
    const hidden = await firm.client(other, 'Lindqvits')
    const deleted = await firm.client(vera, 'Lindqvits')
    await paula.send('DELETE', `/clients/${deleted}`, undefined)
    assert.deepEqual(await search(vera, 'lindqvist'), [false, [archived, mine]])
    assert.deepEqual(await search(vera, 'lindqvits'), [true, [archived, mine]])
    assert.deepEqual(await search(vera, 'linqdvist'), [true, [archived, mine]])
    assert.deepEqual(await search(vera, 'zzzz'), [false, []])
    assert.deepEqual(await search(vera, 'lin'), [false, [archived, mine]])
    assert.deepEqual(await search(paula, 'lindqvits'), [false, [hidden]])
    assert.deepEqual(await list(vera, 'q=lindqvits'), [true, [mine], 0, null])
    assert.deepEqual(await list(vera, 'q=lindqvits&status=all'), [true, [archived, mine], 0, null])
    assert.deepEqual(await list(vera, 'q=lindqvits&status=all&limit=1'), [true, [archived], 0, null])
    const byTime = 'q=lindqvits&status=all&limit=1&sort=changed_at'
    assert.deepEqual(await list(vera, byTime), [true, [archived], 0, null], 'guesses have no further page')
    const elsewhere = `consultant=${other.id}`
    assert.deepEqual(await list(vera, `q=lindqvist&${elsewhere}`), [false, [], 0, null])
  })
})
