import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, providerStrategy, tool, toolStrategy } from 'langchain'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() }).meta({ title: 'Note' })
const weather = tool(scene.weatherIn, {
  name: 'weather',
  description: scene.description,
  schema: z.object({ city: z.string() }),
})
const asked = { messages: [{ role: 'user', content: scene.question }] }
const noted = { messages: [{ role: 'user', content: scene.note }] }

const openAiOf =
  (useResponsesApi) =>
  ({ apiKey, baseURL }, model) =>
    new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0, useResponsesApi })
const anthropicOf = ({ apiKey, baseURL }, model) =>
  new ChatAnthropic({
    model,
    apiKey,
    anthropicApiUrl: baseURL.slice(0, -'/v1'.length),
    maxRetries: 0,
    maxTokens: 100,
  })

const ways = {
  'chat completions': openAiOf(false),
  responses: openAiOf(true),
  "Anthropic's messages": anthropicOf,
}

for (const [name, modelOf] of Object.entries(ways)) {
  describe(`LangChain's createAgent through ${name}`, () => {
    it('runs tools until the model has its answer', async () => {
      for (const { said, replies } of scene.loops) {
        const { result, requests } = await play(replies, (place) =>
          createAgent({ model: modelOf(place, 'fast'), tools: [weather] }).invoke(asked),
        )
        assert.equal(result.messages.at(-1).text, scene.answer)
        scene.assertLooped(requests, said)
      }
    })

    it('streams its steps and its text', async () => {
      for (const { said, replies, text } of scene.loops) {
        const { result, requests } = await play(replies, async (place) => {
          const agent = createAgent({ model: modelOf(place, 'fast'), tools: [weather] })
          return Array.fromAsync(await agent.stream(asked, { streamMode: ['updates', 'messages'] }))
        })
        const steps = result.flatMap(([mode, update]) => (mode === 'updates' ? Object.keys(update) : []))
        assert.deepEqual(steps.toSorted(), ['model_request', 'model_request', 'tools', 'tools'])
        const texts = result.map(([mode, chunk]) => (mode === 'messages' && isReply(chunk) ? chunk[0].text : ''))
        assert.equal(texts.join(''), text)
        scene.assertLooped(requests, said, true)
      }
    })

    it('has structured output by a tool, and by a schema beside its tools', async () => {
      const byTool = await play(scene.extraction, (place) =>
        createAgent({ model: modelOf(place, 'fast'), tools: [], responseFormat: toolStrategy(Note) }).invoke(noted),
      )
      assert.deepEqual(byTool.result.structuredResponse, scene.classified)
      // Through responses it does not send its choice.
      assert.equal(byTool.requests[0].tool_choice, name === 'responses' ? undefined : 'required')
      scene.assertSchema(byTool.requests[0].tools[0].function.parameters)
      const [{ replies }] = scene.loops
      const bySchema = await play([replies[0], ...scene.classification], (place) =>
        createAgent({
          model: modelOf(place, 'fast'),
          tools: [weather],
          responseFormat: providerStrategy(Note),
        }).invoke(asked),
      )
      assert.deepEqual(bySchema.result.structuredResponse, scene.classified)
      for (const { tools, response_format: format } of bySchema.requests) {
        assert.equal(tools[0].function.name, 'weather')
        scene.assertSchema(format.json_schema.schema)
      }
    })

    it('has structured output of the local model', async () => {
      const { structuredResponse } = await playLocally((place) =>
        createAgent({ model: modelOf(place, 'tiny'), tools: [], responseFormat: providerStrategy(Note) }).invoke(noted),
      )
      scene.assertClassified(structuredResponse)
    })
  })
}

/** Whether a chunk is of the model, and not the result of a tool. */
const isReply = ([{ type }]) => type === 'ai'

it("LangChain's createAgent runs tools of a model of Anthropic", async () => {
  for (const { said, replies } of scene.loops) {
    const { result, requests } = await play(
      replies,
      (place) => createAgent({ model: anthropicOf(place, 'claude'), tools: [weather] }).invoke(asked),
      'claude',
    )
    assert.equal(result.messages.at(-1).text, scene.answer)
    scene.assertClaudeLooped(requests, said)
  }
})
