import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const tools = [
  zodFunction({
    name: 'weather',
    description: scene.description,
    parameters: z.object({ city: z.string() }),
    function: scene.weatherIn,
  }),
]
const responsesTools = [
  zodResponsesFunction({
    name: 'weather',
    description: scene.description,
    parameters: z.object({ city: z.string() }),
  }),
]
const asked = { model: 'fast', messages: [{ role: 'user', content: scene.question }] }
const noted = { model: 'fast', messages: [{ role: 'user', content: scene.note }] }
const clientOf = (place) => new OpenAI({ ...place, maxRetries: 0 })
const chatOf = (place) => clientOf(place).chat.completions

describe("OpenAI's official client", () => {
  for (const stream of [false, true]) {
    it(`runs tools until the model has its answer, ${stream ? 'streamed' : 'whole'}`, async () => {
      for (const { said, replies } of scene.loops) {
        const { result, requests } = await play(replies, (place) =>
          chatOf(place)
            .runTools({ ...asked, tools, stream })
            .finalContent(),
        )
        assert.equal(result, scene.answer)
        scene.assertLooped(requests, said, stream)
      }
    })
  }

  it('parses a structured reply, whole and streamed', async () => {
    const response_format = zodResponseFormat(Note, 'note')
    for (const stream of [false, true]) {
      const { result, requests } = await play(scene.classification, (place) =>
        stream
          ? chatOf(place)
              .stream({ ...noted, response_format })
              .finalChatCompletion()
          : chatOf(place).parse({ ...noted, response_format }),
      )
      assert.deepEqual(result.choices[0].message.parsed, scene.classified)
      scene.assertFormat(requests[0])
    }
  })

  it('parses a structured reply of the local model, whole and streamed', async () => {
    const body = { ...noted, model: 'tiny', response_format: zodResponseFormat(Note, 'note') }
    for (const stream of [false, true]) {
      const { choices } = await playLocally((place) =>
        stream ? chatOf(place).stream(body).finalChatCompletion() : chatOf(place).parse(body),
      )
      scene.assertClassified(choices[0].message.parsed)
    }
  })

  it('streams a text', async () => {
    const { result } = await play([{ text: scene.answer }], async (place) => {
      const chunks = await Array.fromAsync(await chatOf(place).create({ ...asked, stream: true }))
      return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    })
    assert.equal(result, scene.answer)
  })

  it('has a response with calls, and continues it with their results', async () => {
    for (const stream of [false, true]) {
      for (const { said, replies } of scene.loops) {
        const { result, requests } = await play(replies, async (place) => {
          const input = [...asked.messages]
          for (;;) {
            const { responses } = clientOf(place)
            const body = { model: 'fast', input, tools: responsesTools }
            const response = stream ? await responses.stream(body).finalResponse() : await responses.parse(body)
            const calls = response.output.filter(({ type }) => type === 'function_call')
            if (calls.length === 0) return response.output_text
            input.push(...response.output)
            for (const { call_id, parsed_arguments } of calls) {
              input.push({ type: 'function_call_output', call_id, output: scene.weatherIn(parsed_arguments) })
            }
          }
        })
        assert.equal(result, scene.answer)
        scene.assertLooped(requests, said, stream)
      }
    }
  })

  it('parses a structured response, of an upstream and of the local model', async () => {
    const text = { format: zodTextFormat(Note, 'note') }
    const { result, requests } = await play(scene.classification, (place) =>
      clientOf(place).responses.parse({ model: 'fast', input: scene.note, text }),
    )
    assert.deepEqual(result.output_parsed, scene.classified)
    scene.assertFormat(requests[0])
    const local = await playLocally((place) =>
      clientOf(place).responses.parse({ model: 'tiny', input: scene.note, text }),
    )
    scene.assertClassified(local.output_parsed)
  })
})
