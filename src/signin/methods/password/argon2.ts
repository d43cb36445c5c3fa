import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { isDerived, type DeriveOrder } from './hashing-order.ts'

/** The cost of a hash, and the pepper. */
export interface HashSettings {
  /** KiB. */
  readonly memory: number
  readonly passes: number
  /** A secret that is not in the database (RFC 9106 section 3.1, "secret value K"). */
  readonly pepper?: string | undefined
}

const sizes = { salt: 16, hash: 32 }
const lanes = 1

interface Parsed {
  readonly memory: number
  readonly passes: number
  readonly lanes: number
  /** The id of the pepper. */
  readonly keyId: string | undefined
  readonly salt: Buffer
  readonly hash: Buffer
}

/** Hashes a password with a new salt, as a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. */
export async function hashPassword(password: string, settings: HashSettings): Promise<string> {
  const { memory, passes, pepper } = settings
  const salt = randomBytes(sizes.salt)
  const cost = { memory, passes, lanes, keyId: pepper === undefined ? undefined : keyIdOf(pepper), salt }
  return format({ ...cost, hash: await compute(password, { ...cost, size: sizes.hash }, pepper) })
}

/** Compares in constant time. False also if the hash has another pepper. */
export async function verifyHash(password: string, phc: string, { pepper }: HashSettings): Promise<boolean> {
  const { hash, ...cost } = parse(phc)
  const secret = cost.keyId === undefined ? undefined : pepper
  return timingSafeEqual(await compute(password, { ...cost, size: hash.length }, secret), hash)
}

/** Whether a hash costs less than the settings ask for, or lacks the pepper. */
export function isOutdated(phc: string, { memory, passes, pepper }: HashSettings): boolean {
  const hash = parse(phc)
  const keyId = pepper === undefined ? undefined : keyIdOf(pepper)
  return hash.memory < memory || hash.passes < passes || hash.keyId !== keyId
}

/** A hash that matches no password, as costly to verify as a real one. */
export function dummyHash({ memory, passes, pepper }: HashSettings): string {
  const keyId = pepper === undefined ? undefined : keyIdOf(pepper)
  return format({ memory, passes, lanes, keyId, salt: randomBytes(sizes.salt), hash: randomBytes(sizes.hash) })
}

function compute(
  password: string,
  { memory, passes, lanes: parallelism, salt, size }: Omit<Parsed, 'hash' | 'keyId'> & { readonly size: number },
  pepper: string | undefined,
): Promise<Buffer> {
  return derive({
    message: Buffer.from(password, 'utf8'),
    nonce: salt,
    secret: Buffer.from(pepper ?? '', 'utf8'),
    parallelism,
    tagLength: size,
    memory,
    passes,
  })
}

/** Tells hashes with different peppers apart, without disclosing them. */
function keyIdOf(pepper: string): string {
  return base64(createHash('sha256').update(`tollgate password pepper ${pepper}`).digest().subarray(0, 6))
}

const phcString =
  /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,8})(?:,keyid=([A-Za-z0-9+/]+))?\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

function format({ memory, passes, lanes: p, keyId, salt, hash }: Parsed): string {
  const key = keyId === undefined ? '' : `,keyid=${keyId}`
  return `$argon2id$v=19$m=${memory},t=${passes},p=${p}${key}$${base64(salt)}$${base64(hash)}`
}

function parse(phc: string): Parsed {
  const [, memory, passes, p, keyId, salt = '', hash = ''] = phcString.exec(phc) ?? []
  if (hash === '') throw new Error('a stored password is not an argon2id hash in PHC format')
  return {
    memory: Number(memory),
    passes: Number(passes),
    lanes: Number(p),
    keyId,
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

/** Without padding, as PHC strings have it. */
const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

/** Threads that wait for work. There are as many as there have been hashes at the same time. */
const idle: Worker[] = []

/**
 * Computes a hash in a thread with a low priority: requests come first on every processor, and libuv's thread pool stays
 * free for files and host names. Rejects if the thread ends.
 */
async function derive(order: DeriveOrder): Promise<Buffer> {
  const worker = idle.pop() ?? start()
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const receive = (message: unknown) => {
    if (isDerived(message)) resolve(Buffer.from(message.hash))
    else reject(new Error('a password could not be hashed'))
  }
  const end = () => reject(new Error('the thread that hashes passwords ended'))
  worker.on('message', receive).on('exit', end).ref()
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
    const hash = await promise
    idle.push(worker)
    return hash
  } finally {
    // A process with nothing else to do may end.
    worker.off('message', receive).off('exit', end).unref()
  }
}

function start(): Worker {
  const worker = new Worker(new URL('hashing-worker.ts', import.meta.url))
  worker.on('error', () => undefined)
  worker.on('exit', () => {
    const place = idle.indexOf(worker)
    if (place !== -1) idle.splice(place, 1)
  })
  return worker
}
