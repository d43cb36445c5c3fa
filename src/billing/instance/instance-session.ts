import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Database, DedicatedConnection } from '../../platform/database/database.ts'
import type { Allowances } from '../allowances/allowances.ts'
import * as store from './store.ts'
import { createReaper, type Reaper } from './reaper.ts'

export interface InstanceNeeds {
  readonly database: Database
  readonly allowances: Allowances
  readonly log: Logger
}

/** The SQLSTATE with which `till()` and `exchange_timed()` refuse an instance whose lease ran out. */
const leaseLost = 'TG001'

/** Whether another instance has reaped this one, which must then register again. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === leaseLost

/** The connection of this process for calls of `till()` and `exchange_timed()`, and its row in the table of instances. */
export class InstanceSession {
  readonly #needs: InstanceNeeds
  readonly #reaper: Reaper
  #connection: DedicatedConnection | undefined
  #id = ''
  #batch = 0n

  constructor(needs: InstanceNeeds) {
    this.#needs = needs
    this.#reaper = createReaper(needs.log)
  }

  /** The id in the table. Another one after the lease was lost. */
  get id(): string {
    return this.#id
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  /** Draws the number of the next batch. */
  nextBatch(): { readonly instance: string; readonly batch: bigint } {
    this.#batch += 1n
    return { instance: this.#id, batch: this.#batch }
  }

  /** Opens the connection unless it is open, and registers this process unless it is registered. */
  async connect(): Promise<DedicatedConnection> {
    if (this.#connection !== undefined) return this.#connection
    const opened = await this.#needs.database.connect()
    opened.onLost(() => {
      if (this.#connection === opened) this.#connection = undefined
    })
    this.#reaper.forget()
    this.#connection = opened
    if (this.#id === '') await this.#register(opened)
    return opened
  }

  async #register(on: DedicatedConnection): Promise<void> {
    const id = randomUUID()
    await store.insertInstance(on, id, hostname())
    this.#id = id
    this.#batch = 0n
    this.#needs.allowances.startOver(id)
  }

  /** Releases what dead instances left, if it is time to look. */
  async reap(): Promise<void> {
    if (this.#connection !== undefined) await this.#reaper.look(this.#connection, this.#id)
  }

  /** Closes the connection after an error. The next call opens another. */
  async reset(error: unknown): Promise<void> {
    if (isLeaseLost(error)) this.#id = ''
    const broken = this.#connection
    this.#connection = undefined
    await broken?.close().catch(() => undefined)
  }

  async close(): Promise<void> {
    const { database, log } = this.#needs
    // If this fails, another instance does it when the lease has run out.
    await store
      .deleteInstance(database, this.#id)
      .catch((error: unknown) => log.warn({ err: error }, 'this instance could not be removed'))
    await this.#connection?.close()
  }
}
