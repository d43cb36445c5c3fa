import { isUtf8 } from 'node:buffer'
import type { LineFault } from '../../platform/text/csv-records.ts'
import { lineOfSyntaxError, parseNumbersAsText } from '../../platform/text/number-texts.ts'
import { readLiteLlmList } from './litellm.ts'
import type { PriceList } from './list-entry.ts'
import { readOpenRouterList } from './openrouter.ts'
import { readPlainList } from './plain.ts'

export type { PriceList } from './list-entry.ts'

/** Reads a price list in one of the formats that this version knows, exactly. Returns what is wrong if it cannot. */
export function readPriceList(bytes: Uint8Array): PriceList | LineFault[] {
  const start = /^\s*[[{]/.test(new TextDecoder().decode(bytes.subarray(0, 1000)))
  if (!start) return readPlainList(bytes)
  if (!isUtf8(bytes)) return [{ line: 1, reason: 'this is not UTF-8' }]
  let document: unknown
  try {
    document = parseNumbersAsText(new TextDecoder().decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [{ line: lineOfSyntaxError(error), reason: 'this is not JSON' }]
  }
  return (
    readLiteLlmList(document) ??
    readOpenRouterList(document) ?? [
      { line: 1, reason: "this is neither LiteLLM's list nor OpenRouter's: no entry has a price where theirs have it" },
    ]
  )
}
