import { Type, type TObject, type TSchema } from 'typebox'
import { annotation, engineOf, expectationOf } from '../../src/platform/config/check.ts'

/** One setting of `tollgate.yaml`: a value, or an optional group. */
export interface Setting {
  /** `models[].endpoints[].url`: `[]` stands for every entry of a list. */
  readonly path: string
  /** For the settings of models: the variant of a model that has it. */
  readonly variant: TSchema | null
  /** The engine of that variant. */
  readonly engine: string | null
  readonly expects: string
  /** As written in the file; null if the setting is required, or optional without a default. */
  readonly default: string | null
  readonly optional: boolean
  readonly description: string
}

/** Every setting below `schema`, in its order. */
export function listSettings(schema: TSchema, path = '', variant: TSchema | null = null): Setting[] {
  if (Type.IsObject(schema)) return listGroup(schema, path, variant)
  if (Type.IsUnion(schema)) return schema.anyOf.flatMap((each) => listSettings(each, path, each))
  if (Type.IsArray(schema) && !isLeaf(schema.items)) return listSettings(schema.items, `${path}[]`, variant)
  const expects = Type.IsArray(schema) ? `a list, each ${expectationOf(schema.items)}` : expectationOf(schema)
  return [{ path, ...ofVariant(variant), expects, ...wordsOf(schema) }]
}

const ofVariant = (variant: TSchema | null) => ({ variant, engine: variant && engineOf(variant) })

/** An optional group has its own line, which explains the effect of omitting it. */
function listGroup(schema: TObject, path: string, variant: TSchema | null): Setting[] {
  const itself = { path, ...ofVariant(variant), expects: expectationOf(schema), ...wordsOf(schema) }
  const below = Object.entries(schema.properties).flatMap(([name, inner]) =>
    listSettings(inner, path === '' ? name : `${path}.${name}`, variant),
  )
  return Type.IsOptional(schema) ? [itself, ...below] : below
}

/** The description of the group itself. */
export function descriptionOf(schema: TSchema): string {
  const description = annotation(schema, 'description')
  return typeof description === 'string' ? description : ''
}

function wordsOf(schema: TSchema): Pick<Setting, 'default' | 'optional' | 'description'> {
  const shown = annotation(schema, 'shown_default')
  const fallback = annotation(schema, 'default')
  return {
    default: typeof shown === 'string' ? shown : fallback === undefined ? null : `\`${writeValue(fallback)}\``,
    optional: Type.IsOptional(schema),
    description: descriptionOf(schema),
  }
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isLeaf(schema: TSchema): boolean {
  return !Type.IsObject(schema) && !Type.IsUnion(schema) && !Type.IsArray(schema) && !Type.IsRecord(schema)
}
