import { isUtf8 } from 'node:buffer'
import type { LineFault } from '../../platform/text/csv-records.ts'
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
    document = parseWithTexts(new TextDecoder().decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const [, line = '1'] = /\(line (\d+)/.exec(error.message) ?? []
    return [{ line: Number(line), reason: 'this is not JSON' }]
  }
  return (
    readLiteLlmList(document) ??
    readOpenRouterList(document) ?? [
      { line: 1, reason: "this is neither LiteLLM's list nor OpenRouter's: no entry has a price where theirs have it" },
    ]
  )
}

/** Each number becomes its text in the document: as a float it could become another number. */
function parseWithTexts(text: string): unknown {
  return JSON.parse(text, (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? context?.source : value,
  )
}
