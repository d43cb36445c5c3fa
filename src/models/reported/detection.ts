import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { capabilities, everyCapability, type Capability, type StatedCapabilities } from '../capabilities.ts'
import { askModels, NoModelList, type AskedServer } from './ask.ts'
import type { ReportedModel } from './reported-model.ts'

/** Finds out in the background what the models of upstreams can do. */
export interface Detection {
  /**
   * What the model can do: everything, less what one of its servers rules out. The set changes when a server has
   * answered.
   */
  of(servers: readonly AskedServer[], upstreamModel: string): ReadonlySet<Capability>
  /** Begins to ask each server for its models: once, and again later if it did not answer. */
  start(): void
  close(): Promise<void>
}

/** Milliseconds until a server that did not answer is asked again. Each attempt doubles them. */
const pauses = { first: 60_000, longest: 3_600_000 }

/** A server and the sets of its models. */
interface Watched {
  readonly server: AskedServer
  readonly sets: Map<string, Set<Capability>[]>
}

export function createDetection({ log, pause = pauses.first }: { log: Logger; pause?: number }): Detection {
  const watched = new Map<string, Watched>()
  const closing = new AbortController()
  let running: readonly Promise<void>[] = []

  async function follow({ server, sets }: Watched): Promise<void> {
    const { signal } = closing
    for (let wait = pause; ; wait = Math.min(wait * 2, pauses.longest)) {
      try {
        const models = await askModels(server, { wanted: new Set(sets.keys()), signal })
        for (const model of models) exclude(model, sets.get(model.id) ?? [])
        return
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof NoModelList)) return log.error({ err: error, url: server.url }, 'reading models failed')
        log.info({ url: server.url, reason: error.message }, 'an upstream did not report what its models can do')
        // A server without a list will not have one later.
        if (error.status === 404 || error.status === 405) return
      }
      await setTimeout(wait, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
    }
  }

  function exclude({ id, can = {} }: ReportedModel, sets: readonly Set<Capability>[]): void {
    const lacks = capabilities.filter((capability) => can[capability] === false)
    if (lacks.length === 0 || sets.length === 0) return
    for (const set of sets) narrow(set, can)
    log.info({ upstream_model: id, lacks }, 'an upstream reports that a model lacks capabilities')
  }

  return Object.freeze<Detection>({
    of(servers, upstreamModel) {
      const set = new Set(everyCapability)
      for (const server of servers) {
        const name = JSON.stringify([server.url, server.key, server.api])
        const entry: Watched = watched.get(name) ?? { server, sets: new Map() }
        entry.sets.set(upstreamModel, [...(entry.sets.get(upstreamModel) ?? []), set])
        watched.set(name, entry)
      }
      return set
    },
    start() {
      running = [...watched.values()].map(follow)
    },
    async close() {
      closing.abort()
      await Promise.all(running)
    },
  })
}

/** Removes what a server rules out. With forced tools only, that is what is left of tools. */
function narrow(set: Set<Capability>, can: StatedCapabilities): void {
  const hadTools = set.has('tools')
  for (const capability of capabilities) if (can[capability] === false) set.delete(capability)
  if (can.tools !== false) return
  if (can.forced_tools !== true) set.delete('forced_tools')
  else if (hadTools) set.add('forced_tools')
}
