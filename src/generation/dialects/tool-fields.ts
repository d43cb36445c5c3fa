import type { ReplyFormat } from '../../models/conversation.ts'
import { mustBe, shownName, type Fields } from './body.ts'
import { checkedText } from './messages.ts'
import { callInputForm, checkSchema, isCallInput, isToolName, toolNameForm } from './tools.ts'

/** The fields of tools, calls and formats in OpenAI's APIs. Every function throws Problem `invalid_field`. */

/** Tools that a vendor runs itself, and tools whose input is not JSON, have other types. */
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

/** The id of a call. */
export function readId(id: unknown, field: string): string {
  if (typeof id !== 'string' || id === '' || id.length > 256) throw mustBe(field, 'an id of 1 to 256 characters')
  return checkedText(id, field)
}

/** The arguments of a call. Some models write nothing for a call without arguments. */
export function readInput(input: unknown, field: string): string {
  if (input === '') return '{}'
  if (typeof input === 'string' && isInputText(input)) return checkedText(input, field)
  throw mustBe(field, `JSON: ${callInputForm}`)
}

function isInputText(text: string): boolean {
  try {
    return isCallInput(JSON.parse(text))
  } catch {
    return false
  }
}
