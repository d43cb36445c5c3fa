import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tool } from '@llamaindex/core/tools'
import { openai } from '@llamaindex/openai'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const weather = tool({
  name: 'weather',
  description: scene.description,
  parameters: z.object({ city: z.string() }),
  execute: scene.weatherIn,
})
const modelOf = (place, model = 'fast') => openai({ ...place, model, maxRetries: 0 })
const noted = () => [{ role: 'user', content: scene.note }]

describe('LlamaIndex', () => {
  it('runs tools until the model has its answer', async () => {
    for (const { said, replies } of scene.loops) {
      const { result, requests } = await play(replies, async (place) => {
        const messages = [{ role: 'user', content: scene.question }]
        for (;;) {
          const turn = await modelOf(place).exec({ messages, tools: [weather] })
          // oxlint-disable-next-line typescript/unbound-method -- without a stream it is a list
          messages.push(...turn.newMessages)
          if (turn.toolCalls.length === 0) return messages.at(-1)
        }
      })
      assert.deepEqual([result.role, result.content], ['assistant', scene.answer])
      scene.assertLooped(requests, said)
    }
  })

  it('runs tools in a stream', async () => {
    // It overlooks calls after a text.
    const [{ said, replies }] = scene.loops
    const { result, requests } = await play(replies, async (place) => {
      const messages = [{ role: 'user', content: scene.question }]
      for (;;) {
        const turn = await modelOf(place).exec({ messages, tools: [weather], stream: true })
        const deltas = (await Array.fromAsync(turn.stream)).map(({ delta }) => delta)
        if (turn.toolCalls.length === 0) return deltas.join('')
        messages.push(...turn.newMessages())
      }
    })
    assert.equal(result, scene.answer)
    scene.assertLooped(requests, said, true)
  })

  it('has a reply in a schema, of an upstream and of the local model', async () => {
    const { result, requests } = await play(scene.classification, (place) =>
      modelOf(place).chat({ messages: noted(), responseFormat: Note }),
    )
    assert.deepEqual(JSON.parse(result.message.content), scene.classified)
    scene.assertFormat(requests[0])
    const local = await playLocally((place) => modelOf(place, 'tiny').chat({ messages: noted(), responseFormat: Note }))
    scene.assertClassified(JSON.parse(local.message.content))
  })

  it('extracts structured data with a tool', async () => {
    const [{ calls }] = scene.extraction
    const replies = [{ calls: calls.map((call) => ({ ...call, name: 'format_output' })) }]
    const { result } = await play(replies, (place) => modelOf(place).exec({ messages: noted(), responseFormat: Note }))
    assert.deepEqual(result.object, scene.classified)
  })

  it('streams a text', async () => {
    const { result } = await play([{ text: scene.answer }], async (place) => {
      const messages = [{ role: 'user', content: scene.question }]
      return Array.fromAsync(await modelOf(place).chat({ messages, stream: true }))
    })
    assert.equal(result.map(({ delta }) => delta).join(''), scene.answer)
  })
})
