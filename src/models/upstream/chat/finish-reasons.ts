import type { StopReason } from '../../model.ts'
import type { Vendor } from '../../vendors/vendor.ts'
import { vendors } from '../../vendors/vendors.ts'
import type { UpstreamRun } from '../usage.ts'

/** Finish reasons as OpenAI and many servers spell them, in lower case with underscores. */
const common: Vendor['finishReasons'] = {
  complete: words(
    'stop eos eos_token end finish finished complete completed done tool tool_call tool_calls function_call',
  ),
  max_output_tokens: words('length max_output_tokens max_completion_tokens max_length token_limit'),
  stop_sequence: words('stop_sequences stop_string'),
  content_filter: words('content_filter moderation blocked'),
}

function words(text: string): readonly string[] {
  return text.split(' ')
}

const spelled = ['complete', 'max_output_tokens', 'stop_sequence', 'content_filter'] as const

const stopReasons: ReadonlyMap<string, StopReason> = new Map(
  [common, ...vendors.map(({ finishReasons = {} }) => finishReasons)].flatMap((spellings) =>
    spelled.flatMap((stop) => (spellings[stop] ?? []).map((word) => [word, stop] as const)),
  ),
)

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
