import type { Logger } from 'pino'
import type { Keys } from '../accounts/keys/keys.ts'
import type { Till } from '../billing/till/till.ts'
import type { IsClient } from '../generation/calls/caller.ts'
import type { QueuedCalls } from '../generation/calls/queued-calls.ts'
import type { Generation } from '../generation/generation.ts'
import type { Config } from '../platform/config/config.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import type { Feature } from '../platform/feature.ts'
import type { Server } from '../platform/http/server.ts'
import type { Metrics } from '../platform/metrics.ts'
import { registerAnthropicBatches } from './anthropic/routes.ts'
import { createBatches } from './batches.ts'
import { registerOpenAiBatches } from './openai/routes.ts'
import { batchProgressExamples, registerBatchProgress, type BatchProgressRouteNeeds } from './progress/routes.ts'
import { startWorker } from './worker.ts'

interface OpenNeeds extends Omit<BatchProgressRouteNeeds, 'wake'> {
  readonly config: Pick<Config, 'limits'>
  readonly encryption: Encryption
  readonly generation: Generation
  readonly queuedCalls: QueuedCalls
  readonly keys: Keys
  readonly till: Till
  readonly isClient: IsClient
  readonly metrics: Pick<Metrics, 'tokensCharged'>
  readonly log: Logger
  /** What the URLs of results start with. */
  readonly baseUrl: string
}

export interface BatchesFeature extends Feature {
  /** Adds routes below /v1, where callers are known. */
  readonly calls: (v1: Server) => void
  close(this: void): Promise<void>
}

/** Bytes of a line besides the body of its request. */
const lineFrame = 4096

/** Opens batches, and begins to run those that are queued. Its server waits for the lines that are running. */
export function openBatchQueue(needs: OpenNeeds): BatchesFeature {
  const { config, metrics } = needs
  const { batch_requests, batch_bytes, batch_in_flight, batch_kept, request_bytes, file_bytes } = config.limits
  const { queuedCalls: calls } = needs
  const worker = startWorker({ ...needs, calls, parallel: batch_in_flight, onCharged: metrics.tokensCharged })
  const lineBytes = request_bytes + file_bytes + lineFrame
  const limits = { bytes: batch_bytes, lineBytes, kept: batch_kept }
  const batches = createBatches({ ...needs, calls, limits, mostLines: batch_requests, wake: worker.wake })
  return {
    calls(v1) {
      // Before the models close. What is given up was not charged.
      v1.addHook('preClose', worker.close)
      registerOpenAiBatches(v1, { ...needs, batches })
      registerAnthropicBatches(v1, { ...needs, batches, lineBytes })
    },
    routes: (server) => registerBatchProgress(server, { ...needs, wake: worker.wake }),
    examples: batchProgressExamples,
    close: worker.close,
  }
}
