import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tool } from '@llamaindex/core/tools'
import { openai } from '@llamaindex/openai'
import { agent, agentStreamEvent, agentToolCallResultEvent, multiAgent } from '@llamaindex/workflow'
import { z } from 'zod'
import * as scene from './stage.mjs'

const { play } = await scene.openStage()

const weather = tool({
  name: 'weather',
  description: scene.description,
  parameters: z.object({ city: z.string() }),
  execute: scene.weatherIn,
})
const llmOf = (place) => openai({ ...place, model: 'fast', maxRetries: 0 })
const advisorOf = (place) =>
  agent({ name: 'Advisor', description: 'Knows the weather.', llm: llmOf(place), tools: [weather] })
// Its agents always stream. They overlook calls after a text.
const [{ said, replies }] = scene.loops

describe("LlamaIndex's agents", () => {
  it('run tools until the model has its answer', async () => {
    const { result, requests } = await play(replies, (place) => advisorOf(place).run(scene.question))
    assert.equal(result.data.result, scene.answer)
    scene.assertLooped(requests, said, true)
  })

  it('stream their text and the results of their calls', async () => {
    const { result, requests } = await play(replies, async (place) =>
      Array.fromAsync(advisorOf(place).runStream(scene.question)),
    )
    const deltas = result.filter((event) => agentStreamEvent.include(event)).map(({ data }) => data.delta)
    assert.equal(deltas.join(''), scene.answer)
    const results = result.filter((event) => agentToolCallResultEvent.include(event))
    assert.deepEqual(
      results.map(({ data }) => data.toolOutput.result),
      ['Rain in Bern', 'Rain in Zürich'],
    )
    scene.assertLooped(requests, said, true)
  })

  it('hand over to one another', async () => {
    const handOff = { id: 'call_1', name: 'handOff', input: '{"toAgent":"Advisor","reason":"It knows the weather."}' }
    const { result, requests } = await play([{ calls: [handOff] }, { text: scene.answer }], (place) => {
      const advisor = advisorOf(place)
      const triage = agent({
        name: 'Triage',
        description: 'Finds who can help.',
        llm: llmOf(place),
        canHandoffTo: [advisor],
      })
      return multiAgent({ agents: [triage, advisor], rootAgent: triage }).run(scene.question)
    })
    assert.equal(result.data.result, scene.answer)
    assert.equal(requests[1].tools[0].function.name, 'weather')
  })
})
