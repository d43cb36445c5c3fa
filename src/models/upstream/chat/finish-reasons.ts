import type { StopReason } from '../../model.ts'
import type { UpstreamRun } from '../usage.ts'

/** Finish reasons in the spellings that vendors use, in lower case with underscores. */
const spellings = {
  complete:
    'stop eos eos_token end end_turn finish finished complete completed done tool tool_use tool_call tool_calls function_call pause_turn',
  max_output_tokens:
    'length max_tokens max_output_tokens max_completion_tokens max_length model_length token_limit model_context_window_exceeded insufficient_system_resource',
  stop_sequence: 'stop_sequence stop_sequences stop_string',
  content_filter:
    'content_filter content_filtered safety image_safety recitation prohibited_content blocklist spii sensitive refusal moderation blocked guardrail_intervened',
} as const satisfies Partial<Record<StopReason, string>>

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ...spellings.complete.split(' ').map((word) => [word, 'complete'] as const),
  ...spellings.max_output_tokens.split(' ').map((word) => [word, 'max_output_tokens'] as const),
  ...spellings.stop_sequence.split(' ').map((word) => [word, 'stop_sequence'] as const),
  ...spellings.content_filter.split(' ').map((word) => [word, 'content_filter'] as const),
])

/** The run that a reason is read for. */
export type FinishedRun = Pick<UpstreamRun, 'log' | 'limits'>

/** The stop reason for a finish reason. One that is not known, or is missing at the end of a reply, is `complete` and noted in the log. */
export function stopReasonFor(reason: string, { log, limits }: FinishedRun): StopReason {
  const known = stopReasons.get(reason) ?? stopReasons.get(reason.toLowerCase().replaceAll(/[^a-z]+/g, '_'))
  if (known) return known
  // Only a plain word: a server may quote the reply.
  const finish_reason = /^[\w-]{1,64}$/.test(reason) ? reason : undefined
  log.info({ request_id: limits.requestId, finish_reason }, 'a finish reason that is not known counts as complete')
  return 'complete'
}
