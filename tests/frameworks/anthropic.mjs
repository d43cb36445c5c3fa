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

  for (const [model, display] of [
    ['claude', 'summarized'],
    ['claude', 'omitted'],
    ['fast', 'omitted'],
  ]) {
    it(`gets the thoughts of ${model} back with its calls: ${display}`, async () => {
      const [{ said, replies }] = scene.loops
      const [calling, answering] = replies
      const { thinking, signature } = scene.thinking
      const shown = display === 'omitted' ? '' : thinking
      for (const stream of [false, true]) {
        const { result, requests } = await play(
          [{ ...calling, thinking, signature }, answering],
          async (place) => {
            const thinks = { thinking: { type: 'adaptive', display } }
            const runner = clientOf(place).beta.messages.toolRunner({ ...asked, ...thinks, model, tools, stream })
            await runner.runUntilDone()
            return runner.params.messages[1].content
          },
          model,
        )
        const signed = model === 'claude' ? signature : ''
        const thought = { type: 'thinking', thinking: shown, signature: signed }
        assert.deepEqual({ ...result[0] }, thought)
        if (model === 'fast') scene.assertLooped(requests, said, stream)
        else {
          scene.assertClaudeLooped(requests, said, stream, [thought])
          // The text is left out of the reply only, so that it is counted if the stream breaks off.
          const asks = display === 'omitted' ? {} : { display }
          assert.deepEqual(requests[0].thinking, { type: 'adaptive', ...asks })
        }
      }
    })
  }

  it('counts a conversation with its tools, free of charge', async () => {
    const { result, requests } = await play([], (place) => {
      const count = (more) => clientOf(place).messages.countTokens({ model: 'fast', messages: asked.messages, ...more })
      return Promise.all([count({}), count({ tools: [{ name: 'Note', input_schema: z.toJSONSchema(Note) }] })])
    })
    const [alone, withTools] = result.map(({ input_tokens: tokens }) => tokens)
    assert.ok(alone > 0 && withTools > alone, `${alone}, ${withTools}`)
    assert.deepEqual(requests, [])
  })

  it('marks what to keep in the cache', async () => {
    const cache_control = { type: 'ephemeral' }
    const { result, requests } = await play(
      [{ text: scene.answer }],
      (place) =>
        clientOf(place).messages.create({
          ...asked,
          model: 'claude',
          system: [{ type: 'text', text: 'Answer.', cache_control }],
          tools: [{ name: 'Note', input_schema: z.toJSONSchema(Note), cache_control }],
        }),
      'claude',
    )
    const [{ system, tools: sent }] = requests
    assert.deepEqual([system[0].cache_control, sent[0].cache_control], [cache_control, cache_control])
    const { input_tokens: input, cache_read_input_tokens: read } = result.usage
    assert.deepEqual([input, read], [40, 60])
  })

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

  it('extracts structured data with a forced tool of the local model', async () => {
    const local = await playLocally((place) =>
      clientOf(place).messages.create({
        ...noted,
        model: 'tiny',
        tools: [{ name: 'Note', input_schema: z.toJSONSchema(Note) }],
        tool_choice: { type: 'tool', name: 'Note' },
      }),
    )
    const [block, ...others] = local.content
    assert.deepEqual([block.type, block.name, others], ['tool_use', 'Note', []])
    scene.assertClassified(block.input)
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
