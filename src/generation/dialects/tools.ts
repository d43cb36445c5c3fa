import { createCallIds } from '../../models/call-ids.ts'
import type { CallPart, Message, Part, ResultPart, Tool, ToolChoice } from '../../models/conversation.ts'
import { isFields, mustBe, type Fields } from './body.ts'

/** Checks of tools, schemas and calls, the same in all dialects. Each throws Problem `invalid_field`. */
const mostTools = 128
const toolName = /^[A-Za-z0-9_-]{1,64}$/
const mostSchemaBytes = 64 * 1024
const mostSchemaLevels = 32
/** The most levels of a call's arguments. */
export const mostInputLevels = 128

export const isToolName = (name: unknown): name is string => typeof name === 'string' && toolName.test(name)
export const toolNameForm = '1 to 64 letters, digits, "_" or "-"'

/** The list of tools, which are still to be read: none if it is undefined. Refuses too many. */
export function listOfTools(tools: unknown = []): readonly unknown[] {
  if (!Array.isArray(tools)) throw mustBe('tools', 'a list of tools')
  if (tools.length > mostTools) throw mustBe('tools', `a list of at most ${mostTools} tools`)
  return tools
}

/** Refuses names that are malformed or occur twice. `field` is the object that has the tool's name. */
export function checkTools(tools: readonly Tool[], field: (index: number) => string): void {
  const names = new Set<string>()
  for (const [index, { name }] of tools.entries()) {
    if (!isToolName(name)) throw mustBe(`${field(index)}.name`, toolNameForm)
    if (names.has(name)) throw mustBe(`${field(index)}.name`, 'a name that no other tool has')
    names.add(name)
  }
}

/** Refuses a choice that no tool can satisfy. `field` is the name of the chosen tool. */
export function checkToolChoice(choice: ToolChoice | undefined, tools: readonly Tool[], field: string): void {
  if (choice === 'required' && tools.length === 0) throw mustBe('tool_choice', 'auto or none if there are no tools')
  if (typeof choice !== 'object' || tools.some(({ name }) => name === choice.tool)) return
  throw mustBe(field, 'the name of one of the tools')
}

/** Returns the schema of a tool's arguments: an object, as `checkSchema` accepts it, of type `object`. */
export function checkParameters(schema: unknown, field: string): Fields {
  const checked = checkSchema(schema, field)
  if (checked['type'] !== 'object') throw mustBe(field, 'a JSON schema of type object')
  return checked
}

/** Returns a JSON schema whose size is bounded, and whose references stay within it and do not lead back to themselves. */
export function checkSchema(schema: unknown, field: string): Fields {
  if (!isFields(schema)) throw mustBe(field, 'a JSON schema: an object')
  // Before it is serialized: that recurses without a bound.
  if (!isWithinLevels(schema, mostSchemaLevels)) {
    throw mustBe(field, `a JSON schema of at most ${mostSchemaLevels} levels`)
  }
  const text = JSON.stringify(schema)
  if (Buffer.byteLength(text) > mostSchemaBytes) {
    throw mustBe(field, `a JSON schema of at most ${mostSchemaBytes / 1024} KiB`)
  }
  // Following them takes several times as long as writing the schema, and most have none.
  if (references.some((name) => text.includes(`"${name}":`))) checkReferences(schema, field)
  return schema
}

/** Whether a value can be the arguments of a call: an object shallow enough for `JSON.stringify`, which recurses. */
export const isCallInput = (value: unknown): value is Fields =>
  isFields(value) && isWithinLevels(value, mostInputLevels)
export const callInputForm = `an object of at most ${mostInputLevels} levels`

/** Whether objects and lists are nested at most this deep. */
export function isWithinLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return values.every((each) => isWithinLevels(each, levels - 1))
}

/** JSON is a tree, so an object is reached again only through a reference: from within itself if that is a recursion. */
function checkReferences(schema: Fields, field: string): void {
  const entered = new Set<object>()
  const left = new Set<object>()
  const targets = new Map<string, object>()

  function enter(value: unknown): void {
    if (typeof value !== 'object' || value === null || left.has(value)) return
    if (entered.has(value)) throw mustBe(field, 'a JSON schema without recursion')
    entered.add(value)
    for (const name of Object.keys(value)) {
      const each: unknown = Reflect.get(value, name)
      enter(isReference(name, each) ? targetOf(each) : each)
    }
    left.add(value)
  }

  function targetOf(reference: string): object {
    const target = targets.get(reference) ?? valueAt(schema, reference)
    if (typeof target === 'object' && target !== null) {
      targets.set(reference, target)
      return target
    }
    throw mustBe(field, 'a JSON schema whose references are JSON pointers into it, such as #/$defs/name')
  }

  enter(schema)
}

const references: readonly string[] = ['$ref', '$dynamicRef', '$recursiveRef']
const isReference = (name: string, value: unknown): value is string =>
  references.includes(name) && typeof value === 'string'

/** The value at a JSON pointer in a URI fragment (RFC 6901, section 6). */
function valueAt(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map(decoded)
    .reduce(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? Reflect.get(value, name)
          : undefined,
      root,
    )
}

function decoded(name: string): string {
  if (!/[%~]/.test(name)) return name
  try {
    return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return name
  }
}

/**
 * Pairs the results of a conversation with its calls, and returns it with ids that occur once. Each result belongs to the first call
 * with its id that has none yet, in an earlier turn of the assistant, and each call has its result before the user says anything else.
 * `fieldOf` is the id of a call, or that of its call in a result.
 */
export function pairResults(
  messages: readonly Message[],
  fieldOf: (part: CallPart | ResultPart) => string,
): readonly Message[] {
  if (messages.every(({ parts }) => parts === undefined)) return messages
  const ids = createCallIds()
  /** The calls without a result, by the id that the caller sent. */
  const open = new Map<string, OpenCall[]>()

  function pair(part: Part): Part {
    if (part.kind === 'call') {
      const id = ids.add(part.id)
      const others = open.get(part.id)
      if (others) others.push({ call: part, id })
      else open.set(part.id, [{ call: part, id }])
      return id === part.id ? part : { ...part, id }
    }
    if (part.kind !== 'result') return part
    const waiting = open.get(part.callId)
    const called = waiting?.shift()
    if (!called) throw mustBe(fieldOf(part), 'the id of an earlier call that has no other result')
    if (waiting?.length === 0) open.delete(part.callId)
    return called.id === part.callId ? part : { ...part, callId: called.id }
  }

  return messages.map((message, place) => {
    const parts = message.parts?.map(pair)
    const isReply = message.role === 'user' && !message.parts?.every(({ kind }) => kind === 'result')
    const [unanswered] = isReply || place === messages.length - 1 ? open.values() : []
    if (unanswered?.[0]) throw mustBe(fieldOf(unanswered[0].call), 'answered by a result in the next turn')
    return message.parts && parts?.some((part, index) => part !== message.parts[index])
      ? { ...message, parts }
      : message
  })
}

interface OpenCall {
  readonly call: CallPart
  /** Unique in the conversation. */
  readonly id: string
}
