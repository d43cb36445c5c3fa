import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { pdfOf, pngOf } from '../support/sample-files.ts'
import * as scene from './stage.mjs'

const { play, playEmbeddings, playLocally } = await scene.openStage()

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

  it('streams a response with the events of its calls', async () => {
    const [, { replies }] = scene.loops
    const { result } = await play(replies.slice(0, 1), async (place) => {
      const seen = []
      await clientOf(place)
        .responses.stream({ model: 'fast', input: asked.messages, tools: responsesTools })
        .on('response.output_text.delta', ({ snapshot }) => seen.push(snapshot))
        .on('response.function_call_arguments.done', (event) => seen.push(event.arguments))
        .done()
      return seen
    })
    assert.deepEqual(result.slice(-3), ['Let me see.', '{"city":"Bern"}', '{"city":"Zürich"}'])
  })

  it('sends images and documents', async () => {
    const png = `data:image/png;base64,${pngOf(20, 10).toString('base64')}`
    const pdf = `data:application/pdf;base64,${pdfOf(1).toString('base64')}`
    const sent = [
      { type: 'text', text: scene.question },
      { type: 'image_url', image_url: { url: png } },
      { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    ]
    const chat = await play([{ text: scene.answer }], (place) =>
      chatOf(place).create({ model: 'fast', messages: [{ role: 'user', content: sent }] }),
    )
    assert.equal(chat.result.choices[0].message.content, scene.answer)
    assert.deepEqual(chat.requests[0].messages[0].content, sent)
    const content = [
      { type: 'input_text', text: scene.question },
      { type: 'input_image', image_url: png },
      { type: 'input_file', filename: 'a.pdf', file_data: pdf },
    ]
    const response = await play([{ text: scene.answer }], (place) =>
      clientOf(place).responses.create({ model: 'fast', input: [{ role: 'user', content }] }),
    )
    assert.equal(response.result.output_text, scene.answer)
    assert.deepEqual(response.requests[0].messages[0].content, sent)
  })

  it('makes embeddings', async () => {
    const { result, request } = await playEmbeddings((place) =>
      clientOf(place).embeddings.create({ model: 'vectors', input: ['Rain', 'Sun'] }),
    )
    assert.deepEqual(
      result.data.map(({ embedding }) => embedding),
      [
        [0, 0.5, -0.25],
        [1, 0.5, -0.25],
      ],
    )
    assert.deepEqual([request.input, result.usage.prompt_tokens], [['Rain', 'Sun'], 9])
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
