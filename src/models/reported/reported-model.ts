import { capabilities, type StatedCapabilities } from '../capabilities.ts'

/** What a server says about one of its models. What it does not say is missing. */
export interface Findings {
  readonly can?: StatedCapabilities
  /** The most tokens that a prompt and its reply may have together. */
  readonly context?: number | undefined
  /** The context that the model was trained for. The server may offer less. */
  readonly trainedContext?: number | undefined
  readonly maxOutputTokens?: number | undefined
  /** False: the model does something else, such as embeddings. */
  readonly writesText?: boolean | undefined
  /** The fields of requests that it takes besides the usual ones, of those that choose among tokens. */
  readonly takes?: readonly string[] | undefined
}

export interface ReportedModel extends Findings {
  /** The server's name for the model. */
  readonly id: string
}

/** Both findings: whatever one of them rules out, and the smaller of two numbers. */
export function combine(one: Findings, other: Findings): Findings {
  const can = { ...one.can }
  for (const capability of capabilities) {
    const said = other.can?.[capability]
    if (said !== undefined) can[capability] = can[capability] !== false && said
  }
  return {
    can,
    context: least(one.context, other.context),
    trainedContext: least(one.trainedContext, other.trainedContext),
    maxOutputTokens: least(one.maxOutputTokens, other.maxOutputTokens),
    writesText: one.writesText !== false && other.writesText !== false,
    takes:
      one.takes && other.takes ? one.takes.filter((field) => other.takes?.includes(field)) : (one.takes ?? other.takes),
  }
}

/** The largest context that the configuration accepts. */
const most = 100_000_000

/** The smallest number of tokens among values of any type; undefined if there is none. */
export function least(...values: readonly unknown[]): number | undefined {
  const counts = values.filter((value) => Number.isSafeInteger(value) && Number(value) > 1 && Number(value) <= most)
  return counts.length === 0 ? undefined : Math.min(...counts.map(Number))
}

/** The name of a model if it can be written to a terminal, a log and a configuration. */
export function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : undefined
}
