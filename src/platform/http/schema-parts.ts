import { Type, type TProperties, type TSchema } from 'typebox'

/** Parts that the JSON schemas of several features have. */

export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

/** Refuses unknown fields by name. */
export const body = <Properties extends TProperties>(
  properties: Properties,
  options: { readonly description?: string } = {},
) => Type.Object(properties, { ...options, additionalProperties: false })
