import { isUtf8 } from 'node:buffer'
import { fileTypeFromBuffer } from 'file-type'

/** The type of a file that no other type fits. */
const unknownType = 'application/octet-stream'

/** How many of the first bytes of a file its type is found from. */
export const headBytes = 512 * 1024

/**
 * The media type of a file, found from its first bytes, not from its name: that of its signature, `text/plain` for text without one,
 * otherwise `application/octet-stream`. Never the type of markup or of a script, which a browser would run: those are text, too.
 */
export async function mediaTypeOf(head: Uint8Array): Promise<string> {
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  if (found !== undefined) return runs.test(found.mime) ? unknownType : found.mime
  return head.length > 0 && isText(head) ? 'text/plain' : unknownType
}

/** Markup and scripts: XML, SVG, HTML, Flash, and programs for browsers. */
const runs = /xml(?!formats)|html|svg|script|flash|wasm/

/** The last character may be cut off. */
function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false
  return [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)))
}
