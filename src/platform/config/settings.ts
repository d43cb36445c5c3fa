import { Type, type TSchema } from 'typebox'
import type { SettingFormat } from './values.ts'

/** The kinds of settings. `shown_default` documents a default that is computed elsewhere. */

type Defaults = { default?: string | undefined; shown_default?: string }

export const written = <Value>(format: SettingFormat<Value>, description: string, defaults: Defaults = {}) =>
  Type.Decode(Type.String({ description, expects: format.expects, ...defaults }), format.parse)
export const text = (description: string, defaults: Defaults = {}) =>
  Type.String({ description, minLength: 1, expects: 'a text that is not empty', ...defaults })
export const whole = (description: string, minimum: number, maximum: number, fallback?: number) =>
  Type.Integer({ description, minimum, maximum, ...(fallback !== undefined && { default: fallback }) })
export const yesNo = (description: string, fallback: boolean) => Type.Boolean({ description, default: fallback })
export const groupOf = <Properties extends Record<string, TSchema>>(description: string, properties: Properties) =>
  Type.Object(properties, { description, additionalProperties: false })
export const optionalGroup = <Properties extends Record<string, TSchema>>(
  description: string,
  properties: Properties,
) => Type.Object(properties, { description, additionalProperties: false, default: {} })
