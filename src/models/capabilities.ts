/**
 * What a model may be able to do besides reading and writing text. `forced_tools`: it calls a tool where the request leaves it no
 * other choice. `tools` includes that.
 */
export const capabilities = ['tools', 'forced_tools', 'json', 'images', 'documents', 'reasoning', 'verbosity'] as const
export type Capability = (typeof capabilities)[number]

/** What is known of a model's capabilities. The others may be present. */
export type StatedCapabilities = Readonly<Partial<Record<Capability, boolean>>>

/** Whether a model with the capabilities `of` can do what needs this one. */
export function isCapable(of: ReadonlySet<Capability>, needed: Capability): boolean {
  return of.has(needed) || (needed === 'forced_tools' && of.has('tools'))
}

/** In the order of `capabilities`. */
export function listCapabilities(of: ReadonlySet<Capability>): Capability[] {
  return capabilities.filter((capability) => of.has(capability))
}

/** Everything that is not ruled out. A model without tools has forced tools only if that is stated. */
export function notRuledOut(stated: StatedCapabilities): Capability[] {
  return capabilities.filter((capability) =>
    capability === 'forced_tools'
      ? stated.tools === false && stated.forced_tools === true
      : stated[capability] !== false,
  )
}

export const everyCapability: ReadonlySet<Capability> = new Set(notRuledOut({}))

/** Only what a server states: `undefined` for null and for other types. */
export function statedOf(flags: Readonly<Partial<Record<Capability, unknown>>>): StatedCapabilities {
  return Object.fromEntries(Object.entries(flags).filter(([, flag]) => typeof flag === 'boolean'))
}
