import { Type, type TArray, type TObject, type TRecord, type TSchema, type TUnion } from 'typebox'
import { Value } from 'typebox/value'
import { closest } from '../closest.ts'

/** Something wrong in the configuration: where, and what would be right. */
export interface Fault {
  readonly path: string
  readonly message: string
}

/** Reports an error of the configuration, with its path in the file. */
export type ReportFault = (this: void, path: string, message: string) => void

/**
 * What one part of the program demands of settings beyond their schema. A rule gets the settings as they stand in the
 * file and skips those that are invalid, so that all errors are reported together.
 */
export type Rule = (settings: unknown, fault: ReportFault) => void

/** What reading the file needs: the variables for `${NAME}`, and where errors are reported. */
export interface Reading {
  readonly environment: Readonly<Record<string, string | undefined>>
  fault(this: void, path: string, message: string): undefined
}

/**
 * The value as the schema wants it, with defaults filled in and `${NAME}` replaced. What is at fault is reported and
 * left out, so that the rest is still read and every fault is found in one go. Values keep the form that they have in
 * the file; `Value.Decode` is for when there are no faults.
 */
export function readValue(schema: TSchema, value: unknown, path: string, reading: Reading): unknown {
  if (value === null) return reading.fault(path, 'is empty: give it a value or remove it')
  const whole = typeof value === 'string' ? replaceVariables(value, path, reading) : value
  if (whole === undefined) return undefined
  if (Type.IsUnion(schema)) return readVariant(schema, whole, path, reading)
  if (Type.IsObject(schema)) return readObject(schema, whole, path, reading)
  if (Type.IsRecord(schema)) return readRecord(schema, whole, path, reading)
  if (Type.IsArray(schema)) return readArray(schema, whole, path, reading)
  return readLeaf(schema, whole, path, reading)
}

/** What a value must be, for the sentence "must be …". */
export function expectationOf(schema: TSchema): string {
  if (Type.IsUnion(schema)) return `one of ${schema.anyOf.map(engineOf).join(', ')}`
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(', ')}`
  if (Type.IsLiteral(schema)) return String(schema.const)
  if (Type.IsBoolean(schema)) return 'true or false'
  if (Type.IsInteger(schema))
    return `a whole number from ${Number(annotation(schema, 'minimum'))} to ${Number(annotation(schema, 'maximum'))}`
  if (Type.IsArray(schema)) return 'a list'
  const expects = annotation(schema, 'expects')
  return typeof expects === 'string' ? expects : 'a group of settings'
}

/** A keyword of the schema, such as `description`. */
export function annotation(schema: TSchema, name: string): unknown {
  return Reflect.get(schema, name)
}

/** The value of `engine` that chooses this variant of a model. */
export function engineOf(variant: TSchema): string {
  const engine = Type.IsObject(variant) ? variant.properties['engine'] : undefined
  return engine !== undefined && Type.IsLiteral(engine) ? String(engine.const) : ''
}

function readObject(schema: TObject, value: unknown, path: string, reading: Reading): unknown {
  if (!isGroup(value)) return reading.fault(path, `must be ${expectationOf(schema)}`)
  const names = Object.keys(schema.properties)
  for (const name of Object.keys(value).filter((key) => !names.includes(key))) {
    const near = closest(name, names)
    reading.fault(join(path, name), `is not a setting${near === undefined ? '' : `; did you mean ${near}?`}`)
  }
  return readProperties(Object.entries(schema.properties), value, path, reading)
}

function readProperties(properties: [string, TSchema][], value: Group, path: string, reading: Reading): Group {
  return Object.fromEntries(
    properties.flatMap(([name, inner]) => {
      const written = Object.hasOwn(value, name) ? value[name] : annotation(inner, 'default')
      if (written === undefined && !Type.IsOptional(inner)) {
        reading.fault(join(path, name), `is missing: it must be ${expectationOf(inner)}`)
      }
      const read = written === undefined ? undefined : readValue(inner, written, join(path, name), reading)
      return read === undefined ? [] : [[name, read]]
    }),
  )
}

/** Without a good `engine`, only what every variant has can be checked. */
function readVariant(schema: TUnion, value: unknown, path: string, reading: Reading): unknown {
  if (!isGroup(value)) return reading.fault(path, 'must be a group of settings')
  const variants = schema.anyOf.filter(Type.IsObject)
  const engine = value['engine']
  const chosen = variants.find((variant) => engineOf(variant) === engine)
  if (chosen !== undefined) return readObject(chosen, value, path, reading)
  const near = typeof engine === 'string' ? closest(engine, variants.map(engineOf)) : undefined
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  const missing = engine === undefined ? 'is missing: it ' : ''
  reading.fault(join(path, 'engine'), `${missing}must be ${expectationOf(schema)}${hint}`)
  const everywhere = Object.entries(variants[0]?.properties ?? {}).filter(
    ([name]) => name !== 'engine' && variants.every(({ properties }) => Object.hasOwn(properties, name)),
  )
  return readProperties(everywhere, value, path, reading)
}

function readRecord(schema: TRecord, value: unknown, path: string, reading: Reading): unknown {
  if (!isGroup(value)) return reading.fault(path, `must be ${expectationOf(schema)}`)
  const inner = Type.RecordValue(schema)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, written]) => {
      const read = readValue(inner, written, join(path, name), reading)
      return read === undefined ? [] : [[name, read]]
    }),
  )
}

/** Keeps the places of the entries: one at fault leaves `undefined` behind. */
function readArray(schema: TArray, value: unknown, path: string, reading: Reading): unknown {
  if (!Array.isArray(value)) return reading.fault(path, `must be ${expectationOf(schema)}`)
  const least = Number(annotation(schema, 'minItems') ?? 0)
  if (value.length < least) return reading.fault(path, 'must have at least one entry')
  return value.map((entry, index) => readValue(schema.items, entry, `${path}[${index}]`, reading))
}

function readLeaf(schema: TSchema, value: unknown, path: string, reading: Reading): unknown {
  if (!Value.Check(schema, value)) return reading.fault(path, `must be ${expectationOf(schema)}`)
  try {
    Value.Decode(schema, value)
    return value
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return reading.fault(path, error.message)
  }
}

/** Secrets stay out of the file: `${NAME}` stands for a variable. What it held is not looked at again. */
function replaceVariables(text: string, path: string, { environment, fault }: Reading): string | undefined {
  let complete = true
  const replaced = text.replace(/\$\{([^}]*)\}?/g, (whole, name: string) => {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    if (value !== undefined && value !== '') return value
    complete = false
    const named = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && whole.endsWith('}')
    const state = value === '' ? 'is empty' : 'is not set'
    fault(
      path,
      named ? `names the environment variable ${name}, which ${state}` : 'has a ${ that is not of the form ${NAME}',
    )
    return ''
  })
  return complete ? replaced : undefined
}

/** `models[0].price.input`; a name with other characters than a setting's is quoted. */
export function join(path: string, name: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

type Group = Record<string, unknown>

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
