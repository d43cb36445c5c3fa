import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const tools = [
  betaZodTool({
    name: 'weather',
    description: scene.description,
    inputSchema: z.object({ city: z.string() }),
    run: scene.weatherIn,
  }),
]
const body = { model: 'fast', max_tokens: 100 }
const asked = { ...body, messages: [{ role: 'user', content: scene.question }] }
const noted = { ...body, messages: [{ role: 'user', content: scene.note }] }
const clientOf = ({ apiKey, baseURL }) =>
  new Anthropic({ apiKey, baseURL: baseURL.slice(0, -'/v1'.length), maxRetries: 0 })
const textOf = ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join('')

describe("Anthropic's official client", () => {
  for (const stream of [false, true]) {
    it(`runs tools until the model has its answer, ${stream ? 'streamed' : 'whole'}`, async () => {
      for (const { said, replies } of scene.loops) {
        const { result, requests } = await play(replies, async (place) => {
          const runner = clientOf(place).beta.messages.toolRunner({ ...asked, tools, stream })
          return runner.runUntilDone()
        })
        assert.equal(textOf(result), scene.answer)
        scene.assertLooped(requests, said, stream)
      }
    })
  }

  it('parses a structured reply, of an upstream and of the local model', async () => {
    const output_config = { format: zodOutputFormat(Note) }
    const { result, requests } = await play(scene.classification, (place) =>
      clientOf(place).messages.parse({ ...noted, output_config }),
    )
    assert.deepEqual(result.parsed_output, scene.classified)
    scene.assertFormat(requests[0])
    const local = await playLocally((place) =>
      clientOf(place).messages.parse({ ...noted, output_config, model: 'tiny' }),
    )
    scene.assertClassified(local.parsed_output)
  })

  it('extracts structured data with a tool that it forces the model to use', async () => {
    const { result, requests } = await play(scene.extraction, (place) =>
      clientOf(place).messages.create({
        ...noted,
        tools: [{ name: 'Note', input_schema: z.toJSONSchema(Note) }],
        tool_choice: { type: 'tool', name: 'Note' },
      }),
    )
    assert.deepEqual(
      result.content.map((block) => block.type === 'tool_use' && block.input),
      [scene.classified],
    )
    scene.assertForced(requests[0])
  })

  it('streams a text', async () => {
    const texts = []
    const { result } = await play([{ text: scene.answer }], (place) =>
      clientOf(place)
        .messages.stream(asked)
        .on('text', (text) => texts.push(text))
        .finalMessage(),
    )
    assert.deepEqual([textOf(result), texts.join('')], [scene.answer, scene.answer])
  })
})
