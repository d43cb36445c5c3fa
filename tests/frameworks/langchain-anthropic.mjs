import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const weather = tool(scene.weatherIn, {
  name: 'weather',
  description: scene.description,
  schema: z.object({ city: z.string() }),
})
const modelOf = ({ apiKey, baseURL }, model, more = {}) =>
  new ChatAnthropic({ model, apiKey, anthropicApiUrl: baseURL.slice(0, -'/v1'.length), maxRetries: 0, ...more })

/** Asks until the model calls no more tools. Returns its messages. */
async function converse(model, stream) {
  const messages = [new HumanMessage(scene.question)]
  const replies = []
  for (;;) {
    const reply = stream ? await gather(await model.stream(messages)) : await model.invoke(messages)
    replies.push(reply)
    if (!reply.tool_calls?.length) return replies
    messages.push(reply)
    for (const call of reply.tool_calls) messages.push(await weather.invoke(call))
  }
}

/** A streamed message, put together from its chunks. */
async function gather(stream) {
  const [first, ...others] = await Array.fromAsync(stream)
  return others.reduce((whole, chunk) => whole.concat(chunk), first)
}

const thoughtOf = ({ content }) => Array.isArray(content) && content.find(({ type }) => type === 'thinking')

for (const [model, assertLooped] of Object.entries({ fast: scene.assertLooped, claude: scene.assertClaudeLooped })) {
  describe(`LangChain's ChatAnthropic with the model ${model}`, () => {
    for (const stream of [false, true]) {
      const how = stream ? 'streamed' : 'whole'

      it(`runs tools until the model has its answer, ${how}`, async () => {
        for (const { said, replies } of scene.loops) {
          const { result, requests } = await play(
            replies,
            (place) => converse(modelOf(place, model).bindTools([weather]), stream),
            model,
          )
          const { text, usage_metadata: usage } = result.at(-1)
          assert.deepEqual([text, usage.output_tokens], [scene.answer, 20])
          // In a stream, it reads the tokens of the input from the first event, which has only an estimate.
          if (!stream) assert.deepEqual([usage.input_tokens, usage.input_token_details.cache_read], [100, 60])
          assertLooped(requests, said, stream)
        }
      })

      it(`thinks before it calls tools, and gets its thoughts back, ${how}`, async () => {
        const [{ said, replies }] = scene.loops
        const [calling, answering] = replies
        const { result, requests } = await play(
          [{ ...calling, ...scene.thinking }, answering],
          (place) => {
            const thinks = { thinking: { type: 'enabled', budget_tokens: 2000 }, maxTokens: 4000 }
            return converse(modelOf(place, model, thinks).bindTools([weather]), stream)
          },
          model,
        )
        const signature = model === 'claude' ? scene.thinking.signature : ''
        const { thinking, signature: signed } = thoughtOf(result[0])
        assert.deepEqual([thinking, signed], [scene.thinking.thinking, signature])
        assert.equal(result.at(-1).text, scene.answer)
        assertLooped(requests, said, stream, [{ type: 'thinking', thinking, signature }])
        if (model === 'claude') assert.deepEqual(requests[0].thinking, { type: 'enabled', budget_tokens: 2000 })
        else assert.equal(requests[0].reasoning_effort, 'low')
      })

      it(`has structured output by a schema, ${how}`, async () => {
        const { result, requests } = await play(
          scene.classification,
          async (place) => {
            const structured = modelOf(place, model).withStructuredOutput(Note, { method: 'jsonSchema' })
            return stream
              ? (await Array.fromAsync(await structured.stream(scene.note))).at(-1)
              : structured.invoke(scene.note)
          },
          model,
        )
        assert.deepEqual(result, scene.classified)
        // The version of the client that it uses sends enums as a description only.
        assert.deepEqual(schemaIn(requests[0]).required, ['topic', 'urgent'])
      })
    }

    it('has structured output by a forced tool', async () => {
      const { result, requests } = await play(
        scene.extraction,
        (place) => modelOf(place, model).withStructuredOutput(Note, { name: 'Note' }).invoke(scene.note),
        model,
      )
      assert.deepEqual(result, scene.classified)
      assertForced(requests[0])
    })

    it('marks what to keep in the cache', async () => {
      const cache_control = { type: 'ephemeral' }
      const { requests } = await play(
        [{ text: scene.answer }],
        (place) =>
          modelOf(place, model).invoke([
            new SystemMessage({ content: [{ type: 'text', text: 'Answer.', cache_control }] }),
            new HumanMessage(scene.question),
          ]),
        model,
      )
      const [{ system, messages }] = requests
      // Other upstreams cache by themselves.
      if (model === 'claude') assert.deepEqual(system, [{ type: 'text', text: 'Answer.', cache_control }])
      else assert.deepEqual(messages[0], { role: 'system', content: 'Answer.' })
    })
  })
}

it("LangChain's ChatAnthropic has structured output of the local model", async () => {
  const { urgent, ...others } = await playLocally((place) =>
    modelOf(place, 'tiny', { maxTokens: 100 })
      .withStructuredOutput(z.object({ urgent: z.boolean() }), { method: 'jsonSchema' })
      .invoke(scene.note),
  )
  assert.equal(typeof urgent, 'boolean')
  assert.deepEqual(others, {})
})

const schemaIn = ({ response_format: format, output_config: config }) =>
  config?.format.schema ?? format.json_schema.schema

function assertForced(request) {
  if (request.tools[0].function) return scene.assertForced(request)
  assert.deepEqual(request.tool_choice, { type: 'tool', name: 'Note' })
  scene.assertSchema(request.tools[0].input_schema)
}
