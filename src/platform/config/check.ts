import { Type, type TArray, type TObject, type TRecord, type TSchema, type TUnion } from 'typebox'
import { Value } from 'typebox/value'
import { closest } from '../text/closest.ts'

/** An error in the configuration: its path, and what is expected. */
export interface ConfigError {
  readonly path: string
  readonly message: string
}

export type ReportConfigError = (this: void, path: string, message: string) => void

/**
 * Checks settings beyond their schema. A rule gets the settings as written in the file and skips invalid ones, so that all
 * errors are reported together.
 */
export type ConfigRule = (settings: unknown, report: ReportConfigError) => void

/** The variables for `${NAME}`, and the function that collects errors. */
export interface ReadContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  report(this: void, path: string, message: string): undefined
}

/**
 * Validates a value, fills in defaults and replaces `${NAME}`. Invalid parts are reported and left out, so that all errors
 * are found at once. Values keep the format of the file; if there are no errors, `Value.Decode` converts them.
 */
export function readValue(schema: TSchema, value: unknown, path: string, context: ReadContext): unknown {
  if (value === null) return context.report(path, 'is empty: give it a value or remove it')
  const whole = typeof value === 'string' ? replaceVariables(value, path, context) : value
  if (whole === undefined) return undefined
  if (Type.IsUnion(schema)) return readVariant(schema, whole, path, context)
  if (Type.IsObject(schema)) return readObject(schema, whole, path, context)
  if (Type.IsRecord(schema)) return readRecord(schema, whole, path, context)
  if (Type.IsArray(schema)) return readArray(schema, whole, path, context)
  return readLeaf(schema, whole, path, context)
}

/** Completes the sentence "must be …". */
export function expectationOf(schema: TSchema): string {
  if (Type.IsUnion(schema)) return `one of ${[...new Set(schema.anyOf.map(engineOf))].join(', ')}`
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
export const engineOf = (variant: TSchema): string => literalOf(variant, 'engine') ?? ''

/** The value of `kind` that chooses this variant of a model, if its engine runs several kinds. */
export const kindOf = (variant: TSchema): string | undefined => literalOf(variant, 'kind')

function literalOf(variant: TSchema, name: string): string | undefined {
  const schema = Type.IsObject(variant) ? variant.properties[name] : undefined
  return schema !== undefined && Type.IsLiteral(schema) ? String(schema.const) : undefined
}

function readObject(schema: TObject, value: unknown, path: string, context: ReadContext): unknown {
  if (!isGroup(value)) return context.report(path, `must be ${expectationOf(schema)}`)
  const names = Object.keys(schema.properties)
  for (const name of Object.keys(value).filter((key) => !names.includes(key))) {
    const near = closest(name, names)
    context.report(join(path, name), `is not a setting${near === undefined ? '' : `; did you mean ${near}?`}`)
  }
  return readProperties(Object.entries(schema.properties), value, path, context)
}

function readProperties(properties: [string, TSchema][], value: Group, path: string, context: ReadContext): Group {
  return Object.fromEntries(
    properties.flatMap(([name, inner]) => {
      const written = Object.hasOwn(value, name) ? value[name] : annotation(inner, 'default')
      if (written === undefined && !Type.IsOptional(inner)) {
        context.report(join(path, name), `is missing: it must be ${expectationOf(inner)}`)
      }
      const read = written === undefined ? undefined : readValue(inner, written, join(path, name), context)
      return read === undefined ? [] : [[name, read]]
    }),
  )
}

/** Without a valid `engine` and `kind`, only the settings that all variants share can be checked. */
function readVariant(schema: TUnion, value: unknown, path: string, context: ReadContext): unknown {
  if (!isGroup(value)) return context.report(path, 'must be a group of settings')
  const { engine, kind = 'text' } = value
  const variants = schema.anyOf.filter(Type.IsObject)
  const ofKind = variants.filter((variant) => (kindOf(variant) ?? 'text') === kind)
  const ofEngine = variants.filter((variant) => engineOf(variant) === engine)
  const chosen = ofEngine.length > 1 ? ofEngine.find((variant) => ofKind.includes(variant)) : ofEngine[0]
  if (chosen !== undefined) return readObject(chosen, value, path, context)
  if (ofEngine.length > 0) {
    const kinds = ofEngine.flatMap((variant) => kindOf(variant) ?? [])
    context.report(join(path, 'kind'), `must be one of ${kinds.join(', ')}${hintFor(kind, kinds)}`)
    return readShared(ofEngine, value, path, context)
  }
  const missing = engine === undefined ? 'is missing: it ' : ''
  const hint = hintFor(engine, variants.map(engineOf))
  context.report(join(path, 'engine'), `${missing}must be ${expectationOf(schema)}${hint}`)
  return readShared(ofKind.length > 0 ? ofKind : variants, value, path, context)
}

function hintFor(written: unknown, names: readonly string[]): string {
  const near = typeof written === 'string' ? closest(written, names) : undefined
  return near === undefined ? '' : `; did you mean ${near}?`
}

function readShared(variants: readonly TObject[], value: Group, path: string, context: ReadContext): Group {
  const everywhere = Object.entries(variants[0]?.properties ?? {}).filter(
    ([name]) =>
      name !== 'engine' && name !== 'kind' && variants.every(({ properties }) => Object.hasOwn(properties, name)),
  )
  return readProperties(everywhere, value, path, context)
}

function readRecord(schema: TRecord, value: unknown, path: string, context: ReadContext): unknown {
  if (!isGroup(value)) return context.report(path, `must be ${expectationOf(schema)}`)
  const inner = Type.RecordValue(schema)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, written]) => {
      const read = readValue(inner, written, join(path, name), context)
      return read === undefined ? [] : [[name, read]]
    }),
  )
}

/** Invalid entries become `undefined`, so that the others keep their index. */
function readArray(schema: TArray, value: unknown, path: string, context: ReadContext): unknown {
  if (!Array.isArray(value)) return context.report(path, `must be ${expectationOf(schema)}`)
  const least = Number(annotation(schema, 'minItems') ?? 0)
  if (value.length < least) return context.report(path, 'must have at least one entry')
  return value.map((entry, index) => readValue(schema.items, entry, `${path}[${index}]`, context))
}

function readLeaf(schema: TSchema, value: unknown, path: string, context: ReadContext): unknown {
  if (!Value.Check(schema, value)) return context.report(path, `must be ${expectationOf(schema)}`)
  try {
    Value.Decode(schema, value)
    return value
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return context.report(path, error.message)
  }
}

/** Replaces `${NAME}` by the environment variable. Its value is not expanded again. */
function replaceVariables(text: string, path: string, { environment, report }: ReadContext): string | undefined {
  let complete = true
  const replaced = text.replace(/\$\{([^}]*)\}?/g, (whole, name: string) => {
    const named = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && whole.endsWith('}')
    const value = named && Object.hasOwn(environment, name) ? environment[name] : undefined
    if (value !== undefined && value !== '') return value
    complete = false
    const state = value === '' ? 'is empty' : 'is not set'
    report(
      path,
      named ? `names the environment variable ${name}, which ${state}` : 'has a ${ that is not of the form ${NAME}',
    )
    return ''
  })
  return complete ? replaced : undefined
}

/** `models[0].price.input`. Unusual names are quoted. */
export function join(path: string, name: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

type Group = Record<string, unknown>

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
