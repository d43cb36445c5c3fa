import type Anthropic from '@anthropic-ai/sdk'
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'

/** A stream of Anthropic's messages as the official client reads it. */
export function finalMessage(events: string): Promise<Anthropic.Message> {
  const data = events.split('\n').flatMap((line) => (line.startsWith('data: ') ? [`${line.slice(6)}\n`] : []))
  return MessageStream.fromReadableStream(new Blob(data).stream()).finalMessage()
}
