import { join } from 'node:path'
import type { Row } from './row.ts'
import type { StreamResult } from './stream-load.ts'
import { openStreamStage, prompt, type StreamRequest, type StreamStage } from './stream-stage.ts'
import { proveBooks } from './tollgate.ts'

const rounds = 5
const load = { tokens: 10, perSecond: 100, seconds: 5 }

const messages = [{ role: 'user', content: prompt }]
const parameters = { type: 'object', properties: { text: { type: 'string' } } }

/** A call whose arguments have so many pieces. */
function replyOf(pieces: number): ReturnType<StreamRequest['replyOf']> {
  const more = Array.from({ length: pieces - 1 }, (_, index) => (index === pieces - 2 ? '"}' : ' word'))
  const all = pieces === 1 ? ['{"text":"word"}'] : ['{"text":"word', ...more]
  return { calls: [{ id: 'call_1', name: 'rewrite', input: all.join(''), pieces: all }] }
}

const chat: StreamRequest = {
  path: '/v1/chat/completions',
  fields: { messages, tools: [{ type: 'function', function: { name: 'rewrite', parameters } }] },
  replyOf,
}
const anthropic: StreamRequest = {
  path: '/v1/messages',
  fields: { messages, tools: [{ name: 'rewrite', input_schema: parameters }] },
  replyOf,
}

/** One round: the upstream itself, and the bare proxy and Tollgate in front of it. */
type Round = Readonly<Record<'direct' | 'bare' | 'chat' | 'messages', StreamResult>>

/**
 * The time that Tollgate adds to the first byte of a call's arguments, in chat completions and in messages, both in front of
 * an upstream of chat completions. Throws if a stream is incomplete, if the ledger does not match, or if `verify` finds a fault.
 */
export async function benchTools(): Promise<Row[]> {
  const stage = await openStreamStage(join(import.meta.dirname, 'data/tools'))
  try {
    const played = await playRounds(stage)
    await stage.peers.tollgate.process.stop()
    await proveBooks(stage.installation, stage.served)
    return rowsOf(played)
  } finally {
    await stage.close()
  }
}

async function playRounds({ play }: StreamStage): Promise<readonly Round[]> {
  for (const request of [chat, anthropic]) await play('tollgate', { tokens: 10, connections: 32, seconds: 6 }, request)
  const played: Round[] = []
  for (let round = 0; round < rounds; round++) {
    played.push({
      direct: await play('direct', load, chat),
      chat: await play('tollgate', load, chat),
      // In between, because Tollgate returns an account's allowance after ten seconds without a request.
      bare: await play('bare', load, chat),
      messages: await play('tollgate', load, anthropic),
    })
  }
  return played
}

/** 100 streams a second begin at random moments. The stand-in answers without delay. */
function rowsOf(played: readonly Round[]): Row[] {
  const at = `the first byte of a call's arguments at ${load.perSecond} requests/s`
  const added = (['p50', 'p99'] as const).flatMap((quantile): Row[] => [
    {
      name: `direct: ${quantile} to ${at}`,
      unit: 'ms',
      samples: played.map(({ direct }) => direct.firstText[quantile]),
    },
    ...(['bare', 'chat', 'messages'] as const).map((subject) => ({
      name: `${nameOf(subject)}: added to ${quantile} of ${at}`,
      unit: 'ms',
      samples: played.map((round) => addedTo(round, subject, quantile)),
    })),
  ])
  const compared = (['chat', 'messages'] as const).map((subject): Row => ({
    name: `${nameOf(subject)} ÷ bare: added to p50 of ${at}`,
    unit: '×',
    samples: played.map((round) => addedTo(round, subject, 'p50') / addedTo(round, 'bare', 'p50')),
    goal: { atMost: 2.5 },
  }))
  return [...added, ...compared]
}

const nameOf = (subject: 'bare' | 'chat' | 'messages') => (subject === 'bare' ? subject : `tollgate, ${subject}`)

/** In ms. */
const addedTo = (round: Round, subject: 'bare' | 'chat' | 'messages', quantile: 'p50' | 'p99') =>
  round[subject].firstText[quantile] - round.direct.firstText[quantile]
