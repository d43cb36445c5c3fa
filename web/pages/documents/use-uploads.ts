import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useRevalidator } from 'react-router'
import { uploadings, watchUploads, type Uploading } from './uploading.ts'

/** The files on their way to a record. The page's data is read again each time one has arrived. */
export function useUploads(clientId: string): readonly Uploading[] {
  const all = useSyncExternalStore(watchUploads, uploadings)
  const own = all.filter((each) => each.clientId === clientId)
  const done = own.filter(({ state }) => state === 'done').length
  const before = useRef(done)
  const { revalidate } = useRevalidator()
  useEffect(() => {
    if (done > before.current) void revalidate()
    before.current = done
  }, [done, revalidate])
  return own
}
