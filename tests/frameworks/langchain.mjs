import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playEmbeddings, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const weather = tool(scene.weatherIn, {
  name: 'weather',
  description: scene.description,
  schema: z.object({ city: z.string() }),
})

/** Asks until the model calls no more tools. `ask` has a message of the model for the conversation so far. */
async function converse(ask) {
  const messages = [new HumanMessage(scene.question)]
  for (;;) {
    const reply = await ask(messages)
    messages.push(reply)
    if (!reply.tool_calls?.length) return reply
    for (const call of reply.tool_calls) messages.push(await weather.invoke(call))
  }
}

/** A streamed message, put together from its chunks. */
async function gather(stream) {
  const [first, ...others] = await Array.fromAsync(stream)
  return others.reduce((whole, chunk) => whole.concat(chunk), first)
}

for (const [name, useResponsesApi] of [
  ['chat completions', false],
  ['responses', true],
]) {
  const modelOf = ({ apiKey, baseURL }, model = 'fast') =>
    new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0, useResponsesApi })

  describe(`LangChain through ${name}`, () => {
    for (const stream of [false, true]) {
      it(`runs tools until the model has its answer, ${stream ? 'streamed' : 'whole'}`, async () => {
        for (const { said, replies } of scene.loops) {
          const { result, requests } = await play(replies, (place) => {
            const model = modelOf(place).bindTools([weather])
            return converse(async (messages) =>
              stream ? gather(await model.stream(messages)) : model.invoke(messages),
            )
          })
          assert.equal(result.text, scene.answer)
          assert.deepEqual([result.usage_metadata?.input_tokens, result.usage_metadata?.output_tokens], [100, 20])
          assert.equal(result.usage_metadata?.input_token_details?.cache_read, 60)
          scene.assertLooped(requests, said, stream)
        }
      })
    }

    it('has structured output by a schema, whole and streamed', async () => {
      const whole = await play(scene.classification, (place) =>
        modelOf(place).withStructuredOutput(Note, { name: 'Note' }).invoke(scene.note),
      )
      assert.deepEqual(whole.result, scene.classified)
      scene.assertFormat(whole.requests[0])
      const streamed = await play(scene.classification, async (place) =>
        Array.fromAsync(await modelOf(place).withStructuredOutput(Note, { name: 'Note' }).stream(scene.note)),
      )
      assert.deepEqual(streamed.result.at(-1), scene.classified)
      scene.assertFormat(streamed.requests[0])
    })

    it('has structured output by a forced tool', async () => {
      const { result, requests } = await play(scene.extraction, (place) =>
        modelOf(place).withStructuredOutput(Note, { name: 'Note', method: 'functionCalling' }).invoke(scene.note),
      )
      assert.deepEqual(result, scene.classified)
      scene.assertForced(requests[0])
    })

    it('has structured output as any JSON', async () => {
      const { result, requests } = await play(scene.classification, (place) =>
        modelOf(place).withStructuredOutput(Note, { method: 'jsonMode' }).invoke(scene.note),
      )
      assert.deepEqual([result, requests[0].response_format], [scene.classified, { type: 'json_object' }])
    })

    it('has structured output of the local model', async () => {
      const result = await playLocally((place) =>
        modelOf(place, 'tiny').withStructuredOutput(Note, { name: 'Note' }).invoke(scene.note),
      )
      scene.assertClassified(result)
    })

    it('has structured output by a forced tool of the local model', async () => {
      const result = await playLocally((place) =>
        modelOf(place, 'tiny')
          .withStructuredOutput(Note, { name: 'Note', method: 'functionCalling' })
          .invoke(scene.note),
      )
      scene.assertClassified(result)
    })
  })
}

it("LangChain's OpenAIEmbeddings embeds documents", async () => {
  const { result, request } = await playEmbeddings(({ apiKey, baseURL }) =>
    new OpenAIEmbeddings({ model: 'vectors', apiKey, configuration: { baseURL }, maxRetries: 0 }).embedDocuments([
      'Rain',
      'Sun',
    ]),
  )
  assert.deepEqual(result, [
    [0, 0.5, -0.25],
    [1, 0.5, -0.25],
  ])
  assert.deepEqual(request.input, ['Rain', 'Sun'])
})
