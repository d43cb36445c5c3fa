import { isUtf8 } from 'node:buffer'
import { fileTypeFromBuffer } from 'file-type'

/** What no other type fits. */
const unknownType = 'application/octet-stream'

/** The bytes of a file that its type is found from. */
export const headBytes = 512 * 1024

/**
 * The media type of a file, found from its first bytes, whatever its name says: that of its signature, `text/plain` for text without one,
 * otherwise `application/octet-stream`. Text in markup is text, too: no type that a browser would run or render as a page is ever found.
 */
export async function mediaTypeOf(head: Uint8Array): Promise<string> {
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  if (found !== undefined) return runs.test(found.mime) ? unknownType : found.mime
  return head.length > 0 && isText(head) ? 'text/plain' : unknownType
}

/** Markup and scripts: XML, SVG, HTML, Flash, and programs for browsers. */
const runs = /xml(?!formats)|html|svg|script|flash|wasm/

/** A character may be cut off at the end. */
function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false
  return [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)))
}
