import assert from 'node:assert/strict'
import { test } from 'node:test'
import { personActor } from '../../src/access/actor.ts'
import { isEndure } from '../support/draws.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'

// A defect in how the context is set shows within the first hundred requests.
const users = isEndure ? 200 : 40
const rounds = isEndure ? 60 : 5

let members: { member: Member; client: string; marker: string }[]

const firm = fixture(() => startFirm())
setUp(async () => {
  members = []
  for (let n = 0; n < users; n += 1) {
    const marker = `marker-${n}-`
    const member = await firm.join(`User ${n}`, n % 20 === 0 ? 'partner' : 'consultant')
    const client = await firm.client(member, `Firm ${marker}`)
    await firm.service.records.notes.create({ actor: personActor(member) }, client, {
      date: '2026-01-01',
      text: `note ${marker}`,
    })
    members.push({ member, client, marker })
  }
})

test(`B85: ${users} concurrent users on few connections: no response contains another user’s data`, async () => {
  const markers = /marker-\d+-/g
  async function work({ member, client, marker }: (typeof members)[number], n: number): Promise<void> {
    for (let round = n; round < n + rounds; round += 1) {
      const other = members[(round * 31 + 7) % users]
      const addresses = [
        `/clients/${client}`,
        '/clients',
        `/clients/${other?.client}`,
        '/search?q=marker',
        `/clients/${client}/notes`,
      ]
      const address = addresses[round % addresses.length] ?? ''
      const { status, text } = await member.get(address)
      const seen = new Set(text.match(markers))
      if (member.role === 'partner') {
        assert.equal(status, 200, address)
        continue
      }
      const foreign = address === `/clients/${other?.client}` && other?.member !== member
      assert.equal(status, foreign ? 403 : 200, `${address}: ${text}`)
      assert.deepEqual([...seen], foreign ? [] : [marker], address)
    }
  }
  await Promise.all(members.map((each, n) => work(each, n)))
})
