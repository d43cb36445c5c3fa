/** The kinds of places outside the database. */
export type Place = 'folder' | 'bucket'

/**
 * Keeps encrypted chunks of documents outside the database. Each is an object whose name is the SHA-256 of its bytes in hexadecimal digits, so
 * it never changes. Every method throws StoreFault if the store fails.
 */
export interface ObjectStore {
  readonly place: Place
  /** How messages name it. */
  readonly title: string
  /** Resolves once the object would survive a crash of the machine. Idempotent. */
  put(this: void, name: string, bytes: Buffer): Promise<void>
  /** Undefined if there is no such object. */
  get(this: void, name: string): Promise<Buffer | undefined>
  /** Idempotent. */
  remove(this: void, name: string): Promise<void>
  /** Whether the store has the object that every store of Tollgate has: a folder that is not mounted does not. */
  isMarked(this: void): Promise<boolean>
  mark(this: void): Promise<void>
  close(this: void): Promise<void>
}

/** `refused`: the configuration is wrong. `away`: the same may succeed later. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault'
  readonly kind: 'refused' | 'away'

  constructor(kind: StoreFault['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** The name of the object by which a store is recognised, and what it says to people. */
export const marker = {
  name: 'tollgate-documents',
  text: 'Tollgate keeps the files of its documents here, encrypted. Do not change, rename or remove any of them.\n',
}
