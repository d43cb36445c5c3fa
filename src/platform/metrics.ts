import { createHash, timingSafeEqual } from 'node:crypto'
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { bearerOf } from './http/input/headers.ts'
import type { RequestEnd } from './http/log.ts'
import type { Server } from './http/server.ts'
import { Problem } from './problems.ts'

/**
 * The metrics of the service, in the Prometheus format. Labels are route patterns, methods, statuses, error codes and ids
 * of configured models: never values that a caller can make up.
 */
export interface Metrics {
  requestEnded(this: void, end: RequestEnd): void
  tokensCharged(this: void, model: string, usage: TokenUsage): void
  /** Adds a gauge whose value is read at every scrape. */
  watch(this: void, name: string, help: string, read: () => number): void
  /** The same with one value per model. */
  watchModels(this: void, name: string, help: string, read: () => Readonly<Record<string, number | boolean>>): void
  text(this: void): Promise<string>
}

interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

export function createMetrics(): Metrics {
  const registry = new Registry()
  AggregatorRegistry.setRegistries(registry)
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  // Gauges with the suffix of counters, which Prometheus' linter refuses. The same by type have none.
  for (const kind of ['resources', 'handles', 'requests']) registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  const requests = new Histogram({
    name: 'tollgate_request_seconds',
    help: 'Requests that have ended, by status (499: the caller disconnected) and error code, and how long they took.',
    labelNames: ['method', 'route', 'status', 'code'],
    buckets: seconds,
    registers,
  })
  // Summed here and copied at every scrape: a counter's label lookup costs more than the rest of a charge.
  const charged = new Map<string, { input: number; output: number }>()
  const tokens: Counter = new Counter({
    name: 'tollgate_tokens_total',
    help: 'Tokens charged.',
    labelNames: ['model', 'direction'],
    registers,
    collect() {
      tokens.reset()
      for (const [model, { input, output }] of charged) {
        tokens.inc({ model, direction: 'input' }, input)
        tokens.inc({ model, direction: 'output' }, output)
      }
    },
  })

  return Object.freeze<Metrics>({
    requestEnded({ method, route, status, code, milliseconds }) {
      requests.observe({ method, route, status, code: code ?? 'none' }, milliseconds / 1000)
    },
    tokensCharged(model, { inputTokens, outputTokens, cachedTokens, cacheWriteTokens }) {
      const sum = charged.get(model) ?? { input: 0, output: 0 }
      sum.input += inputTokens + cachedTokens + cacheWriteTokens
      sum.output += outputTokens
      charged.set(model, sum)
    },
    watch(name, help, read) {
      const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) })
    },
    watchModels(name, help, read) {
      const collect = () => Object.entries(read()).forEach(([model, value]) => gauge.set({ model }, Number(value)))
      const gauge = new Gauge({ name, help, labelNames: ['model'], registers, collect, aggregator: 'min' })
    },
    text: () => registry.metrics(),
  })
}

/** In a worker process: lets the collecting process read this worker's metrics. */
export function answerMetricsRequests(): void {
  void new AggregatorRegistry()
}

/** In the process that started the workers: sums the metrics of all. A model is ready only if it is in every worker. */
export function collectClusterMetrics(): () => Promise<string> {
  const aggregator = new AggregatorRegistry()
  return () => aggregator.clusterMetrics()
}

/** Serves `/metrics` to requests with `Authorization: Bearer <token>`. Without a configured token there is no route. */
export function registerMetrics(server: Server, text: () => Promise<string>, token: string | undefined): void {
  server.jsonOnlyUrls.add('/metrics')
  if (token === undefined) return
  const expected = digest(token)
  server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    const given = bearerOf(request.headers.authorization)
    if (given === undefined) {
      throw new Problem('missing_key', 'Send the metrics token in the header "Authorization: Bearer …".')
    }
    if (!timingSafeEqual(digest(given), expected)) throw new Problem('invalid_key', 'This is not the metrics token.')
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await text())
  })
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
