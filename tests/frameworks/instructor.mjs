import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Instructor from '@instructor-ai/instructor'
import OpenAI from 'openai'
// Instructor reads the schemas of zod 3 only.
import { z } from 'zod/v3'
import * as scene from './stage.mjs'

const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const asked = { model: 'fast', messages: [{ role: 'user', content: scene.note }] }
const response_model = { schema: Note, name: 'Note' }
const completionsOf = (place, mode) =>
  Instructor({ client: new OpenAI({ ...place, maxRetries: 0 }), mode, retryAllErrors: true }).chat.completions

/** What a mode returns, without what Instructor adds. */
const withoutMeta = (result) => Object.fromEntries(Object.entries(result).filter(([name]) => name !== '_meta'))

describe('Instructor', () => {
  it('extracts with a forced tool, whole and streamed', async () => {
    const whole = await play(scene.extraction, (place) =>
      completionsOf(place, 'TOOLS').create({ ...asked, response_model }),
    )
    assert.deepEqual(withoutMeta(whole.result), scene.classified)
    assert.equal(whole.result['_meta'].usage.prompt_tokens, 100)
    scene.assertForced(whole.requests[0])
    const streamed = await play(scene.extraction, async (place) =>
      Array.fromAsync(await completionsOf(place, 'TOOLS').create({ ...asked, response_model, stream: true })),
    )
    assert.deepEqual(withoutMeta(streamed.result.at(-1)), scene.classified)
    scene.assertForced(streamed.requests[0])
  })

  it('extracts with a forced tool of the local model, whole and streamed', async () => {
    const local = { ...asked, model: 'tiny', response_model }
    const whole = await playLocally((place) => completionsOf(place, 'TOOLS').create(local))
    scene.assertClassified(withoutMeta(whole))
    const streamed = await playLocally(async (place) =>
      Array.fromAsync(await completionsOf(place, 'TOOLS').create({ ...local, stream: true })),
    )
    scene.assertClassified(withoutMeta(streamed.at(-1)))
  })

  it('asks again about what does not follow the schema', async ({ mock }) => {
    mock.method(console, 'warn', () => {})
    const [{ calls }] = scene.extraction
    const wrong = { calls: calls.map((call) => ({ ...call, input: '{"topic":"love","urgent":true}' })) }
    const { result, requests } = await play([wrong, ...scene.extraction], (place) =>
      completionsOf(place, 'TOOLS').create({ ...asked, response_model, max_retries: 1 }),
    )
    assert.deepEqual(withoutMeta(result), scene.classified)
    assert.match(requests[1].messages.at(-1).content, /topic/)
  })

  it('extracts in a schema of the reply, of an upstream and of the local model', async () => {
    const { result, requests } = await play(scene.classification, (place) =>
      completionsOf(place, 'JSON_SCHEMA').create({ ...asked, response_model }),
    )
    assert.deepEqual(withoutMeta(result), scene.classified)
    scene.assertFormat(requests[0])
    const local = await playLocally((place) =>
      completionsOf(place, 'JSON_SCHEMA').create({ ...asked, model: 'tiny', response_model }),
    )
    scene.assertClassified(withoutMeta(local))
  })

  it('extracts from any JSON, and from a block of code', async () => {
    for (const mode of ['JSON', 'MD_JSON']) {
      const { result, requests } = await play(scene.classification, (place) =>
        completionsOf(place, mode).create({ ...asked, response_model }),
      )
      assert.deepEqual(withoutMeta(result), scene.classified)
      assert.deepEqual(requests[0].response_format, mode === 'JSON' ? { type: 'json_object' } : undefined)
    }
  })
})
