import type { Caller } from '../accounts/keys/keys.ts'
import { checkAttribution, type IsClient } from '../generation/calls/caller.ts'
import type { QueuedCalls, QueuedUrl } from '../generation/calls/queued-calls.ts'
import type { Generation } from '../generation/generation.ts'
import { pace } from '../platform/flow/pace.ts'
import { Problem } from '../platform/problems.ts'
import type { BatchDialect, BatchFault } from './batch.ts'
import { lineForms, readLine, type NumberedLine } from './lines.ts'

export interface LineCheckNeeds {
  readonly generation: Pick<Generation, 'check'>
  readonly calls: Pick<QueuedCalls, 'read'>
  readonly isClient: IsClient
  /** The most lines of a batch. */
  readonly mostLines: number
}

/** Whose lines are checked, and what they must be. */
export interface CheckedBatch {
  readonly caller: Caller
  readonly dialect: BatchDialect
  readonly endpoint: QueuedUrl
}

/** The most faults that are named. */
const mostFaults = 100

/** Checks the lines of a batch one after the other, as far as that is possible before they are counted. */
export interface LineChecks {
  /** Checks the next line. Resolves with the client that it names, if it is not at fault. */
  add(line: NumberedLine): Promise<string | null>
  /** Whether more lines would add nothing. */
  readonly isDone: boolean
  readonly faults: readonly BatchFault[]
}

export function createLineChecks(needs: LineCheckNeeds, batch: CheckedBatch): LineChecks {
  const { generation, calls, isClient, mostLines } = needs
  const { caller, dialect, endpoint } = batch
  const { noun, bodyField } = lineForms[dialect]
  const linesByCustomId = new Map<string, number>()
  const knownClients = new Set<string>()
  const faults: BatchFault[] = []
  let count = 0
  let isTooLong = false

  /** Throws a Problem of the line. */
  function readHead({ number, bytes }: NumberedLine) {
    const line = readLine(dialect, bytes)
    const first = linesByCustomId.get(line.customId)
    if (first !== undefined) {
      const reason = `${named(dialect, first)} has the same custom_id. Give each ${noun} a different one.`
      throw new Problem('invalid_field', reason, { field: 'custom_id' })
    }
    linesByCustomId.set(line.customId, number)
    if (line.url !== endpoint) {
      throw new Problem('invalid_field', `The field url must be ${endpoint}, the endpoint of the batch.`, {
        field: 'url',
      })
    }
    return line
  }

  /** Throws a Problem of the body. */
  async function checkBody(body: unknown, bytes: number): Promise<string | null> {
    const { request } = calls.read(endpoint, body, bytes)
    generation.check({ request, allowedModels: caller.allowedModels })
    const { clientId } = request
    if (clientId === undefined) return null
    if (!knownClients.has(clientId)) await checkAttribution(caller, clientId, isClient)
    knownClients.add(clientId)
    return clientId
  }

  function note(number: number, error: unknown, inBody: boolean): null {
    if (!(error instanceof Problem) || error.code === 'unavailable') throw error
    const { code, message: reason, details } = error
    const field = inBody ? [bodyField, details.field].filter((name) => name !== undefined).join('.') : details.field
    faults.push({ code, line: number, field: field ?? null, reason })
    return null
  }

  return {
    faults,
    get isDone() {
      return isTooLong || faults.length >= mostFaults
    },
    async add(line) {
      await pace()
      count += 1
      const { number } = line
      if (count > mostLines) {
        isTooLong = true
        const reason = `A batch has at most ${mostLines} requests. Send the rest as another batch.`
        faults.push({ code: 'request_too_large', line: number, field: null, reason })
        return null
      }
      let body: unknown
      try {
        ;({ body } = readHead(line))
      } catch (error) {
        return note(number, error, false)
      }
      return checkBody(body, line.bytes.length).catch((error: unknown) => note(number, error, true))
    },
  }
}

/** A fault as a sentence that names its line. */
export const lineFaultText = (dialect: BatchDialect, { line, reason }: BatchFault): string =>
  line === null ? reason : `${named(dialect, line)}: ${reason}`

/** A line, as the beginning of a sentence. */
const named = (dialect: BatchDialect, line: number): string =>
  `${lineForms[dialect].noun === 'line' ? 'Line' : 'Request'} ${line}`
