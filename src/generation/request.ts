import type { Prompt, RunLimits } from '../models/model.ts'

/** A request for text, whatever dialect it came in. */
export interface TextRequest {
  /** An id or an alias. */
  readonly model: string
  readonly prompt: Prompt
  /** Whether the reply is told while it is generated. */
  readonly stream: boolean
  /** Undefined where the dialect lets it be left out: then as much as the model gives. */
  readonly maxOutputTokens: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: readonly string[] | undefined
  /** The client record that the cost is attributed to. */
  readonly clientId?: string | undefined
  /** What the dialect calls these fields, for refusals. */
  readonly names: { readonly maxOutputTokens: string; readonly input: string }
}

/** The bounds and sampling parameters of the run for `request`. */
export function limitsOf(
  request: TextRequest,
  run: Required<Pick<RunLimits, 'maxOutputTokens' | 'account' | 'requestId'>>,
): RunLimits {
  const { temperature, topP, seed, stop } = request
  return { ...run, temperature, topP, seed, stop }
}
