import { startTransition, useEffect, useRef, useState } from 'react'
import { ApiError, change, openStream, read } from '../../api.ts'
import type { Refusal } from '../../content.ts'
import { eventsOf } from '../../events.ts'
import { believed } from '../../wire.ts'
import type { Draft, DraftList, DraftRequest, Finished } from './wire.ts'

/** A letter that a model writes, as far as this page knows. */
export type Writing =
  | { readonly phase: 'idle'; readonly error?: ApiError | undefined }
  /** `isFollowed`: the connection was lost or the page opened later; the text comes when it is finished. */
  | {
      readonly phase: 'writing'
      readonly id: string | undefined
      readonly model: string | undefined
      readonly text: string
      readonly startedAt: number
      readonly isStopping: boolean
      readonly isFollowed: boolean
    }
  /** It ended without a letter. `text` is what had arrived. */
  | { readonly phase: 'failed'; readonly reason: string; readonly text: string; readonly draft: Draft | undefined }

/** The last event of a draft that failed. */
interface Broken {
  readonly error: Refusal
  readonly draft: Draft | null
}

/** Polling interval in ms for a draft that is not streamed to this page. */
const lookEvery = 1000

/** Has letters drafted for a client. The server finishes a draft even if this page goes away. */
export function useDrafting(client: string, onFinished: (finished: Finished) => unknown) {
  const [writing, setWriting] = useState<Writing>({ phase: 'idle' })
  const isGone = useRef(false)
  const address = `/clients/${client}/drafts`
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
    }
  }, [])

  function update(changes: Partial<Extract<Writing, { phase: 'writing' }>> & { readonly more?: string }) {
    const { more = '', ...rest } = changes
    setWriting((before) => (before.phase === 'writing' ? { ...before, ...rest, text: before.text + more } : before))
  }

  async function start(request: DraftRequest) {
    setWriting(begun({}))
    const known = await knownDrafts(address)
    let id: string | undefined
    let text = ''
    try {
      for await (const { event, data } of eventsOf(await openStream(address, request))) {
        if (isGone.current) return
        switch (event) {
          case 'started': {
            const started = believed<{ id: string; model: string }>(data)
            id = started.id
            update(started)
            break
          }
          case 'delta': {
            const { text: more } = believed<{ text: string }>(data)
            text += more
            update({ more })
            break
          }
          case 'done':
            return finish(believed<Finished>(data), text)
          case 'error':
            return broke(believed<Broken>(data), text)
        }
      }
      throw new ApiError(0, {})
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      await lost(thrown, id, known)
    }
  }

  function broke({ error, draft }: Broken, text: string) {
    // The draft goes on: it is followed after the next sign-in.
    if (error.code === 'not_signed_in') throw new ApiError(0, error)
    setWriting({ phase: 'failed', reason: error.reason, text, draft: draft ?? undefined })
  }

  /** A connection that is lost does not stop the draft, which may have begun before its id arrived. */
  async function lost(error: ApiError, id: string | undefined, known: ReadonlySet<string>) {
    if (error.status !== 0) return setWriting({ phase: 'idle', error })
    update({ isFollowed: true })
    const began = id ?? (await newDraft(address, known))
    if (began === undefined) setWriting({ phase: 'idle', error })
    else await follow(began)
  }

  /** Waits for a draft that is not streamed to this page. */
  async function follow(id: string) {
    setWriting((before) =>
      before.phase === 'writing' ? { ...before, id, isFollowed: true } : begun({ id, isFollowed: true }),
    )
    while (!isGone.current) {
      const draft = await read<Draft>(`${address}/${id}`).catch(stillLost)
      if (draft && draft.status !== 'running') return finish({ draft, letter: null }, '')
      if (draft) update({ model: draft.model })
      await new Promise((resolve) => setTimeout(resolve, lookEvery))
    }
  }

  async function finish(finished: Finished, text: string) {
    if (isGone.current) return
    const { draft, letter } = finished
    if (letter !== null || draft.letter_id !== null) {
      // Not idle before: the form would ask whether to leave.
      await onFinished(finished)
      // Together with what `onFinished` closes, so that the form does not appear for a moment.
      startTransition(() => setWriting({ phase: 'idle' }))
    } else setWriting({ phase: 'failed', reason: reasonWithout(draft), text, draft })
  }

  async function stop() {
    if (writing.phase !== 'writing' || writing.id === undefined) return
    update({ isStopping: true })
    try {
      await change(`${address}/${writing.id}/stop`, { method: 'POST' })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // It may have ended by itself; otherwise the person can try again.
      update({ isStopping: false })
    }
  }

  return { writing, start, stop, follow, reset: () => setWriting({ phase: 'idle' }) }
}

function begun(known: { readonly id?: string; readonly isFollowed?: boolean }): Writing {
  const unknown = { id: undefined, model: undefined, text: '', isStopping: false, isFollowed: false }
  return { phase: 'writing', startedAt: Date.now(), ...unknown, ...known }
}

async function knownDrafts(address: string): Promise<ReadonlySet<string>> {
  const { drafts } = await read<DraftList>(address).catch(() => ({ drafts: [] }))
  return new Set(drafts.map(({ id }) => id))
}

async function newDraft(address: string, known: ReadonlySet<string>): Promise<string | undefined> {
  const { drafts } = await read<DraftList>(address).catch(() => ({ drafts: [] }))
  return drafts.find(({ id }) => !known.has(id))?.id
}

/** Without a connection, the next look may succeed. Any other error is final. */
function stillLost(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 0) return undefined
  throw error
}

function reasonWithout({ status }: Draft): string {
  return status === 'failed'
    ? 'The letter was not finished, and nothing was saved.'
    : 'It was stopped before any text arrived, so there is no letter.'
}
