import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  embed,
  embedMany,
  generateObject,
  generateText,
  Output,
  stepCountIs,
  streamText,
  tool,
  ToolLoopAgent,
} from 'ai'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playEmbeddings, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const tools = {
  weather: tool({
    description: scene.description,
    inputSchema: z.object({ city: z.string() }),
    execute: async (input) => scene.weatherIn(input),
  }),
}
const asked = { prompt: scene.question, tools, stopWhen: stepCountIs(5), maxRetries: 0, maxOutputTokens: 100 }
const noted = { prompt: scene.note, maxRetries: 0, maxOutputTokens: 100 }

/** The providers, and how Anthropic's is to ask for a schema of a model whose name it does not know. */
const ways = {
  '@ai-sdk/openai, responses': {
    modelOf: (place, model) => createOpenAI(place)(model),
    // Otherwise it refers to its earlier texts by their ids, as if they were stored.
    providerOptions: { openai: { store: false } },
  },
  '@ai-sdk/openai, chat completions': { modelOf: (place, model) => createOpenAI(place).chat(model) },
  '@ai-sdk/openai-compatible': {
    modelOf: (place, model) =>
      createOpenAICompatible({ name: 'tollgate', includeUsage: true, supportsStructuredOutputs: true, ...place })(
        model,
      ),
  },
  '@ai-sdk/anthropic': {
    modelOf: (place, model) => createAnthropic(place)(model),
    providerOptions: { anthropic: { structuredOutputMode: 'outputFormat' } },
  },
}

for (const [name, { modelOf, providerOptions }] of Object.entries(ways)) {
  describe(`the AI SDK through ${name}`, () => {
    it('runs tools until the model has its answer', async () => {
      for (const { said, replies } of scene.loops) {
        const { result, requests } = await play(replies, (place) =>
          generateText({ ...asked, providerOptions, model: modelOf(place, 'fast') }),
        )
        assert.equal(result.text, scene.answer)
        assert.deepEqual(
          result.steps.map(({ finishReason }) => finishReason),
          ['tool-calls', 'stop'],
        )
        assert.deepEqual([result.totalUsage.inputTokens, result.totalUsage.outputTokens], [200, 40])
        scene.assertLooped(requests, said)
      }
    })

    it('runs tools in a stream', async () => {
      for (const { said, replies, text } of scene.loops) {
        const { result, requests } = await play(replies, async (place) => {
          const stream = streamText({ ...asked, providerOptions, model: modelOf(place, 'fast') })
          return Array.fromAsync(stream.fullStream)
        })
        const streamed = result.map((part) => (part.type === 'text-delta' ? part.text : '')).join('')
        assert.equal(streamed, text)
        assert.deepEqual(
          result.filter(({ type }) => type === 'tool-result').map(({ output }) => output),
          ['Rain in Bern', 'Rain in Zürich'],
        )
        scene.assertLooped(requests, said, true)
      }
    })

    it('runs an agent, whole and streamed', async () => {
      for (const { said, replies, text } of scene.loops) {
        for (const stream of [false, true]) {
          const { result, requests } = await play(replies, async (place) => {
            const agent = new ToolLoopAgent({ model: modelOf(place, 'fast'), tools, providerOptions, maxRetries: 0 })
            if (!stream) return (await agent.generate({ prompt: scene.question })).text
            const { textStream } = await agent.stream({ prompt: scene.question })
            return (await Array.fromAsync(textStream)).join('')
          })
          assert.equal(result, stream ? text : scene.answer)
          scene.assertLooped(requests, said, stream)
        }
      }
    })

    it('generates an object, whole and streamed', async () => {
      const output = Output.object({ schema: Note })
      const whole = await play(scene.classification, (place) =>
        generateText({ ...noted, output, providerOptions, model: modelOf(place, 'fast') }),
      )
      assert.deepEqual(whole.result.output, scene.classified)
      scene.assertFormat(whole.requests[0])
      const streamed = await play(scene.classification, async (place) => {
        const stream = streamText({ ...noted, output, providerOptions, model: modelOf(place, 'fast') })
        return Array.fromAsync(stream.partialOutputStream)
      })
      assert.deepEqual(streamed.result.at(-1), scene.classified)
      scene.assertFormat(streamed.requests[0])
    })

    it('generates an object with the local model', async () => {
      const { object } = await playLocally((place) =>
        generateObject({ ...noted, schema: Note, providerOptions, model: modelOf(place, 'tiny') }),
      )
      scene.assertClassified(object)
    })
  })
}

it('the AI SDK learns that responses are not stored if it refers to one', async () => {
  const [, { replies }] = scene.loops
  await play(replies.slice(0, 1), (place) =>
    assert.rejects(generateText({ ...asked, model: createOpenAI(place)('fast') }), {
      name: 'AI_APICallError',
      message:
        'The field input[1].type must be that of a whole item: nothing is stored here, and clients send whole items if store ' +
        'is false.',
    }),
  )
})

/** The providers that have embeddings. */
const embedding = {
  '@ai-sdk/openai': (place) => createOpenAI(place).embeddingModel('vectors'),
  '@ai-sdk/openai-compatible': (place) =>
    createOpenAICompatible({ name: 'tollgate', ...place }).embeddingModel('vectors'),
}

for (const [name, modelOf] of Object.entries(embedding)) {
  it(`the AI SDK embeds one text and many through ${name}`, async () => {
    const one = await playEmbeddings((place) => embed({ model: modelOf(place), value: 'Rain', maxRetries: 0 }))
    assert.deepEqual([one.result.embedding, one.result.usage.tokens], [[0, 0.5, -0.25], 9])
    assert.deepEqual(one.request.input, ['Rain'])
    const many = await playEmbeddings((place) =>
      embedMany({ model: modelOf(place), values: ['Rain', 'Sun'], maxRetries: 0 }),
    )
    assert.deepEqual(many.result.embeddings, [
      [0, 0.5, -0.25],
      [1, 0.5, -0.25],
    ])
    assert.deepEqual(many.request.input, ['Rain', 'Sun'])
  })
}
