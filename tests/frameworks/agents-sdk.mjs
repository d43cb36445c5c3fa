import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  Agent,
  InputGuardrailTripwireTriggered,
  OpenAIProvider,
  OutputGuardrailTripwireTriggered,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import * as scene from './stage.mjs'

// It would send what its agents do to OpenAI.
setTracingDisabled(true)
const { play, playLocally } = await scene.openStage()

const Note = z.object({ topic: z.enum(scene.topics), urgent: z.boolean() })
const weather = tool({
  name: 'weather',
  description: scene.description,
  parameters: z.object({ city: z.string() }),
  execute: scene.weatherIn,
})
const advisor = new Agent({ name: 'Advisor', instructions: 'Answer.', model: 'fast', tools: [weather] })
const sorter = (model) => new Agent({ name: 'Sorter', instructions: 'Classify the note.', model, outputType: Note })

/** An agent with a guardrail that stops what is about taxes. */
const guarded = (runner, guardrails) =>
  new Agent({
    name: 'Guarded',
    instructions: 'Answer.',
    model: 'fast',
    [guardrails]: [
      {
        name: 'Tax',
        runInParallel: false,
        execute: async ({ input = scene.note }) => {
          const { finalOutput } = await runner.run(sorter('fast'), input)
          return { outputInfo: finalOutput, tripwireTriggered: finalOutput.topic === 'tax' }
        },
      },
    ],
  })

/** The API that it uses by default, and the other one. */
for (const [name, useResponses] of [
  ['responses', true],
  ['chat completions', false],
]) {
  const runnerOf = (place) => {
    const openAIClient = new OpenAI({ ...place, maxRetries: 0 })
    return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }), tracingDisabled: true })
  }

  describe(`the Agents SDK through ${name}`, () => {
    it('runs tools until the agent has its answer', async () => {
      for (const { said, replies } of scene.loops) {
        const { result, requests } = await play(replies, (place) => runnerOf(place).run(advisor, scene.question))
        assert.equal(result.finalOutput, scene.answer)
        scene.assertLooped(requests, said)
      }
    })

    it('runs tools in a stream', async () => {
      for (const { said, replies, text } of scene.loops) {
        const { result, requests } = await play(replies, async (place) => {
          const run = await runnerOf(place).run(advisor, scene.question, { stream: true })
          const texts = await Array.fromAsync(run.toTextStream())
          await run.completed
          return { output: run.finalOutput, text: texts.join('') }
        })
        assert.deepEqual(result, { output: scene.answer, text })
        scene.assertLooped(requests, said, true)
      }
    })

    it('hands over to another agent, whole and streamed', async () => {
      const triage = new Agent({ name: 'Triage', instructions: 'Hand over.', model: 'fast', handoffs: [advisor] })
      const call = { id: 'call_1', name: 'transfer_to_Advisor', input: '{}' }
      for (const stream of [false, true]) {
        const { result, requests } = await play([{ calls: [call] }, { text: scene.answer }], async (place) => {
          const run = await runnerOf(place).run(triage, scene.question, { stream })
          await run.completed
          return run
        })
        assert.deepEqual([result.finalOutput, result.lastAgent?.name], [scene.answer, 'Advisor'])
        assert.deepEqual(requests[1].tools[0].function.name, 'weather')
      }
    })

    it('stops at a guardrail of its input or its output, and charges what ran', async () => {
      const [{ text }] = scene.classification
      for (const [guardrails, Stopped, replies] of [
        ['inputGuardrails', InputGuardrailTripwireTriggered, [{ text }]],
        ['outputGuardrails', OutputGuardrailTripwireTriggered, [{ text: scene.answer }, { text }]],
      ]) {
        await play(replies, (place) => {
          const runner = runnerOf(place)
          return assert.rejects(runner.run(guarded(runner, guardrails), scene.note), Stopped)
        })
      }
      const other = { text: text.replace('tax', 'other') }
      const { result } = await play([other, { text: scene.answer }], (place) => {
        const runner = runnerOf(place)
        return runner.run(guarded(runner, 'inputGuardrails'), scene.note)
      })
      assert.equal(result.finalOutput, scene.answer)
    })

    it('has structured output after calls of tools', async () => {
      const agent = new Agent({
        name: 'Clerk',
        instructions: 'Classify.',
        model: 'fast',
        tools: [weather],
        outputType: Note,
      })
      const [{ replies }] = scene.loops
      const { result, requests } = await play([replies[0], ...scene.classification], (place) =>
        runnerOf(place).run(agent, scene.question),
      )
      assert.deepEqual(result.finalOutput, scene.classified)
      for (const { response_format: format } of requests) scene.assertSchema(format.json_schema.schema)
    })

    it('has structured output, of an upstream and of the local model', async () => {
      const { result, requests } = await play(scene.classification, (place) =>
        runnerOf(place).run(sorter('fast'), scene.note),
      )
      assert.deepEqual(result.finalOutput, scene.classified)
      scene.assertFormat(requests[0])
      const local = await playLocally((place) => runnerOf(place).run(sorter('tiny'), scene.note))
      scene.assertClassified(local.finalOutput)
    })
  })
}
