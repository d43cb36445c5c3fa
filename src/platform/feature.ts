import type { ExampleValues } from './http/examples.ts'
import type { Server } from './http/server.ts'

/** What a feature adds to an instance, once it is open. */
export interface Feature {
  /** Adds its routes to the server. */
  routes(this: void, server: Server): void | Promise<void>
  /** Example values of its fields, for the API document. */
  readonly examples?: ExampleValues
}
