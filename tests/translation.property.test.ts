import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from './support/draws.ts'
import { checkFinished, readStream } from '../src/generation/finished-reply.ts'
import { chargedTokensOf } from '../src/generation/reply.ts'
import { createReplyCallIds } from '../src/models/call-ids.ts'
import { createTruncation, truncate } from '../src/generation/truncation.ts'
import type { WholeReply } from '../src/models/model.ts'
import { parseObject, type Json } from './support/json.ts'
import { replyOf } from './support/scripted-reply.ts'
import { clients, type Client, type Heard } from './support/translation-clients.ts'
import { fitted, seen, type Turn } from './support/translation-form.ts'
import { anyScript, partsOf, type Script, type Round } from './support/translation-scripts.ts'
import { toolSeen } from './support/translation-readers.ts'
import { upstreams, type Upstream } from './support/translation-upstreams.ts'

const limits = { maxOutputTokens: 100_000 }

interface Answered {
  readonly received: Json
  readonly heard: Heard
}

/** Sends a request through the dialect and the engine, and the vendor's reply back. */
async function exchange(client: Client, upstream: Upstream, body: Json, round: Round): Promise<Answered> {
  const parsed = client.dialect.read(parseObject(JSON.stringify({ ...body, ...(round.streams && { stream: true }) })))
  let received: Json = {}
  const { reply, cuts } = round
  const vendor = { limits, reply, cuts, receive: (asked: Json) => (received = asked) }
  const { prompt } = parsed.request
  if (!round.streams) {
    const made = await upstream.engine.run(prompt, vendor)
    const whole = truncate(checkFinished(made, new AbortController().signal), limits)
    return { received, heard: client.whole(parseObject(parsed.wholeBody(madeOf(whole)))) }
  }
  const steps = readStream(upstream.engine.stream(prompt, vendor), {
    truncation: createTruncation(limits),
    callIds: createReplyCallIds(prompt.messages),
    stop: new AbortController(),
  })
  const writer = parsed.eventWriter({ ...replyOf([]), inputTokens: 0 })
  const events = [...writer.opening]
  for (;;) {
    const step = await steps.next()
    if (step.done) {
      events.push(...writer.closing(madeOf(step.value)))
      return { received, heard: await client.streamed(events.join('')) }
    }
    if (step.value.kind === 'texts') events.push(...step.value.texts.map(writer.text))
    else if (step.value.kind === 'deltas') events.push(...writer.deltas(step.value.deltas))
  }
}

function madeOf({ text, parts, stopReason, usage }: WholeReply) {
  const rest = { text, parts, stopReason, usage: chargedTokensOf(usage), reasoningTokens: usage.reasoningTokens }
  return { ...replyOf([]), ...rest }
}

/** Plays a conversation, and compares in each round what the vendor receives with what was asked and what it replied. */
async function play(client: Client, upstream: Upstream, { settings, rounds }: Script): Promise<void> {
  const { system, tools = [], toolChoice = 'auto', parallelCalls = true, format } = settings
  const history: unknown[] = []
  const turns: Turn[] = system ? [{ role: 'system', parts: [system] }] : []
  for (const round of rounds) {
    const asked = { role: 'user', parts: round.asked } as const
    history.push(...client.asks(round.asked))
    turns.push(asked)
    const { received, heard } = await exchange(client, upstream, client.body(settings, history), round)
    const read = upstream.read(received)
    assert.deepEqual(seen(fitted(read.turns, upstream.form)), seen(fitted(turns, client.form, upstream.form)))
    assert.deepEqual(
      read.tools,
      tools.map((tool) => toolSeen(tool, client.form, upstream.form)),
    )
    if (tools.length > 0) {
      const choice = typeof toolChoice === 'object' ? toolChoice.tool : toolChoice
      assert.deepEqual([read.choice ?? 'auto', read.parallel], [choice, parallelCalls])
    }
    assert.deepEqual(read.schema, format?.kind === 'schema' ? format.schema : undefined)
    assert.deepEqual(heard.usage, round.usage)
    const isCalling = round.stop === 'stop' && partsOf(round).some(({ kind }) => kind === 'call')
    assert.equal(heard.stop, isCalling ? client.calling : client.stops[round.stop])
    history.push(...heard.turn)
    turns.push({ role: 'assistant', parts: partsOf(round) })
  }
}

for (const client of clients) {
  describe(client.name, () => {
    for (const upstream of upstreams) {
      test(`a conversation with ${upstream.name} loses nothing`, async () => {
        await fc.assert(
          fc.asyncProperty(anyScript(client, upstream), (script) => play(client, upstream, script)),
          draws({ test: 5, endure: 300 }),
        )
      })
    }
  })
}
