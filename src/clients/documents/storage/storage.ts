import type { Logger } from 'pino'
import type { Config } from '../../../platform/config/config.ts'
import type { Database } from '../../../platform/database/database.ts'
import { OperatorError, Problem } from '../../../platform/problems.ts'
import { openFolder } from './folder.ts'
import { marker, StoreFault, type ObjectStore, type Place } from './object-store.ts'
import { readPlacesInUse } from './store.ts'

/** Where the encrypted bytes of a chunk are: in its row, or in an object. */
export interface ChunkRow {
  readonly data: Buffer | null
  /** The name of the object, and where it is. */
  readonly object: string | null
  readonly place: Place | null
}

/** The places in which chunks of documents are. Throws Problem `unavailable` if one cannot be used at the moment: see `isStorageAway`. */
export interface Storage {
  /** The places that the configuration names. */
  readonly places: readonly Place[]
  /** Where new chunks are kept. Undefined: in the database. */
  readonly place: Place | undefined
  /**
   * Keeps a new chunk at `place`. Resolves once it would survive a crash. `note` notes the object in the database before it is written, but
   * not before the place is prepared: one in which objects are noted is never prepared anew.
   */
  put(this: void, name: string, bytes: Buffer, note: () => Promise<void>): Promise<void>
  /** The encrypted bytes of a chunk. Undefined if they are missing. */
  read(this: void, chunk: ChunkRow): Promise<Buffer | undefined>
  /** Idempotent. Resolves only if the place is the one in which the object was stored. */
  remove(this: void, place: Place, name: string): Promise<void>
  close(this: void): Promise<void>
}

type StorageConfig = Pick<Config, 'documents'>

/**
 * Opens the storage, prepares the place of new chunks and checks that of older ones. A place that is away is logged, and tried again when it
 * is needed. Throws OperatorError if the configuration is wrong, or does not name a place in which there are objects.
 */
export async function openStorage({
  config,
  database,
  log,
}: {
  readonly config: StorageConfig
  readonly database: Database
  readonly log: Pick<Logger, 'warn'>
}): Promise<Storage> {
  const { current, stores } = await openStores(config)
  const hasObjects = async ({ place }: ObjectStore) => (await readPlacesInUse(database)).includes(place)
  try {
    confirmPlaces(await readPlacesInUse(database), stores)
    for (const store of stores) {
      await prepare(store, { isCurrent: store === current, hasObjects }).catch((error: unknown) => {
        if (!(error instanceof StoreFault)) throw error
        if (error.kind === 'refused') throw new OperatorError(`Documents cannot be stored: ${error.message}`)
        log.warn({ err: error }, 'documents cannot be stored or read until their storage is back')
      })
    }
  } catch (error) {
    await Promise.all(stores.map((store) => store.close()))
    throw error
  }
  return storageOf({ current, stores, hasObjects })
}

/** The storage for reading what is there. */
export async function openStorageToRead(config: StorageConfig): Promise<Storage> {
  const { stores } = await openStores(config)
  return storageOf({ current: undefined, stores, hasObjects: async () => true })
}

/** What there is to say about the storage, for `doctor`. Changes nothing. Throws OperatorError with the fault. */
export async function surveyStorage(config: StorageConfig, database: Database): Promise<string> {
  const { current, stores } = await openStores(config)
  try {
    const places = await readPlacesInUse(database)
    confirmPlaces(places, stores)
    const isNew = new Set<ObjectStore>()
    for (const store of stores) {
      if (await store.isMarked()) continue
      if (places.includes(store.place)) throw new OperatorError(unmarked(store))
      isNew.add(store)
    }
    if (current === undefined) return 'in the database'
    return isNew.has(current) ? `${current.title}; the first start prepares it` : current.title
  } catch (error) {
    throw error instanceof StoreFault ? new OperatorError(error.message) : error
  } finally {
    await Promise.all(stores.map((store) => store.close()))
  }
}

/** Whether documents cannot be stored or read for the moment. */
export const isStorageAway = (error: unknown): boolean => error instanceof Problem && error.cause instanceof StoreFault

type HasObjects = (store: ObjectStore) => Promise<boolean>

/** Marks a new store. Throws StoreFault if one is not what it was, for instance a folder that is not mounted. */
async function prepare(
  store: ObjectStore,
  { isCurrent, hasObjects }: { readonly isCurrent: boolean; readonly hasObjects: HasObjects },
): Promise<void> {
  if (await store.isMarked()) return
  if (await hasObjects(store)) throw new StoreFault('away', unmarked(store))
  if (isCurrent) await store.mark()
}

const unmarked = ({ title }: ObjectStore): string =>
  `${title} has no object ${marker.name}, so it is not where the documents were stored. Mount the folder, or correct its name in the configuration.`

/** Throws OperatorError if objects are in a place that the configuration does not name. */
function confirmPlaces(places: readonly Place[], stores: readonly ObjectStore[]): void {
  const missing = places.find((place) => stores.every((store) => store.place !== place))
  if (missing === undefined) return
  throw new OperatorError(
    `Documents are stored in a ${missing} that the configuration does not name. Set documents.former_store to it.`,
  )
}

interface OpenStores {
  readonly current: ObjectStore | undefined
  readonly stores: readonly ObjectStore[]
}

async function openStores({ documents }: StorageConfig): Promise<OpenStores> {
  const current = await openStore(documents.store, documents.s3)
  const former = documents.former_store && (await openStore(documents.former_store, documents.s3))
  return { current, stores: [current, former].filter((store) => store !== undefined) }
}

type Documents = Config['documents']

async function openStore(address: Documents['store'], s3: Documents['s3']): Promise<ObjectStore | undefined> {
  switch (address.kind) {
    case 'database':
      return undefined
    case 'folder':
      return openFolder(address.folder)
    case 'bucket': {
      if (s3 === undefined) throw new OperatorError('documents.s3: must be set for a bucket')
      // Only an installation with a bucket loads what signs requests.
      const { openBucket } = await import('./bucket.ts')
      const endpoint = s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`
      return openBucket({ ...address, settings: { ...s3, endpoint } })
    }
  }
}

function storageOf({ current, stores, hasObjects }: OpenStores & { readonly hasObjects: HasObjects }): Storage {
  let prepared: Promise<void> | undefined
  const at = (place: Place): ObjectStore => {
    const store = stores.find((each) => each.place === place)
    if (store === undefined) throw new StoreFault('refused', `The configuration names no ${place}.`)
    return store
  }

  return Object.freeze<Storage>({
    places: stores.map(({ place }) => place),
    place: current?.place,
    async put(name, bytes, note) {
      await orUnavailable(async () => {
        if (current === undefined) throw new StoreFault('refused', 'The configuration names no place for new objects.')
        prepared ??= prepare(current, { isCurrent: true, hasObjects })
        await prepared.catch((error: unknown) => {
          prepared = undefined
          throw error
        })
        await note()
        await current.put(name, bytes)
      })
    },
    async read({ data, object, place }) {
      if (object === null || place === null) return data ?? undefined
      return orUnavailable(async () => {
        const store = at(place)
        const bytes = await store.get(object)
        // Of a folder that is not mounted, every object seems to be missing.
        if (bytes === undefined && !(await store.isMarked())) throw new StoreFault('away', unmarked(store))
        return bytes
      })
    },
    async remove(place, name) {
      await orUnavailable(async () => {
        const store = at(place)
        await store.remove(name)
        // In a folder that is not mounted, or under a wrong prefix, there is nothing to remove, and the object is still elsewhere.
        if (!(await store.isMarked())) throw new StoreFault('away', unmarked(store))
      })
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()))
    },
  })
}

/** Throws Problem `unavailable` instead of a StoreFault. */
async function orUnavailable<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error
    throw new Problem(
      'unavailable',
      'The storage of documents is unavailable. Everything else works. Try again later.',
      {
        retryAfter: 10,
        cause: error,
      },
    )
  }
}
