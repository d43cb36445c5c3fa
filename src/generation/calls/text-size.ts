import { filesOf, type Prompt } from '../../models/conversation.ts'
import { Problem } from '../../platform/problems.ts'

/**
 * Bounds what is not a file: routes that accept images and documents have a higher body limit. Throws Problem
 * `request_too_large` if the body without them exceeds `most` bytes.
 */
export function refuseLargeText(bodyBytes: number, { messages }: Prompt, most: number): void {
  if (bodyBytes <= most) return
  const ofFiles = filesOf(messages).reduce((sum, { data }) => sum + data.length, 0)
  if (bodyBytes - ofFiles <= most) return
  const what = ofFiles === 0 ? '' : ', without its images and documents,'
  throw new Problem('request_too_large', `The body${what} is larger than ${most} bytes. Send less at a time.`)
}
