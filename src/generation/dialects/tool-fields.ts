import type { ReplyFormat, Verbosity } from '../../models/conversation.ts'
import { findExcess } from '../../platform/http/input/json-bytes.ts'
import { isFields, mustBe, shownName, type Fields } from './body.ts'
import { checkedText } from './messages.ts'
import { callInputForm, checkSchema, isCallInput, isToolName, mostInputLevels, toolNameForm } from './tools.ts'

/** The fields of tools, calls and formats in OpenAI's APIs. Every function throws Problem `invalid_field`. */

/** Tools that a vendor runs itself have other types. */
export function requireFunction({ type }: Fields, place: string): void {
  if (type === 'function') return
  const other = typeof type === 'string' ? `${shownName(type)} is not supported here` : 'it is the only type here'
  throw mustBe(`${place}.type`, `function: ${other}`)
}

export function readToolName(name: unknown, field: string): string {
  if (isToolName(name)) return name
  throw mustBe(field, toolNameForm)
}

export function readDescription(description: unknown, field: string): { readonly description?: string } {
  if (description === undefined) return {}
  if (typeof description !== 'string') throw mustBe(field, 'a text')
  return { description: checkedText(description, field) }
}

export function readStrict(strict: unknown, field: string): { readonly strict?: boolean } {
  if (strict === undefined) return {}
  if (typeof strict === 'boolean') return { strict }
  throw mustBe(field, 'true or false')
}

/** Undefined for what models do by themselves. */
export function readVerbosity(verbosity: unknown, field: string): Verbosity | undefined {
  if (verbosity === 'low' || verbosity === 'high') return verbosity
  if (verbosity === undefined || verbosity === 'medium') return undefined
  throw mustBe(field, 'low, medium or high')
}

/** A JSON schema to which the reply must keep, with its name. */
export function readNamedSchema({ name, description, schema, strict }: Fields, place: string): ReplyFormat {
  return {
    kind: 'schema',
    name: readToolName(name, `${place}.name`),
    schema: checkSchema(schema, `${place}.schema`),
    field: `${place}.schema`,
    ...readDescription(description, `${place}.description`),
    ...readStrict(strict, `${place}.strict`),
  }
}

/** The id of a call. Some gateways keep a whole signature of the model's reasoning in it. */
export function readId(id: unknown, field: string): string {
  if (typeof id !== 'string' || id === '' || id.length > mostIdCharacters) {
    throw mustBe(field, `an id of 1 to ${mostIdCharacters} characters`)
  }
  return checkedText(id, field)
}

const mostIdCharacters = 16_384

/** The name of the tool in an earlier call: models also make up names that no tool can have. */
export function readCalledTool(name: unknown, field: string): string {
  if (typeof name !== 'string' || name === '' || name.length > 256) throw mustBe(field, 'a name of 1 to 256 characters')
  return checkedText(name, field)
}

/** Characters up to which arguments are parsed without a look at their levels and names first. */
const longInput = 16 * 1024

/** The arguments of a call. Some models write nothing for a call without arguments. */
export function readInput(input: unknown, field: string): string {
  if (input === '') return '{}'
  if (typeof input === 'string' && isInputText(input)) return checkedText(input, field)
  throw mustBe(field, `JSON: ${callInputForm}`)
}

/** A long text is looked at before it is parsed, because that takes much longer if it is made for it. */
function isInputText(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false
  const isLong = text.length > longInput
  if (isLong && findExcess(Buffer.from(text), mostInputLevels)) return false
  try {
    const input: unknown = JSON.parse(text)
    return isLong ? isFields(input) : isCallInput(input)
  } catch {
    return false
  }
}
