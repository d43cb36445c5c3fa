/** What a model may be able to do besides reading and writing text. */
export const capabilities = ['tools', 'json', 'images', 'documents', 'reasoning'] as const
export type Capability = (typeof capabilities)[number]

export const everyCapability: ReadonlySet<Capability> = new Set(capabilities)
