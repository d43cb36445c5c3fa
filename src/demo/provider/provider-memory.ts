import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

interface Kept {
  readonly payload: AdapterPayload
  readonly until: number
}

/** Beyond this, the oldest entry is dropped. A demo does not create as many in an hour. */
const maxEntries = 1000

/** Storage in memory: nothing of the demo is written to disk. */
export function createProviderMemory(): AdapterFactory {
  const kept = new Map<string, Kept>()
  return (kind) => createShelf(kept, kind)
}

/** The entries of one kind. */
function createShelf(kept: Map<string, Kept>, kind: string): Adapter {
  const prefix = `${kind} `
  const read = (key: string) => {
    const found = kept.get(key)
    return found !== undefined && found.until > Date.now() ? found.payload : undefined
  }
  const search = (wanted: (payload: AdapterPayload) => boolean) => {
    const key = [...kept.keys()].find((each) => {
      const payload = each.startsWith(prefix) ? read(each) : undefined
      return payload !== undefined && wanted(payload)
    })
    return key === undefined ? undefined : read(key)
  }
  return {
    async upsert(id, payload, expiresIn) {
      kept.delete(prefix + id)
      kept.set(prefix + id, { payload, until: expiresIn === undefined ? Infinity : Date.now() + expiresIn * 1000 })
      const oldest = kept.keys().next()
      if (kept.size > maxEntries && oldest.done !== true) kept.delete(oldest.value)
    },
    find: async (id) => read(prefix + id),
    findByUid: async (uid) => search((payload) => payload.uid === uid),
    findByUserCode: async (userCode) => search((payload) => payload.userCode === userCode),
    async consume(id) {
      const payload = read(prefix + id)
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000)
    },
    async destroy(id) {
      kept.delete(prefix + id)
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of kept) {
        if (key.startsWith(prefix) && payload.grantId === grantId) kept.delete(key)
      }
    },
  }
}
