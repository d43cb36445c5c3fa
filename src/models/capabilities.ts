/** What a model may be able to do besides reading and writing text. */
export const capabilities = ['tools', 'json', 'images', 'documents', 'reasoning'] as const
export type Capability = (typeof capabilities)[number]

/** In the order of `capabilities`. */
export function listCapabilities(of: ReadonlySet<Capability>): Capability[] {
  return capabilities.filter((capability) => of.has(capability))
}

export const everyCapability: ReadonlySet<Capability> = new Set(capabilities)
